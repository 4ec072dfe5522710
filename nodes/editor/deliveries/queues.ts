// Nodes with guaranteed delivery: a line for each that is paused, and for the one that is looked at.

import { permissions } from "../../../src/admin/permissions";
import type { Editor } from "../host";
import { control, type NodeQueue, troubleOf } from "./api";
import { labelOf } from "./names";
import { buttonOf, glyphOf } from "./pieces";
import { numberText, text } from "./texts";

declare const RED: Editor;

type Action = "pause" | "resume";

export class Queues {
  readonly element = $("<div>");
  readonly #lines = $('<div role="status">');
  readonly #failure = $('<div class="webhook-deliveries-failure" role="alert">').hide();
  readonly #changed: () => void;
  #shown = "";
  /** What was tried in vain. */
  #failed: { readonly node: string; readonly action: Action } | undefined;

  /** @param changed called when a node was paused or resumed */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.element.append(this.#lines, this.#failure);
  }

  /** @param node the one that is looked at; empty for all */
  show(queues: readonly NodeQueue[], node: string): void {
    this.#forgetFailure(queues);
    const lines = queues.filter((queue) => queue.pause !== null || queue.node === node);
    // Said again only when it is new.
    const shown = JSON.stringify(lines);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const focused = this.#lines.find("button").index($(":focus"));
    this.#lines.empty().append(...lines.map((queue) => this.#line(queue)));
    if (focused >= 0) this.#lines.find("button").eq(focused).trigger("focus");
  }

  #line({ node, pause, queued, retrying }: NodeQueue): JQuery {
    const name = labelOf(node);
    const told = text(`tab.queue.${pause ?? "running"}`, { count: numberText(queued + retrying) });
    const reveal = $('<button type="button" class="webhook-deliveries-reveal">').text(name);
    reveal.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(node));
    const words = $("<span>")
      .attr("title", `${name}: ${told}`)
      .append(reveal, document.createTextNode(`: ${told}`));
    const line = $("<div>", { class: "webhook-deliveries-queue" }).append(glyphOf("fa-inbox"), words);
    if (RED.user.hasPermission(permissions.write)) line.append(this.#button(node, name, actionOn(pause)));
    return line;
  }

  #button(node: string, name: string, action: Action): JQuery {
    const label = text(`tab.queue.${action}`);
    const button = buttonOf(`fa-${action === "pause" ? "pause" : "play"}`, label);
    button.attr("aria-label", `${label}: ${name}`);
    return button.on("click", () => void this.#control(button, node, action));
  }

  /** What was tried in vain may have come about all the same, or have no sense any more. */
  #forgetFailure(queues: readonly NodeQueue[]): void {
    if (!this.#failed) return;
    const { node, action } = this.#failed;
    if (queues.some((queue) => queue.node === node && actionOn(queue.pause) === action)) return;
    this.#failed = undefined;
    this.#failure.hide();
  }

  async #control(button: JQuery, node: string, action: Action): Promise<void> {
    // A button that is disabled would lose the focus.
    if (button.attr("aria-disabled") === "true") return;
    button.attr("aria-disabled", "true");
    this.#failed = undefined;
    this.#failure.hide();
    try {
      await control(node, action);
    } catch (error) {
      const isForbidden = troubleOf(error) === "forbidden";
      this.#failed = { node, action };
      this.#failure.text(text(`tab.queue.${isForbidden ? "forbidden" : "failed"}`)).show();
    }
    button.attr("aria-disabled", "false");
    this.#changed();
  }
}

function actionOn(pause: NodeQueue["pause"]): Action {
  return pause === null ? "pause" : "resume";
}
