// Tab and page: the list of deliveries with its filters and alerts, or one delivery in its place.

import { render } from "preact";
import type { ListFilter } from "../../../src/admin/place";
import { listNames } from "../../../src/config/callers";
import { isReplayable } from "../../../src/deliveries/states";
import { DeliveryView } from "./delivery";
import { PlanDialog } from "./dialog";
import { describeCause, Failures } from "./failures";
import { type DeliveriesHost, host, useHost } from "./host";
import { DeliveryList, ListHead } from "./list";
import { Button, Icon, smallButton } from "./parts";
import { Count, isRemovable, planFilteredRemoval, planReplay } from "./plans";
import type { DeliveriesState } from "./state";
import { DeliveriesStore } from "./store";
import { Traffic } from "./traffic";
import { composePageUrl, getNodeLabel, listNodeNames, minuteText, numberText, states, text } from "./texts";

/** Shows deliveries in an element of the class `webhook-deliveries`. */
export function mountDeliveries(given: DeliveriesHost, element: HTMLElement): DeliveriesStore {
  useHost(given);
  // Outside of tab and page, as nothing is to cut it off.
  const dialogPlace = document.body.appendChild(document.createElement("div"));
  const draw = () => {
    const { plan } = store.state;
    render(<Deliveries store={store} />, element);
    render(plan ? <PlanDialog {...plan} /> : null, dialogPlace);
  };
  const remove = () => {
    for (const place of [element, dialogPlace]) render(null, place);
    dialogPlace.remove();
  };
  const store: DeliveriesStore = new DeliveriesStore(element, draw, remove);
  store.start();
  return store;
}

function Deliveries({ store }: { store: DeliveriesStore }) {
  const { opened, waiting, announcement } = store.state;
  const count = waiting ? store.waiting : 0;
  return (
    <>
      <div class="webhook-deliveries-pane" style={{ display: opened ? "none" : "" }}>
        <Filters store={store} />
        <SelectionTools store={store} />
        <Silences store={store} />
        <Queues store={store} />
        <Traffic store={store} />
        <Failures store={store} />
        <Notice store={store} />
        <div class="webhook-deliveries-body">
          {store.state.deliveries.length > 0 && <ListHead />}
          <DeliveryList store={store} />
          {count > 0 && (
            <Button class="webhook-deliveries-new" onClick={store.showNew}>
              {text("tab.new", { count: numberText(count) })}
            </Button>
          )}
        </div>
        <GivenSettings />
      </div>
      {opened && <DeliveryView opened={opened} store={store} />}
      <div class="webhook-deliveries-announcement" role="status">
        {/* The same words are said again. */}
        <span key={announcement.number} class="webhook-deliveries-said">
          {announcement.said}
        </span>
      </div>
    </>
  );
}

/** A node, a state, a text, and above them the error that all of the list have. */
function Filters({ store }: { store: DeliveriesStore }) {
  const { filter, typed } = store.state;
  const isSet = isFiltered(filter);
  const open = text("page.open");
  return (
    <>
      <div class="webhook-deliveries-filters">
        <select
          aria-label={text("tab.filter.node")}
          value={filter.node}
          onChange={({ currentTarget: { value } }) => store.choose({ node: value })}
        >
          {listNodeOptions(store).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <select
          aria-label={text("tab.filter.state")}
          value={filter.state}
          onChange={({ currentTarget: { value } }) =>
            store.choose({ state: states.find((state) => state === value) ?? "" })
          }
        >
          <option value="">{text("tab.filter.allStates")}</option>
          {states.map((state) => (
            <option key={state} value={state}>
              {text(`tab.state.${state}`)}
            </option>
          ))}
        </select>
        <input
          type="search"
          aria-label={text("tab.filter.text")}
          placeholder={text("tab.filter.text")}
          value={typed}
          onInput={({ currentTarget: { value } }) => store.type(value)}
        />
        {isSet && (
          // The focus goes to the filter, as the button is gone.
          <Button icon="fa-times" label={text("tab.filter.clear")} onClick={() => store.filterBy({})} />
        )}
        {!host().isPage && (
          <a
            class={smallButton}
            href={composePageUrl(filter)}
            target="_blank"
            rel="noopener"
            aria-label={open}
            title={open}
          >
            <Icon name="fa-external-link" />
          </a>
        )}
        {isRemovable(filter) && (
          <Button icon="fa-trash" onClick={() => void store.remove(() => planFilteredRemoval(filter))}>
            {text("tab.delete")}
          </Button>
        )}
      </div>
      <div class="webhook-deliveries-error" role="status">
        {filter.error && text("failures.cause", { error: describeCause(filter) })}
      </div>
    </>
  );
}

function isFiltered(filter: ListFilter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** All nodes, and those that have deliveries and were deleted: ids and names. */
function listNodeOptions({ state: { deliveries, filter } }: DeliveriesStore): (readonly [string, string])[] {
  const nodes = new Map([["", text("tab.filter.allNodes")], ...listNodeNames()]);
  for (const id of [...deliveries.map(({ node }) => node ?? ""), filter.node]) {
    if (!nodes.has(id)) nodes.set(id, text("tab.filter.deleted", { id }));
  }
  return [...nodes];
}

/** What can be done with the selected deliveries. */
function SelectionTools({ store }: { store: DeliveriesStore }) {
  const selected = [...store.state.selected.values()];
  if (selected.length === 0) return null;
  const count = selected.filter(({ state }) => isReplayable(state)).length;
  const replay = async () => {
    if ((await store.carryOut(planReplay(selected))) > 0) store.unselect();
  };
  return (
    <div class="webhook-deliveries-tools">
      {count > 0 && host().mayWrite() && (
        <Button icon="fa-repeat" class="webhook-delivery-first" onClick={() => void replay()}>
          {text("tab.replay", { count: numberText(count) })}
        </Button>
      )}
      <Button onClick={store.unselect}>{text("tab.unselect")}</Button>
      <Count of="several.leftOut" count={selected.length - count} />
    </div>
  );
}

/** Nodes whose senders are silent, and those with silent callers. */
function Silences({ store }: { store: DeliveriesStore }) {
  const { nodes, callers } = store.state.silences;
  const lines = nodes.map(({ node, hours, since }) => {
    return { node, said: text("tab.silent", { time: minuteText(since), hours: numberText(hours) }) };
  });
  for (const node of new Set(callers.map((each) => each.node))) {
    const silent = callers.filter((each) => each.node === node);
    const names = listNames(silent.map(({ caller }) => caller));
    lines.push({ node, said: text("tab.silentCallers", { hours: numberText(silent[0]?.hours ?? 0), names }) });
  }
  return (
    <div role="status">
      {lines.map(({ node, said }) => (
        <div key={`${node} ${said}`} class="webhook-deliveries-silent">
          <Icon name="fa-exclamation-triangle" />
          <NodeLine node={node} said={` ${said}`} />
        </div>
      ))}
    </div>
  );
}

/** Paused queues, and the one of the filtered node. */
function Queues({ store }: { store: DeliveriesStore }) {
  const { queues, filter } = store.state;
  const shown = queues.filter(({ node, pause }) => pause !== null || node === filter.node);
  return (
    <div role="status">
      {shown.map(({ node, pause, queued, retrying }) => {
        const count = numberText(queued + retrying);
        const action = pause === null ? "pause" : "resume";
        const label = text(`tab.queue.${action}`);
        return (
          <div key={node} class="webhook-deliveries-queue">
            <Icon name="fa-inbox" />
            <NodeLine node={node} said={`: ${text(`tab.queue.${pause ?? "running"}`, { count })}`} />
            {host().mayWrite() && (
              <Button
                icon={action === "pause" ? "fa-pause" : "fa-play"}
                aria-label={`${label}: ${getNodeLabel(node)}`}
                onClick={() => void store.controlQueue(node, action)}
              >
                {label}
              </Button>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** The name of a node, which reveals it, and a text. */
function NodeLine({ node, said }: { node: string; said: string }) {
  const { reveal } = host();
  const name = getNodeLabel(node);
  return (
    <span title={name + said}>
      {reveal ? (
        <button
          type="button"
          class="webhook-deliveries-reveal"
          aria-label={text("url.reveal", { name })}
          onClick={() => reveal(node)}
        >
          {name}
        </button>
      ) : (
        <b>{name}</b>
      )}
      {said}
    </span>
  );
}

/** Why there is no list. */
function Notice({ store }: { store: DeliveriesStore }) {
  const notice = composeNotice(store.state);
  return (
    <div class="webhook-deliveries-notice" role="status" style={{ display: notice === "" ? "none" : "" }}>
      {notice}
    </div>
  );
}

function composeNotice({ trouble, isLoaded, deliveries, filter }: DeliveriesState): string {
  if (trouble) return text(`tab.trouble.${trouble}`);
  if (!isLoaded || deliveries.length > 0) return "";
  if (isFiltered(filter)) return text("tab.noMatch");
  return text(host().settings.keepsNothing ? "tab.trouble.notKept" : "tab.empty");
}

/** From the settings file or the environment; nothing where none is given. */
function GivenSettings() {
  const { given } = host().settings;
  if (given.length === 0) return null;
  return (
    <details class="webhook-deliveries-settings">
      <summary>{text("tab.settings")}</summary>
      {given.map((line) => (
        <code key={line}>{line}</code>
      ))}
    </details>
  );
}
