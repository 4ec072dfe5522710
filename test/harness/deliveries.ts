/** Deliveries that tests store. */
import type { Delivery } from "../../src/deliveries/delivery";

export const bytes = Buffer.from('{"a":1}');

/** A body that no other delivery has. */
export function bodyOf(id: string): Buffer {
  return Buffer.from(id.repeat(100));
}

let last = 1_700_000_000_000;

/** Each comes a millisecond after the one before. */
export function delivered(id: string, rest: Partial<Delivery> = {}): Delivery {
  const head = { method: "POST", path: "/hook", search: "", headers: { host: "example.com" }, ip: "192.0.2.1" };
  return { id, node: "n", at: ++last, state: "succeeded", head, size: bytes.length, attempt: 0, ...rest };
}
