// The section *Filter*: the events and conditions in rows, and the outputs that follow from them.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Sample } from "../../../src/admin/samples";
import { formatFilterReason } from "../../../src/admin/summary";
import { findDocumentedEvents, findSender } from "../../../src/auth/senders/table";
import {
  needsValue,
  type Operator,
  operators,
  type SavedCondition,
  type SavedFields,
  withDefaults,
} from "../../../src/config/fields";
import { isObject, isTrue, text as textOf, tryParseJson } from "../../../src/config/values";
import type { DryRun } from "../../../src/flow/dry-run";
import type { Json } from "../../../src/request/json";
import { addPlaces } from "../../../src/request/places";
import { askForPage, askForSamples, everything, tryFilter } from "../deliveries/api";
import { Button } from "../deliveries/parts";
import { text } from "../deliveries/texts";
import { asList, form, type FormState, input, listRows, placeClass, updateEvent, type WebhookNode } from "./form-state";
import { draw, Note } from "./parts";

/** How many names of events are offered in each group. */
const maxOffered = 12;
/** How many deliveries are looked at for their events. */
const learntFrom = 200;
/** How long nothing is typed before the filter is tried, in ms, and how many reasons are shown. */
const typingMs = 400;
const maxReasons = 5;
/** The list of places where the last requests have values. */
const placesId = "webhook-trigger-places";

/** What a row of Node-RED's list was made of: an event or a condition. */
interface FilterRow extends Partial<SavedCondition> {
  readonly event?: unknown;
  /** Where the event was when the form was opened: a corrected name keeps its output. */
  readonly savedAt?: number;
}

export function prepareFilter(node: WebhookNode): void {
  const { events, conditions } = withDefaults(node);
  prepareList("events", (row, { event }) => {
    $("<input>", {
      type: "text",
      value: textOf(event),
      spellcheck: "false",
      "aria-label": text("filter.event"),
    }).appendTo(row);
  });
  prepareList("conditions", fillCondition);
  for (const [savedAt, event] of asList(events).entries()) addRow("events", { event, savedAt });
  for (const condition of asList(conditions)) addRow("conditions", isObject(condition) ? condition : {});
  // What it lets through is seen at once, also where it was filled in for a request.
  $("#webhook-trigger-section-filter").prop("open", asList(events).length + asList(conditions).length > 0);
}

type List = "events" | "conditions";

function prepareList(list: List, fill: (row: JQuery, data: FilterRow) => void): void {
  const update = () => form().trigger(updateEvent);
  const [id, label] = list === "events" ? ["add-event", "addEvent"] : ["add-condition", "addCondition"];
  const add = { id: `webhook-trigger-${id}`, label: text(`filter.${label}`), icon: "fa fa-plus" };
  const options = {
    addButton: false,
    buttons: [{ ...add, click: () => addRow(list, {}).find("input:visible").first().trigger("focus") }],
    height: "auto" as const,
    removable: true,
    sortable: list === "events",
    sortItems: update,
    addItem(row: JQuery, _index: number, data: FilterRow) {
      fill(row.addClass("webhook-trigger-filter-row"), data);
      // The row fades out, and counts no more.
      row.siblings("a").attr("aria-label", text("filter.remove")).on("click", update);
      update();
    },
    removeItem() {
      // The button with the focus has gone.
      if (document.activeElement === document.body) $(`#${add.id}`).trigger("focus");
    },
  };
  input(list).editableList<FilterRow>(options);
}

function addRow(list: List, data: FilterRow): JQuery {
  input(list).editableList("addItem", data);
  return input(list).children().last();
}

function fillCondition(row: JQuery, { place, operator, value }: FilterRow): void {
  const label = (name: string) => ({ "aria-label": text(`filter.${name}`), placeholder: text(`filter.${name}`) });
  const look = { type: "text", spellcheck: "false" } as const;
  const [kind, name] = splitPlace(textOf(place));
  const placeInput = $("<input>", { ...look, class: placeClass, style: "width: 100%", value: name, ...label("place") });
  const choice = $("<select>", { "aria-label": text("filter.operator") });
  const wanted = $("<input>", { ...look, class: "webhook-trigger-value", value: textOf(value), ...label("value") });
  row.append(placeInput, choice, wanted);
  placeInput.typedInput({ types: placeTypes(), default: kind }).on("change", () => {
    // Written out, as in the documentation or in a function node.
    const [, known, member] =
      /^json:(?:((?:json|header|query):.+)|msg\.payload\.(.+))$/.exec(placeInput.typedInput("value")) ?? [];
    if (known === undefined && member === undefined) return;
    const [wantedKind, wantedName] = splitPlace(known ?? `json:${member}`);
    placeInput.typedInput("type", wantedKind);
    placeInput.typedInput("value", wantedName);
  });
  row.find(".red-ui-typedInput-input").attr("list", placesId);
  choice.append(operators.map((each) => new Option(text(`filter.operators.${each}`), each)));
  choice.val(operators.find((each) => each === operator) ?? operators[0]);
  const showValue = () => wanted.css("visibility", needsValue(choice.val() as Operator) ? "" : "hidden");
  choice.on("input", showValue);
  showValue();
}

/** The kind of a place and its name there; `written` for any other text, such as an environment variable. */
function splitPlace(place: string): [kind: string, name: string] {
  if (place === "event" || place === "body") return [place, ""];
  const [, kind = "written", name = place] = /^(json|header|query):(.+)$/.exec(place) ?? [];
  return place === "" ? ["json", ""] : [kind, name];
}

/** For Node-RED's `typedInput`, whose value is what is exported. */
function placeTypes() {
  const named = (["json", "header", "query"] as const).map((value) => {
    const save = (name: string) => (name.trim() === "" ? "" : `${value}:${name.trimEnd()}`);
    return { value, label: text(`duplicateKey.${value}`), export: save };
  });
  return [
    ...named,
    { value: "event", label: text("filter.event"), hasValue: false, export: () => "event" },
    { value: "body", label: text("duplicateKey.body"), hasValue: false, export: () => "body" },
    { value: "written", label: "${ }" },
  ];
}

export function showFilter(state: FormState): void {
  draw("offers", <Offers {...state} />);
  draw("tried", <Tried {...state} />);
}

export function writeOutputs({ saved, values }: FormState): void {
  $("#node-input-outputs").val(mapOutputs(saved, values));
}

/** Whether the requests of the sender have no event, so that a list of events lets none through. */
function isWithoutEvents({ sender }: SavedFields): boolean {
  return sender === "" || (findSender(sender) !== undefined && !hasEvent(sender));
}

function hasEvent(sender: string): boolean {
  return findSender(sender)?.events !== undefined;
}

/** Offers events that were received, and others that the sender documents. */
function Offers({ node, values, open, report }: FormState) {
  const [learnt, setLearnt] = useState<readonly string[]>([]);
  const isOpen = open.has("filter");
  const samples = useSamples(values.sender, isOpen);
  useEffect(() => {
    if (isOpen) void learnEvents(node).then(setLearnt);
  }, [isOpen]);
  const chosen = asList(values.events).map(textOf);
  // A change of the sender keeps them.
  const earlier = useRef({ sender: values.sender, events: chosen.slice(0, 0) });
  if (earlier.current.sender !== values.sender) earlier.current = { sender: values.sender, events: chosen };
  const received = new Set([...(report.filteredEvents ?? []), ...learnt]);
  const known = [...findDocumentedEvents(values.sender), ...samples.flatMap(({ event }) => event ?? [])];
  const documented = [...new Set(known)].filter((event) => !received.has(event));
  const foreign = chosen.filter((event) => earlier.current.events.includes(event) && !documented.includes(event));
  const groups = Object.entries({ received: [...received], documented }).map(([group, events]) => {
    const offered = events.filter((event) => !chosen.includes(event)).slice(0, maxOffered);
    return offered.length === 0 ? null : (
      <div class="webhook-trigger-offer" key={group}>
        <span>{text(`filter.${group}`)}</span>{" "}
        <span id={`webhook-trigger-offered-${group}`}>
          {offered.map((event) => (
            <Button
              key={event}
              aria-label={text("filter.take", { event })}
              onClick={() => addRow("events", { event }).find("input").trigger("focus")}
            >
              {event}
            </Button>
          ))}
        </span>
      </div>
    );
  });
  return (
    <>
      {groups}
      <div role="status">
        <Note
          id="note-foreign"
          text={foreign.length > 0 ? text("filter.foreign", { events: foreign.join(", ") }) : ""}
        />
        <Note id="note-no-event" text={chosen.length > 0 && isWithoutEvents(values) ? text("filter.noEvent") : ""} />
      </div>
    </>
  );
}

/**
 * What the filter would do with the last requests, while its section is open: tried again as it is typed, and as requests
 * come. Without permission, or for a node that is not deployed, nothing is known; values of the environment are known to
 * the runtime alone.
 */
function Tried({ node, values: { sender, events, conditions }, open, report: { accepted, filtered = 0 } }: FormState) {
  const [tried, setTried] = useState<DryRun>();
  const isOpen = open.has("filter");
  const samples = useSamples(sender, isOpen);
  const asking = useRef<Promise<void>>(Promise.resolve());
  const isAsked = isOpen && accepted !== undefined;
  const filter = JSON.stringify({ isAsked, events, conditions });
  const wanted = useRef(filter);
  const lasted = useRef(0);
  wanted.current = filter;
  useEffect(() => {
    let isLast = true;
    const ask = async () => {
      if (!isLast) return;
      const begun = performance.now();
      const result = isAsked ? await tryFilter(node.id, { events, conditions }).catch(() => undefined) : undefined;
      // Where requests come all the time, it is not the last one, but still what would become of them.
      if (wanted.current === filter) setTried(result);
      lasted.current = performance.now() - begun;
    };
    // One after the other.
    // Long ones with pauses: Node-RED has other work, and requests may come all the time.
    const pauseMs = Math.max(typingMs, 5 * lasted.current);
    const timer = setTimeout(() => void (asking.current = asking.current.then(ask)), pauseMs);
    return () => {
      isLast = false;
      clearTimeout(timer);
    };
  }, [filter, accepted, filtered]);
  const places = new Set(tried?.places);
  for (const { headers, query, body } of samples) {
    addPlaces(places, { rawHeaders: Object.entries(headers).flat(), search: query }, tryParseJson(body) as Json);
  }
  const offered = (
    <datalist id={placesId}>
      {[...places].map((place) => (
        <option key={place} value={place} />
      ))}
    </datalist>
  );
  if (!tried) return offered;
  const reasons = tried.not.map(({ why }) => formatFilterReason(why, text));
  const counts = [...new Set(reasons)].map((reason) => [reason, reasons.filter((each) => each === reason).length]);
  const isShown = tried.of > 0 && events.length + conditions.length > 0;
  return (
    <>
      {offered}
      {isShown && <div>{text("filter.tried", { passing: String(tried.passing), of: String(tried.of) })}</div>}
      {isShown && (
        <ul class="webhook-trigger-points">
          {counts.slice(0, maxReasons).map(([reason, count]) => (
            <li key={reason}>
              {count} × {reason}
            </li>
          ))}
          {counts.length > maxReasons && <li>…</li>}
        </ul>
      )}
    </>
  );
}

const noSamples: Promise<readonly Sample[]> = Promise.resolve([]);
const asked = new Map<string, Promise<readonly Sample[]>>();

/** Both parts of the section show them. */
function askOnce(sender: string): Promise<readonly Sample[]> {
  const answer = asked.get(sender) ?? askForSamples(sender);
  asked.set(sender, answer);
  return answer.catch(() => {
    asked.delete(sender);
    return [];
  });
}

/** What the sender sends, by its documentation: it is offered before its first request. */
function useSamples(sender: string, isOpen: boolean): readonly Sample[] {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    let isCurrent = true;
    void (isOpen ? askOnce(sender) : noSamples).then((found) => isCurrent && setSamples(found));
    return () => void (isCurrent = false);
  }, [sender, isOpen]);
  return samples;
}

/** The events of the deliveries that are stored. Without permission, there are none. */
async function learnEvents(node: WebhookNode): Promise<readonly string[]> {
  try {
    const { deliveries } = await askForPage({ ...everything, node: node.id }, { limit: learntFrom });
    // That of a test request is made up.
    return deliveries.flatMap(({ event, isTest }) => (event === null || isTest ? [] : [event]));
  } catch {
    // The sender's documented events are offered.
    return [];
  }
}

/**
 * What Node-RED's editor needs to keep the wires at their events: the number of outputs or, where one has moved, the new
 * position of each output there was, -1 for one that is gone, and a name for each that is new, such as
 * `{"0":-1,"1":0,"new1":1}`.
 */
function mapOutputs(saved: SavedFields, next: SavedFields): string {
  const [before, after] = [namesOfOutputs(saved), namesOfOutputs(next)];
  const rows = listRows("events").filter((row) => String(row.find("input").val()).trim() !== "");
  const positions = rows.map((row) => (row.children().first().data("data") as FilterRow).savedAt);
  // A single output for everything becomes the first one, and the first one becomes it again.
  const isShared = before[0] === "" || after[0] === "";
  const moved = before.map((_, index) => (!isShared ? positions.indexOf(index) : index === 0 ? 0 : -1));
  const isInPlace = moved.every((position, index) => position === index);
  if (isInPlace) return String(after.length);
  const added = after.map((_, index) => index).filter((index) => !moved.includes(index));
  return JSON.stringify(Object.fromEntries([...moved.entries(), ...added.map((index) => [`new${index}`, index])]));
}

/** A single empty name where all events share an output. */
export function namesOfOutputs({
  events,
  outputPerEvent,
}: Pick<SavedFields, "events" | "outputPerEvent">): readonly string[] {
  const names = isTrue(outputPerEvent) ? asList(events).map(textOf) : [];
  return names.length > 0 ? names : [""];
}

export function describeFilter({ values }: FormState): readonly string[] {
  const events = asList(values.events).map(textOf);
  const conditions = asList(values.conditions);
  if (events.length + conditions.length === 0) return [text("filter.none")];
  const named = events.length > 3 ? text("filter.events", { count: String(events.length) }) : events.join(", ");
  const parts = events.length > 0 ? [text("filter.only", { events: named })] : [];
  if (conditions.length > 0) parts.push(text("filter.conditions", { count: conditions.length }));
  if (isTrue(values.outputPerEvent) && events.length > 0) parts.push(text("filter.outputs"));
  return parts;
}
