// The buttons of a delivery.

import { type Detail, inARow, isReplayable } from "../../../src/deliveries/summary";
import { composeUrlOfPath } from "../form/addresses";
import { roots } from "../form/checks";
import { chooseTestBody } from "../form/test-request";
import type { Editor } from "../host";
import { failureText, replay } from "./api";
import { createButton, createIcon, createNote } from "./content";
import { composeCurl, getPresentedCredential } from "./curl";
import { getNodeLabel, text, timeText, composeFullPath } from "./texts";

declare const RED: Editor;

/** Filters the list by a node. Its argument is the id of the node. */
export const filterEvent = "webhook-deliveries:filter";

/** A key under `delivery` in the message catalog. */
type DeliveryAction = "replay" | "replayChanged" | "curl" | "useInTest" | "showNode" | "onlyNode";

export class Actions {
  readonly view = $("<div>", { class: "webhook-delivery-actions" });
  readonly #detail: Detail;
  readonly #buttons = $("<div>", { class: "webhook-delivery-buttons", role: "group" });
  readonly #result = $("<div>", { class: "webhook-delivery-result", role: "status" });
  readonly #change = $("<div>");

  constructor(detail: Detail) {
    this.#detail = detail;
    this.#buttons.attr("aria-label", text("delivery.actions"));
    this.view.append(this.#buttons, ...this.#whyNoReplay(), this.#change, this.#result);
    if (isReplayable(detail.state)) {
      this.#add("fa-repeat", "replay", () => void this.#replay());
      const change = this.#add("fa-pencil", "replayChanged", () => this.#toggleChange(change));
      change.attr("aria-expanded", "false");
    }
    const curl = this.#add("fa-terminal", "curl", () => this.#copyCurl(curl));
    const { node } = detail;
    if (node === null) return;
    if (RED.nodes.node(node) && detail.body.data !== "")
      this.#add("fa-flask", "useInTest", () => this.#useInTest(node));
    if (RED.nodes.node(node)) this.#add("fa-crosshairs", "showNode", () => RED.view.reveal(node));
    this.#add("fa-filter", "onlyNode", () => $(document).trigger(filterEvent, [node]));
  }

  #add(icon: string, key: DeliveryAction, act: () => void): JQuery {
    return createButton(icon, text(`delivery.${key}`))
      .on("click", act)
      .appendTo(this.#buttons);
  }

  #whyNoReplay(): JQuery[] {
    const { state } = this.#detail;
    return isReplayable(state) ? [] : [createNote(text(`delivery.noReplay.${state}`))];
  }

  async #replay(changed?: { payload: unknown }): Promise<void> {
    // A second click would start the flow twice.
    if (this.view.attr("aria-busy") === "true") return;
    this.view.attr("aria-busy", "true");
    this.#say("fa-spinner fa-spin", text("trial.sending"));
    const replayed = await replay(this.#detail.id, changed);
    this.view.attr("aria-busy", "false");
    if ("id" in replayed) this.#say("fa-check", text("delivery.replayed", { id: replayed.id }), "good");
    else this.#say("fa-times", failureText(replayed), "bad");
  }

  #toggleChange(button: JQuery): void {
    const isOpen = this.#change.children().length > 0;
    button.attr("aria-expanded", String(!isOpen));
    if (isOpen) {
      this.#change.empty();
      button.trigger("focus");
      return;
    }
    const close = () => this.#toggleChange(button);
    this.#change.append(changeForm(this.#detail, (payload) => void this.#replay({ payload }), close));
    this.#change.find("textarea").trigger("focus");
  }

  #copyCurl(button: JQuery): void {
    const { node, body } = this.#detail;
    if (roots().node === false) {
      this.#say("fa-times", text("url.closed"), "bad");
      return;
    }
    const presented = getPresentedCredential(node === null ? null : RED.nodes.node(node));
    const url = composeUrlOfPath(composeFullPath(this.#detail));
    RED.clipboard.copyText(composeCurl(this.#detail, url, presented), button, text("copied"));
    const told = [text("delivery.curlCopied"), presented.hint];
    if (body.truncated) told.push(text("delivery.curlLacking"));
    this.#say("fa-check", inARow(told), "good");
  }

  #useInTest(node: string): void {
    const { id, at } = this.#detail;
    chooseTestBody(node, { delivery: id, at });
    const told = { name: getNodeLabel(node), time: timeText(at) };
    this.#say("fa-check", text("delivery.usedInTest", told), "good");
  }

  #say(icon: string, said: string, verdict: "good" | "bad" | "" = ""): void {
    this.#result.attr("data-verdict", verdict).empty().append(createIcon(icon), " ", $("<span>").text(said));
  }
}

// The form that edits the payload of a replay.

let count = 0;

/**
 * @param send replays with a payload
 * @param cancel closes the form
 */
function changeForm(detail: Detail, send: (payload: unknown) => void, cancel: () => void): JQuery {
  count += 1;
  const id = `webhook-delivery-payload-${count}`;
  const field = $("<textarea>", { id, rows: 10, spellcheck: false, "aria-describedby": `${id}-wrong` });
  field.val(payloadText(detail));
  const wrong = $("<div>", { id: `${id}-wrong`, class: "webhook-delivery-error", role: "status" });
  const go = createButton("fa-repeat", text("delivery.replayThis"));
  const judge = () => {
    const isJson = payloadIn(String(field.val())) !== undefined;
    const said = isJson ? "" : text("reply.noJson");
    if (wrong.text() !== said) wrong.text(said);
    field.attr("aria-invalid", String(!isJson));
    // A disabled button could not be reached by keyboard.
    go.attr("aria-disabled", String(!isJson));
    go.find("span").text(text(isJson ? "delivery.replayThis" : "delivery.replayNoJson"));
  };
  field.on("input", judge);
  go.on("click", () => {
    const changed = payloadIn(String(field.val()));
    if (changed) send(changed.payload);
    else field.trigger("focus");
  });
  field.on("keydown", (event) => {
    if (event.key !== "Escape") return;
    // Escape closes the delivery elsewhere.
    event.preventDefault();
    cancel();
  });
  judge();
  const form = $("<div>", { class: "webhook-delivery-change", role: "group" });
  form.append($("<label>", { for: id }).text(text("delivery.payload")), field, wrong);
  const buttons = $("<div>", { class: "webhook-delivery-buttons" });
  form.append(buttons.append(go, createButton("fa-times", text("delivery.cancel")).on("click", cancel)));
  return form.attr("aria-label", text("delivery.replayChanged"));
}

// The payload as JSON.

/** @returns empty where the delivery has none */
function payloadText({ payload }: Detail): string {
  return payload === undefined ? "" : JSON.stringify(payload, null, 2);
}

/** @returns nothing where the text is no JSON */
function payloadIn(text: string): { payload: unknown } | undefined {
  try {
    return { payload: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
