// The form in which the payload of a delivery is changed before it is replayed.

import type { Detail } from "../../../src/deliveries/summary";
import { payloadIn, payloadText } from "./payload";
import { buttonOf } from "./pieces";
import { text } from "./texts";

let count = 0;

/**
 * @param send replays with a payload
 * @param cancel closes the form
 */
export function changeForm(detail: Detail, send: (payload: unknown) => void, cancel: () => void): JQuery {
  count += 1;
  const id = `webhook-delivery-payload-${count}`;
  const field = $("<textarea>", { id, rows: 10, spellcheck: false, "aria-describedby": `${id}-wrong` });
  field.val(payloadText(detail));
  const wrong = $("<div>", { id: `${id}-wrong`, class: "webhook-delivery-error", role: "status" });
  const go = buttonOf("fa-repeat", text("delivery.replayThis"));
  const judge = () => {
    const isJson = payloadIn(String(field.val())) !== undefined;
    const said = isJson ? "" : text("reply.noJson");
    if (wrong.text() !== said) wrong.text(said);
    field.attr("aria-invalid", String(!isJson));
    // A button that is disabled says nothing to whoever comes to it by keyboard.
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
    // Whoever holds the delivery leaves the key to this.
    event.preventDefault();
    cancel();
  });
  judge();
  const form = $("<div>", { class: "webhook-delivery-change", role: "group" });
  form.append($("<label>", { for: id }).text(text("delivery.payload")), field, wrong);
  const buttons = $("<div>", { class: "webhook-delivery-buttons" });
  form.append(buttons.append(go, buttonOf("fa-times", text("delivery.cancel")).on("click", cancel)));
  return form.attr("aria-label", text("delivery.replayChanged"));
}
