// What the errors of a server and of the way to it mean to a store.

import { StoreError, type Trouble } from "../store";

/** By the first word of the server's answer; of what a script has met, that stands within a text. */
const byWord: Readonly<Record<string, Trouble>> = {
  NOROOM: "full",
  OOM: "full",
  READONLY: "readOnly",
  NOREPLICAS: "readOnly",
  NOAUTH: "denied",
  WRONGPASS: "denied",
  NOPERM: "denied",
  LOADING: "unreachable",
  MASTERDOWN: "unreachable",
  CLUSTERDOWN: "unreachable",
  BUSY: "unreachable",
  // A later connection of this instance has begun: what was under way in this one is refused.
  STALE: "unreachable",
};
const words = new RegExp(`(?:^|[\\s-])(${Object.keys(byWord).join("|")})\\b`);

/** Whether it is the server that has refused something: then it has not been done. */
export function isAnswer(error: unknown): error is Error {
  return error instanceof Error && /^(ErrorReply|SimpleError|BlobError)$/.test(error.constructor.name);
}

/** Whether the server may do what a store has refused all the same: the connection has ended before the answer. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof StoreError && !isAnswer(error.cause);
}

export function troubleOf(error: unknown): Trouble {
  if (!isAnswer(error)) return "unreachable";
  const word = words.exec(error.message)?.[1];
  if (word !== undefined) return byWord[word] ?? "broken";
  // Where the server asks for no password at all, and where a command within a script is not allowed.
  if (/AUTH .*password|ACL failure/i.test(error.message)) return "denied";
  return /No space left/i.test(error.message) ? "full" : "broken";
}
