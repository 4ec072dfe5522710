// A button that shows and hides something above the list, and remembers it: on Node-RED 5 the tab may be a few rows high.

import type { Editor } from "../host";

declare const RED: Editor;

export class Fold {
  readonly button = $('<button type="button" class="red-ui-button red-ui-button-small">');
  readonly #folded: JQuery;
  readonly #key: string;

  /**
   * @param folded has an id, by which it is remembered as well
   * @param icon its class
   * @param label what is shown, in words
   */
  constructor(folded: JQuery, icon: string, label: string) {
    this.#folded = folded;
    const id = String(folded.attr("id"));
    this.#key = `${id}-shown`;
    this.button.attr({ "aria-controls": id, "aria-label": label });
    this.button.append($('<i aria-hidden="true">').addClass(icon));
    RED.popover.tooltip(this.button, label);
    this.button.on("click", () => {
      const isShown = this.button.attr("aria-expanded") !== "true";
      RED.settings.setLocal(this.#key, String(isShown));
      this.#show(isShown);
    });
    this.#show(RED.settings.getLocal(this.#key) !== "false");
  }

  #show(isShown: boolean): void {
    this.button.attr("aria-expanded", String(isShown));
    this.#folded.toggle(isShown);
  }
}
