// Makes the tokens of new callers, and says when each was last used. Tokens are forgotten at once: a node keeps their digests.

import type { NodeAPI } from "node-red";
import { digest, makeToken } from "../auth/digest";
import { type Caller, hasTwice, isCallerName, maxCallers } from "../config/callers";
import { isObject } from "../config/values";
import type { Observers } from "./observers";
import { addRoute, BadRequest, notFound } from "./routes";

/** A caller with its token, as only the answer that makes it has it. */
export interface NewCaller extends Caller {
  readonly token: string;
}

export function serveCallers(RED: NodeAPI, { nodes, uses }: Observers): void {
  addRoute(RED, "post", "callers", ({ body }) => ({ body: { callers: makeCallers(readNames(body)) } }));
  addRoute(RED, "get", ":id/callers", async ({ params: { id } }) => {
    const { running } = nodes.get(id) ?? {};
    if (!running) return notFound;
    await uses.refresh(id);
    const used = uses.of(id);
    const { redactor } = running.authenticator;
    const callers = running.config.access.callers.map(({ name }) => {
      return { name: redactor.redact(name), lastUsedAt: used.get(name)?.lastUsedAt ?? null };
    });
    return { body: { callers } };
  });
}

function makeCallers(names: readonly string[]): NewCaller[] {
  return names.map((name) => {
    const token = makeToken();
    return { name, token, digest: digest(token).toString("hex") };
  });
}

/** @throws {BadRequest} */
function readNames(body: unknown): readonly string[] {
  const { names } = isObject(body) ? body : {};
  const isValid = Array.isArray(names) && names.length > 0 && names.length <= maxCallers && names.every(isCallerName);
  if (!isValid || hasTwice(names)) throw new BadRequest("names");
  return names;
}
