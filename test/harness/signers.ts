/**
 * The senders' side. How each one signs is read from its row by code of its own, which shares none with what verifies;
 * that the rows are right is told by requests made with other tools (`test/data`).
 */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { coversBody, type Scheme, type Source, signsUrl, usesCertificate } from "../../src/auth/senders/sender";
import { findJwtPreset, type JwtSenderId, type SenderId, senderIds, senders } from "../../src/auth/senders/table";

export interface Signer {
  /** A secret as the sender's user has it, for each of three accounts. */
  secrets: readonly string[];
  /** Makes the body that it sends of any bytes, where it cannot be any. */
  body?: (bytes: Buffer, account: number, at: number) => Buffer;
  /** The header fields of its proof. */
  headers: (request: Unsigned, account: number) => [string, string][];
  /** What the URL has from the sender, without a question mark. */
  search: (request: Unsigned, account: number) => string;
  publicUrl?: string;
  /** The tolerance of the time in a request, in seconds. */
  window?: number;
  /** Whether the signature does not cover the body. */
  ignoresBody: boolean;
}

export interface Unsigned {
  body: Buffer;
  /** In seconds. */
  at: number;
  id: string;
}

/** Those that sign their requests, or send the secret itself. */
export type SigningId = Exclude<SenderId, "custom" | "amazon-sns" | "paypal" | JwtSenderId>;
export const signingIds = senderIds.filter(
  (id): id is SigningId => id !== "custom" && !findJwtPreset(id) && !usesCertificate(senders[id].scheme),
);

const publicUrl = "https://hooks.example.com/red/hook";
const typed = ["It's a Secret to Everybody", "zwölf Boxkämpfer", "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH"];
/** They stand in header fields. */
const tokens = ["glwh-7f3a_Token", "Zx9_token-ABC", "0123456789"];
const keys = typed.map((text) => createHmac("sha256", "keys").update(text).digest());
const ed25519 = typed.map(() => generateKeyPairSync("ed25519"));
const p256 = typed.map(() => generateKeyPairSync("ec", { namedCurve: "prime256v1" }));

interface Account {
  secret: string;
  key: string | Buffer | KeyObject;
}

function accountsOf({ alg, key }: Scheme, prefix: string): Account[] {
  const raw = (publicKey: KeyObject) => Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  switch (key.format) {
    case "utf8":
      return (alg === "token" ? tokens : typed).map((text) => ({ secret: prefix + text, key: prefix + text }));
    case "hex":
    case "base64":
      return keys.map((bytes) => ({ secret: prefix + bytes.toString(key.format as "hex" | "base64"), key: bytes }));
    case "ed25519-hex":
    case "ed25519-base64":
      return ed25519.map(({ publicKey, privateKey }) => ({
        secret: raw(publicKey).toString(key.format === "ed25519-hex" ? "hex" : "base64"),
        key: privateKey,
      }));
    case "spki-base64":
      return p256.map(({ publicKey, privateKey }) => ({
        secret: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
        key: privateKey,
      }));
  }
}

function signerOf(id: SigningId): Signer {
  const { scheme, secretBegins = "" } = senders[id];
  const { alg, sig, content, ts } = scheme;
  const accounts = accountsOf(scheme, secretBegins);
  const signed = [...content, sig.source, ts?.source].filter((source) => source !== undefined && source !== null);
  const members = signed.filter((source) => /^json\??:/.test(source));
  const url = content.includes("url") ? `${publicUrl}?a=1` : publicUrl;

  const timeOf = (at: number) =>
    ts?.unit === "iso8601" ? new Date(at * 1000).toISOString() : String(ts?.unit === "ms" ? at * 1000 : at);
  /** The text at a place, of which only the bytes of a body need not be text. */
  const partOf = (source: Source, { body, at, id: own }: Unsigned): string | Buffer => {
    if (source === "body") return body;
    if (source === "ts" || source === ts?.source) return timeOf(at);
    if (source === "method") return "POST";
    if (source === "url") return url;
    if (source === "url:hubspot") return `${url}?id=${own}:/%25`;
    const [, kind, name = ""] = /^(\w+\??):([^]*)$/.exec(source) ?? [];
    if (kind === "lit") return name;
    // What may be missing is any text.
    if (kind === "json?") return body.toString("latin1");
    return own;
  };
  const proofOf = (request: Unsigned, account: number): string => {
    const { secret = "", key = "" } = accounts[account] ?? {};
    if (alg === "token") return secret;
    const parts =
      alg === "code:twilio"
        ? [url, `?id=${request.id}`, textOfForm(request.body)]
        : content.map((source) => partOf(source, request));
    const message = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return macOf(alg, key, message).toString(sig.enc ?? "hex");
  };

  return {
    secrets: accounts.map(({ secret }) => secret),
    ignoresBody: !coversBody(scheme),
    ...(signsUrl(scheme) && { publicUrl: url }),
    ...(ts?.tolerance && { window: ts.tolerance }),
    ...(alg === "code:twilio" && {
      body: (bytes) => Buffer.from(`To=%2B1&Body=${encodeURIComponent(bytes.toString("latin1"))}&A=2&A=1&A=2`),
    }),
    ...(members.length > 0 && {
      body: (bytes, account, at) => {
        const request = { body: bytes, at, id: "any text" };
        const value = (source: Source) => {
          if (source === sig.source) return proofOf(request, account);
          return source === ts?.source ? Number(timeOf(at)) : String(partOf(source, request));
        };
        const whole = { data: bytes.toString("latin1") };
        for (const source of members) setMember(whole, source.replace(/^json\??:/, "").split("."), value(source));
        return Buffer.from(JSON.stringify(whole));
      },
    }),
    search: (request, account) => {
      if (sig.source === "query:state") return `state=${proofOf(request, account)}`;
      return content.includes("url:hubspot")
        ? `id=${request.id}%3A%2f%25`
        : alg === "code:twilio"
          ? `id=${request.id}`
          : "";
    },
    headers: (request, account) => {
      const named = signed.filter((source) => source.startsWith("header:"));
      const fields = named.map((source): [string, string] => [
        source.slice("header:".length),
        String(partOf(source, request)),
      ]);
      return sig.source
        ? fields
        : [...typeOf(alg), ...fields, ...proofFields(scheme, timeOf(request.at), proofOf(request, account))];
    },
  };
}

function macOf(alg: Scheme["alg"], key: Account["key"], message: Buffer): Buffer {
  if (typeof key === "object" && "asymmetricKeyType" in key) {
    return sign(alg === "ed25519" ? null : "sha256", message, key);
  }
  return createHmac(alg === "code:twilio" ? "sha1" : alg.slice("hmac-".length), key)
    .update(message)
    .digest();
}

const typeOf = (alg: Scheme["alg"]): [string, string][] =>
  alg === "code:twilio" ? [["Content-Type", "application/x-www-form-urlencoded"]] : [];

/** A field with the proof, and where there may be several, another one that does not fit. */
function proofFields({ sig, ts }: Scheme, time: string, proof: string): [string, string][] {
  const { pick, headers } = sig;
  const timeKey = ts?.source.startsWith("sig:") ? [`${ts.source.slice("sig:".length)}=${time}`] : [];
  const items = pick && "kv" in pick ? [...timeKey, `${pick.kv}=${proof}`] : [`${pick?.prefix ?? ""}${proof}`];
  const field: [string, string] = [headers.at(-1) ?? "", items.join([sig.split ?? ""].flat()[0])];
  const other = Buffer.alloc(32, "another").toString(sig.enc ?? "hex");
  return headers.length > 1 ? [[headers[0] ?? "", other], field] : [field];
}

/** Sets a member at a path; an array, for which `*` stands, gets one element. */
function setMember(whole: Record<string, unknown>, [name = "", ...path]: string[], value: string | number): void {
  if (path.length === 0) whole[name] = value;
  else if (path[0] === "*") {
    whole[name] ??= [{}];
    for (const element of whole[name] as Record<string, unknown>[]) setMember(element, path.slice(1), value);
  } else setMember((whole[name] ??= {}) as Record<string, unknown>, path, value);
}

/** What Twilio signs of a form: its fields by their names and values, each once. */
function textOfForm(body: Buffer): string {
  // Any bytes, once they are encoded, are a form: its fields stand between ampersands.
  const fields = body
    .toString()
    .split("&")
    .filter((field) => field !== "");
  const pairs = fields.map((field) =>
    (/^([^=]*)=?([^]*)$/.exec(field)?.slice(1) ?? []).map((part) => decodeForm(part)),
  );
  const unique = new Map(pairs.map(([name = "", value = ""]) => [JSON.stringify([name, value]), { name, value }]));
  const byText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  const sorted = [...unique.values()].sort((a, b) => byText(a.name, b.name) || byText(a.value, b.value));
  return sorted.map(({ name, value }) => name + value).join("");
}

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

export const signers = Object.fromEntries(signingIds.map((id) => [id, signerOf(id)])) as Record<SigningId, Signer>;
