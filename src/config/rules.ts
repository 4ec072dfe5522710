// One rule for each saved field. The runtime and the editor's form both ask here.

import type { HandlingRule } from "./handling-rules";

/** The exact length of a token, in characters. */
export const tokenLength = 40;
/** The longest relative path, in characters, its leading slash included. */
export const longestPath = 255;

/** A broken rule, by the key of its text under `rules` in the message catalog. */
export type BrokenRule =
  | "environment"
  | "relativePath.required"
  | "relativePath.length"
  | "relativePath.characters"
  | "relativePath.segments"
  | "relativePath.admin"
  | "returnQueryParams"
  | "token.required"
  | "token.length"
  | "token.characters"
  | "secondToken.length"
  | "secondToken.characters"
  | "verificationMethod"
  | "queryParameter"
  | "headerParameter"
  | "sender.required"
  | "sender.unknown"
  | "secret.required"
  | "secret.format"
  | "secondSecret.format"
  | "publicUrl"
  | "signatureHeader"
  | "timestampHeader"
  | "alg"
  | "scheme.required"
  | "scheme.alg"
  | "scheme.key"
  | "scheme.sig"
  | "scheme.enc"
  | "scheme.content"
  | "scheme.ts"
  | HandlingRule
  | "httpNodeMiddleware"
  | "storeMissing"
  | "storeMisunderstood";

/** A rule that a configuration breaks. */
export interface Breach {
  rule: BrokenRule;
  /**
   * The `${NAME}` whose variable is not set, the version of Node.js that has no store, or the name of a setting's field
   * that is not understood; empty for all other rules, for a value may be the token.
   */
  value: string;
}

/** Answers which rule a value breaks, or nothing when it keeps them all. */
export type Rule = (value: unknown) => BrokenRule | undefined;

/** The hash functions of HMAC that a sender may be set to (WebSub §7.1.1). */
export const hashes = ["sha1", "sha256", "sha384", "sha512"] as const;

/** The name of the environment variable that Node-RED puts in the place of a value when it starts a node. */
export function environmentName(value: unknown): string | undefined {
  const [, inBraces, inParentheses] = /^\$(?:\{(\S+)\}|\((\S+)\))$/.exec(text(value)) ?? [];
  return inBraces ?? inParentheses;
}

/** Whether a value stands for an environment variable. Seen at run time, it means that the variable is not set. */
export function isEnvironmentValue(value: unknown): boolean {
  return environmentName(value) !== undefined;
}

/** Adds a missing leading slash and drops one trailing slash. */
export function normalisePath(path: string): string {
  return path.replace(/^(?!\/)/, "/").replace(/\/$/, "");
}

/** The rule of each field, for values whose environment variables are already resolved. */
export const rules = {
  relativePath(value) {
    const path = normalisePath(text(value));
    if (path === "") return "relativePath.required";
    if (path.length > longestPath) return "relativePath.length";
    // RFC 3986 §2.3: the unreserved characters. All others are patterns to a router, or need encoding.
    if (!/^[A-Za-z0-9\-._~/]+$/.test(path)) return "relativePath.characters";
    const segments = path.slice(1).split("/");
    if (segments.some((segment) => ["", ".", ".."].includes(segment))) return "relativePath.segments";
    return undefined;
  },
  returnQueryParams(value) {
    return isBoolean(value) ? undefined : "returnQueryParams";
  },
  token(value) {
    const token = text(value);
    if (token === "") return "token.required";
    if (token.length !== tokenLength) return "token.length";
    return isVisible(token) ? undefined : "token.characters";
  },
  secondToken(value) {
    const token = text(value);
    if (token === "") return undefined;
    if (token.length !== tokenLength) return "secondToken.length";
    return isVisible(token) ? undefined : "secondToken.characters";
  },
  verificationMethod(value) {
    return value === "header" || value === "query" || value === "signature" ? undefined : "verificationMethod";
  },
  queryParameter(value) {
    return text(value) === "" ? "queryParameter" : undefined;
  },
  headerParameter(value) {
    return isFieldName(text(value)) ? undefined : "headerParameter";
  },
  secret(value) {
    return text(value) === "" ? "secret.required" : undefined;
  },
  publicUrl(value) {
    return text(value) === "" || /^https?:\/\/[^\s/?#]+/i.test(text(value)) ? undefined : "publicUrl";
  },
  signatureHeader(value) {
    return text(value) === "" || isFieldName(text(value)) ? undefined : "signatureHeader";
  },
  timestampHeader(value) {
    return text(value) === "" || isFieldName(text(value)) ? undefined : "timestampHeader";
  },
  alg(value) {
    return text(value) === "" || hashes.some((hash) => hash === value) ? undefined : "alg";
  },
} satisfies Record<string, Rule>;

/** A boolean, or what an environment variable resolves to. */
export function isBoolean(value: unknown): boolean {
  return [true, false, "true", "false"].some((choice) => choice === value);
}

/** RFC 9110 §5.6.2: field-name = token = 1*tchar */
export function isFieldName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

function isVisible(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/** Environment variables may resolve to numbers; everything else that is no string counts as not given. */
export function text(value: unknown): string {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}
