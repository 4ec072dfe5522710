// The chart of the last hour: accepted requests above the line, refused ones below.

import { permissions } from "../../../src/config/host";
import type { Editor } from "../host";
import { control, type MinuteCounts, type QueueSummary, type Silence, toFetchTrouble } from "./api";
import { createButton, createIcon } from "./content";
import { agoText, getNodeLabel, minuteText, numberText, text } from "./texts";

/** In units of the chart: a minute is 4 wide, with a gap of 1. */
const [step, bar] = [4, 3];
const [above, below] = [36, 16];
/** One request is visible. */
const least = 1.5;

const svg = "http://www.w3.org/2000/svg";

export class TrafficChart {
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

  /** @param minutes the oldest first */
  show(minutes: readonly MinuteCounts[]): void {
    this.#picture.setAttribute("aria-label", describePause(minutes));
    const most = (key: keyof MinuteCounts) => Math.max(0, ...minutes.map((minute) => minute[key]));
    const unit = Math.min(above / Math.max(1, most("accepted")), below / Math.max(1, most("refused")));
    const line = element("line", { x1: 0, x2: 60 * step, y1: above, y2: above });
    this.#picture.replaceChildren(hatching(), line, ...minutes.map((minute, index) => createBar(minute, index, unit)));
  }
}

/** The chart in words: sums, peak, and the time since the last request. */
function describePause(minutes: readonly MinuteCounts[]): string {
  const sum = (key: keyof MinuteCounts) => minutes.reduce((total, minute) => total + minute[key], 0);
  const counts = minutes.map(({ accepted, refused }) => accepted + refused);
  const peak = Math.max(0, ...counts);
  if (peak === 0) return text("tab.traffic.none");
  const ago = agoText(counts.length - 1 - counts.findLastIndex((count) => count > 0));
  const [accepted, refused] = [numberText(sum("accepted")), numberText(sum("refused"))];
  return text("tab.traffic.told", { accepted, refused, peak: numberText(peak), ago });
}

/** Two bars, and an area with the numbers. */
function createBar({ accepted, refused }: MinuteCounts, index: number, unit: number): SVGElement {
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

/** Refused requests are hatched, not only red. */
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

// Queues: a line for each paused node, and for the filtered one.

declare const RED: Editor;

type QueueAction = "pause" | "resume";

export class QueueList {
  readonly element = $("<div>");
  readonly #lines = $('<div role="status">');
  readonly #failure = $('<div class="webhook-deliveries-failure" role="alert">').hide();
  readonly #changed: () => void;
  #shown = "";
  /** The action that failed. */
  #failed: { readonly node: string; readonly action: QueueAction } | undefined;

  /** @param changed called when a node was paused or resumed */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.element.append(this.#lines, this.#failure);
  }

  /** @param node of the filter; empty: all */
  show(queues: readonly QueueSummary[], node: string): void {
    this.#forgetFailure(queues);
    const lines = queues.filter((queue) => queue.pause !== null || queue.node === node);
    // Announced only when it is new.
    const shown = JSON.stringify(lines);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const focused = this.#lines.find("button").index($(":focus"));
    this.#lines.empty().append(...lines.map((queue) => this.#line(queue)));
    if (focused >= 0) this.#lines.find("button").eq(focused).trigger("focus");
  }

  #line({ node, pause, queued, retrying }: QueueSummary): JQuery {
    const name = getNodeLabel(node);
    const told = text(`tab.queue.${pause ?? "running"}`, { count: numberText(queued + retrying) });
    const reveal = $('<button type="button" class="webhook-deliveries-reveal">').text(name);
    reveal.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(node));
    const words = $("<span>")
      .attr("title", `${name}: ${told}`)
      .append(reveal, document.createTextNode(`: ${told}`));
    const line = $("<div>", { class: "webhook-deliveries-queue" }).append(createIcon("fa-inbox"), words);
    if (RED.user.hasPermission(permissions.write)) line.append(this.#button(node, name, actionOn(pause)));
    return line;
  }

  #button(node: string, name: string, action: QueueAction): JQuery {
    const label = text(`tab.queue.${action}`);
    const button = createButton(`fa-${action === "pause" ? "pause" : "play"}`, label);
    button.attr("aria-label", `${label}: ${name}`);
    return button.on("click", () => void this.#control(button, node, action));
  }

  /** The action may have succeeded after all, or be obsolete. */
  #forgetFailure(queues: readonly QueueSummary[]): void {
    if (!this.#failed) return;
    const { node, action } = this.#failed;
    if (queues.some((queue) => queue.node === node && actionOn(queue.pause) === action)) return;
    this.#failed = undefined;
    this.#failure.hide();
  }

  async #control(button: JQuery, node: string, action: QueueAction): Promise<void> {
    // A disabled button would lose the focus.
    if (button.attr("aria-disabled") === "true") return;
    button.attr("aria-disabled", "true");
    this.#failed = undefined;
    this.#failure.hide();
    try {
      await control(node, action);
    } catch (error) {
      const isForbidden = toFetchTrouble(error) === "forbidden";
      this.#failed = { node, action };
      this.#failure.text(text(`tab.queue.${isForbidden ? "forbidden" : "failed"}`)).show();
    }
    button.attr("aria-disabled", "false");
    this.#changed();
  }
}

function actionOn(pause: QueueSummary["pause"]): QueueAction {
  return pause === null ? "pause" : "resume";
}

// Inactivity alerts: a line for each.

export class Silences {
  readonly element = $('<div role="status">');
  #shown = "";

  show(silences: readonly Silence[]): void {
    const lines = silences.map(({ node, hours, since }) => ({
      node,
      name: getNodeLabel(node),
      told: text("tab.silent", { time: minuteText(since), hours: numberText(hours) }),
    }));
    // Announced only when it is new.
    const shown = JSON.stringify(lines);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.element.empty();
    for (const { node, name, told } of lines) {
      const reveal = $('<button type="button" class="webhook-deliveries-reveal">').text(name);
      reveal.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(node));
      const line = $("<span>")
        .attr("title", `${name} ${told}`)
        .append(reveal, document.createTextNode(` ${told}`));
      $(
        '<div class="webhook-deliveries-silent"><i class="fa fa-fw fa-exclamation-triangle" aria-hidden="true"></i></div>',
      )
        .append(line)
        .appendTo(this.element);
    }
  }
}
