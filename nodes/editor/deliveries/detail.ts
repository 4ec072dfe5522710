// One delivery, in place of the list.

import { findEventField, senders } from "../../../src/auth/senders/table";
import { type Detail, formatFix, formatReason, inARow, type Summary } from "../../../src/admin/summary";
import { isReplayable } from "../../../src/deliveries/states";
import { tryParseJson } from "../../../src/config/values";
import { create, renewContent, setAttributes, setText, toggle } from "../dom";
import { askForDelivery, failureText, isForbidden, replay } from "./api";
import { removeOne } from "./removal";
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
  deleted: () => void;
}

export class OpenDelivery {
  readonly element = create("div", { class: "webhook-deliveries-opened" });
  readonly #back = createButton("fa-chevron-left", text("tab.back"));
  readonly #view = create("section", { class: "webhook-delivery" });
  readonly #listener: DetailListener;
  #id: string | undefined;
  #parts: readonly { place: HTMLElement; part: DetailPart; shown?: string }[] = [];
  #actions: DeliveryActions | undefined;
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
    this.#parts = [head, ...sections].map((part) => ({ place: create("div"), part }));
    this.#parts[0]?.place.append(this.#createHead(summary));
    this.#actions = undefined;
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
      if (id === this.#id) this.showTrouble(error);
      return false;
    }
    if (id === this.#id) this.#show(detail);
    return true;
  }

  /** Why it cannot be shown as it is now. */
  showTrouble(error: unknown): void {
    const why = isForbidden(error) ? text("delivery.unreadable") : failureText(error);
    this.#failure.replaceChildren(createNote(why));
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
    if (this.#actions) return this.#actions.show(detail);
    this.#actions = new DeliveryActions(detail, this.#listener);
    this.#parts[0]?.place.after(this.#actions.element);
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
      const said = [formatReason(cause, summary.status, text), formatFix({ ...summary, cause }, text)];
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
    button.onclick = ({ currentTarget: pressed }) => {
      askForDelivery(id)
        .then((delivery) => this.open(delivery))
        .catch((error: unknown) => {
          const said = create("span", {}, `${id}: ${failureText(error)}`);
          if (pressed instanceof HTMLElement) pressed.replaceWith(said);
        });
    };
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
  link.onclick = () => reveal(id);
  return link;
}

function createLink(name: string, label: string): HTMLElement {
  return create("button", { type: "button", class: smallButton, "aria-label": label }, name);
}

// The buttons of a delivery.

class DeliveryActions {
  readonly element = create("div", { class: "webhook-delivery-actions" });
  readonly #buttons = create("div", {
    class: "webhook-delivery-buttons",
    role: "group",
    "aria-label": text("delivery.actions"),
  });
  readonly #change = create("div");
  /** Why it cannot be replayed. */
  readonly #obstacle = createNote("");
  readonly #result = create("div", { class: "webhook-delivery-result", role: "status" });
  readonly #replays: readonly HTMLElement[];
  readonly #delete: HTMLElement;
  readonly #listener: Pick<DetailListener, "deleted">;
  #detail: Detail;
  #isBusy = false;

  constructor(detail: Detail, listener: Pick<DetailListener, "filtered" | "deleted">) {
    const { id, at, node, body } = detail;
    const { findNode, prepareNode, useInTest } = host();
    this.#detail = detail;
    this.#listener = listener;
    const again = this.#add("fa-repeat", "delivery.replay", () => void this.#replay());
    const changed = this.#add("fa-pencil", "delivery.replayChanged", (button) => this.#toggleChange(button));
    setAttributes(changed, { "aria-expanded": "false" });
    this.#replays = [again, changed];
    const makeNode = isElsewhere(detail) && node === null ? prepareNode?.(describeMissed(detail)) : undefined;
    if (makeNode) this.#add("fa-plus", "newNode.make", makeNode);
    this.#add("fa-terminal", "delivery.curl", (button) => this.#copyCurl(button));
    if (useInTest && node !== null && findNode(node) && body.data !== "") {
      this.#add("fa-flask", "delivery.useInTest", () => {
        useInTest(node, { delivery: id, at });
        this.#say("fa-check", text("delivery.usedInTest", { name: getNodeLabel(node), time: timeText(at) }), "good");
      });
    }
    if (node !== null) this.#add("fa-filter", "delivery.onlyNode", () => listener.filtered(node));
    this.#delete = this.#add("fa-trash", "delivery.delete", () => void this.#remove());
    this.element.append(this.#buttons, this.#obstacle, this.#change, this.#result);
    this.show(detail);
  }

  show(detail: Detail): void {
    this.#detail = detail;
    const mayWrite = host().mayWrite();
    const obstacle = isReplayable(detail.state) ? "" : describeReplayReason(detail);
    for (const button of this.#replays) toggle(button, mayWrite && obstacle === "");
    toggle(this.#delete, mayWrite && detail.state !== "running");
    const said = obstacle || (mayWrite ? "" : text("delivery.forbidden"));
    toggle(this.#obstacle, said !== "");
    setText(this.#obstacle, said);
  }

  #add(
    icon: string,
    action: `delivery.${"replay" | "replayChanged" | "curl" | "useInTest" | "onlyNode" | "delete"}` | "newNode.make",
    act: (button: HTMLButtonElement) => void,
  ): HTMLButtonElement {
    const button = createButton(icon, text(action));
    button.addEventListener("click", () => act(button));
    this.#buttons.append(button);
    return button;
  }

  #say(icon: string, said: string, verdict: "good" | "bad" | "" = ""): void {
    setAttributes(this.#result, { "data-verdict": verdict });
    this.#result.replaceChildren(createIcon(icon), " ", create("span", {}, said));
  }

  async #replay(changed?: { payload: unknown }): Promise<void> {
    // A second click would start the flow twice.
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#say("fa-spinner fa-spin", text("testRequest.sending"));
    try {
      const { id } = await replay(this.#detail.id, changed);
      this.#say("fa-check", text("delivery.replayed", { id }), "good");
    } catch (error) {
      this.#say("fa-times", failureText(error), "bad");
    }
    this.#isBusy = false;
  }

  #toggleChange(button: HTMLButtonElement): void {
    const isOpen = button.getAttribute("aria-expanded") !== "true";
    setAttributes(button, { "aria-expanded": String(isOpen) });
    this.#change.replaceChildren();
    if (!isOpen) return button.focus();
    const send = (payload: unknown) => void this.#replay({ payload });
    this.#change.append(createChangeForm(this.#detail, send, () => this.#toggleChange(button)));
    this.#change.querySelector("textarea")?.focus();
  }

  #copyCurl(button: HTMLButtonElement): void {
    const { node, body } = this.#detail;
    const { roots, findNode, copy } = host();
    if (roots.node === false) return this.#say("fa-times", text("url.closed"), "bad");
    const credential = presentCredential(node === null ? undefined : findNode(node)?.saved);
    copy(composeCurl(this.#detail, composeUrlOfPath(composeFullPath(this.#detail)), credential), button);
    const said = [text("delivery.curlCopied"), credential.hint];
    if (body.truncated) said.push(text("delivery.curlLacking"));
    this.#say("fa-check", inARow(said), "good");
  }

  async #remove(): Promise<void> {
    if ((await removeOne(this.#detail)) > 0) this.#listener.deleted();
  }
}

/** Why a delivery that is not replayable is not. */
function describeReplayReason({ state, nextAt, pause }: Summary): string {
  // A paused node has no next attempt.
  if (state !== "retrying" || nextAt === null || pause !== null) return text(`delivery.noReplay.${state}`);
  return text("delivery.noReplay.retryingAt", { time: timeText(nextAt) });
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
  const parse = () => tryParseJson(field.value);
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
    if (parsed !== undefined) send(parsed);
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
