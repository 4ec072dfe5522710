// What is known of a sender: how it signs, how it is told from others, and what it wants to be answered.

/**
 * Where a value stands in a request:
 *
 * - `header:NAME`: the only field of that name, without the blanks around its value
 * - `sig:KEY`: the value of a key in the signature's header field, where `pick.kv` is used
 * - `json:a.0.b`: a string or number in the body, which is JSON; `*` stands for every element of an array
 * - `form:NAME`, `query:NAME`: a parameter of the body or of the URL
 * - `body`: the bytes of the body as they came over the wire
 * - `ts`: the timestamp as it came
 * - `method`: the request method
 * - `url`: the public URL as it is configured
 * - `url:hubspot`: its scheme, host and path with the query of the request, some escapes decoded
 * - `lit:TEXT`: the text itself
 */
export type Source =
  | `${"header" | "sig" | "json" | "form" | "query" | "lit"}:${string}`
  | "body"
  | "ts"
  | "method"
  | "url"
  | "url:hubspot";

export const macAlgorithms = ["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const;
export const algorithms = [...macAlgorithms, "ed25519", "ecdsa-p256-sha256", "token", "code:twilio"] as const;
export type Algorithm = (typeof algorithms)[number];

/** How the secret is written: `ed25519-*` are 32 bytes, `spki-base64` is a DER SubjectPublicKeyInfo (RFC 5280 §4.1). */
export const keyFormats = ["utf8", "base64", "hex", "ed25519-hex", "ed25519-base64", "spki-base64"] as const;
type KeyFormat = (typeof keyFormats)[number];

/** RFC 4648 §4, §5 and §8; hexadecimal digits in either letter case. */
export const encodings = ["hex", "base64", "base64url"] as const;
export type Encoding = (typeof encodings)[number];

/** `iso8601` is the profile of RFC 3339. */
export const timeUnits = ["s", "ms", "iso8601"] as const;
export type TimeUnit = (typeof timeUnits)[number];

/** How requests are signed. This is also what a user writes for a sender that has no row, so its names are public. */
export interface Scheme {
  /** `token` compares what the signature's field holds with the secret; a `code:` is what no row can say. */
  readonly alg: Algorithm;
  readonly key: {
    readonly format: KeyFormat;
    /** What is taken off the front of the secret, where it is there, before it is decoded. */
    readonly strip?: string | null;
  };
  readonly sig: {
    /** Each of these fields that is present holds signatures. */
    readonly headers: readonly string[];
    /** Where the signature stands instead of in a field. */
    readonly source?: Source | null;
    /** What stands between the items of a field; one item where there is none. */
    readonly split?: string | null;
    /** Which items are signatures: those that begin so, without the beginning, or the values of a key. */
    readonly pick?: { readonly prefix: string } | { readonly kv: string } | null;
    readonly enc?: Encoding | null;
  };
  /** What is signed: the parts one after the other, with nothing between them. */
  readonly content: readonly Source[];
  readonly ts?: {
    readonly source: Source;
    readonly unit: TimeUnit;
    /** How far from now it may be, before and after, in seconds; any distance where there is none. */
    readonly tolerance: number | null;
  } | null;
}

/** What a user enters besides the secret. */
type SettingName = "publicUrl" | "signatureHeader" | "timestampHeader" | "topicUrl" | "alg" | "arm" | "verifyToken";

/**
 * What must hold of a value: to be this one, or one of these; or, with `is`, to be a text with something in it, to be
 * there or not to be there, to be an empty list; or to be what is configured.
 */
export type Condition =
  | string
  | number
  | readonly string[]
  | { readonly is: "text" | "present" | "absent" | "emptyList" }
  | { readonly configured: "topicUrl" | "verifyToken" };

/** An HMAC-SHA256 of a value under the secret, behind a prefix. */
export interface Mac {
  readonly mac: "hex" | "base64";
  readonly of: Source;
  readonly prefix?: string;
}

/** A request that must be answered and that starts no flow. */
export interface Handshake {
  readonly method: "GET" | "HEAD" | "OPTIONS" | "POST";
  /** Whether it is answered only after its signature was verified. */
  readonly signed: boolean;
  readonly when: readonly (readonly [Source, Condition])[];
  /** A form that the bytes of the body have, and its media type. */
  readonly form?: RegExp;
  /** The only members of the body's JSON. */
  readonly members?: readonly string[];
  /** Only while there is no secret, and only while the operator has armed it. */
  readonly secretMissing?: true;
  /** What a value must look like; any other is answered with 400, and not said back. */
  readonly restrict?: readonly (readonly [Source, RegExp])[];
  readonly reply: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, Source>>;
    /** A text, or the members of a JSON object. */
    readonly body?: Source | Readonly<Record<string, Source | number | Mac>>;
  };
  /** The status for other requests of the method. */
  readonly otherwise?: number;
  /** What is shown to the operator. */
  readonly show?: Source;
}

export interface Sender {
  /** Its own name, which is not translated. */
  readonly name: string;
  /** Its own documentation. */
  readonly docs: string;
  readonly scheme: Scheme;
  /** Whether its user makes the secret up and enters it there as well; else the sender has it, and shows or sends it. */
  readonly secretIsChosen?: true;
  /** What its secrets begin with. */
  readonly secretBegins?: string;
  readonly settings?: readonly SettingName[];
  /**
   * What tells its requests: fields that are there, each beginning with a text, in any letter case. One group of them is
   * enough; the strongest comes first.
   */
  readonly recognise?: readonly Readonly<Record<string, string>>[];
  /** The type of the event. */
  readonly event?: Source;
  /** Its own id of the delivery: the first place that has one. `signed` tells whether the signature covers it. */
  readonly id?: { readonly from: readonly Source[]; readonly signed: boolean };
  readonly handshakes?: readonly Handshake[];
  /** Where a body would harm: in a success, or in every reply. */
  readonly emptyReply?: { readonly to: "accepted" | "all"; readonly status: 200 | 204 };
}

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

/** A secret without the prefix that is no part of its key. */
export function stripPrefix(secret: string, { strip }: Pick<Scheme["key"], "strip">): string {
  return strip && secret.startsWith(strip) ? secret.slice(strip.length) : secret;
}

/** Whether a secret has the format of a key. Whether a public key is one, only Node.js can tell. */
export function hasKeyFormat(secret: string, key: Scheme["key"]): boolean {
  const text = stripPrefix(secret, key);
  switch (key.format) {
    case "utf8":
      return text !== "";
    case "hex":
    case "base64":
      return text !== "" && isEncoded(text, key.format);
    case "ed25519-hex":
      return text.length === 64 && isEncoded(text, "hex");
    default:
      return text !== "" && isEncoded(text, "base64");
  }
}

// What several senders have in common.

/** What most senders use. */
export const hmacSha256 = { alg: "hmac-sha256", key: { format: "utf8" } } as const;
/** The secret itself is sent. */
export const tokenOnly = { alg: "token", key: { format: "utf8" }, content: [] } as const;

/** Standard Webhooks, "Signature scheme", and what it came from: the fields' names differ. */
export function standardWebhooks<Prefix extends string>(prefix: Prefix) {
  return {
    alg: "hmac-sha256",
    key: { format: "base64", strip: "whsec_" },
    sig: { headers: [`${prefix}-signature`], split: " ", pick: { prefix: "v1," }, enc: "base64" },
    content: [`header:${prefix}-id`, "lit:.", "ts", "lit:.", "body"],
    ts: { source: `header:${prefix}-timestamp`, unit: "s", tolerance: 300 },
  } as const satisfies Scheme;
}

/** An echo that no browser takes for a page. */
export const plainText = {
  "Content-Type": "lit:text/plain; charset=utf-8",
  "X-Content-Type-Options": "lit:nosniff",
} as const;

/** A challenge that can be echoed: nothing that is markup, or a signature's content. */
export const challenge = /^[A-Za-z0-9._~-]{1,256}$/;

/** CloudEvents' HTTP 1.1 Web Hooks §4: how a sender asks whether it may come. */
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
