// A picture of the last hour: what became of requests in each minute.

import { useState } from "preact/hooks";
import type { TrafficReport } from "../../../src/admin/traffic";
import { keep, recall } from "./kept";
import type { DeliveriesStore } from "./store";
import { numberText, text } from "./texts";

/** Whether it is folded. */
const foldedKey = "webhook-trigger-traffic-folded";
/** Of a picture, in pixels. */
const height = 18;

/** Each with the class of its colour. */
const colours = {
  accepted: "webhook-deliveries-good",
  refused: "webhook-deliveries-bad",
  failed: "webhook-deliveries-bad",
  waiting: "",
} as const satisfies Record<Exclude<keyof TrafficReport, "since">, string>;
type Shown = keyof typeof colours;

/** Nothing where nothing came. */
export function Traffic({ store }: { store: DeliveriesStore }) {
  const [isOpen, setOpen] = useState(() => recall(foldedKey) === undefined);
  const { traffic } = store.state;
  const shown = (Object.keys(colours) as Shown[]).filter((name) => traffic?.[name].some((number) => number > 0));
  if (!traffic || shown.length === 0) return null;
  const toggle = (isOpen: boolean) => {
    setOpen(isOpen);
    keep(foldedKey, isOpen ? undefined : "true");
  };
  const sums = shown.map((name) => sumText(name, traffic[name])).join(" · ");
  return (
    <details class="webhook-deliveries-traffic" open={isOpen} onToggle={({ currentTarget: { open } }) => toggle(open)}>
      <summary>
        {text("tab.traffic.lastHour")}
        {!isOpen && `: ${sums}`}
      </summary>
      {shown.map((name) => (
        <Row key={name} name={name} numbers={traffic[name]} />
      ))}
    </details>
  );
}

/** The picture has all figures for screen readers; a narrow tab shows the sum alone. */
function Row({ name, numbers }: { name: Shown; numbers: readonly number[] }) {
  const sum = sumText(name, numbers);
  const most = text("tab.traffic.most", { count: numberText(Math.max(...numbers)) });
  const figures = `${sum}, ${most}`;
  return (
    <div title={figures}>
      <svg
        class={colours[name]}
        viewBox={`0 0 ${numbers.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={figures}
      >
        <path d={drawBars(numbers)} />
      </svg>
      <span aria-hidden="true">
        {sum}
        <span>, {most}</span>
      </span>
    </div>
  );
}

/** How many there were in the hour; of what waits, how many there are now. */
function sumText(name: Shown, numbers: readonly number[]): string {
  const count = name === "waiting" ? (numbers.at(-1) ?? 0) : numbers.reduce((sum, number) => sum + number, 0);
  return text(`tab.traffic.${name}`, { count: numberText(count) });
}

/** A bar for each minute, the highest one as high as the picture. */
function drawBars(numbers: readonly number[]): string {
  const most = Math.max(...numbers);
  const bars = numbers.map((number, minute) => {
    // One request beside a thousand can be seen.
    const bar = number === 0 ? 0 : Math.max(2, (number / most) * height);
    return `M${minute} ${height}v${-bar}h.8v${bar}z`;
  });
  return bars.join("");
}
