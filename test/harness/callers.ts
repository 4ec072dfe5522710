/** Callers of an endpoint: who has a token of its own there. */
import { hash } from "node:crypto";

/** The token of a caller, as the runtime makes them: 40 characters of base64url. */
export function callerToken(name: string): string {
  return hash("sha256", `the token of ${name}`, "base64url").slice(0, 40);
}

/** The credential in which these are callers. */
export function callers(...names: readonly string[]): { callers: string } {
  return { callers: JSON.stringify(names.map((name) => ({ name, digest: hash("sha256", callerToken(name)) }))) };
}

/** The verification methods with which there are callers. */
export const callerMethods = ["header", "query", "basic"] as const;

export interface Presentation {
  /** The query, with its question mark. */
  readonly search: string;
  readonly headers: Record<string, string>;
}

/** How a caller presents its token, by the verification method of the node. */
export const presentations: Readonly<Record<(typeof callerMethods)[number], (name: string, token?: string) => Presentation>> = {
  header: (name, token = callerToken(name)) => ({ search: "", headers: { Authorization: `Bearer ${token}` } }),
  query: (name, token = callerToken(name)) => ({ search: `?state=${token}`, headers: {} }),
  basic: (name, token = callerToken(name)) => ({
    search: "",
    headers: { Authorization: `Basic ${Buffer.from(`${name}:${token}`).toString("base64")}` },
  }),
}; // prettier-ignore
