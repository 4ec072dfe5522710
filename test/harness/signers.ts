import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { usesCertificate } from "../../src/auth/senders/sender";
import { findJwtPreset, type JwtSenderId, type SenderId, senderIds, senders } from "../../src/auth/senders/table";

/**
 * Each sender's side, written from its documentation with nothing but `node:crypto`: it shares no code and no data with
 * what is tested.
 */
export interface Signer {
  /** A secret as the sender's user has it, for each of three accounts. */
  secrets: readonly string[];
  /** Makes the body that it sends of any bytes, where it cannot be any. */
  body?: (bytes: Buffer, account: number, at: number) => Buffer;
  /** The header fields of its proof. */
  headers: (request: Unsigned, account: number) => [string, string][];
  /** What the URL has from the sender, without a question mark. */
  search?: (request: Unsigned, account: number) => string;
  publicUrl?: string;
  /** The tolerance of the time in a request, in seconds. */
  window?: number;
  /** Set where the signature does not cover the body. */
  ignoresBody?: true;
}

export interface Unsigned {
  body: Buffer;
  /** In seconds. */
  at: number;
  id: string;
}

const typed = ["It's a Secret to Everybody", "zwölf Boxkämpfer", "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH"];
const keys = typed.map((text) => createHmac("sha256", "keys").update(text).digest());
const whsec = keys.map((key) => `whsec_${key.toString("base64")}`);
const ed25519 = typed.map(() => generateKeyPairSync("ed25519"));
const p256 = typed.map(() => generateKeyPairSync("ec", { namedCurve: "prime256v1" }));

const publicUrl = "https://hooks.example.com/red/hook";
const text = (key: number) => typed[key] ?? "";

function hmac(hash: string, key: string | Buffer, encoding: "hex" | "base64", ...parts: (string | Buffer)[]): string {
  const message = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return createHmac(hash, key).update(message).digest(encoding);
}

/** An HMAC over the body alone. */
function overBody(name: string, encoding: "hex" | "base64", prefix = "", hash = "sha256"): Signer {
  return {
    secrets: typed,
    headers: ({ body }, account) => [[name, prefix + hmac(hash, text(account), encoding, body)]],
  };
}

function standardWebhooks(prefix: string): Signer {
  return {
    secrets: whsec,
    window: 300,
    headers: ({ body, at, id }, account) => [
      [`${prefix}-id`, id],
      [`${prefix}-timestamp`, String(at)],
      [`${prefix}-signature`, `v1,${hmac("sha256", keys[account] ?? "", "base64", `${id}.${at}.`, body)} v1a,AAAA`],
    ],
  };
}

/** An HMAC-SHA256 over the time, which has a field of its own, and the body. */
function overTime(timeName: string, name: string, before = "", prefix = ""): Signer {
  return {
    secrets: typed,
    window: 300,
    headers: ({ body, at }, account) => [
      [timeName, String(at)],
      [name, prefix + hmac("sha256", text(account), "hex", `${before}${at}:`, body)],
    ],
  };
}

/** The same with the time in the one field, in which there may be more. */
function inOneField(
  name: string,
  window: number,
  write: (time: string, mac: string) => string,
  { after = ".", unit = "s" } = {},
): Signer {
  return {
    secrets: typed,
    window,
    headers: ({ body, at }, account) => {
      const time = String(unit === "ms" ? at * 1000 : at);
      return [[name, write(time, hmac("sha256", text(account), "hex", `${time}${after}`, body))]];
    },
  };
}

const tokens = ["glwh-7f3a_Token", "Zx9_token-ABC", "0123456789"];

function token(name: string, prefix = ""): Signer {
  return { secrets: tokens, ignoresBody: true, headers: (_, account) => [[name, prefix + (tokens[account] ?? "")]] };
}

function tokenInBody(member: string): Signer {
  return {
    secrets: tokens,
    ignoresBody: true,
    body: (bytes, account) => json({ [member]: tokens[account], data: bytes.toString("latin1") }),
    headers: () => [],
  };
}

function raw(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
}

function signedBy(account: number, message: Buffer): Buffer {
  const pair = ed25519[account];
  return pair ? sign(null, message, pair.privateKey) : Buffer.alloc(0);
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const iso = (at: number) => new Date(at * 1000).toISOString();

/** Those that sign their requests, or send the secret itself. */
export type SigningId = Exclude<SenderId, "custom" | "amazon-sns" | "paypal" | JwtSenderId>;
export const signingIds = senderIds.filter(
  (id): id is SigningId => id !== "custom" && !findJwtPreset(id) && !usesCertificate(senders[id].scheme),
);

export const signers: Record<SigningId, Signer> = {
  github: overBody("X-Hub-Signature-256", "hex", "sha256="),
  gitlab: token("X-Gitlab-Token"),
  "gitlab-signed": standardWebhooks("webhook"),
  forgejo: overBody("X-Forgejo-Signature", "hex"),
  gitea: overBody("X-Gitea-Signature", "hex"),
  gogs: overBody("X-Gogs-Signature", "hex"),
  bitbucket: overBody("X-Hub-Signature", "hex", "sha256="),
  jira: overBody("X-Hub-Signature", "hex", "sha256="),
  linear: {
    ...overBody("Linear-Signature", "hex"),
    window: 60,
    body: (bytes, _, at) => json({ data: bytes.toString("latin1"), webhookTimestamp: at * 1000 }),
  },
  notion: overBody("X-Notion-Signature", "hex", "sha256="),
  asana: overBody("X-Hook-Signature", "hex"),
  typeform: overBody("Typeform-Signature", "base64", "sha256="),
  calendly: inOneField("Calendly-Webhook-Signature", 180, (at, mac) => `t=${at},v1=${mac}`),
  docusign: {
    secrets: typed,
    headers: ({ body }, account) => [
      ["X-DocuSign-Signature-1", hmac("sha256", "another key", "base64", body)],
      ["X-DocuSign-Signature-100", hmac("sha256", text(account), "base64", body)],
    ],
  },
  dropbox: overBody("X-Dropbox-Signature", "hex"),
  zendesk: {
    secrets: typed,
    window: 300,
    headers: ({ body, at }, account) => [
      ["X-Zendesk-Webhook-Signature", hmac("sha256", text(account), "base64", iso(at), body)],
      ["X-Zendesk-Webhook-Signature-Timestamp", iso(at)],
    ],
  },
  intercom: overBody("X-Hub-Signature", "hex", "sha1=", "sha1"),
  hubspot: {
    secrets: typed,
    window: 300,
    publicUrl,
    search: ({ id }) => `id=${id}%3A%2f%25`,
    headers: ({ body, at, id }, account) => [
      [
        "X-HubSpot-Signature-v3",
        hmac("sha256", text(account), "base64", `POST${publicUrl}?id=${id}:/%25`, body, String(at * 1000)),
      ],
      ["X-HubSpot-Request-Timestamp", String(at * 1000)],
    ],
  },
  stripe: inOneField("Stripe-Signature", 300, (at, mac) => `t=${at},v1=${"0".repeat(64)},v1=${mac},v0=1`),
  paddle: inOneField("Paddle-Signature", 5, (at, mac) => `ts=${at};h1=${mac}`, { after: ":" }),
  square: {
    secrets: typed,
    publicUrl: `${publicUrl}?a=1`,
    headers: ({ body }, account) => [
      ["x-square-hmacsha256-signature", hmac("sha256", text(account), "base64", `${publicUrl}?a=1`, body)],
    ],
  },
  shopify: overBody("X-Shopify-Hmac-Sha256", "base64"),
  woocommerce: overBody("X-WC-Webhook-Signature", "base64"),
  xero: overBody("x-xero-signature", "base64"),
  slack: overTime("X-Slack-Request-Timestamp", "X-Slack-Signature", "v0:", "v0="),
  zoom: overTime("x-zm-request-timestamp", "x-zm-signature", "v0:", "v0="),
  discord: {
    secrets: ed25519.map((pair) => raw(pair.publicKey).toString("hex")),
    window: 300,
    headers: ({ body, at }, account) => [
      ["X-Signature-Ed25519", signedBy(account, Buffer.concat([Buffer.from(String(at)), body])).toString("hex")],
      ["X-Signature-Timestamp", String(at)],
    ],
  },
  telegram: token("X-Telegram-Bot-Api-Secret-Token"),
  line: overBody("x-line-signature", "base64"),
  meta: overBody("X-Hub-Signature-256", "hex", "sha256="),
  x: overBody("x-twitter-webhooks-signature", "base64", "sha256="),
  twitch: {
    secrets: typed,
    window: 600,
    headers: ({ body, at, id }, account) => [
      ["Twitch-Eventsub-Message-Id", id],
      ["Twitch-Eventsub-Message-Timestamp", iso(at)],
      ["Twitch-Eventsub-Message-Signature", `sha256=${hmac("sha256", text(account), "hex", id, iso(at), body)}`],
    ],
  },
  twilio: {
    secrets: typed,
    publicUrl,
    body: (bytes) => Buffer.from(`To=%2B1&Body=${encodeURIComponent(bytes.toString("latin1"))}&A=2&A=1&A=2`),
    search: ({ id }) => `id=${id}`,
    headers: ({ body, id }, account) => {
      // Any bytes, once they are encoded, are a form: its fields stand between ampersands.
      const fields = body
        .toString()
        .split("&")
        .filter((field) => field !== "")
        .map((field) => /^([^=]*)=?([^]*)$/.exec(field)?.slice(1) ?? [])
        .map((pair) => pair.map((part) => decodeForm(part)) as [string, string]);
      const unique = new Map(fields.map(([name, value]) => [JSON.stringify([name, value]), { name, value }]));
      const byText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
      const sorted = [...unique.values()].sort((a, b) => byText(a.name, b.name) || byText(a.value, b.value));
      const content = sorted.map(({ name, value }) => name + value).join("");
      return [
        ["Content-Type", "application/x-www-form-urlencoded"],
        ["X-Twilio-Signature", hmac("sha1", text(account), "base64", `${publicUrl}?id=${id}${content}`)],
      ];
    },
  },
  sendgrid: {
    secrets: p256.map((pair) => pair.publicKey.export({ format: "der", type: "spki" }).toString("base64")),
    headers: ({ body, at }, account) => {
      const key = p256[account]?.privateKey;
      const signature = key && sign("sha256", Buffer.concat([Buffer.from(String(at)), body]), key);
      return [
        ["X-Twilio-Email-Event-Webhook-Signature", signature?.toString("base64") ?? ""],
        ["X-Twilio-Email-Event-Webhook-Timestamp", String(at)],
      ];
    },
  },
  mailgun: {
    secrets: typed,
    ignoresBody: true,
    body: (bytes, account, at) => {
      const signature = hmac("sha256", text(account), "hex", `${at}nonce`);
      return json({ signature: { timestamp: String(at), token: "nonce", signature }, data: bytes.toString("latin1") });
    },
    headers: () => [],
  },
  telnyx: {
    secrets: ed25519.map((pair) => raw(pair.publicKey).toString("base64")),
    window: 300,
    headers: ({ body, at }, account) => [
      ["telnyx-timestamp", String(at)],
      ["telnyx-signature-ed25519", signedBy(account, Buffer.concat([Buffer.from(`${at}|`), body])).toString("base64")],
    ],
  },
  sentry: overBody("Sentry-Hook-Signature", "hex"),
  pagerduty: {
    secrets: typed,
    headers: ({ body }, account) => [
      ["X-PagerDuty-Signature", `v1=${"0".repeat(64)},v1=${hmac("sha256", text(account), "hex", body)}`],
    ],
  },
  grafana: overBody("X-Grafana-Alerting-Signature", "hex"),
  "grafana-timestamp": overTime("X-Grafana-Alerting-Timestamp", "X-Grafana-Alerting-Signature"),
  "azure-eventgrid": token("Authorization", "Bearer "),
  "microsoft-graph": {
    secrets: typed,
    ignoresBody: true,
    body: (bytes, account) => {
      const element = { clientState: text(account), resource: bytes.toString("latin1") };
      return json({ value: Array.from({ length: (bytes.length % 40) + 1 }, () => element) });
    },
    headers: () => [],
  },
  calcom: overBody("X-Cal-Signature-256", "hex"),
  todoist: overBody("X-Todoist-Hmac-SHA256", "base64"),
  clickup: overBody("X-Signature", "hex"),
  trello: {
    secrets: typed,
    publicUrl,
    headers: ({ body }, account) => [["X-Trello-Webhook", hmac("sha1", text(account), "base64", body, publicUrl)]],
  },
  tally: overBody("Tally-Signature", "base64"),
  airtable: {
    secrets: keys.map((key) => key.toString("base64")),
    headers: ({ body }, account) => [
      ["X-Airtable-Content-MAC", `hmac-sha256=${hmac("sha256", keys[account] ?? "", "hex", body)}`],
    ],
  },
  box: {
    secrets: typed,
    window: 600,
    headers: ({ body, at, id }, account) => [
      ["BOX-DELIVERY-ID", id],
      ["BOX-DELIVERY-TIMESTAMP", iso(at)],
      ["BOX-SIGNATURE-PRIMARY", hmac("sha256", "another key", "base64", body, iso(at))],
      ["BOX-SIGNATURE-SECONDARY", hmac("sha256", text(account), "base64", body, iso(at))],
    ],
  },
  webflow: {
    secrets: typed,
    window: 300,
    headers: ({ body, at }, account) => [
      ["x-webflow-timestamp", String(at * 1000)],
      ["x-webflow-signature", hmac("sha256", text(account), "hex", `${at * 1000}:`, body)],
    ],
  },
  vercel: overBody("x-vercel-signature", "hex", "", "sha1"),
  tailscale: {
    secrets: typed.map((each) => `tskey-webhook-${each}`),
    window: 300,
    headers: ({ body, at }, account) => [
      [
        "Tailscale-Webhook-Signature",
        `t=${at},v1=${hmac("sha256", `tskey-webhook-${text(account)}`, "hex", `${at}.`, body)}`,
      ],
    ],
  },
  workos: inOneField("WorkOS-Signature", 180, (at, mac) => `t=${at}, v1=${mac}`, { unit: "ms" }),
  mollie: {
    secrets: typed,
    headers: ({ body }, account) => [
      ["X-Mollie-Signature", `sha256=${"0".repeat(64)}`],
      ["X-Mollie-Signature", `sha256=${hmac("sha256", text(account), "hex", body)}`],
    ],
  },
  msteams: {
    secrets: keys.map((key) => key.toString("base64")),
    headers: ({ body }, account) => [["Authorization", `HMAC ${hmac("sha256", keys[account] ?? "", "base64", body)}`]],
  },
  netatmo: overBody("X-Netatmo-secret", "hex"),
  nuki: overBody("X-Nuki-Signature-SHA256", "hex"),
  enode: overBody("X-Enode-Signature", "hex", "sha1=", "sha1"),
  samsara: {
    secrets: keys.map((key) => key.toString("base64")),
    headers: ({ body, at }, account) => [
      ["X-Samsara-Timestamp", String(at)],
      ["X-Samsara-Signature", `v1=${hmac("sha256", keys[account] ?? "", "hex", `v1:${at}:`, body)}`],
    ],
  },
  "shopify-events": overBody("Shopify-Hmac-Sha256", "base64"),
  adyen: {
    secrets: keys.map((key) => key.toString("hex").toUpperCase()),
    ignoresBody: true,
    body: (bytes, account) => {
      const merchantReference = bytes.toString("latin1");
      const signed = `7914073381342284::TestMerchant:${merchantReference}:1130:EUR:AUTHORISATION:true`;
      const item = {
        additionalData: { hmacSignature: hmac("sha256", keys[account] ?? "", "base64", signed) },
        amount: { currency: "EUR", value: 1130 },
        eventCode: "AUTHORISATION",
        merchantAccountCode: "TestMerchant",
        merchantReference,
        pspReference: "7914073381342284",
        success: "true",
      };
      return json({ live: "false", notificationItems: [{ NotificationRequestItem: item }] });
    },
    headers: () => [],
  },
  "adyen-platforms": {
    secrets: keys.map((key) => key.toString("hex").toUpperCase()),
    headers: ({ body }, account) => [["HmacSignature", hmac("sha256", keys[account] ?? "", "base64", body)]],
  },
  smartcar: overBody("SC-Signature", "hex"),
  oura: {
    secrets: typed,
    headers: ({ body, at }, account) => [
      ["x-oura-timestamp", String(at)],
      ["x-oura-signature", hmac("sha256", text(account), "hex", String(at), body).toUpperCase()],
    ],
  },
  okta: token("Authorization", "Bearer "),
  strava: {
    secrets: tokens,
    ignoresBody: true,
    search: (_, account) => `state=${tokens[account] ?? ""}`,
    headers: () => [],
  },
  "standard-webhooks": standardWebhooks("webhook"),
  anthropic: standardWebhooks("webhook"),
  "supabase-auth": {
    ...standardWebhooks("webhook"),
    // As it shows and joins them.
    secrets: whsec.map((secret) => `v1,${secret}`),
    headers: (request, account) =>
      standardWebhooks("webhook")
        .headers(request, account)
        .map(([name, value]) => [name, value.replace(" v1a", ", v1a")]),
  },
  svix: standardWebhooks("svix"),
  "shared-secret": token("X-Token"),
  cloudevents: token("Authorization", "Bearer "),
  websub: overBody("X-Hub-Signature", "hex", "sha256="),
  hookdeck: overBody("x-hookdeck-signature", "base64"),
  convoy: overBody("X-Convoy-Signature", "hex"),
  "convoy-advanced": inOneField("X-Convoy-Signature", 300, (at, mac) => `t=${at},v1=${mac}`, { after: "," }),
  outpost: overBody("x-outpost-signature", "hex", "v0="),
  ringcentral: token("Verification-Token"),
  buildkite: inOneField("X-Buildkite-Signature", 300, (at, mac) => `timestamp=${at},signature=${mac}`),
  "buildkite-token": token("X-Buildkite-Token"),
  circleci: overBody("circleci-signature", "hex", "v1="),
  flux: overBody("X-Signature", "hex", "sha256="),
  terraform: overBody("X-TFE-Notification-Signature", "hex", "", "sha512"),
  pulumi: overBody("Pulumi-Webhook-Signature", "hex"),
  launchdarkly: overBody("X-LD-Signature", "hex"),
  flagsmith: overBody("X-Flagsmith-Signature", "hex"),
  infisical: {
    secrets: typed,
    window: 300,
    body: (bytes, _, at) => json({ data: bytes.toString("latin1"), timestamp: at * 1000 }),
    headers: ({ body, at }, account) => [
      ["x-infisical-signature", `t=${at * 1000};${hmac("sha256", text(account), "hex", body)}`],
    ],
  },
  sonarqube: overBody("X-Sonar-Webhook-HMAC-SHA256", "hex"),
  nexus: overBody("X-Nexus-Webhook-Signature", "hex", "", "sha1"),
  rootly: inOneField("X-Rootly-Signature", 300, (at, mac) => `t=${at},v1=${mac}`, { after: "" }),
  zitadel: inOneField("ZITADEL-Signature", 300, (at, mac) => `t=${at},v1=${"0".repeat(64)},v1=${mac}`),
  logto: overBody("logto-signature-sha-256", "hex"),
  huggingface: token("X-Webhook-Secret"),
  cloudflare: token("cf-webhook-auth"),
  "cloudflare-stream": inOneField("Webhook-Signature", 300, (at, mac) => `time=${at},sig1=${mac}`),
  expo: overBody("expo-signature", "hex", "sha1=", "sha1"),
  discourse: overBody("X-Discourse-Event-Signature", "hex", "sha256="),
  ghost: {
    secrets: typed,
    window: 300,
    headers: ({ body, at }, account) => [
      ["X-Ghost-Signature", `sha256=${hmac("sha256", text(account), "hex", body, `${at}000`)}, t=${at}000`],
    ],
  },
  outline: inOneField("Outline-Signature", 300, (at, mac) => `t=${at},s=${mac}`, { unit: "ms" }),
  vikunja: overBody("X-Vikunja-Signature", "hex"),
  plane: overBody("X-Plane-Signature", "hex"),
  openproject: overBody("X-OP-Signature", "hex", "sha1=", "sha1"),
  taiga: overBody("X-TAIGA-WEBHOOK-SIGNATURE", "hex", "", "sha1"),
  "nextcloud-talk": {
    secrets: typed,
    headers: ({ body, id }, account) => [
      ["X-Nextcloud-Talk-Random", id],
      ["X-Nextcloud-Talk-Signature", hmac("sha256", text(account), "hex", id, body)],
    ],
  },
  webex: overBody("X-Spark-Signature", "hex", "", "sha1"),
  viber: overBody("X-Viber-Content-Signature", "hex"),
  mattermost: tokenInBody("token"),
  front: {
    secrets: typed,
    window: 300,
    headers: ({ body, at }, account) => [
      ["X-Front-Request-Timestamp", `${at}000`],
      ["X-Front-Signature", hmac("sha256", text(account), "base64", `${at}000:`, body)],
    ],
  },
  "front-rules": overBody("X-Front-Signature", "base64", "", "sha1"),
  nylas: overBody("X-Nylas-Signature", "hex"),
  sanity: {
    secrets: typed,
    headers: ({ body, at }, account) => {
      const mac = hmac("sha256", text(account), "base64", `${at}000.`, body);
      return [
        ["sanity-webhook-signature", `t=${at}000,v1=${mac.replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}`],
      ];
    },
  },
  figma: tokenInBody("passcode"),
  easypost: overBody("X-Hmac-Signature", "hex", "hmac-sha256-hex="),
  gocardless: overBody("Webhook-Signature", "hex"),
  razorpay: overBody("X-Razorpay-Signature", "hex"),
  paystack: overBody("x-paystack-signature", "hex", "", "sha512"),
  aftership: overBody("aftership-hmac-sha256", "base64"),
  revolut: {
    secrets: typed.map((each) => `wsk_${each}`),
    window: 300,
    headers: ({ body, at }, account) => [
      ["Revolut-Request-Timestamp", `${at}000`],
      ["Revolut-Signature", `v1=${hmac("sha256", `wsk_${text(account)}`, "hex", `v1.${at}000.`, body)}`],
    ],
  },
  cashfree: {
    secrets: typed,
    headers: ({ body, at }, account) => [
      ["x-webhook-timestamp", `${at}000`],
      ["x-webhook-signature", hmac("sha256", text(account), "base64", `${at}000`, body)],
    ],
  },
  sendcloud: overBody("Sendcloud-Signature", "hex"),
  lemonsqueezy: overBody("X-Signature", "hex"),
  onfido: overBody("X-SHA2-Signature", "hex"),
  persona: inOneField("Persona-Signature", 300, (at, mac) => `t=${at},v1=${"0".repeat(64)} t=${at},v1=${mac}`),
  elevenlabs: inOneField("ElevenLabs-Signature", 1800, (at, mac) => `t=${at},v0=${mac}`),
  mux: inOneField("Mux-Signature", 300, (at, mac) => `t=${at},v1=${mac}`),
  pusher: overBody("X-Pusher-Signature", "hex"),
  sinch: {
    secrets: typed,
    window: 300,
    headers: ({ body, at, id }, account) => [
      ["x-sinch-webhook-signature-timestamp", String(at)],
      ["x-sinch-webhook-signature-nonce", id],
      ["x-sinch-webhook-signature", hmac("sha256", text(account), "base64", body, `.${id}.${at}`)],
    ],
  },
};

// tsx, which runs the tests, checks no types.
const missing = signingIds.filter((id) => !Object.hasOwn(signers, id));
if (missing.length > 0) throw new Error(`There is nothing of ${missing.join(", ")} here`);

/** The URL Standard's application/x-www-form-urlencoded, for one name or value. */
function decodeForm(part: string): string {
  const bytes: number[] = [];
  const encoded = Buffer.from(part.replaceAll("+", " ")).toString("latin1");
  for (let place = 0; place < encoded.length; place++) {
    const [escape] = /^%[0-9a-f]{2}/i.exec(encoded.slice(place, place + 3)) ?? [];
    bytes.push(escape ? parseInt(escape.slice(1), 16) : encoded.charCodeAt(place));
    if (escape) place += 2;
  }
  return Buffer.from(bytes).toString();
}
