// The node type `webhook-watch` in the editor.

import { useState } from "preact/hooks";
import { type SavedWatch, watchDefaults, watchEvents } from "../../src/config/watch";
import { Button } from "./deliveries/parts";
import { text } from "./deliveries/texts";
import { type EditorNode, fitTray, RED } from "./node-red";
import { getFlowName } from "./form/handover";
import { draw, Note } from "./form/parts";

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
      edited = { scope: this.scope, events: this.events };
      draw("watch", <WatchForm node={this} />);
    },
    oneditresize() {
      fitTray();
    },
    oneditsave() {
      Object.assign(this, edited);
    },
  });
}

type Watched = Pick<SavedWatch, "scope" | "events">;

/** What the open form says. Nothing is put into another order, so that a node that was only looked at stays as it is. */
let edited: Watched = watchDefaults;

function WatchForm({ node }: { readonly node: EditorNode & SavedWatch }) {
  const [{ scope, events }, show] = useState(edited);
  const change = (next: Partial<Watched>) => {
    edited = { ...edited, ...next };
    show(edited);
  };
  const takeEvents = (chosen: readonly string[]) => {
    const inOrder = watchEvents.filter((event) => chosen.includes(event));
    change({ events: inOrder.length === watchEvents.length ? null : inOrder });
  };
  const triggers = RED.nodes.filterNodes({ type: "webhook-trigger" });
  const names = triggers.map((trigger) => [trigger.id, describe(trigger)] as const);
  names.sort(([, one], [, other]) => one.localeCompare(other, undefined, { numeric: true }));
  return (
    <>
      <div class="form-row">
        <label for="webhook-trigger-watch-from">
          <i class="fa fa-fw fa-bell-o" /> {text("watch.from")}
        </label>
        <select
          id="webhook-trigger-watch-from"
          value={scope ? "chosen" : "all"}
          onInput={({ currentTarget }) => change({ scope: currentTarget.value === "all" ? null : (node.scope ?? []) })}
        >
          {["all", "chosen"].map((each) => (
            <option key={each} value={each}>
              {text(`watch.${each}`)}
            </option>
          ))}
        </select>
      </div>
      {scope && (
        <div class="form-row">
          <Boxes
            names={names}
            list="triggers"
            label={text("watch.chosen")}
            ticked={scope}
            onTick={(ids) => change({ scope: ids })}
          />
          {names.length === 0 && text("watch.none")}
        </div>
      )}
      <div class="form-row">
        <label>
          <i class="fa fa-fw fa-list" /> {text("watch.events")}
        </label>
        <div>
          <Button onClick={() => takeEvents(watchEvents)}>{text("watch.tickAll")}</Button>{" "}
          <Button onClick={() => takeEvents([])}>{text("watch.tickNone")}</Button>
        </div>
        <Boxes
          list="events"
          label={text("watch.events")}
          names={watchEvents.map((event) => [event, text(`watch.when.${event}`)] as const)}
          ticked={events ?? watchEvents}
          onTick={takeEvents}
        />
      </div>
    </>
  );
}

interface BoxesProps {
  readonly list: "triggers" | "events";
  readonly label: string;
  readonly names: readonly (readonly [value: string, label: string])[];
  readonly ticked: readonly string[];
  readonly onTick: (ticked: readonly string[]) => void;
}

/** Says below the boxes where none is ticked. */
function Boxes({ list, label, names, ticked, onTick }: BoxesProps) {
  const toggle = (value: string) =>
    onTick(ticked.includes(value) ? ticked.filter((each) => each !== value) : [...ticked, value]);
  return (
    <>
      <div class="webhook-watch-boxes" id={`webhook-trigger-watch-${list}`} role="group" aria-label={label}>
        {names.map(([value, name]) => (
          <label key={value}>
            <input type="checkbox" checked={ticked.includes(value)} onInput={() => toggle(value)} />
            <span>{name}</span>
          </label>
        ))}
      </div>
      <div role="status">
        <Note
          id={`watch-no-${list}`}
          text={names.some(([value]) => ticked.includes(value)) ? "" : text("watch.noneChosen")}
        />
      </div>
    </>
  );
}

/** With its tab, since a name may be there twice. */
function describe(node: EditorNode): string {
  const { id, name, relativePath } = node;
  const label = name || (typeof relativePath === "string" && relativePath !== "" ? relativePath : id);
  const flow = getFlowName(node);
  return flow === "" ? label : `${label} (${flow})`;
}
