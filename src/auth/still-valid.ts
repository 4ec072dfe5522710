// Whether a deploy has left valid what a request was authenticated by before it.

import { isDeepStrictEqual } from "node:util";
import type { WebhookConfig } from "../config/parse";
import type { Authenticated } from "./authenticator";

type Access = WebhookConfig["access"];

/** What may change between two deploys, made equal: all the rest of both must be. */
const changeable = { first: "", second: "", callers: [], verifyToken: "" };

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
    const digest = before.callers.find(({ name }) => name === caller)?.digest;
    const known = now.callers.find((each) => each.digest === digest);
    return known !== undefined && (now.method !== "basic" || known.name === caller);
  }
  const isAccepted = [now.first, now.second].includes(before[credential]);
  return isAccepted && isDeepStrictEqual({ ...before, ...changeable }, { ...now, ...changeable });
}
