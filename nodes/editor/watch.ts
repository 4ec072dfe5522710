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
      this.events = events.length === watchEvents.length ? null : events;
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
  const showList = () => list.closest(".form-row").toggle(from.val() === "chosen");
  from.val(node.scope ? "chosen" : "all").on("input", showList);
  showList();
  const events = watchEvents.map((event) => [event, node._(`watch.when.${event}`)] as const);
  const alerts = addBoxes("events", events, node.events ?? watchEvents);
  const tick = (isTicked: boolean) => alerts.find("input").prop("checked", isTicked).trigger("input");
  $("#webhook-watch-tick-all").on("click", () => tick(true));
  $("#webhook-watch-tick-none").on("click", () => tick(false));
}

/** With its tab, since a name may be there twice. */
function describe({ id, name, z, relativePath }: EditorNode): string {
  const label = name || (typeof relativePath === "string" && relativePath !== "" ? relativePath : id);
  const place = RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name;
  return place === undefined ? label : `${label} (${place})`;
}

/** Says below the boxes where none is ticked. */
function addBoxes(
  list: "triggers" | "events",
  names: readonly (readonly [value: string, label: string])[],
  chosen: readonly string[],
): JQuery {
  const boxes = names.map(([value, label]) => {
    const box = $("<input>", { type: "checkbox", value, checked: chosen.includes(value) });
    return $("<label>").append(box, $("<span>", { text: label }));
  });
  const showNote = () => $(`#webhook-watch-no-${list}`).toggle(ticked(list).length === 0);
  const place = $(`#webhook-watch-${list}`).append(boxes).on("input", showNote);
  showNote();
  return place;
}

function ticked(list: "triggers" | "events"): string[] {
  const boxes = $(`#webhook-watch-${list} :checked`).toArray();
  return boxes.map((box) => String($(box).val()));
}
