// Where a delivery was sent to: its whole path, as the sender's URL has it.

import type { Summary } from "../../../src/deliveries/summary";
import { normalisePath } from "../../../src/config/rules";
import { roots } from "../checks";

type Sent = Pick<Summary, "path" | "cause">;

/** Whether it has come to no endpoint: a node is known then by the likeness of its path. */
export function isElsewhere({ cause }: Pick<Sent, "cause">): boolean {
  return cause?.problem === "noEndpoint";
}

/** What has come to no endpoint is told by its whole path anyway, and where HTTP nodes have no root, none has one. */
export function wholePathOf(sent: Sent): string {
  const { node: root } = roots();
  return isElsewhere(sent) || root === false ? sent.path : normalisePath(root) + sent.path;
}
