// Who a request looks like: a guess for the operator, as nothing in it is signed.

import { recogniseOrder, type SenderId, senderIds, senders } from "./senders/table";
import { fieldValues } from "./signature/fields";

/**
 * Guesses the sender by the fields that it sends. It never decides: whoever could choose a scheme would choose the
 * weakest one.
 *
 * @param rawHeaders names and values in turn
 */
export function recognise(rawHeaders: readonly string[]): SenderId | undefined {
  return recogniseOrder.find((id) => senders[id].recognise?.some((group) => fits(group, rawHeaders)));
}

function fits(group: Readonly<Record<string, string>>, rawHeaders: readonly string[]): boolean {
  return Object.entries(group).every(([name, beginning]) =>
    fieldValues(rawHeaders, name.toLowerCase()).some((value) =>
      value.toLowerCase().startsWith(beginning.toLowerCase()),
    ),
  );
}

/**
 * All senders that have their signature in a field of the request, and begin it so: some fields belong to several, and
 * then they say no more than this. `Authorization` is everybody's.
 */
export function lookalikes(rawHeaders: readonly string[]): SenderId[] {
  return senderIds.filter((id) => {
    const { headers, pick } = senders[id].scheme.sig;
    const beginning = pick ? ("kv" in pick ? `${pick.kv}=` : pick.prefix) : "";
    return headers.some((name) => id !== "custom" && name !== "Authorization" && has(rawHeaders, name, beginning));
  });
}

function has(rawHeaders: readonly string[], name: string, text: string): boolean {
  return fieldValues(rawHeaders, name.toLowerCase()).some((value) => value.includes(text));
}
