import { createHmac } from "node:crypto";

/** A request as a sender's documentation says that it comes. */
export interface Sent {
  search?: string;
  headers: Record<string, string>;
  body: string;
}

/** What the documentation of a sender says that it sends to whoever has given it a token, or shares a secret with it. */
export type Sender = (credential: string, event?: string) => Sent;

const json = { "Content-Type": "application/json" };
const form = { "Content-Type": "application/x-www-form-urlencoded" };
const hmac = (secret: string, encoding: "hex" | "base64", text: string) =>
  createHmac("sha256", secret).update(text).digest(encoding);
const now = () => String(Math.floor(Date.now() / 1000));

/**
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads,
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export const github: Sender = (secret, event = "ping") => {
  const bodies: Record<string, unknown> = {
    ping: { zen: "Design for failure.", hook_id: 1, hook: { type: "Repository", active: true, events: ["push"] } },
    push: { ref: "refs/heads/main", commits: [], repository: { full_name: "shop/orders" } },
    issues: { action: "opened", issue: { number: 1, title: "Grüße 👋" }, repository: { full_name: "shop/orders" } },
  };
  const body = JSON.stringify(bodies[event]);
  return {
    headers: {
      ...json,
      "User-Agent": "GitHub-Hookshot/044aadd",
      "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "X-GitHub-Event": event,
      "X-GitHub-Hook-ID": "1",
      "X-Hub-Signature-256": `sha256=${hmac(secret, "hex", body)}`,
    },
    body,
  };
};

/** https://docs.stripe.com/webhooks#verify-manually, https://docs.stripe.com/api/events/object */
export const stripe: Sender = (secret, type = "checkout.session.completed") => {
  const event = {
    id: "evt_1NG8Du2eZvKYlo2CUI79vXWy",
    object: "event",
    api_version: "2019-02-19",
    created: 1686089970,
    data: { object: { id: "cs_1", object: type.replace(/\.\w+$/, ""), amount_total: 4200, currency: "eur" } },
    livemode: false,
    type,
  };
  // It is sent with indentation, as a person would write it.
  const body = JSON.stringify(event, null, 2);
  const time = now();
  return {
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      "Stripe-Signature": `t=${time},v1=${hmac(secret, "hex", `${time}.${body}`)},v0=${"0".repeat(64)}`,
    },
    body,
  };
};

/** https://shopify.dev/docs/apps/build/webhooks/verify-deliveries */
export const shopify: Sender = (secret) => {
  const body = '{"id":820982911946154508,"email":"jon@example.com","total_price":"403.00","note":"a\\/b"}';
  return {
    headers: {
      ...json,
      "X-Shopify-Topic": "orders/create",
      "X-Shopify-Hmac-Sha256": hmac(secret, "base64", body),
      "X-Shopify-Shop-Domain": "shop.myshopify.com",
      "X-Shopify-API-Version": "2026-10",
      "X-Shopify-Webhook-Id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
    },
    body,
  };
};

/**
 * https://docs.slack.dev/authentication/verifying-requests-from-slack/, https://docs.slack.dev/apis/events-api/
 *
 * @param event `url_verification` for the question that comes when the URL is entered
 */
export const slack: Sender = (secret, event = "app_mention") => {
  const told =
    event === "url_verification"
      ? { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd", type: event }
      : { type: "event_callback", event_id: "Ev123ABC456", event: { type: event, text: "Grüße 👋" } };
  return signedBySlack(secret, JSON.stringify(told), json);
};

function signedBySlack(secret: string, body: string, type: Record<string, string>): Sent {
  const time = now();
  const signature = `v0=${hmac(secret, "hex", `v0:${time}:${body}`)}`;
  return { headers: { ...type, "X-Slack-Request-Timestamp": time, "X-Slack-Signature": signature }, body };
}

/**
 * https://docs.slack.dev/interactivity/implementing-slash-commands/
 *
 * @param text what the user has written behind the command
 */
export const slashCommand: Sender = (secret, text = "94070") => {
  const body = String(
    new URLSearchParams({
      token: "gIkuvaNzQIHg97ATvDxqgjtO",
      team_id: "T0001",
      team_domain: "example",
      channel_id: "C2147483705",
      channel_name: "test",
      user_id: "U2147483697",
      user_name: "steve",
      command: "/weather",
      text,
      response_url: "https://hooks.slack.com/commands/1234/5678",
      trigger_id: "13345224609.738474920.8088930838d88f008e0",
      api_app_id: "A123456",
    }),
  );
  return signedBySlack(secret, body, form);
};

/** Where Node-RED is, as senders see it that sign the URL. */
export const publicOrigin = "https://nodered.example";

/**
 * https://www.twilio.com/docs/voice/twiml#request-parameters, https://www.twilio.com/docs/usage/security#validating-requests
 *
 * @param from who calls
 */
export const twilioCall: Sender = (secret, from = "+14158675309") => {
  const fields = {
    CallSid: "CA1234567890ABCDE",
    AccountSid: "AC1234567890ABCDE",
    From: from,
    To: "+18005551212",
    CallStatus: "ringing",
    ApiVersion: "2010-04-01",
    Direction: "inbound",
  };
  const sorted = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  const signed = `${publicOrigin}/twilio/call${sorted.flat().join("")}`;
  return {
    headers: { ...form, "X-Twilio-Signature": createHmac("sha1", secret).update(signed).digest("base64") },
    body: String(new URLSearchParams(fields)),
  };
};

/** https://docs.gitlab.com/user/project/integrations/webhook_events/ */
export const gitlab: Sender = (token) => ({
  headers: {
    ...json,
    "User-Agent": "GitLab/18.5.0",
    "X-Gitlab-Event": "Push Hook",
    "X-Gitlab-Instance": "https://gitlab.example",
    "X-Gitlab-Token": token,
  },
  body: JSON.stringify({
    object_kind: "push",
    event_name: "push",
    ref: "refs/heads/main",
    project: { id: 1, path_with_namespace: "shop/orders" },
    commits: [{ id: "1f0c7d2", title: "Add an order", added: ["orders/42"], modified: [], removed: [] }],
    total_commits_count: 1,
  }),
});

/** https://core.telegram.org/bots/api#setwebhook, #update */
export const telegram: Sender = (token) => ({
  headers: { ...json, "X-Telegram-Bot-Api-Secret-Token": token },
  body: JSON.stringify({
    update_id: 10_000,
    message: { message_id: 1, date: 1_700_000_000, chat: { id: 1, type: "private" }, text: "Grüße 👋" },
  }),
});

/** https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
export const grafana: Sender = (token) => ({
  headers: { ...json, "User-Agent": "Grafana", Authorization: `Bearer ${token}` },
  body: JSON.stringify({
    receiver: "Node-RED",
    status: "firing",
    orgId: 1,
    alerts: [{ status: "firing", labels: { alertname: "Cold store" }, values: { B: 44.239, C: 1 } }],
    groupKey: '{}:{alertname="Cold store"}',
    truncatedAlerts: 0,
    state: "alerting",
  }),
});

/** The sender that the documentation of custom signatures makes up. */
export const acme: Sender = (secret) => {
  const body = '{"order": 42}';
  const time = now();
  return {
    headers: { ...json, "X-Acme-Timestamp": time, "X-Acme-Signature": `v1=${hmac(secret, "hex", `${time}.${body}`)}` },
    body,
  };
};
