// The node type `webhook-watch` in the editor.

import { type SavedWatch, watchDefaults, watchEvents } from "../../src/config/watch";
import { type Editor, type EditorNode, fitTray } from "./node-red";

declare const RED: Editor;

export function registerWatch(): void {
  RED.nodes.registerType<SavedWatch>("webhook-watch", {
    category: "network",
    color: "#E7E7AE",
    inputs: 0,
    outputs: 1,
    icon: "webhook-watch.svg",
    defaults: {
      name: { value: watchDefaults.name },
      // As core's catch node: Node-RED gives copied nodes the ids of their copies.
      scope: { value: watchDefaults.scope, type: "*[]" },
      events: { value: watchDefaults.events },
    },
    paletteLabel() {
      return this._("watch.paletteLabel");
    },
    outputLabels() {
      return this._("watch.outputLabel");
    },
    label() {
      if (this.name) return this.name;
      const { scope } = this;
      return scope ? this._("watch.labelled", { number: scope.length }) : this._("watch.paletteLabel");
    },
    labelStyle() {
      return this.name ? "node_label_italic" : "";
    },
    oneditprepare() {
      prepare(this);
    },
    oneditresize() {
      fitTray();
    },
    oneditsave() {
      const isAll = $("#node-input-watch-from").val() === "all";
      this.scope = isAll ? null : ticked("triggers");
      const events = watchEvents.filter((event) => ticked("events").includes(event));
      this.events = events.length === watchEvents.length ? [] : events;
    },
  });
}

function prepare(node: EditorNode & SavedWatch): void {
  const from = $("#node-input-watch-from");
  for (const each of ["all", "chosen"]) from.append(new Option(node._(`watch.${each}`), each));
  const triggers = RED.nodes.filterNodes({ type: "webhook-trigger" });
  const names = triggers.map((trigger) => [trigger.id, describe(trigger)] as const);
  names.sort(([, one], [, other]) => one.localeCompare(other, undefined, { numeric: true }));
  const list = addBoxes("triggers", names, node.scope ?? []);
  if (names.length === 0) list.text(node._("watch.none"));
  const showList = () => {
    list.closest(".form-row").toggle(from.val() === "chosen");
    $("#webhook-watch-none-chosen").toggle(ticked("triggers").length === 0);
  };
  from.val(node.scope ? "chosen" : "all").on("input", showList);
  list.on("input", showList);
  showList();
  const events = watchEvents.map((event) => [event, node._(`watch.when.${event}`)] as const);
  addBoxes("events", events, node.events.length > 0 ? node.events : watchEvents);
}

/** With its tab, since a name may be there twice. */
function describe({ id, name, z, relativePath }: EditorNode): string {
  const label = name || (typeof relativePath === "string" && relativePath !== "" ? relativePath : id);
  const place = RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name;
  return place === undefined ? label : `${label} (${place})`;
}

function addBoxes(
  list: "triggers" | "events",
  names: readonly (readonly [value: string, label: string])[],
  chosen: readonly string[],
): JQuery {
  const boxes = names.map(([value, label]) => {
    const box = $("<input>", { type: "checkbox", value, checked: chosen.includes(value) });
    return $("<label>").append(box, $("<span>", { text: label }));
  });
  return $(`#webhook-watch-${list}`).append(boxes);
}

function ticked(list: "triggers" | "events"): string[] {
  const boxes = $(`#webhook-watch-${list} :checked`).toArray();
  return boxes.map((box) => String($(box).val()));
}
