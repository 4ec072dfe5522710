// The body of a delivery: JSON that can be unfolded, text, or bytes.

import type { Detail, ShownBody } from "../../../src/deliveries/summary";
import type { Editor } from "../host";
import { bytesOf, hexDump } from "./hex";
import { buttonOf, copyButton, noteOf } from "./pieces";
import { text } from "./texts";

declare const RED: Editor;

/** So much is shown at first, and with each press of the button: in bytes of those that are no text, in characters. */
const bytesAtOnce = 4096;
const charactersAtOnce = 50_000;

export function bodyOf({ body, size }: Pick<Detail, "body" | "size">): JQuery {
  if (body.data === "") return noteOf(text(size === 0 ? "delivery.bodyEmpty" : "delivery.bodyNotKept"));
  const isBinary = body.encoding === "base64";
  const above = $("<div>", { class: "webhook-delivery-above" });
  if (body.truncated) above.append(noteOf(text("delivery.bodyTruncated")));
  above.append(copyButton(text(isBinary ? "delivery.bodyAsBase64" : "delivery.section.body"), () => body.data));
  return $("<div>").append(above, isBinary ? dumpOf(body) : (objectOf(body) ?? textOf(body.data)));
}

/** What a body that is JSON says; nothing of another one, and of one that is cut. */
function jsonIn({ encoding, data, truncated }: ShownBody): { value: unknown } | undefined {
  if (encoding !== "utf8" || truncated) return undefined;
  try {
    return { value: JSON.parse(data) as unknown };
  } catch {
    return undefined;
  }
}

function objectOf(body: ShownBody): JQuery | undefined {
  const json = jsonIn(body);
  if (typeof json?.value !== "object" || json.value === null || !isPlain(body.data)) return undefined;
  const view = $("<div>", { class: "webhook-delivery-object red-ui-debug-msg" });
  view.append(RED.utils.createObjectElement(json.value, { path: "payload", rootPath: "payload" }));
  unfoldByKeyboard(view);
  view.find(handles).first().trigger("click");
  return view;
}

/** Whether the editor shows it as it is: there are members by which it takes an object for something else, or fails. */
function isPlain(json: string): boolean {
  let plain = true;
  JSON.parse(json, (key, value: unknown) => {
    if (key === "__enc__" || key === "hasOwnProperty" || (key === "type" && value === "Buffer")) plain = false;
    return value;
  });
  return plain;
}

/** What the editor unfolds when it is clicked, and by the mouse alone. */
const handles = ".red-ui-debug-msg-expandable";

function unfoldByKeyboard(view: JQuery): void {
  const prepare = () => {
    view.find("i").attr("aria-hidden", "true");
    for (const handle of view.find(handles)) {
      const isOpen = handle.parentElement?.classList.contains("collapsed") === false;
      $(handle).attr({ role: "button", tabindex: "0", "aria-expanded": String(isOpen) });
    }
  };
  view.on("click", prepare);
  view.on("keydown", handles, (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    $(event.currentTarget).trigger("click");
  });
  prepare();
}

function textOf(data: string): JQuery {
  return growing("webhook-delivery-text", data.length, charactersAtOnce, (from, to) => data.slice(from, to));
}

function dumpOf({ data }: ShownBody): JQuery {
  const bytes = bytesOf(data);
  return growing("webhook-delivery-dump", bytes.length, bytesAtOnce, (from, to) => hexDump(bytes, from, to));
}

/** What is too long to be shown at once, with a button for more. */
function growing(style: string, length: number, step: number, part: (from: number, to: number) => string): JQuery {
  const pre = $("<pre>", { class: style, tabindex: "0", role: "group" });
  pre.attr("aria-label", text("delivery.section.body")).append(document.createTextNode(part(0, step)));
  if (length <= step) return pre;
  let shown = step;
  const more = buttonOf("fa-chevron-down", text("delivery.more"));
  more.on("click", () => {
    pre.append(document.createTextNode(part(shown, shown + step)));
    shown += step;
    if (shown < length) return;
    // Where the button was, nothing has the focus any more.
    pre.trigger("focus");
    more.remove();
  });
  return $("<div>").append(pre, more);
}
