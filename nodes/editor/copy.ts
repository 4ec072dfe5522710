// Buttons that copy.

import type { Editor, EditorNode } from "./host";

declare const RED: Editor;

/** Makes a button copy a text, and say what it copies when it is pointed at. */
export function prepareCopyButton(node: Pick<EditorNode, "_">, button: JQuery, name: string, text: () => string): void {
  button.attr("aria-label", node._("copy", { name }));
  button.on("click", () => RED.clipboard.copyText(text(), button, node._("copied")));
  RED.popover.tooltip(button, () => button.attr("aria-label") ?? "");
}
