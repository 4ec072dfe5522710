// One delivery, in place of the list.

import { senders } from "../../../src/auth/senders/table";
import {
  type Detail,
  formatFix,
  formatReason,
  inARow,
  isReplayable,
  type Summary,
} from "../../../src/deliveries/summary";
import { roots } from "../form/fields";
import { composeUrlOfPath } from "../form/handover";
import { chooseTestBody } from "../form/test-request";
import { type Editor, parseJson, renewContent, updateText } from "../host";
import { askForDelivery, failureText, isForbidden, replay } from "./api";
import { createButton, createIcon, createList, createNote, type DetailPart, sections } from "./content";
import { composeCurl, presentCredential } from "./curl";
import {
  attemptText,
  bytesText,
  composeFullPath,
  createState,
  durationText,
  getNodeLabel,
  getNodeName,
  isElsewhere,
  momentText,
  text,
  timeText,
} from "./texts";

declare const RED: Editor;

interface DetailListener {
  opened: () => void;
  closed: () => void;
  /** The user wants the deliveries of a node. */
  filtered: (node: string) => void;
}

export class OpenDelivery {
  readonly element = $('<div class="webhook-deliveries-opened">').hide();
  readonly #back = createButton("fa-chevron-left", text("tab.back"));
  readonly #view = $("<section>", { class: "webhook-delivery" });
  readonly #listener: DetailListener;
  #id: string | undefined;
  #parts: readonly { place: JQuery; part: DetailPart; shown?: string }[] = [];
  #failure = $();

  constructor(listener: DetailListener) {
    this.#listener = listener;
    this.#back.on("click", () => this.close());
    this.element.append(this.#back);
    this.element.on("keydown", (event) => {
      if (event.key !== "Escape" || event.isDefaultPrevented()) return;
      // Escape would close the form.
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen(): boolean {
    return this.#id !== undefined;
  }

  open(summary: Summary): void {
    this.#id = summary.id;
    this.#failure = $("<div>", { role: "status" });
    const head: DetailPart = [(detail) => detail, (detail) => this.#createHead(detail)];
    // The user may be about to use the buttons.
    const actions: DetailPart = [
      ({ state }) => isReplayable(state),
      (detail) => createActions(detail, this.#listener.filtered),
    ];
    this.#parts = [head, actions, ...sections].map((part) => ({ place: $("<div>"), part }));
    this.#parts[0]?.place.append(this.#createHead(summary));
    this.#view.attr("aria-label", text("delivery.title", { time: timeText(summary.at) }));
    this.#view.empty().append(...this.#parts.map(({ place }) => place), this.#failure);
    this.element.append(this.#view);
    this.#listener.opened();
    this.element.show();
    this.#back.trigger("focus");
    void this.renew();
  }

  /** @returns whether there was an answer */
  async renew(): Promise<boolean> {
    const id = this.#id;
    if (id === undefined) return true;
    let detail: Detail;
    try {
      detail = await askForDelivery(id);
    } catch (error) {
      const why = isForbidden(error) ? text("delivery.unreadable") : failureText(error);
      if (id === this.#id) this.#failure.empty().append(createNote(why));
      return false;
    }
    if (id === this.#id) this.#show(detail);
    return true;
  }

  close(): void {
    if (!this.isOpen) return;
    this.#id = undefined;
    this.element.hide();
    this.#view.detach();
    this.#listener.closed();
  }

  #show(detail: Detail): void {
    this.#failure.empty();
    for (const each of this.#parts) {
      const { place, part } = each;
      const [dependsOn, create] = part;
      const shown = JSON.stringify(dependsOn(detail));
      if (each.shown === shown) continue;
      each.shown = shown;
      renewContent(place, [create(detail)]);
    }
  }

  /** State, time, reason and fix, and what is known of the request. */
  #createHead(summary: Summary): JQuery {
    const { at, state, cause } = summary;
    const line = $("<div>", { class: "webhook-delivery-line" }).append(
      $("<b>", { "data-state": state }).append(...createState(state)),
      " ",
      $("<time>", { datetime: new Date(at).toISOString(), text: momentText(at) }),
    );
    const head = $("<div>", { class: "webhook-delivery-head" }).append(line);
    if (cause) {
      const box = $("<div>", { class: "webhook-delivery-cause", role: "group", "aria-label": text("delivery.cause") });
      box.append($("<p>").text(formatReason(cause, text)), $("<p>").text(formatFix({ ...summary, cause }, text)));
      head.append(box);
    }
    return head.append(createList(this.#listProperties(summary)));
  }

  #listProperties(summary: Summary): [name: string, value: string | JQuery][] {
    const { node, sender, size, milliseconds, attempt, replayOf, duplicateOf } = summary;
    const nodeText = node === null ? text("delivery.noNode") : createNodeLink(node);
    const isMeant = isElsewhere(summary) && node !== null;
    const rows = {
      node: isMeant ? null : nodeText,
      meant: isMeant ? nodeText : null,
      request: `${summary.method} ${composeFullPath(summary)}`,
      ip: summary.ip,
      sender: sender && senders[sender].name,
      event: summary.event,
      senderId: summary.senderId,
      id: summary.id,
      size: bytesText(size),
      took: milliseconds === null ? null : durationText(milliseconds),
      attempt: attemptText(summary) ?? (attempt > 1 ? String(attempt) : null),
      replayOf: replayOf && this.#createDeliveryLink(replayOf),
      duplicateOf: duplicateOf && this.#createDeliveryLink(duplicateOf),
    };
    const names = Object.keys(rows) as (keyof typeof rows)[];
    return names.flatMap((name) => {
      const value = rows[name];
      return value ? [[text(`delivery.${name}`), value]] : [];
    });
  }

  /** Opens another delivery, if it is still kept. */
  #createDeliveryLink(id: string): JQuery {
    const button = createLink(id, text("delivery.openOther", { id }));
    return button.on("click", () => {
      askForDelivery(id)
        .then((delivery) => this.open(delivery))
        .catch((error: unknown) => button.replaceWith($("<span>").text(`${id}: ${failureText(error)}`)));
    });
  }
}

/** Reveals a node, if it still exists. */
function createNodeLink(id: string): string | JQuery {
  if (!RED.nodes.node(id)) return text("delivery.deletedNode", { id });
  const name = getNodeName(id);
  return createLink(name, text("url.reveal", { name })).on("click", () => RED.view.reveal(id));
}

function createLink(name: string, label: string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small", text: name });
  return button.attr("aria-label", label);
}

// The buttons of a delivery.

/** @param filterBy filters the list by a node */
function createActions(detail: Detail, filterBy: (node: string) => void): JQuery {
  const { id, at, node, state, body } = detail;
  const view = $("<div>", { class: "webhook-delivery-actions" });
  const buttons = $("<div>", { class: "webhook-delivery-buttons", role: "group" });
  const change = $("<div>");
  const result = $("<div>", { class: "webhook-delivery-result", role: "status" });

  type Action = "replay" | "replayChanged" | "curl" | "useInTest" | "onlyNode";
  const add = (icon: string, action: Action, act: (button: JQuery) => void) => {
    const button = createButton(icon, text(`delivery.${action}`)).appendTo(buttons);
    return button.on("click", () => act(button));
  };
  const say = (icon: string, said: string, verdict: "good" | "bad" | "" = "") => {
    result.attr("data-verdict", verdict).empty().append(createIcon(icon), " ", $("<span>").text(said));
  };
  const replayOnce = async (changed?: { payload: unknown }) => {
    // A second click would start the flow twice.
    if (view.attr("aria-busy") === "true") return;
    view.attr("aria-busy", "true");
    say("fa-spinner fa-spin", text("testRequest.sending"));
    try {
      say("fa-check", text("delivery.replayed", { id: (await replay(id, changed)).id }), "good");
    } catch (error) {
      say("fa-times", failureText(error), "bad");
    }
    view.attr("aria-busy", "false");
  };
  const toggleChange = (button: JQuery) => {
    const isOpen = button.attr("aria-expanded") !== "true";
    button.attr("aria-expanded", String(isOpen));
    change.empty();
    if (!isOpen) return button.trigger("focus");
    const send = (payload: unknown) => void replayOnce({ payload });
    change.append(createChangeForm(detail, send, () => toggleChange(button)));
    return change.find("textarea").trigger("focus");
  };
  const copyCurl = (button: JQuery) => {
    if (roots().node === false) return say("fa-times", text("url.closed"), "bad");
    const credential = presentCredential(node === null ? null : RED.nodes.node(node));
    const command = composeCurl(detail, composeUrlOfPath(composeFullPath(detail)), credential);
    RED.clipboard.copyText(command, button, text("copied"));
    const said = [text("delivery.curlCopied"), credential.hint];
    if (body.truncated) said.push(text("delivery.curlLacking"));
    return say("fa-check", inARow(said), "good");
  };

  buttons.attr("aria-label", text("delivery.actions"));
  view.append(buttons);
  if (isReplayable(state)) {
    add("fa-repeat", "replay", () => void replayOnce());
    add("fa-pencil", "replayChanged", toggleChange).attr("aria-expanded", "false");
  } else view.append(createNote(text(`delivery.noReplay.${state}`)));
  add("fa-terminal", "curl", copyCurl);
  if (node !== null && RED.nodes.node(node) && body.data !== "") {
    add("fa-flask", "useInTest", () => {
      chooseTestBody(node, { delivery: id, at });
      say("fa-check", text("delivery.usedInTest", { name: getNodeLabel(node), time: timeText(at) }), "good");
    });
  }
  if (node !== null) add("fa-filter", "onlyNode", () => filterBy(node));
  return view.append(change, result);
}

/**
 * A form that edits the payload of a replay.
 *
 * @param send replays with a payload
 * @param cancel closes the form
 */
function createChangeForm({ payload }: Detail, send: (payload: unknown) => void, cancel: () => void): JQuery {
  const id = "webhook-delivery-payload";
  const field = $("<textarea>", { id, rows: 10, spellcheck: false, "aria-describedby": `${id}-wrong` });
  const wrong = $("<div>", { id: `${id}-wrong`, class: "webhook-delivery-error", role: "status" });
  const go = createButton("fa-repeat", "");
  const parse = () => parseJson(String(field.val()));
  const check = () => {
    const isJson = parse() !== undefined;
    updateText(wrong, isJson ? "" : text("reply.noJson"));
    field.attr("aria-invalid", String(!isJson));
    // A disabled button could not be reached by keyboard.
    go.attr("aria-disabled", String(!isJson));
    go.find("span").text(text(isJson ? "delivery.replayThis" : "delivery.replayNoJson"));
  };
  go.on("click", () => {
    const parsed = parse();
    if (parsed) send(parsed.value);
    else field.trigger("focus");
  });
  field.on("input", check).on("keydown", (event) => {
    if (event.key !== "Escape") return;
    // Escape closes the delivery elsewhere.
    event.preventDefault();
    cancel();
  });
  field.val(payload === undefined ? "" : JSON.stringify(payload, null, 2));
  check();
  const buttons = $("<div>", { class: "webhook-delivery-buttons" });
  buttons.append(go, createButton("fa-times", text("delivery.cancel")).on("click", cancel));
  const form = $("<div>", { class: "webhook-delivery-change", role: "group" });
  form.attr("aria-label", text("delivery.replayChanged"));
  return form.append($("<label>", { for: id }).text(text("delivery.payload")), field, wrong, buttons);
}
