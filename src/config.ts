/**
 * The saved fields of a webhook trigger: their types, their defaults and one rule for each.
 * The runtime and the editor form both read this file, so a rule or a default stands nowhere else.
 */

/** Where a request carries its token. */
export type VerificationMethod = "header" | "query";

/** The fields as a flow file holds them. The token is a credential and is kept apart. */
export interface SavedFields {
  name: string;
  relativePath: string;
  /** A boolean, or a string when it holds a `${NAME}` value. */
  returnQueryParams: boolean | string;
  verificationMethod: string;
  queryParameter: string;
  headerParameter: string;
}

export const defaults = {
  name: "",
  relativePath: "",
  returnQueryParams: false,
  verificationMethod: "header",
  queryParameter: "state",
  headerParameter: "Authorization",
} as const satisfies SavedFields;

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
  | "verificationMethod"
  | "queryParameter"
  | "headerParameter";

/** A rule that a configuration breaks. */
export interface Breach {
  rule: BrokenRule;
  /** The `${NAME}` whose variable is not set; empty for all other rules, for a value may be the token. */
  value: string;
}

/** Answers which rule a value breaks, or nothing when it keeps them all. */
type Rule = (value: unknown) => BrokenRule | undefined;

/** Where Node-RED's two apps are mounted; `false` where one is switched off. */
export interface Roots {
  admin: string | false;
  node: string | false;
}

/**
 * Reads `webhookTriggerBaseUrl`, the address that callers use when it is not the one that the browser uses.
 *
 * @returns the address without a slash at its end; nothing when it is not that of a web server
 */
export function parseBaseUrl(setting: unknown): string | undefined {
  const url = typeof setting === "string" ? parseUrl(setting) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.search + url.hash !== "") return undefined;
  return url.href.replace(/\/+$/, "");
}

/** `URL.canParse` is too new for browsers that Node-RED's editor still runs in. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** A configuration that keeps every rule. */
export interface WebhookConfig {
  /** With its leading slash and without a trailing one, in the letter case it was given. */
  path: string;
  token: string;
  /** The one place where the token is looked for. */
  placement: { method: VerificationMethod; name: string };
  returnQueryParams: boolean;
}

/**
 * Whether a value is one that Node-RED replaces with an environment variable when it starts a node.
 * Seen at run time, it means that the variable is not set.
 */
export function isEnvironmentValue(value: unknown): boolean {
  return typeof value === "string" && /^\$(?:\{\S+\}|\(\S+\))$/.test(value);
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
    return [true, false, "true", "false"].some((choice) => choice === value) ? undefined : "returnQueryParams";
  },
  token(value) {
    const token = text(value);
    if (token === "") return "token.required";
    if (token.length !== tokenLength) return "token.length";
    return /^[\x21-\x7e]+$/.test(token) ? undefined : "token.characters";
  },
  verificationMethod(value) {
    return value === "header" || value === "query" ? undefined : "verificationMethod";
  },
  queryParameter(value) {
    return text(value) === "" ? "queryParameter" : undefined;
  },
  headerParameter(value) {
    // RFC 9110 §5.6.2: field-name = token = 1*tchar
    return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text(value)) ? undefined : "headerParameter";
  },
} satisfies Record<string, Rule>;

/** The field that names the place of the token, for each Verification Method. */
export const placementField = {
  header: "headerParameter",
  query: "queryParameter",
} as const satisfies Record<VerificationMethod, keyof SavedFields>;

/** The first segments of the paths that Node-RED's admin API answers below its root. */
const adminSegments = [
  "auth", "comms", "context", "credentials", "debug", "diagnostics", "flow", "flows", "icons", "inject",
  "library", "locales", "nodes", "plugins", "projects", "resources", "settings", "theme", "udp-ports",
  "webhook-trigger",
]; // prettier-ignore

/** Refuses a path that would take a request away from Node-RED's admin API, and so break the editor. */
export function adminRule(path: string, roots: Roots): BrokenRule | undefined {
  if (roots.admin === false || roots.node === false) return undefined;
  const prefix = normalisePath(roots.admin).toLowerCase() + "/";
  const fullPath = (normalisePath(roots.node) + normalisePath(path)).toLowerCase();
  if (!fullPath.startsWith(prefix)) return undefined;
  const [segment = ""] = fullPath.slice(prefix.length).split("/");
  return adminSegments.includes(segment) ? "relativePath.admin" : undefined;
}

/**
 * Turns saved fields into a configuration, or names the first rule that they break.
 *
 * @param saved the fields with their environment variables resolved
 * @param token the credential with its environment variable resolved
 */
export function parseConfig(saved: Readonly<SavedFields>, token: unknown, roots: Roots): WebhookConfig | Breach {
  const { relativePath, returnQueryParams, verificationMethod } = saved;
  const method = verificationMethod as VerificationMethod;
  const breach =
    breachOf("relativePath", relativePath) ??
    adminBreach(text(relativePath), roots) ??
    breachOf("token", token) ??
    breachOf("returnQueryParams", returnQueryParams) ??
    breachOf("verificationMethod", verificationMethod) ??
    breachOf(placementField[method], saved[placementField[method]]);
  if (breach) return breach;
  return {
    path: normalisePath(text(relativePath)),
    token: text(token),
    placement: { method, name: text(saved[placementField[method]]) },
    returnQueryParams: String(returnQueryParams) === "true",
  };
}

function breachOf(field: keyof typeof rules, value: unknown): Breach | undefined {
  if (isEnvironmentValue(value)) return { rule: "environment", value: String(value) };
  const rule = rules[field](value);
  return rule && { rule, value: "" };
}

function adminBreach(path: string, roots: Roots): Breach | undefined {
  const rule = adminRule(path, roots);
  return rule && { rule, value: "" };
}

/** Environment variables may resolve to numbers; everything else that is no string counts as not given. */
function text(value: unknown): string {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}
