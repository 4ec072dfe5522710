// One delivery.

import { senders } from "../../../src/auth/senders/table";
import { type Detail, formatFix, isReplayable, formatReason, type Summary } from "../../../src/deliveries/summary";
import { isSame } from "../form/fields";
import type { Editor } from "../host";
import { Actions } from "./actions";
import { askForDelivery, failureText } from "./api";
import {
  createAnswer,
  attemptList,
  createBody,
  createList,
  createNote,
  createSection,
  statusText,
  createTable,
} from "./content";
import {
  attemptText,
  bytesText,
  durationText,
  getStateIcon,
  isElsewhere,
  momentText,
  getNodeName,
  text,
  timeText,
  composeFullPath,
} from "./texts";

/** The sections, with the properties that they show: an unchanged section stays as it is. */
const sections: readonly (readonly [of: readonly (keyof Detail)[], make: (detail: Detail) => JQuery])[] = [
  [["headers"], ({ headers }) => tableSection("headers", headers)],
  [["query"], ({ query }) => tableSection("query", query)],
  [["body", "size", "headers"], (detail) => createSection("body", formatSize(detail), createBody(detail))],
  [["answer"], (detail) => createSection("answer", answerBrief(detail), createAnswer(detail))],
  [["attempts"], (detail) => createSection("attempts", String(detail.attempts.length), attemptList(detail))],
];

class DeliveryView {
  readonly element: JQuery = $("<section>", { class: "webhook-delivery" });
  readonly #head = $("<div>");
  readonly #actions = $("<div>");
  readonly #sections = sections.map(() => $("<div>"));
  readonly #failure = $("<div>", { role: "status" });
  readonly #id: string;
  #detail: Detail | undefined;
  /** Only the last answer counts. */
  #asked = 0;

  constructor(summary: Summary) {
    this.#id = summary.id;
    this.element.attr("aria-label", text("delivery.title", { time: timeText(summary.at) }));
    this.element.append(this.#head.append(createDetailHead(summary)), this.#actions, this.#failure, ...this.#sections);
    void this.load();
  }

  /** @returns whether there was an answer */
  async load(): Promise<boolean> {
    this.#asked += 1;
    const asked = this.#asked;
    let detail: Detail;
    try {
      detail = await askForDelivery(this.#id);
    } catch (error) {
      if (asked === this.#asked) this.#fail((error as JQuery.jqXHR).status);
      return false;
    }
    if (asked === this.#asked) this.#show(detail);
    return true;
  }

  #fail(status: number): void {
    const isForbidden = status === 401 || status === 403;
    const why = isForbidden ? text("delivery.unreadable") : failureText({ status });
    this.#failure.empty().append(createNote(why));
  }

  #show(detail: Detail): void {
    const before = this.#detail;
    this.#failure.empty();
    this.#detail = detail;
    this.#showHead(detail);
    // The user may be about to use them.
    if (!before || isReplayable(before.state) !== isReplayable(detail.state)) {
      this.#keepFocus(this.#actions, () => this.#actions.empty().append(new Actions(detail).view));
    }
    for (const [index, [of, make]] of sections.entries()) {
      const place = this.#sections[index];
      if (!place || (before && of.every((key) => isSame(before[key], detail[key])))) continue;
      this.#keepFocus(place, () => place.empty().append(make(detail)));
    }
  }

  #showHead(summary: Summary): void {
    const next = createDetailHead(summary);
    if (this.#head.children().prop("outerHTML") === next.prop("outerHTML")) return;
    this.#keepFocus(this.#head, () => this.#head.empty().append(next));
  }

  /** Keeps the focus at the same position. */
  #keepFocus(part: JQuery, renew: () => void): void {
    const able = "button, summary, textarea, [tabindex]";
    const at = part.find(able).index($(":focus"));
    renew();
    if (at >= 0) part.find(able).eq(at).trigger("focus");
  }
}

/** One delivery in place of the list, with a button back. */
export class OpenDelivery {
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
      // Escape would close the form.
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

  /** @returns whether there was an answer */
  async renew(): Promise<boolean> {
    return (await this.#view?.load()) ?? true;
  }

  close(): void {
    if (!this.#view) return;
    this.#view = undefined;
    this.element.hide();
    this.#place.empty();
    this.#closed();
  }
}

function tableSection(name: "headers" | "query", values: Detail[typeof name]): JQuery {
  const { length } = Object.keys(values);
  const caption = text(`delivery.section.${name}`);
  return createSection(
    name,
    String(length),
    length > 0 ? createTable(caption, values) : createNote(text("delivery.none")),
  );
}

function formatSize({ size, headers }: Detail): string {
  const type = headers["content-type"];
  return type === undefined ? bytesText(size) : `${bytesText(size)} · ${String(type)}`;
}

function answerBrief({ answer }: Detail): string {
  if (!answer) return text("delivery.none");
  const { status, milliseconds } = answer;
  return milliseconds === null ? statusText(status) : `${statusText(status)} · ${durationText(milliseconds)}`;
}

// The head of a delivery.

declare const RED: Editor;

function createDetailHead(summary: Summary): JQuery {
  const line = $("<div>", { class: "webhook-delivery-line" }).append(createState(summary), " ");
  line.append($("<time>", { datetime: new Date(summary.at).toISOString() }).text(momentText(summary.at)));
  return $("<div>", { class: "webhook-delivery-head" }).append(
    line,
    ...createCause(summary),
    createList(listDetailRows(summary)),
  );
}

/** Reason and fix. */
function createCause({ cause, state, pause }: Summary): JQuery[] {
  if (cause === null) return [];
  const box = $("<div>", { class: "webhook-delivery-cause", role: "group", "aria-label": text("delivery.cause") });
  return [
    box.append($("<p>").text(formatReason(cause, text)), $("<p>").text(formatFix({ cause, state, pause }, text))),
  ];
}

function createState({ state }: Summary): JQuery {
  const icon = $("<i>", { class: getStateIcon(state), "aria-hidden": "true" });
  return $("<b>", { "data-state": state }).append(icon, " ", $("<span>").text(text(`tab.state.${state}`)));
}

/** A key under `delivery` in the message catalog. */
type DetailRow =
  | keyof Pick<
      Summary,
      "node" | "ip" | "sender" | "event" | "senderId" | "id" | "size" | "attempt" | "replayOf" | "duplicateOf"
    >
  | "meant"
  | "request"
  | "took";

function listDetailRows(summary: Summary): [name: string, value: string | JQuery][] {
  const { node, method, ip, sender, event, senderId, id, size, milliseconds, attempt, replayOf, duplicateOf } = summary;
  const rows: [name: DetailRow, value: string | JQuery | null][] = [
    [
      isElsewhere(summary) && node !== null ? "meant" : "node",
      node === null ? text("delivery.noNode") : createNodeLink(node),
    ],
    ["request", `${method} ${composeFullPath(summary)}`],
    ["ip", ip],
    ["sender", sender && senders[sender].name],
    ["event", event],
    ["senderId", senderId],
    ["id", id],
    ["size", bytesText(size)],
    ["took", milliseconds === null ? null : durationText(milliseconds)],
    ["attempt", attemptText(summary) ?? (attempt > 1 ? String(attempt) : null)],
    ["replayOf", replayOf && createDeliveryLink(replayOf)],
    ["duplicateOf", duplicateOf && createDeliveryLink(duplicateOf)],
  ];
  return rows.flatMap(([key, value]) => (value === null || value === "" ? [] : [[text(`delivery.${key}`), value]]));
}

/** Opens a delivery. Its argument is the delivery. */
export const openEvent = "webhook-deliveries:open";

/** Opens another delivery, if it is still kept. */
function createDeliveryLink(id: string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small", text: id });
  return button.attr("aria-label", text("delivery.openOther", { id })).on("click", () => {
    askForDelivery(id)
      .then((delivery) => $(document).trigger(openEvent, [delivery]))
      .catch((error: unknown) => {
        const { status } = error as JQuery.jqXHR;
        button.replaceWith($("<span>").text(`${id}: ${failureText({ status })}`));
      });
  });
}

/** Reveals a node, if it still exists. */
function createNodeLink(id: string): string | JQuery {
  const name = getNodeName(id);
  if (!RED.nodes.node(id)) return text("delivery.deletedNode", { id });
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" }).text(name);
  return button.attr("aria-label", text("url.reveal", { name })).on("click", () => RED.view.reveal(id));
}
