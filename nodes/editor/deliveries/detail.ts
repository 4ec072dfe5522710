// One delivery: what came, what became of it, and what can be done with it.

import { isReplayable } from "../../../src/deliveries/state";
import type { Detail, Summary } from "../../../src/deliveries/summary";
import { isSame } from "../fields";
import { Actions } from "./actions";
import { answerOf, statusText } from "./answer";
import { bodyOf } from "./body";
import { headOf } from "./head";
import { bytesText } from "./measures";
import { noteOf, sectionOf, tableOf } from "./pieces";
import { failureText } from "./replay-one";
import { runsOf } from "./runs";
import { durationText, text, timeText } from "./texts";

const viewData = "webhook-delivery";

/** Shows a delivery in a place, and once more what has changed of the one that is shown there. */
export function showDelivery(place: JQuery, summary: Summary): void {
  const shown: unknown = place.data(viewData);
  if (shown instanceof DeliveryView && shown.isOf(summary)) {
    shown.update(summary);
    return;
  }
  const view = new DeliveryView(summary);
  place.empty().data(viewData, view).append(view.element);
}

class DeliveryView {
  readonly element: JQuery = $("<section>", { class: "webhook-delivery" });
  readonly #head = $("<div>");
  readonly #actions = $("<div>");
  readonly #sections = $("<div>");
  readonly #failure = $("<div>", { role: "status" });
  #summary: Summary;
  #detail: Detail | undefined;

  constructor(summary: Summary) {
    this.#summary = summary;
    this.element.attr("aria-label", text("delivery.title", { time: timeText(summary.at) }));
    this.element.append(this.#head.append(headOf(summary)), this.#actions, this.#failure, this.#sections);
    this.#load();
  }

  /** Whether it is what the place holds: somebody else may have emptied that. */
  isOf({ id }: Summary): boolean {
    return id === this.#summary.id && this.element.parent().length > 0;
  }

  update(summary: Summary): void {
    this.#showHead(summary);
    this.#load();
  }

  #load(): void {
    const { id } = this.#summary;
    void $.getJSON(`webhook-trigger/deliveries/${encodeURIComponent(id)}`)
      .done((detail: Detail) => this.#show(detail))
      .fail(({ status }) => {
        const isForbidden = status === 401 || status === 403;
        const why = isForbidden ? text("delivery.unreadable") : failureText({ status });
        this.#failure.empty().append(noteOf(why));
      });
  }

  #show(detail: Detail): void {
    const before = this.#detail;
    this.#failure.empty();
    if (isSame(before, detail)) return;
    this.#detail = detail;
    this.#showHead(detail);
    // What somebody is about to do is left alone, as long as it can still be done.
    if (!before || isReplayable(before.state) !== isReplayable(detail.state)) {
      this.#keepFocus(this.#actions, () => this.#actions.empty().append(new Actions(detail).view));
    }
    this.#keepFocus(this.#sections, () => this.#sections.empty().append(...sectionsOf(detail)));
  }

  #showHead(summary: Summary): void {
    const next = headOf(summary);
    this.#summary = summary;
    if (this.#head.children().prop("outerHTML") === next.prop("outerHTML")) return;
    this.#keepFocus(this.#head, () => this.#head.empty().append(next));
  }

  /** The focus stays on what stands in the same place as before. */
  #keepFocus(part: JQuery, renew: () => void): void {
    const able = "button, summary, textarea, [tabindex]";
    const at = part.find(able).index($(":focus"));
    renew();
    if (at >= 0) part.find(able).eq(at).trigger("focus");
  }
}

function sectionsOf(detail: Detail): JQuery[] {
  const { headers, query, runs } = detail;
  return [
    tableSection("headers", headers),
    tableSection("query", query),
    sectionOf("body", sizeOf(detail), bodyOf(detail)),
    sectionOf("answer", answerBrief(detail), answerOf(detail)),
    sectionOf("runs", String(runs.length), runsOf(detail)),
  ];
}

function tableSection(name: "headers" | "query", values: Detail[typeof name]): JQuery {
  const { length } = Object.keys(values);
  const caption = text(`delivery.section.${name}`);
  return sectionOf(name, String(length), length > 0 ? tableOf(caption, values) : noteOf(text("delivery.none")));
}

function sizeOf({ size, headers }: Detail): string {
  const type = headers["content-type"];
  return type === undefined ? bytesText(size) : `${bytesText(size)} · ${String(type)}`;
}

function answerBrief({ answer }: Detail): string {
  if (!answer) return text("delivery.none");
  const { status, milliseconds } = answer;
  return milliseconds === null ? statusText(status) : `${statusText(status)} · ${durationText(milliseconds)}`;
}
