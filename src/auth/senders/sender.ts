// What a row of the senders has. Nothing is imported, as the configuration builds on the rows.

/**
 * Where a value stands in a request:
 *
 * - `header:NAME`: the only field of that name, without the blanks around its value
 * - `sig:KEY`: the value of a key in the signature's header field, where `pick.kv` is used
 * - `json:a.0.b`: a string or number in the body, which is JSON; `*` stands for every element of an array, and nothing else
 * - `json?:a.0.b`: the same, or nothing where the body has no such member, or `null`
 * - `form:NAME`, `query:NAME`: a parameter of the body or of the URL
 * - `form!:NAME`: the only field of an urlencoded form: nothing else stands beside it
 * - `ce:NAME`: an attribute of a CloudEvent, or of each one of a batch
 * - `body`: the bytes of the body as they came over the wire
 * - `ts`: the timestamp as it came
 * - `method`: the request method
 * - `url`: the public URL as it is configured
 * - `url:hubspot`: its scheme, host and path with the query of the request, some escapes decoded
 * - `lit:TEXT`: the text itself
 */
export type Source =
  | `${"header" | "sig" | "json" | "json?" | "form" | "form!" | "query" | "ce" | "lit"}:${string}`
  | "body"
  | "ts"
  | "method"
  | "url"
  | "url:hubspot";

export const macAlgorithms = ["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const;
export const algorithms = [...macAlgorithms, "ed25519", "ecdsa-p256-sha256", "token", "code:twilio"] as const;
/** Of a certificate that the request names: no secret is shared. */
type CertificateAlgorithm = "code:sns" | "code:paypal";
export type Algorithm = (typeof algorithms)[number] | CertificateAlgorithm;

export function usesCertificate({ alg }: Pick<Scheme, "alg">): boolean {
  return alg === "code:sns" || alg === "code:paypal";
}

/** Whether sender and node have the same key, so that both can sign. */
export function hasSharedKey({ alg }: Pick<Scheme, "alg">): boolean {
  return [...macAlgorithms, "token", "code:twilio"].includes(alg);
}

/** Whether a signature covers the URL that the sender was given. */
export function signsUrl({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.some((source) => source === "url" || source === "url:hubspot");
}

/** Whether a signature covers the query of the request, whatever is in it. */
export function signsQuery({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.includes("url:hubspot");
}

/** Whether a signature covers the body; where it does not, one signature is good for any event. */
export function coversBody({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.includes("body");
}

/** How the secret is written: `ed25519-*` are 32 bytes, `spki-base64` is a DER SubjectPublicKeyInfo (RFC 5280 §4.1). */
export const keyFormats = ["utf8", "base64", "hex", "ed25519-hex", "ed25519-base64", "spki-base64"] as const;
type KeyFormat = (typeof keyFormats)[number];

/** RFC 4648 §4, §5 and §8; hexadecimal digits in either letter case. */
export const encodings = ["hex", "base64", "base64url"] as const;
export type Encoding = (typeof encodings)[number];

/** `iso8601` is the profile of RFC 3339. */
export const timeUnits = ["s", "ms", "iso8601"] as const;
export type TimeUnit = (typeof timeUnits)[number];

/** How requests are signed. Users write it for a custom sender, so its names are public. */
export interface Scheme {
  /** `token` compares the signature's field with the secret; `code:` names an algorithm of its own. */
  readonly alg: Algorithm;
  readonly key: {
    readonly format: KeyFormat;
    /** What may stand in front of the key and is no part of it: the first of these that is there. */
    readonly strip?: string | readonly string[] | null;
    /** Whether the whole secret, as UTF-8, may be the key as well: a secret does not always tell how its sender reads it. */
    readonly orText?: boolean | null;
  };
  readonly sig: {
    /** Each of these fields, where present, holds signatures. */
    readonly headers: readonly string[];
    /** The place of the signature, where it is in no header field. */
    readonly source?: Source | null;
    /** What separates the items of a field. */
    readonly split?: string | readonly string[] | null;
    /** Which items are signatures: those with a prefix, or the values of a key. */
    readonly pick?: { readonly prefix: string } | { readonly kv: string } | null;
    readonly enc?: Encoding | null;
  };
  /** The signed parts, concatenated. */
  readonly content: readonly Source[];
  readonly ts?: {
    readonly source: Source;
    readonly unit: TimeUnit;
    /** In seconds before and after now; `null`: any. */
    readonly tolerance: number | null;
  } | null;
  /** Header fields that must have these values, whether or not they are signed. */
  readonly requires?: Readonly<Record<string, string>>;
}

/** What a user enters for a sender besides the secrets; what is empty counts as not given. */
export interface Settings {
  /** The URL that the sender was given, where it signs that. */
  publicUrl?: string;
  signatureHeader?: string;
  timestampHeader?: string;
  /** The topic that was subscribed (WebSub §5.3). */
  topicUrl?: string;
  /** The topic that sends (Amazon SNS). */
  topicArn?: string;
  /** The id of the webhook at its sender (PayPal). */
  webhookId?: string;
  /** `sha1`, `sha256`, `sha384` or `sha512`. */
  alg?: string;
  /** Whether a sender that brings the secret itself may do so now. */
  arm?: boolean;
}

/** Entered besides the secret. */
type SettingName = keyof Settings | "verifyToken";

/**
 * A condition on a value: equal to one or one of several; with `is`, not empty, present, absent, or an empty list; or
 * equal to a configured value.
 */
export type Condition =
  | string
  | number
  | boolean
  | readonly string[]
  | { readonly is: "text" | "present" | "absent" | "emptyList" }
  | { readonly configured: "topicUrl" | "verifyToken" };

/** An HMAC-SHA256 of a value under the secret, with a prefix. */
export interface Mac {
  readonly mac: "hex" | "base64";
  readonly of: Source;
  readonly prefix?: string;
}

/** A request that must be answered and starts no flow. */
export interface Handshake {
  readonly method: "GET" | "HEAD" | "OPTIONS" | "POST";
  /** Whether its signature must be verified first. */
  readonly signed: boolean;
  readonly when: readonly (readonly [Source, Condition])[];
  /** The form of the whole body. */
  readonly form?: RegExp;
  /** The only members of the body's JSON. */
  readonly members?: readonly string[];
  /** Only while there is no secret and the operator has ticked *Accept secret*. */
  readonly secretMissing?: true;
  /** Patterns of echoed values; others get 400. */
  readonly restrict?: readonly (readonly [Source, RegExp])[];
  readonly reply: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, Source>>;
    /** A text, or the members of a JSON object. */
    readonly body?: Source | Readonly<Record<string, Source | number | Mac>>;
  };
  /** The status of other requests by the method. */
  readonly otherwise?: number;
  /** The value for the operator. */
  readonly show?: Source;
}

/** Where the key of a token is from: the issuer's key set (RFC 7517 §5), a public key in PEM, or a shared secret. */
export const keySources = ["jwks", "publicKey", "secret"] as const;
export type KeySource = (typeof keySources)[number];

/** What a sender documents of its JSON Web Tokens. It takes the place of saved fields; an empty value is not checked. */
export interface JwtPreset {
  readonly keySource: KeySource;
  readonly jwksUrl?: string;
  readonly headerParameter: string;
  readonly issuer: string;
  /** Missing where the user enters it. */
  readonly audience?: "";
  /** The claims that each token has, with their values as texts. */
  readonly claims?: Readonly<Record<string, string>>;
  /** The claim that the user must require, as anybody may get a token of this issuer for any audience. */
  readonly identity?: string;
  /** Empty where no claim is to be required. */
  readonly requiredClaim?: "";
  /** Where each token has the digest of the body; it needs no `exp` then. */
  readonly bodyDigest?: BodyDigest;
}

/** The SHA-256 of the body in a claim. */
export interface BodyDigest {
  readonly claim: string;
  /** With or without padding. */
  readonly encoding: Encoding;
  /** Whether it is that of the parameters, as a JSON object, by GET; without this, a body is signed and they are not. */
  readonly ofQuery?: true;
}

interface Named {
  /** Not translated. */
  readonly name: string;
  /** Other names of it, and products that send the same requests: each is listed and found as well. */
  readonly aliases?: readonly string[];
  /** The sender's documentation. */
  readonly docs: string;
}

/** A sender that signs its requests, or sends a secret in a way of its own. */
export interface Sender extends Named {
  /** Where it shows the secret, in its own words. */
  readonly where?: string;
  /** The one to choose, where its user chooses the type of the body. */
  readonly contentType?: "application/json";
  readonly scheme: Scheme;
  /** How it signs what it sends as a form, where it does that in another way. */
  readonly formScheme?: Scheme;
  /** For a sender of JSON Web Tokens. */
  readonly jwt?: JwtPreset;
  /** How it signs where the secret is a public key, which begins so. */
  readonly publicKey?: { readonly begins: string; readonly scheme: Scheme };
  /** Whether the user chooses the secret; else the sender shows or sends it. */
  readonly secretIsChosen?: true;
  /** The prefix of its secrets. */
  readonly secretBegins?: string;
  readonly settings?: readonly SettingName[];
  /**
   * Groups of header fields with the beginnings of their values, in any letter case; one group identifies the sender.
   * The strongest comes first.
   */
  readonly recognise?: readonly Readonly<Record<string, string>>[];
  /** The ids of senders whose header fields it sends besides its own; `*`: of any. */
  readonly before?: readonly string[];
  /** The member of the JSON body with the payload, as text. */
  readonly payload?: string;
  /** Where the event type is: the first place with a value. With `*`, a batch has one for each event. */
  readonly events?: readonly Source[];
  /** Events that it documents, separated by `, `, with those first that most users want. It has more, and adds some. */
  readonly eventNames?: string;
  /**
   * The sender's id of the delivery: the first place with a value; with `*`, those of its events. `signed`: whether the
   * signature covers it. `scope`: the places of what it is unique within, if not within all that the sender sends.
   */
  readonly id?: { readonly from: readonly Source[]; readonly scope?: readonly Source[]; readonly signed: boolean };
  /** Which subscriptions a request belongs to, and when each expires: a time of RFC 3339. */
  readonly subscriptions?: { readonly ids: Source; readonly expiries: Source };
  readonly handshakes?: readonly Handshake[];
  /** For a sender that accepts no body in the reply to an accepted request, or in any reply. */
  readonly emptyReply?: { readonly to: "accepted" | "all"; readonly status: 200 | 204 };
}

/**
 * A sender that takes a URL, a header or a password of the user's choice: how the form is filled in. The runtime treats
 * it as "any sender".
 */
export interface Recipe extends Named {
  /** What is filled in besides the defaults. */
  readonly fields: {
    readonly verificationMethod: "header" | "query" | "basic";
    readonly headerParameter?: string;
    readonly queryParameter?: string;
    readonly methods?: readonly string[];
    readonly replyBody?: string;
  };
  /** Whether the sender writes `Bearer` itself. */
  readonly tokenAlone?: true;
  /** Where the values are entered, in the sender's own words. */
  readonly where: string;
}

export type SenderRow = Sender | Recipe;

// What the form needs to check a secret, without Node.js.

const alphabets: Readonly<Record<Encoding, RegExp>> = {
  hex: /^(?:[0-9a-f]{2})*$/i,
  base64: /^[A-Za-z0-9+/]*={0,2}$/,
  base64url: /^[A-Za-z0-9_-]*={0,2}$/,
};

/**
 * Whether a text is in an encoding (RFC 4648), without the leniency of `Buffer.from`, which skips other characters.
 * Padding may be absent; where it is there, it must be right.
 */
export function isEncoded(text: string, encoding: Encoding): boolean {
  if (!alphabets[encoding].test(text)) return false;
  const padding = encoding === "hex" ? -1 : text.indexOf("=");
  const length = padding === -1 ? text.length : padding;
  return length % 4 !== 1 && (padding === -1 || text.length % 4 === 0);
}

/** A text in base64 without its padding. */
export function stripPadding(text: string): string {
  const padding = text.indexOf("=");
  return padding === -1 ? text : text.slice(0, padding);
}

/** The scheme for a secret, which may be a public key. */
export function schemeForSecret({ scheme, publicKey }: Pick<Sender, "scheme" | "publicKey">, secret: string): Scheme {
  return publicKey && secret.startsWith(publicKey.begins) ? publicKey.scheme : scheme;
}

/** The prefix of a secret that is no part of the key; empty where there is none. */
function findPrefix(secret: string, { strip }: Pick<Scheme["key"], "strip">): string {
  return [strip ?? ""].flat().find((prefix) => secret.startsWith(prefix)) ?? "";
}

/** What stands in front of secrets, and is none: `whsec_`, `polar_whs_`, `v1,whsec_`. */
const barePrefix = /^(?:v1a?,)?(?:[a-z]+_)*$/;

interface KeyText {
  readonly text: string;
  readonly format: KeyFormat;
}

/**
 * The keys that a secret may be, as its sender shows it; none where it has not the format of a key. Whether a public key
 * is one, only Node.js can tell.
 */
export function readSecret(secret: string, key: Scheme["key"]): KeyText[] {
  const prefix = findPrefix(secret, key);
  const text = secret.slice(prefix.length);
  const isKey = hasKeyFormat(text, key.format);
  const keys: KeyText[] = isKey ? [{ text, format: key.format }] : [];
  // What has the prefix of a key and is none has been typed wrong.
  const isText = key.orText && (isKey || prefix === "") && !barePrefix.test(secret);
  return isText ? [...keys, { text: secret, format: "utf8" }] : keys;
}

function hasKeyFormat(text: string, format: KeyFormat): boolean {
  switch (format) {
    case "utf8":
      return text !== "";
    case "hex":
    case "base64":
      return text !== "" && isEncoded(text, format);
    case "ed25519-hex":
      return text.length === 64 && isEncoded(text, "hex");
    case "ed25519-base64":
      return stripPadding(text).length === 43 && isEncoded(text, "base64");
    default:
      return text !== "" && isEncoded(text, "base64");
  }
}

// Shared by several senders.

/** The most common algorithm. */
export const hmacSha256 = { alg: "hmac-sha256", key: { format: "utf8" } } as const;
/** The secret itself is sent. */
export const tokenOnly = { alg: "token", key: { format: "utf8" }, content: [] } as const;

/** HMAC-SHA256 of the body, in one of these header fields. */
export function signedBody(fields: string | readonly string[], enc: Encoding, prefix?: string): Scheme {
  const pick = prefix === undefined ? {} : { pick: { prefix } };
  return { ...hmacSha256, sig: { headers: [fields].flat(), ...pick, enc }, content: ["body"] };
}

/**
 * HMAC-SHA256 of the time, a full stop and the body: a field has both by their keys, and may have several signatures.
 *
 * @param tolerance in seconds
 */
export function signedWithTime(
  field: string,
  {
    time = "t",
    signature = "v1",
    unit = "s",
    tolerance = 300,
  }: { time?: string; signature?: string; unit?: TimeUnit; tolerance?: number } = {},
): Scheme {
  return {
    ...hmacSha256,
    sig: { headers: [field], split: ",", pick: { kv: signature }, enc: "hex" },
    content: ["ts", "lit:.", "body"],
    ts: { source: `sig:${time}`, unit, tolerance },
  };
}

/** The JSON is signed, and then sent as it is, or as the only field of a form. */
export function signedPayload(field: string): Pick<Sender, "scheme" | "formScheme"> {
  const scheme = signedBody(field, "hex");
  return { scheme, formScheme: { ...scheme, content: ["form!:payload"] } };
}

export function tokenIn(field: string, prefix?: string): Scheme {
  return { ...tokenOnly, sig: { headers: [field], ...(prefix !== undefined && { pick: { prefix } }) } };
}

/** Supabase shows its secrets as `v1,whsec_…`. */
const shownPrefixes = ["v1,whsec_", "whsec_"] as const;
/** Of Standard Webhooks, and of Supabase. */
const signatureSeparators = [", ", " "] as const;

/** Standard Webhooks, "Signature scheme", and what it came from: the fields' names differ. */
export function standardWebhooks<Prefix extends string>(prefix: Prefix) {
  return {
    alg: "hmac-sha256",
    key: { format: "base64", strip: shownPrefixes },
    sig: { headers: [`${prefix}-signature`], split: signatureSeparators, pick: { prefix: "v1," }, enc: "base64" },
    content: [`header:${prefix}-id`, "lit:.", "ts", "lit:.", "body"],
    ts: { source: `header:${prefix}-timestamp`, unit: "s", tolerance: 300 },
  } as const satisfies Scheme;
}

/** The same, signed with a key pair. */
export function standardWebhooksByKey(prefix: string) {
  const scheme: Scheme = {
    ...standardWebhooks(prefix),
    alg: "ed25519",
    key: { format: "ed25519-base64", strip: "whpk_" },
    sig: { headers: [`${prefix}-signature`], split: signatureSeparators, pick: { prefix: "v1a," }, enc: "base64" },
  };
  return { begins: "whpk_", scheme };
}

/** Browsers do not show this echo as a page. */
export const plainText = {
  "Content-Type": "lit:text/plain; charset=utf-8",
  "X-Content-Type-Options": "lit:nosniff",
} as const;

/** A challenge that may be echoed: no markup, and no signed content. */
export const challenge = /^[A-Za-z0-9._~-]{1,256}$/;

/** A test of the URL or a heartbeat, which tells a flow nothing. */
export function ping(source: Source, ...names: readonly string[]): Handshake {
  return { method: "POST", signed: true, when: [[source, names]], reply: { status: 200 } };
}

/** The check of a subscription, as Meta and Strava send it. */
export const subscription = {
  method: "GET",
  signed: false,
  when: [
    ["query:hub.mode", "subscribe"],
    ["query:hub.verify_token", { configured: "verifyToken" }],
  ],
  restrict: [["query:hub.challenge", challenge]],
  otherwise: 403,
} as const;

/** CloudEvents' HTTP 1.1 Web Hooks §4. */
export const abuseProtection = {
  method: "OPTIONS",
  signed: false,
  when: [["header:WebHook-Request-Origin", { is: "present" }]],
  restrict: [["header:WebHook-Request-Origin", /^[A-Za-z0-9._:/*-]{1,255}$/]],
  reply: {
    status: 200,
    headers: {
      "WebHook-Allowed-Origin": "header:WebHook-Request-Origin",
      "WebHook-Allowed-Rate": "lit:*",
      Allow: "lit:POST",
    },
  },
} as const satisfies Handshake;
