// The payload of a delivery, as JSON that can be changed.

import type { Detail } from "../../../src/deliveries/summary";

/** @returns an empty text where there is no JSON for it */
export function payloadText({ payload }: Detail): string {
  return payload === undefined ? "" : JSON.stringify(payload, null, 2);
}

/** @returns nothing where the text is no JSON */
export function payloadIn(text: string): { payload: unknown } | undefined {
  try {
    return { payload: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
