// One delivery, in place of the list.

import { findEventField } from "../../../src/auth/senders/events";
import { senders } from "../../../src/auth/senders/table";
import {
  type Detail,
  formatFix,
  formatReason,
  inARow,
  isReplayable,
  type Summary,
} from "../../../src/deliveries/summary";
import { create, renewContent, setAttributes, setText, toggle } from "../dom";
import { parseJson } from "../text";
import { askForDelivery, failureText, isForbidden, replay } from "./api";
import { createButton, createIcon, createList, createNote, type DetailPart, sections, smallButton } from "./content";
import { composeCurl, presentCredential } from "./curl";
import { host, type MissedRequest } from "./host";
import {
  attemptText,
  bytesText,
  composeFullPath,
  composeUrlOfPath,
  createState,
  durationText,
  getNodeLabel,
  getNodeName,
  isElsewhere,
  momentText,
  text,
  timeText,
} from "./texts";

interface DetailListener {
  opened: () => void;
  closed: () => void;
  /** The user wants the deliveries of a node. */
  filtered: (node: string) => void;
}

export class OpenDelivery {
  readonly element = create("div", { class: "webhook-deliveries-opened" });
  readonly #back = createButton("fa-chevron-left", text("tab.back"));
  readonly #view = create("section", { class: "webhook-delivery" });
  readonly #listener: DetailListener;
  #id: string | undefined;
  #parts: readonly { place: HTMLElement; part: DetailPart; shown?: string }[] = [];
  #failure = create("div");

  constructor(listener: DetailListener) {
    this.#listener = listener;
    this.#back.addEventListener("click", () => this.close());
    this.element.append(this.#back);
    toggle(this.element, false);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
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
    this.#failure = create("div", { role: "status" });
    const head: DetailPart = [(detail) => detail, (detail) => this.#createHead(detail)];
    // The user may be about to use the buttons.
    const actions: DetailPart = [
      ({ state }) => isReplayable(state),
      (detail) => createActions(detail, this.#listener.filtered),
    ];
    this.#parts = [head, actions, ...sections].map((part) => ({ place: create("div"), part }));
    this.#parts[0]?.place.append(this.#createHead(summary));
    setAttributes(this.#view, { "aria-label": text("delivery.title", { time: timeText(summary.at) }) });
    this.#view.replaceChildren(...this.#parts.map(({ place }) => place), this.#failure);
    this.element.append(this.#view);
    this.#listener.opened();
    toggle(this.element, true);
    this.#back.focus();
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
      if (id === this.#id) this.#failure.replaceChildren(createNote(why));
      return false;
    }
    if (id === this.#id) this.#show(detail);
    return true;
  }

  close(): void {
    if (!this.isOpen) return;
    this.#id = undefined;
    toggle(this.element, false);
    this.#view.remove();
    this.#listener.closed();
  }

  #show(detail: Detail): void {
    this.#failure.replaceChildren();
    for (const each of this.#parts) {
      const { place, part } = each;
      const [dependsOn, createPart] = part;
      const shown = JSON.stringify(dependsOn(detail));
      if (each.shown === shown) continue;
      each.shown = shown;
      renewContent(place, [createPart(detail)]);
    }
  }

  /** State, time, reason and fix, and what is known of the request. */
  #createHead(summary: Summary): HTMLElement {
    const { at, state, cause } = summary;
    const line = create(
      "div",
      { class: "webhook-delivery-line" },
      create("b", { "data-state": state }, ...createState(summary)),
      " ",
      create("time", { datetime: new Date(at).toISOString() }, momentText(at)),
    );
    const head = create("div", { class: "webhook-delivery-head" }, line);
    if (cause) {
      const attributes = { class: "webhook-delivery-cause", role: "group", "aria-label": text("delivery.cause") };
      const said = [formatReason(cause, text), formatFix({ ...summary, cause }, text)];
      head.append(create("div", attributes, ...said.map((each) => create("p", {}, each))));
    }
    head.append(createList(this.#listProperties(summary)));
    return head;
  }

  #listProperties(summary: Summary): [name: string, value: string | HTMLElement][] {
    const { node, sender, size, milliseconds, attempt, replayOf, replayedBy, duplicateOf } = summary;
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
      replayedBy: replayedBy && this.#createDeliveryLink(replayedBy),
      duplicateOf: duplicateOf && this.#createDeliveryLink(duplicateOf),
    };
    const names = Object.keys(rows) as (keyof typeof rows)[];
    return names.flatMap((name) => {
      const value = rows[name];
      return value ? [[text(`delivery.${name}`), value]] : [];
    });
  }

  /** Opens another delivery, if it is still kept. */
  #createDeliveryLink(id: string): HTMLElement {
    const button = createLink(id, text("delivery.openOther", { id }));
    button.addEventListener("click", () => {
      askForDelivery(id)
        .then((delivery) => this.open(delivery))
        .catch((error: unknown) => button.replaceWith(create("span", {}, `${id}: ${failureText(error)}`)));
    });
    return button;
  }
}

/** Reveals a node, if it still exists. */
function createNodeLink(id: string): string | HTMLElement {
  const { findNode, reveal } = host();
  if (!findNode(id)) return text("delivery.deletedNode", { id });
  const name = getNodeName(id);
  if (!reveal) return name;
  const link = createLink(name, text("url.reveal", { name }));
  link.addEventListener("click", () => reveal(id));
  return link;
}

function createLink(name: string, label: string): HTMLElement {
  return create("button", { type: "button", class: smallButton, "aria-label": label }, name);
}

// The buttons of a delivery.

/** @param filterBy filters the list by a node */
function createActions(detail: Detail, filterBy: (node: string) => void): HTMLElement {
  const { id, at, node, state, body } = detail;
  const { roots, findNode, copy, mayWrite, prepareNode, useInTest } = host();
  const known = node === null ? undefined : findNode(node);
  const buttons = create("div", {
    class: "webhook-delivery-buttons",
    role: "group",
    "aria-label": text("delivery.actions"),
  });
  const change = create("div");
  const result = create("div", { class: "webhook-delivery-result", role: "status" });
  const view = create("div", { class: "webhook-delivery-actions" }, buttons);

  type Action = `delivery.${"replay" | "replayChanged" | "curl" | "useInTest" | "onlyNode"}` | "newNode.make";
  const add = (icon: string, action: Action, act: (button: HTMLButtonElement) => void) => {
    const button = createButton(icon, text(action));
    button.addEventListener("click", () => act(button));
    buttons.append(button);
    return button;
  };
  const say = (icon: string, said: string, verdict: "good" | "bad" | "" = "") => {
    setAttributes(result, { "data-verdict": verdict });
    result.replaceChildren(createIcon(icon), " ", create("span", {}, said));
  };
  let isBusy = false;
  const replayOnce = async (changed?: { payload: unknown }) => {
    // A second click would start the flow twice.
    if (isBusy) return;
    isBusy = true;
    say("fa-spinner fa-spin", text("testRequest.sending"));
    try {
      say("fa-check", text("delivery.replayed", { id: (await replay(id, changed)).id }), "good");
    } catch (error) {
      say("fa-times", failureText(error), "bad");
    }
    isBusy = false;
  };
  const toggleChange = (button: HTMLButtonElement) => {
    const isOpen = button.getAttribute("aria-expanded") !== "true";
    setAttributes(button, { "aria-expanded": String(isOpen) });
    change.replaceChildren();
    if (!isOpen) return button.focus();
    const send = (payload: unknown) => void replayOnce({ payload });
    change.append(createChangeForm(detail, send, () => toggleChange(button)));
    change.querySelector("textarea")?.focus();
  };
  const copyCurl = (button: HTMLButtonElement) => {
    if (roots.node === false) return say("fa-times", text("url.closed"), "bad");
    const credential = presentCredential(known?.saved);
    copy(composeCurl(detail, composeUrlOfPath(composeFullPath(detail)), credential), button);
    const said = [text("delivery.curlCopied"), credential.hint];
    if (body.truncated) said.push(text("delivery.curlLacking"));
    say("fa-check", inARow(said), "good");
  };

  if (isReplayable(state) && mayWrite()) {
    add("fa-repeat", "delivery.replay", () => void replayOnce());
    setAttributes(add("fa-pencil", "delivery.replayChanged", toggleChange), { "aria-expanded": "false" });
  } else view.append(createNote(text(isReplayable(state) ? "delivery.forbidden" : `delivery.noReplay.${state}`)));
  const makeNode = isElsewhere(detail) && node === null ? prepareNode?.(describeMissed(detail)) : undefined;
  if (makeNode) add("fa-plus", "newNode.make", makeNode);
  add("fa-terminal", "delivery.curl", copyCurl);
  if (useInTest && node !== null && known && body.data !== "") {
    add("fa-flask", "delivery.useInTest", () => {
      useInTest(node, { delivery: id, at });
      say("fa-check", text("delivery.usedInTest", { name: getNodeLabel(node), time: timeText(at) }), "good");
    });
  }
  if (node !== null) add("fa-filter", "delivery.onlyNode", () => filterBy(node));
  view.append(change, result);
  return view;
}

function describeMissed({ method, path, cause, headers }: Detail): MissedRequest {
  const sender = cause?.looksLike ?? null;
  const known = sender === null ? undefined : findEventField(sender, (field) => headers[field]);
  return { method, path, sender, event: known?.event };
}

/**
 * A form that edits the payload of a replay.
 *
 * @param send replays with a payload
 * @param cancel closes the form
 */
function createChangeForm({ payload }: Detail, send: (payload: unknown) => void, cancel: () => void): HTMLElement {
  const id = "webhook-delivery-payload";
  const field = create("textarea", { id, rows: 10, spellcheck: "false", "aria-describedby": `${id}-wrong` });
  const wrong = create("div", { id: `${id}-wrong`, class: "webhook-delivery-error", role: "status" });
  const go = createButton("fa-repeat", "");
  const close = createButton("fa-times", text("delivery.cancel"));
  const parse = () => parseJson(field.value);
  const check = () => {
    const isJson = parse() !== undefined;
    setText(wrong, isJson ? "" : text("reply.noJson"));
    setAttributes(field, { "aria-invalid": String(!isJson) });
    // A disabled button could not be reached by keyboard.
    setAttributes(go, { "aria-disabled": String(!isJson) });
    const [label] = go.getElementsByTagName("span");
    if (label) setText(label, text(isJson ? "delivery.replayThis" : "delivery.replayNoJson"));
  };
  go.addEventListener("click", () => {
    const parsed = parse();
    if (parsed) send(parsed.value);
    else field.focus();
  });
  close.addEventListener("click", cancel);
  field.addEventListener("input", check);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    // Escape closes the delivery elsewhere.
    event.preventDefault();
    cancel();
  });
  field.value = payload === undefined ? "" : JSON.stringify(payload, null, 2);
  check();
  return create(
    "div",
    { class: "webhook-delivery-change", role: "group", "aria-label": text("delivery.replayChanged") },
    create("label", { for: id }, text("delivery.payload")),
    field,
    wrong,
    create("div", { class: "webhook-delivery-buttons" }, go, close),
  );
}
