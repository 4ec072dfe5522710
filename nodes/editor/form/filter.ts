// The section *Filter*: the events and conditions in rows, and the outputs that follow from them.

import { findDocumentedEvents } from "../../../src/auth/senders/table";
import { needsValue, type Operator, operators, type SavedFields, withDefaults } from "../../../src/config/fields"; // prettier-ignore
import { isObject, isTrue, text } from "../../../src/config/values";
import { askForPage, everything } from "../deliveries/api";
import {
  asList,
  findSender,
  form,
  type FormState,
  input,
  isSame,
  showElement,
  updateEvent,
  type WebhookNode,
} from "./form-state";

/** How many names of events are offered in each group. */
const maxOffered = 12;
/** How many deliveries are looked at for their events. */
const learntFrom = 200;

export function prepareFilter(node: WebhookNode): void {
  const { events, conditions } = withDefaults(node);
  for (const [index, event] of asList(events).entries()) addEvent(node, text(event)).data(savedAt, index);
  for (const condition of asList(conditions)) addCondition(node, isObject(condition) ? condition : {});
  $("#webhook-trigger-add-event").on("click", () => addEvent(node, "").find("input").trigger("focus"));
  $("#webhook-trigger-add-condition").on("click", () => addCondition(node, {}).find("input").first().trigger("focus"));
  // What it lets through is seen at once, also where it was filled in for a request.
  const isUsed = asList(events).length + asList(conditions).length > 0;
  $("#webhook-trigger-section-filter")
    .one("toggle", () => void learnEvents(node))
    .prop("open", isUsed);
}

/** Where the event of a row was in the list when the form was opened; a corrected name keeps its output. */
const savedAt = "saved-at";

function addEvent(node: WebhookNode, event: string): JQuery {
  const name = $("<input>", { type: "text", value: event, spellcheck: "false", "aria-label": node._("filter.event") });
  return addRow(node, "events", name);
}

function addCondition(node: WebhookNode, { place, operator, value }: Readonly<Record<string, unknown>>): JQuery {
  const label = (name: string) => ({ "aria-label": node._(`filter.${name}`), placeholder: node._(`filter.${name}`) });
  const look = { type: "text", spellcheck: "false" } as const;
  const placeInput = $("<input>", { ...look, value: text(place), ...label("place") });
  placeInput.attr("list", "webhook-trigger-places");
  const choice = $("<select>", { "aria-label": node._("filter.operator") });
  choice.append(operators.map((each) => new Option(node._(`filter.operators.${each}`), each)));
  choice.val(operators.find((each) => each === operator) ?? operators[0]);
  const wanted = $("<input>", { ...look, value: text(value), ...label("value") });
  const showValue = () => wanted.css("visibility", needsValue(choice.val() as Operator) ? "" : "hidden");
  choice.on("input", showValue);
  showValue();
  return addRow(node, "conditions", placeInput, choice, wanted);
}

function addRow(node: WebhookNode, field: "events" | "conditions", ...controls: JQuery[]): JQuery {
  const row = $("<div>", { class: "webhook-trigger-filter-row" }).append(controls);
  const remove = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small" });
  remove.attr({ "aria-label": node._("filter.remove"), title: node._("filter.remove") });
  remove.append($("<i>", { class: "fa fa-remove", "aria-hidden": "true" })).on("click", () => {
    row.remove();
    $(field === "events" ? "#webhook-trigger-add-event" : "#webhook-trigger-add-condition").trigger("focus");
    form().trigger(updateEvent);
  });
  row.append(remove);
  input(field).append(row);
  form().trigger(updateEvent);
  return row;
}

/** Renews what depends on the events: the names that are offered, and the outputs. */
export function showFilter(state: FormState): void {
  const { node, values } = state;
  offerEvents(state);
  showElement($("#webhook-trigger-note-no-event"), asList(values.events).length > 0 && isWithoutEvents(values));
  $("#node-input-outputs").val(mapOutputs(withDefaults(node), values));
}

/** Whether the requests of the sender have no event, so that a list of events lets none through. */
function isWithoutEvents({ sender }: SavedFields): boolean {
  return sender === "" || (findSender(sender) !== undefined && !hasEvent(sender));
}

function hasEvent(sender: string): boolean {
  return findSender(sender)?.events !== undefined;
}

const learnt = "learnt-events";

/** Remembers the events of the deliveries that are stored. Without permission, there are none. */
async function learnEvents(node: WebhookNode): Promise<void> {
  try {
    const { deliveries } = await askForPage({ ...everything, node: node.id }, { limit: learntFrom });
    form().data(
      learnt,
      deliveries.flatMap(({ event }) => (event === null ? [] : [event])),
    );
    form().trigger(updateEvent);
  } catch {
    // The sender's documented events are offered.
  }
}

/** Offers events that were received, and others that the sender documents. */
function offerEvents({ node, values, report }: FormState): void {
  const chosen = asList(values.events);
  const received = new Set([...(report.filteredEvents ?? []), ...((form().data(learnt) ?? []) as readonly string[])]); // prettier-ignore
  const documented = findDocumentedEvents(values.sender).filter((event) => !received.has(event));
  for (const [group, events] of Object.entries({ received: [...received], documented })) {
    const offered = events.filter((event) => !chosen.includes(event)).slice(0, maxOffered);
    const place = $(`#webhook-trigger-offered-${group}`);
    showElement(place.closest(".webhook-trigger-offer"), offered.length > 0);
    // A button that has the focus stays while nothing changes.
    if (isSame(place.data("offered"), offered)) continue;
    place.data("offered", offered);
    place.empty().append(offered.map((event) => createOffer(node, event)));
  }
}

/** A button that adds an event. */
function createOffer(node: WebhookNode, event: string): JQuery {
  const button = $("<button>", { type: "button", class: "red-ui-button red-ui-button-small", text: event });
  button.attr("aria-label", node._("filter.take", { event }));
  return button.on("click", () => addEvent(node, event).find("input").trigger("focus"));
}

/**
 * What Node-RED's editor needs to keep the wires at their events: the number of outputs or, where one has moved, the new
 * position of each output there was, -1 for one that is gone, and a name for each that is new, such as
 * `{"0":-1,"1":0,"new1":1}`.
 */
function mapOutputs(saved: SavedFields, next: SavedFields): string {
  const [before, after] = [namesOfOutputs(saved), namesOfOutputs(next)];
  const rows = input("events")
    .children()
    .toArray()
    .filter((row) => String($(row).find("input").val()).trim() !== "");
  const positions: unknown[] = rows.map((row) => $(row).data(savedAt) as unknown);
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
  const names = isTrue(outputPerEvent) ? asList(events).map(text) : [];
  return names.length > 0 ? names : [""];
}

export function describeFilter({ node, values }: FormState): string {
  const events = asList(values.events).map(text);
  const conditions = asList(values.conditions);
  if (events.length + conditions.length === 0) return node._("filter.none");
  const named = events.length > 3 ? node._("filter.events", { count: String(events.length) }) : events.join(", ");
  const parts = events.length > 0 ? [node._("filter.only", { events: named })] : [];
  if (conditions.length > 0) parts.push(node._("filter.conditions", { count: String(conditions.length) }));
  if (isTrue(values.outputPerEvent) && events.length > 0) parts.push(node._("filter.outputs"));
  return parts.join(", ");
}
