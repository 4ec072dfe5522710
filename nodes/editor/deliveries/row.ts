// A row of the list: one delivery, in one line or two.

import type { Summary } from "../../../src/deliveries/summary";
import { reasonOf } from "../../../src/deliveries/wording";
import { labelOf } from "./names";
import { iconOf } from "./looks";
import { attemptText, durationText, text, timeText } from "./texts";

/** What a row shows. */
export interface Shown {
  readonly delivery: Summary;
  /** Its place in the list, from 0 on. */
  readonly index: number;
  /** How many there are; -1 where nobody knows yet. */
  readonly size: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly height: number;
}

const parts = ["check", "time", "state", "node", "status", "took", "what"] as const;

export class Row {
  readonly element = document.createElement("div");
  readonly #parts = Object.fromEntries(parts.map((part) => [part, document.createElement("span")])) as Record<
    (typeof parts)[number],
    HTMLElement
  >;
  #shown: Shown | undefined;

  /** @param id of the element, by which the list says which row is the active one */
  constructor(id: string) {
    this.element.id = id;
    this.element.className = "webhook-deliveries-row";
    this.element.setAttribute("role", "option");
    for (const part of parts) this.#parts[part].className = `webhook-deliveries-${part}`;
    this.#parts.check.innerHTML = '<i class="fa fa-fw" aria-hidden="true"></i>';
    this.#parts.state.innerHTML = '<i aria-hidden="true"></i> <span></span>';
    this.element.append(...parts.map((part) => this.#parts[part]));
  }

  get index(): number | undefined {
    return this.#shown?.index;
  }

  show(shown: Shown): void {
    const { delivery, index, size, isActive, isSelected, height } = shown;
    if (this.#shown?.delivery !== delivery) this.#fill(delivery);
    if (this.#shown?.index !== index || this.#shown.height !== height) this.element.style.top = `${index * height}px`;
    this.#shown = shown;
    this.element.setAttribute("aria-posinset", String(index + 1));
    this.element.setAttribute("aria-setsize", String(size));
    this.element.setAttribute("aria-selected", String(isSelected));
    this.element.classList.toggle("active", isActive);
    this.#parts.check.firstElementChild?.classList.toggle("fa-check-square-o", isSelected);
    this.#parts.check.firstElementChild?.classList.toggle("fa-square-o", !isSelected);
  }

  #fill(delivery: Summary): void {
    const { time, state, node, status, took, what } = this.#parts;
    time.textContent = timeText(delivery.at);
    state.children[0]?.setAttribute("class", iconOf(delivery.state));
    const word = state.children[1];
    if (word) word.textContent = text(`tab.state.${delivery.state}`);
    node.textContent = delivery.node === null ? "" : labelOf(delivery.node);
    node.title = node.textContent;
    status.textContent = delivery.status === null ? "" : String(delivery.status);
    took.textContent = delivery.milliseconds === null ? "" : durationText(delivery.milliseconds);
    what.textContent = whatOf(delivery);
    what.title = what.textContent;
  }
}

/** What a delivery was: why it was refused or has failed, else its event, else its first words, else what was called. */
function whatOf(delivery: Summary): string {
  const { cause, state, event, words, method, path, replayOf, isTrial } = delivery;
  const request = `${method} ${path}`;
  const reason = cause && reasonOf(cause, text);
  // Where nothing is open, the path says most.
  const why = cause?.problem === "noEndpoint" ? `${request}: ${reason}` : reason;
  const what = why ?? event ?? words ?? request;
  if (state === "retrying") return `${attemptText(delivery) ?? ""}: ${what}`;
  if (isTrial) return text("tab.trial", { what });
  return replayOf === null ? what : text("tab.replayOf", { what });
}
