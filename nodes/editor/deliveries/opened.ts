// One delivery in the place of the list, with a way back to it.

import type { Summary } from "../../../src/deliveries/summary";
import { showDelivery } from "./detail";
import { text } from "./texts";

export class Opened {
  readonly element = $('<div class="webhook-deliveries-opened">');
  readonly #back = $('<button type="button" class="red-ui-button red-ui-button-small">');
  readonly #place = $("<div>");
  readonly #closed: () => void;
  #isOpen = false;

  constructor(closed: () => void) {
    this.#closed = closed;
    this.#back.append(
      '<i class="fa fa-chevron-left" aria-hidden="true"></i> ',
      document.createTextNode(text("tab.back")),
    );
    this.#back.on("click", () => this.close());
    this.element.append(this.#back, this.#place).hide();
    this.element.on("keydown", (event) => {
      if (event.key !== "Escape" || event.isDefaultPrevented()) return;
      // The editor would cancel the form that is open.
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(delivery: Summary): void {
    this.#isOpen = true;
    this.element.show();
    showDelivery(this.#place, delivery);
    this.#back.trigger("focus");
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.element.hide();
    this.#place.empty();
    this.#closed();
  }
}
