// STAND-IN, not to be committed.
import type { Summary } from "../../../src/deliveries/summary";
export function showDelivery(place: JQuery, summary: Summary): void {
  place.empty().append($("<p>").text(summary.id));
}
