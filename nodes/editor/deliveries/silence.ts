// Whose sender is silent: a line for each.

import type { Editor } from "../host";
import type { Silence } from "./api";
import { labelOf } from "./names";
import { minuteText, numberText, text } from "./texts";

declare const RED: Editor;

export class Silences {
  readonly element = $('<div role="status">');
  #shown = "";

  show(silences: readonly Silence[]): void {
    const lines = silences.map(({ node, hours, since }) => ({
      node,
      name: labelOf(node),
      told: text("tab.silent", { time: minuteText(since), hours: numberText(hours) }),
    }));
    // Said again only when it is new.
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
