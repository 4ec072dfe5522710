// What a sender tells of a delivery.

import type { Sender } from "./senders/record";
import { Fields, type Head, placeOf } from "./signature/fields";

/** What is known; a text also where it is a number in JSON. */
export interface Delivery {
  event?: string;
  /** The sender's own id of the delivery. */
  id?: string;
}

/**
 * Finds the type of the event and the id of the delivery.
 *
 * @param content the body without its content codings; it is read only where the sender tells in it
 */
export function deliveryOf({ event, id }: Pick<Sender, "event" | "id">, head: Head, content: () => Buffer): Delivery {
  const fields = new Fields(head, content);
  const told = event && fields.onlyTextAt(placeOf(event));
  const place = id?.from.find((source) => fields.onlyTextAt(placeOf(source)) !== undefined);
  const own = place && fields.onlyTextAt(placeOf(place));
  return { ...(told !== undefined && { event: told }), ...(own !== undefined && { id: own }) };
}
