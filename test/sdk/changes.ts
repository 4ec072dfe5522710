import type { Scheme } from "../../src/auth/senders/sender";
import type { Sent } from "./library";

/** What happens to a request on its way; nothing where a scheme has no place for it. */
type Alter = (sent: Sent, scheme: Scheme) => Sent | undefined;

/** The last run of digits that is long enough for a signature. */
const proof = /[A-Za-z0-9+/]{27,}=*(?=[^A-Za-z0-9+/]*$|[^A-Za-z0-9+/][^+/]{0,9}$)/;

/** The signature of a request, without what stands around it. */
export function proofOf({ fields }: Sent, { sig }: Scheme): string {
  const [, value = ""] = fields.find(([name]) => sig.headers.includes(name)) ?? [];
  return proof.exec(value)?.[0] ?? "";
}

/** A request with another signature. */
export function inProof(sent: Sent, scheme: Scheme, replace: (signature: string) => string): Sent {
  const signature = proofOf(sent, scheme);
  const fields = sent.fields.map(([name, value]): [string, string] => [
    name,
    scheme.sig.headers.includes(name) ? value.replace(signature, () => replace(signature)) : value,
  ]);
  return { ...sent, fields };
}

/** Where a request has its time: `replace` is given its digits. */
export function inTime(sent: Sent, scheme: Scheme, replace: (time: string) => string): Sent | undefined {
  const [from, name = ""] = scheme.ts?.source.split(":") ?? [];
  const inField = (field: string, find: RegExp): Sent => ({
    ...sent,
    fields: sent.fields.map(([each, value]) => [each, each === field ? value.replace(find, replace) : value]),
  });
  if (from === "header") return inField(name, /\d+/);
  if (from === "sig") return inField(scheme.sig.headers[0] ?? "", new RegExp(`(?<=\\b${name}=)\\d+`));
  if (from !== "json") return undefined;
  const body = sent.body.toString().replace(new RegExp(`(?<="${name}":)\\d+`), replace);
  return { ...sent, body: Buffer.from(body) };
}

/** The signature with one bit changed, in the encoding that it came in. */
export function withBit(signature: string, { alg, sig }: Scheme, bit: number): string {
  const bytes = Buffer.from(signature, sig.enc ?? "hex");
  // ECDSA's are DER: only its end is a number for sure, the rest also says how long all is.
  const start = alg === "ecdsa-p256-sha256" ? bytes.length - 24 : 0;
  return Buffer.concat([bytes.subarray(0, start), flipped(bytes.subarray(start), bit)]).toString(sig.enc ?? "hex");
}

/** The same bytes but for one bit, of which there may be more than they have. */
export function flipped(bytes: Buffer, bit: number): Buffer {
  const changed = Buffer.from(bytes);
  const place = (bit >> 3) % bytes.length;
  changed.writeUInt8((bytes[place] ?? 0) ^ (1 << (bit & 7)), place);
  return changed;
}

/** The second byte of DER says how many there are (X.690 §8.1.3). */
function withOtherLength(signature: string): string {
  const bytes = Buffer.from(signature, "base64");
  bytes.writeUInt8(bytes.length, 1);
  return bytes.toString("base64");
}

/** An item more, where a signature stands in a list of them. */
function beside(scheme: Scheme, list: (right: string, wrong: string, split: string) => string): Alter {
  return (sent) => {
    const { split, pick } = scheme.sig;
    if (!split || !pick) return undefined;
    const before = "kv" in pick ? `${pick.kv}=` : pick.prefix;
    return inProof(sent, scheme, (right) => list(right, withBit(right, scheme, 0), split + before));
  };
}

const bodyAs =
  (replace: (body: Buffer) => Buffer): Alter =>
  (sent) => ({ ...sent, body: replace(sent.body) });

const signatureAs =
  (replace: (signature: string) => string, wants?: Scheme["sig"]["enc"]): Alter =>
  (sent, scheme) =>
    wants && scheme.sig.enc !== wants ? undefined : inProof(sent, scheme, replace);

const timeAs =
  (replace: (time: string) => string): Alter =>
  (sent, scheme) =>
    inTime(sent, scheme, replace);

export const changes = {
  none: (sent) => sent,
  "a blank behind the body": bodyAs((body) => Buffer.concat([body, Buffer.from(" ")])),
  "no body": bodyAs(() => Buffer.alloc(0)),
  "capital digits": signatureAs((signature) => signature.toUpperCase(), "hex"),
  "no padding": signatureAs((signature) => signature.replace(/=+$/, ""), "base64"),
  "bits beside its bytes": signatureAs(
    // The alphabet has one more for each that ends a signature.
    (signature) => signature.replace(/.(?==)/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    "base64",
  ),
  "the other alphabet": signatureAs((signature) => Buffer.from(signature, "base64").toString("base64url"), "base64"),
  "another length in its DER": (sent, scheme) =>
    scheme.alg === "ecdsa-p256-sha256" ? inProof(sent, scheme, withOtherLength) : undefined,
  "a blank inside": signatureAs((signature) => `${signature.slice(0, 8)} ${signature.slice(8)}`),
  "something behind it": signatureAs((signature) => `${signature}!`),
  "something in front of it": signatureAs((signature) => `0x${signature}`),
  "a byte too few": signatureAs((signature) => signature.slice(0, -4)),
  "no digits": signatureAs(() => ""),
  "no signature": (sent, { sig }) => ({
    ...sent,
    fields: sent.fields.filter(([name]) => !sig.headers.includes(name)),
  }),
  "without its prefix": (sent, { sig: { headers, pick, split } }) => {
    if (!pick || !("prefix" in pick) || split) return undefined;
    const bare = ([name, value]: [string, string]): [string, string] => [
      name,
      headers.includes(name) ? value.slice(pick.prefix.length) : value,
    ];
    return { ...sent, fields: sent.fields.map(bare) };
  },
  "a wrong signature in front of it": (sent, scheme) =>
    beside(scheme, (right, wrong, between) => wrong + between + right)(sent, scheme),
  "a wrong signature behind it": (sent, scheme) =>
    beside(scheme, (right, wrong, between) => right + between + wrong)(sent, scheme),
  "time a second on": timeAs((time) => time.replace(/\d$/, (last) => String((Number(last) + 1) % 10))),
  "time with a zero in front": timeAs((time) => `0${time}`),
  "time with something behind it": timeAs((time) => `${time}x`),
  "no time": timeAs(() => ""),
} as const satisfies Record<string, Alter>;

/** When a request was signed: so many seconds before now, by the window of its sender. */
export const ages = {
  "signed as long ago as may be": (window: number) => window,
  "signed as far ahead as may be": (window: number) => -window,
  "signed too long ago": (window: number) => window + 1,
  "signed too far ahead": (window: number) => -window - 1,
  "signed a year ahead": () => -31_536_000,
} as const;

export type Change = keyof typeof changes | keyof typeof ages;

/** After which a request is still what its sender has signed, and in time. */
export const harmless: readonly Change[] = [
  "none",
  "capital digits",
  "no padding",
  "a wrong signature in front of it",
  "a wrong signature behind it",
  "signed as long ago as may be",
  "signed as far ahead as may be",
];
