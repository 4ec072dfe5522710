import { permissions } from "../../../src/config/host";
import type { Editor } from "../host";
import { control, type QueueSummary, type Silence, toFetchTrouble } from "./api";
import { createButton, createIcon } from "./content";
import { getNodeLabel, minuteText, numberText, text } from "./texts";

declare const RED: Editor;

// Queues: a line for each paused node, and for the filtered one.

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
