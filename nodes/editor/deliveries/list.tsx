// The list of deliveries, of which the rows that can be seen are in the page.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatReason, type Summary } from "../../../src/admin/summary";
import { Ago, Icon, State } from "./parts";
import type { DeliveriesStore } from "./store";
import { durationText, getNodeLabel, text } from "./texts";

/** So many rows above and below what can be seen are in the page, for those who scroll fast. */
const margin = 10;

export function DeliveryList({ store }: { store: DeliveriesStore }) {
  const { deliveries, active, selected, next, isVisible, opened } = store.state;
  const { listView } = store;
  const element = useRef<HTMLDivElement>(null);
  /** What can be seen of it, in px. */
  const [view, setView] = useState({ top: 0, height: 0, rowHeight: 1 });

  const measure = () => {
    const list = element.current;
    // A hidden list has no height.
    if (!list || list.clientHeight === 0) return;
    const { scrollTop: top, clientHeight: height } = list;
    if (listView.scrolled > 0 && top === 0) store.release();
    listView.scrolled = top;
    const rowHeight = parseFloat(getComputedStyle(list).getPropertyValue("--webhook-deliveries-row"));
    setView((known) => {
      const isSame = known.top === top && known.height === height && known.rowHeight === rowHeight;
      return isSame ? known : { top, height, rowHeight };
    });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const isShown = isVisible && !opened && deliveries.length > 0;
  useLayoutEffect(() => {
    if (!isShown || !element.current) return;
    element.current.scrollTop = listView.scrolled;
    measure();
  }, [isShown]);
  useLayoutEffect(() => {
    if (view.height > 0 && view.top + 5 * view.height > deliveries.length * view.rowHeight) void store.more();
  }, [deliveries, view]);

  const goTo = (index: number, isSelecting: boolean) => {
    store.goTo(index, isSelecting);
    const list = element.current;
    if (!list) return;
    const top = store.activeIndex * view.rowHeight;
    list.scrollTop = Math.min(top, Math.max(list.scrollTop, top + view.rowHeight - list.clientHeight));
    measure();
  };
  const press = (event: KeyboardEvent) => {
    const at = store.activeIndex;
    const delivery = deliveries[at];
    const targets: Partial<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: Infinity };
    const target = targets[event.key];
    if (target !== undefined) goTo(target, event.shiftKey);
    else if (event.key === "Enter" && delivery) store.open(delivery.id, delivery);
    else if (event.key === " " && delivery) store.toggle(delivery);
    else return;
    event.preventDefault();
    // The editor has shortcuts of its own.
    event.stopPropagation();
  };
  const click = (event: MouseEvent, delivery: Summary) => {
    const isCheck = event.target instanceof Element && event.target.closest(".webhook-deliveries-check");
    if (event.shiftKey) store.extendTo(delivery);
    else if (isCheck || event.ctrlKey || event.metaKey) store.toggle(delivery);
    else store.open(delivery.id, delivery);
  };
  /** A new row above would move the pressed one away. */
  const hold = () => {
    listView.isPressed = true;
    const release = () => (listView.isPressed = false);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, { once: true });
  };

  return (
    <div
      ref={element}
      class="webhook-deliveries-list"
      style={{ display: deliveries.length > 0 ? "" : "none" }}
      role="listbox"
      tabindex={0}
      aria-multiselectable="true"
      aria-label={text("tab.list")}
      aria-activedescendant={store.activeIndex === -1 ? undefined : rowId(active ?? "")}
      onScroll={measure}
      onKeyDown={press}
      onPointerDown={hold}
      onFocus={() => (listView.isFocused = true)}
      onBlur={() => (listView.isFocused = false)}
    >
      <div role="presentation" style={{ height: `calc(${deliveries.length} * var(--webhook-deliveries-row))` }}>
        {listShown(view, deliveries.length, store.activeIndex).map((index) => {
          const delivery = deliveries[index];
          return (
            delivery && (
              <div
                key={delivery.id}
                id={rowId(delivery.id)}
                class={`webhook-deliveries-row${delivery.id === active ? " active" : ""}`}
                style={{ top: `calc(${index} * var(--webhook-deliveries-row))` }}
                role="option"
                aria-selected={selected.has(delivery.id)}
                aria-posinset={index + 1}
                aria-setsize={next === null ? deliveries.length : -1}
                onClick={(event) => click(event, delivery)}
              >
                <Cells delivery={delivery} isSelected={selected.has(delivery.id)} isActive={delivery.id === active} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function rowId(id: string): string {
  return `webhook-deliveries-row-${id}`;
}

/** The indexes of the rows that are in the page, with the active one, at which a screen reader is. */
function listShown(view: { top: number; height: number; rowHeight: number }, count: number, active: number): number[] {
  const first = Math.max(0, Math.floor(view.top / view.rowHeight) - margin);
  const last = Math.min(count - 1, Math.ceil((view.top + view.height) / view.rowHeight) + margin);
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  if (active >= 0 && active < first) shown.unshift(active);
  if (active > last) shown.push(active);
  return shown;
}

/** The columns of a row; where they are is in the style sheet, by these names. */
function Cells({ delivery, isSelected, isActive }: { delivery: Summary; isSelected: boolean; isActive: boolean }) {
  const { node, at, state, status, milliseconds } = delivery;
  const cells = {
    check: <Icon name={isSelected ? "fa-check-square-o" : "fa-square-o"} />,
    time: <Ago at={at} isExact={isActive} />,
    state: <State delivery={delivery} />,
    node: node === null ? "" : getNodeLabel(node),
    // The reply came before the flow failed: beside that, "200" would read as a contradiction.
    status: (state === "failed" || state === "retrying") && status !== null && status < 400 ? null : status,
    took: milliseconds === null ? "" : durationText(milliseconds),
    what: describeWhat(delivery),
  };
  return Object.entries(cells).map(([name, cell]) => (
    <span
      key={name}
      class={`webhook-deliveries-${name}`}
      style={{ gridArea: name }}
      title={typeof cell === "string" ? cell : undefined}
    >
      {cell}
    </span>
  ));
}

/** Reason of a failure, event, first words, or method and path. */
function describeWhat(delivery: Summary): string {
  const { cause, status, event, words, method, path, replayOf, isTest } = delivery;
  const request = `${method} ${path}`;
  const reason = cause && formatReason(cause, status, text);
  // Without an endpoint, the path says most.
  const why = cause?.problem === "noEndpoint" ? `${request}: ${reason}` : reason;
  const what = why ?? event ?? words ?? request;
  if (isTest) return text("tab.testRequest", { what });
  return replayOf === null ? what : text("tab.replayOf", { what });
}
