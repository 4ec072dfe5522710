// Whether a deploy has left valid what a request was authenticated by before it.

import { isDeepStrictEqual } from "node:util";
import { listCallers, type WebhookConfig } from "../config/parse";
import type { Authenticated } from "./authenticator";

type Access = WebhookConfig["access"];

/**
 * Whether what a request has shown is valid at its endpoint now: the token of a caller, whose name may be another now
 * unless it was shown as well, or the node's own credential, which may have become the second one or the first.
 */
export function isStillValid(
  before: Access,
  now: Access,
  { credential, caller }: Pick<Authenticated, "credential" | "caller">,
): boolean {
  if (caller !== undefined) {
    const digest = listCallers(before).find(({ name }) => name === caller)?.digest;
    const known = listCallers(now).find((each) => each.digest === digest);
    return known !== undefined && (now.method !== "basic" || known.name === caller);
  }
  const [earlier, current] = [splitAccess(before), splitAccess(now)];
  const used = earlier.credentials[credential === "first" ? 0 : 1];
  return current.credentials.includes(used) && isDeepStrictEqual(earlier.rest, current.rest);
}

/** The credentials of the node, and what else its requests that start the flow are verified by, but for callers. */
function splitAccess(access: Access): { readonly credentials: readonly (string | undefined)[]; readonly rest: object } {
  if (access.method === "basic") {
    const { password, secondPassword, callers, ...rest } = access;
    return { credentials: [password, secondPassword], rest };
  }
  if ("token" in access) {
    const { token, callers, ...rest } = access;
    return { credentials: [token], rest };
  }
  if (access.method === "signature") {
    const { secret, secondSecret, verifyToken, ...rest } = access;
    return { credentials: [secret, secondSecret], rest };
  }
  const { secret, secondSecret, ...rest } = access;
  return { credentials: [secret, secondSecret], rest };
}
