// Whether a deploy has left valid what a request was authenticated by before it.

import { isDeepStrictEqual } from "node:util";
import type { WebhookConfig } from "../config/parse";
import type { Authenticated } from "./authenticator";

type Access = WebhookConfig["access"];

/**
 * Whether what a request has shown is valid at its endpoint now: the token of the caller, or the node's own credential,
 * which may have become the second one or the first.
 */
export function isStillValid(
  before: Access,
  now: Access,
  { credential, caller }: Pick<Authenticated, "credential" | "caller">,
): boolean {
  if (caller !== undefined) return findDigest(before, caller) === findDigest(now, caller);
  const [earlier, current] = [splitAccess(before), splitAccess(now)];
  const used = earlier.credentials[credential === "first" ? 0 : 1];
  return current.credentials.includes(used) && isDeepStrictEqual(earlier.rest, current.rest);
}

function findDigest(access: Access, caller: string): string | undefined {
  return "callers" in access ? access.callers.find(({ name }) => name === caller)?.digest : undefined;
}

/** The credentials of the node, and all else that its requests are verified by, but for the callers. */
function splitAccess(access: Access): { readonly credentials: readonly (string | undefined)[]; readonly rest: object } {
  if (access.method === "basic") {
    const { password, secondPassword, callers, ...rest } = access;
    return { credentials: [password, secondPassword], rest };
  }
  if ("token" in access) {
    const { token, callers, ...rest } = access;
    return { credentials: [token], rest };
  }
  const { secret, secondSecret, ...rest } = access;
  return { credentials: [secret, secondSecret], rest };
}
