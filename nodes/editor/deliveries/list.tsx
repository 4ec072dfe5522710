// The list of deliveries, of which the rows that can be seen are in the page.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { explain, type Summary } from "../../../src/admin/summary";
import { Ago, Icon, State } from "./parts";
import type { DeliveriesStore } from "./store";
import { dayText, durationText, getNodeLabel, text } from "./texts";

/** So many rows above and below what can be seen are in the page, for those who scroll fast. */
const margin = 10;

export function DeliveryList({ store }: { store: DeliveriesStore }) {
  const { deliveries, active, selected, next, isVisible, opened } = store.state;
  const element = useRef<HTMLDivElement>(null);
  /** What can be seen of it, in px. */
  const [view, setView] = useState({ top: 0, height: 0, rowHeight: 1 });

  const measure = () => {
    const list = element.current;
    // A hidden list has no height.
    if (!list || list.clientHeight === 0) return;
    const { scrollTop: top, clientHeight: height } = list;
    store.scroll(top > 0);
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
    // Browsers may forget it of a hidden element.
    element.current.scrollTop = store.state.isScrolled ? view.top : 0;
    measure();
  }, [isShown]);
  const today = new Date().setHours(0, 0, 0, 0);
  const lines = useMemo(() => composeLines(deliveries, today), [deliveries, today]);
  const findLine = (id: string | undefined) => lines.find(({ delivery }) => delivery && delivery.id === id);
  useLayoutEffect(() => {
    if (view.height > 0 && view.top + 5 * view.height > lines.length * view.rowHeight) void store.more();
  }, [lines, view]);

  const goTo = (index: number, isSelecting: boolean) => {
    store.goTo(index, isSelecting);
    const [list, line] = [element.current, findLine(store.state.active)];
    if (!list || !line) return;
    const top = line.number * view.rowHeight;
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

  const first = Math.floor(view.top / view.rowHeight) - margin;
  const last = Math.ceil((view.top + view.height) / view.rowHeight) + margin;
  const activeLine = findLine(active);
  // A screen reader is at the active one.
  const shown = lines.filter((line) => line === activeLine || (line.number >= first && line.number <= last));
  return (
    <div
      ref={element}
      class="webhook-deliveries-list"
      style={{ display: deliveries.length > 0 ? "" : "none" }}
      role="listbox"
      tabindex={0}
      aria-multiselectable="true"
      aria-label={text("tab.list")}
      aria-activedescendant={activeLine && rowId(active ?? "")}
      onScroll={measure}
      onKeyDown={press}
      onPointerDown={store.holdRows}
    >
      <div role="presentation" style={{ height: `calc(${lines.length} * var(--webhook-deliveries-row))` }}>
        {shown.map(({ number, at, delivery, position }) => {
          const style = { top: `calc(${number} * var(--webhook-deliveries-row))` };
          if (!delivery) {
            // Those who hear the list hear the date of each delivery.
            return (
              <div key={at} class="webhook-deliveries-day" style={style} aria-hidden="true">
                {dayText(at)}
              </div>
            );
          }
          const { id } = delivery;
          const [isActive, isSelected] = [id === active, selected.has(id)];
          return (
            <div
              key={id}
              id={rowId(id)}
              class={`webhook-deliveries-row${isActive ? " active" : ""}`}
              style={style}
              role="option"
              aria-selected={isSelected}
              aria-posinset={position}
              aria-setsize={next === null ? deliveries.length : -1}
              onClick={(event) => click(event, delivery)}
            >
              <Cells of={(name) => columns[name]?.({ delivery, isSelected, isActive })} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function rowId(id: string): string {
  return `webhook-deliveries-row-${id}`;
}

/** A delivery, or the day of those below. */
interface Line {
  /** From the top, beginning with 0. */
  readonly number: number;
  readonly at: number;
  readonly delivery?: Summary;
  /** Among the deliveries. */
  readonly position: number;
}

/** Each day before today has a line above its first delivery. @param today when it began */
function composeLines(deliveries: readonly Summary[], today: number): Line[] {
  const lines: Line[] = [];
  let begin = today;
  for (const [index, delivery] of deliveries.entries()) {
    const { at } = delivery;
    const position = index + 1;
    if (at < begin) {
      lines.push({ number: lines.length, at, position });
      begin = new Date(at).setHours(0, 0, 0, 0);
    }
    lines.push({ number: lines.length, at, delivery, position });
  }
  return lines;
}

interface RowProps {
  readonly delivery: Summary;
  readonly isSelected: boolean;
  readonly isActive: boolean;
}

/** Where they are is in the style sheet, by these names; their headings are in the message catalog. */
const columns: Readonly<Record<string, (row: RowProps) => ComponentChildren>> = {
  check: ({ isSelected }) => <Icon name={isSelected ? "fa-check-square-o" : "fa-square-o"} />,
  time: ({ delivery: { at }, isActive }) => <Ago at={at} isExact={isActive} />,
  state: ({ delivery }) => <State delivery={delivery} />,
  node: ({ delivery: { node } }) => node !== null && getNodeLabel(node),
  // The reply came before the flow failed: beside that, "200" would read as a contradiction.
  status: ({ delivery: { state, status } }) =>
    (state === "failed" || state === "retrying") && status !== null && status < 400 ? null : status,
  took: ({ delivery: { milliseconds } }) => milliseconds !== null && durationText(milliseconds),
  what: ({ delivery }) => {
    const { caller } = delivery;
    const what = describeWhat(delivery);
    if (caller === null) return what;
    return (
      <span title={`${caller}: ${what}`}>
        <bdi>{caller}</bdi> {what}
      </span>
    );
  },
};

function Cells({ of }: { of: (name: string) => ComponentChildren }) {
  return Object.keys(columns).map((name) => {
    const cell = of(name);
    return (
      <span
        key={name}
        class={`webhook-deliveries-${name}`}
        style={{ gridArea: name }}
        title={typeof cell === "string" ? cell : undefined}
      >
        {cell}
      </span>
    );
  });
}

/** The headings of the columns, where these are side by side. Those who hear the list need none. */
export function ListHead() {
  return (
    <div class="webhook-deliveries-head" aria-hidden="true">
      <div class="webhook-deliveries-row">
        <Cells of={(name) => name !== "check" && text(`tab.column.${name}`)} />
      </div>
    </div>
  );
}

/** Reason of a failure, event, first words, or method and path. */
function describeWhat(delivery: Summary): string {
  const { cause, event, words, method, path, replayOf, isTest } = delivery;
  const request = `${method} ${path}`;
  // The status has a column of its own.
  const { reason } = explain({ ...delivery, status: null }, text) ?? {};
  // Without an endpoint, the path says most.
  const why = cause?.problem === "noEndpoint" ? `${request}: ${reason}` : reason;
  const what = why ?? event ?? words ?? request;
  if (isTest) return text("tab.testRequest", { what });
  return replayOf === null ? what : text("tab.replayOf", { what });
}
