// STAND-IN, not to be committed.
import type { Summary } from "../../../src/deliveries/summary";
export function replaySeveral(deliveries: readonly Summary[]): Promise<void> {
  document.body.dataset.replayed = deliveries.map(({ id }) => id).join(" ");
  return Promise.resolve();
}
