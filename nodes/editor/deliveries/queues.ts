// Nodes with guaranteed delivery: a line for each that is paused, and for the one that is looked at.

import type { Editor } from "../host";
import { control, type NodeQueue, troubleOf } from "./api";
import { labelOf } from "./names";
import { buttonOf, glyphOf } from "./pieces";
import { numberText, text } from "./texts";

declare const RED: Editor;

export class Queues {
  readonly element = $("<div>");
  readonly #lines = $('<div role="status">');
  readonly #failure = $('<div class="webhook-deliveries-failure" role="alert">').hide();
  readonly #changed: () => void;
  #shown = "";

  /** @param changed called when a node was paused or resumed */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.element.append(this.#lines, this.#failure);
  }

  /** @param node the one that is looked at; empty for all */
  show(queues: readonly NodeQueue[], node: string): void {
    const lines = queues.filter((queue) => queue.pause !== null || queue.node === node);
    // Said again only when it is new.
    const shown = JSON.stringify(lines);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#failure.hide();
    const focused = this.#lines.find("button").index($(":focus"));
    this.#lines.empty().append(...lines.map((queue) => this.#line(queue)));
    if (focused >= 0) this.#lines.find("button").eq(focused).trigger("focus");
  }

  #line({ node, pause, queued, retrying }: NodeQueue): JQuery {
    const name = labelOf(node);
    const told = text(`tab.queue.${pause ?? "running"}`, { count: numberText(queued + retrying) });
    const reveal = $('<button type="button" class="webhook-deliveries-reveal">').text(name);
    reveal.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(node));
    const action = pause === null ? "pause" : "resume";
    const label = text(`tab.queue.${action}`);
    const button = buttonOf(`fa-${pause === null ? "pause" : "play"}`, label).attr("aria-label", `${label}: ${name}`);
    button.on("click", () => void this.#control(button, node, action));
    const words = $("<span>")
      .attr("title", `${name}: ${told}`)
      .append(reveal, document.createTextNode(`: ${told}`));
    return $("<div>", { class: "webhook-deliveries-queue" }).append(glyphOf("fa-inbox"), words, button);
  }

  async #control(button: JQuery, node: string, action: "pause" | "resume"): Promise<void> {
    // A button that is disabled would lose the focus.
    if (button.attr("aria-disabled") === "true") return;
    button.attr("aria-disabled", "true");
    this.#failure.hide();
    try {
      await control(node, action);
    } catch (error) {
      const isForbidden = troubleOf(error) === "forbidden";
      this.#failure.text(text(`tab.queue.${isForbidden ? "forbidden" : "failed"}`)).show();
    }
    button.attr("aria-disabled", "false");
    this.#changed();
  }
}
