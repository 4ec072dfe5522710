// The picture of the traffic: the last hour by minute, what was accepted above the line, what was refused below it.

import type { Minute } from "./api";
import { agoText, minuteText, numberText, text } from "./texts";

/** The size of the picture in its own units: a minute is 4 wide, with a gap of 1. */
const [step, bar] = [4, 3];
const [above, below] = [36, 16];
/** What comes at all can be seen. */
const least = 1.5;

const svg = "http://www.w3.org/2000/svg";

export class Traffic {
  readonly element = $('<div class="webhook-deliveries-traffic" id="webhook-deliveries-traffic">');
  readonly #picture = element("svg", {
    viewBox: `0 0 ${60 * step} ${above + below}`,
    preserveAspectRatio: "none",
    role: "img",
  });

  constructor() {
    const axis = $('<div aria-hidden="true">');
    const [accepted, refused] = ["accepted", "refused"].map(
      (what) => `<i class="webhook-deliveries-key ${what}"></i> `,
    );
    axis.append($("<span>").text(text("tab.traffic.start")));
    axis.append($("<span>").append(accepted ?? "", document.createTextNode(text("tab.traffic.accepted"))));
    axis.append($("<span>").append(refused ?? "", document.createTextNode(text("tab.traffic.refused"))));
    axis.append($("<span>").text(text("tab.traffic.now")));
    this.element.append(this.#picture, axis);
    this.show([]);
  }

  /** @param minutes the oldest first, the last one is the current one */
  show(minutes: readonly Minute[]): void {
    this.#picture.setAttribute("aria-label", toldOf(minutes));
    const most = (key: keyof Minute) => Math.max(0, ...minutes.map((minute) => minute[key]));
    const unit = Math.min(above / Math.max(1, most("accepted")), below / Math.max(1, most("refused")));
    const line = element("line", { x1: 0, x2: 60 * step, y1: above, y2: above });
    this.#picture.replaceChildren(hatching(), line, ...minutes.map((minute, index) => barOf(minute, index, unit)));
  }
}

/** What the picture shows, in words: the sums, the peak, and for how long it has been silent. */
function toldOf(minutes: readonly Minute[]): string {
  const sum = (key: keyof Minute) => minutes.reduce((total, minute) => total + minute[key], 0);
  const counts = minutes.map(({ accepted, refused }) => accepted + refused);
  const peak = Math.max(0, ...counts);
  if (peak === 0) return text("tab.traffic.none");
  const ago = agoText(counts.length - 1 - counts.findLastIndex((count) => count > 0));
  const [accepted, refused] = [numberText(sum("accepted")), numberText(sum("refused"))];
  return text("tab.traffic.told", { accepted, refused, peak: numberText(peak), ago });
}

/** A minute: two bars, and an area over the whole height that tells its numbers. */
function barOf({ accepted, refused }: Minute, index: number, unit: number): SVGElement {
  const group = element("g", {});
  const x = index * step;
  const minute = Date.now() - (59 - index) * 60_000;
  const counts = { time: minuteText(minute), accepted: numberText(accepted), refused: numberText(refused) };
  const title = element("title", {});
  title.textContent = text("tab.traffic.minute", counts);
  const area = element("rect", { x, y: 0, width: step, height: above + below, fill: "transparent" });
  group.append(title, area);
  const [up, down] = [accepted, refused].map((count) => (count > 0 ? Math.max(least, count * unit) : 0));
  if (up) group.append(element("rect", { class: "accepted", x, y: above - up, width: bar, height: up }));
  if (down) group.append(element("rect", { class: "refused", x, y: above, width: bar, height: down }));
  return group;
}

/** What was refused is hatched as well: not everybody tells it by its colour. */
function hatching(): SVGElement {
  const id = "webhook-deliveries-hatching";
  const pattern = element("pattern", { id, width: bar, height: 3, patternUnits: "userSpaceOnUse" });
  pattern.append(element("rect", { width: bar, height: 2 }));
  const definitions = element("defs", {});
  definitions.append(pattern);
  return definitions;
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
