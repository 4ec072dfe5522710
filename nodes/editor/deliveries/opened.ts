// One delivery in the place of the list, with a way back to it.

import type { Notice, Summary } from "../../../src/deliveries/summary";
import { DeliveryView } from "./detail";
import { text } from "./texts";

export class Opened {
  readonly element = $('<div class="webhook-deliveries-opened">');
  readonly #back = $('<button type="button" class="red-ui-button red-ui-button-small">');
  readonly #place = $("<div>");
  readonly #closed: () => void;
  #view: DeliveryView | undefined;

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
    return this.#view !== undefined;
  }

  open(delivery: Summary): void {
    this.#view = new DeliveryView(delivery);
    this.#place.empty().append(this.#view.element);
    this.element.show();
    this.#back.trigger("focus");
  }

  /** Deliveries are told of: the one that is open may be among them. */
  follow(deliveries: readonly Notice[]): void {
    this.#view?.follow(deliveries);
  }

  close(): void {
    if (!this.#view) return;
    this.#view = undefined;
    this.element.hide();
    this.#place.empty();
    this.#closed();
  }
}
