// What a flow is told of who sent a delivery.

import type { Webhook } from "./deliveries/delivery";
import type { Endpoint } from "./endpoint";
import type { Content } from "./request/content";
import { deliveryOf } from "./trust/delivery";
import type { Head } from "./trust/signature/fields";
import type { Admission } from "./trust/signature/why";

/** A request that has been let in. */
interface Admitted {
  readonly head: Head;
  readonly admission: Admission;
}

/** What is known of who sent it, without what lets it in. */
export function webhookOf(
  { head, admission }: Admitted,
  { bytes }: Pick<Content, "bytes">,
  { sender, gate }: Pick<Endpoint, "sender" | "gate">,
): Webhook {
  const { credential, sentAt } = admission;
  const proof = sentAt === undefined ? { credential } : { credential, sentAt };
  if (!sender) return proof;
  const told = Object.entries<string>({ ...deliveryOf(sender.row, head, bytes) }).filter(
    ([, text]) => !gate.secrecy.tells(text),
  );
  return { sender: sender.id, ...Object.fromEntries(told), ...proof };
}
