// The status of a node whose endpoint is open.

import type { NodeStatus } from "node-red";
import type { Fares } from "../../src/deliveries/flow";
import type { Trouble } from "../../src/deliveries/store";
import type { Translate } from "../../src/deliveries/wording";
import type { SenderId } from "../../src/trust/senders/table";
import type { Tally } from "./tally";

/** What else there is to tell of an open endpoint. */
export interface Lot {
  /** Who sends, as it is configured. */
  sender?: SenderId | undefined;
  /** Whether there are two secrets or tokens. */
  hasTwo?: boolean;
  /** Whether it waits for the sender to bring the secret. */
  isArmed?: boolean;
}

/** What is told of where there is any, in this order, each by a text of its name. */
const numbers = ["handshakes", "duplicates", "unanswered", "running", "retrying", "failed"] as const;

/** What there is to show. */
interface Shown {
  path: string;
  lot: Lot;
  tally: Tally;
  /** How its deliveries fare, where none may be lost. */
  fares: Fares | undefined;
  /** What the store is in trouble with. */
  trouble: Trouble | undefined;
  /** For how many hours nothing was accepted at least, where something was expected. */
  silentFor: number | undefined;
}

/** The status of an open endpoint: what keeps it from its work goes before how much that is. */
export function statusOf({ path, lot, tally, fares, trouble, silentFor }: Shown, translate: Translate): NodeStatus {
  if (trouble) return { fill: "red", shape: "ring", text: translate(`status.store.${trouble}`) };
  const { accepted, refused, handshakes, duplicates, unanswered, hasSecret } = tally;
  if (lot.isArmed === true) {
    const text = translate(hasSecret ? "status.secretBrought" : "status.armed", { path });
    return { fill: "yellow", shape: hasSecret ? "dot" : "ring", text };
  }
  const { running = 0, waiting: retrying = 0, failed = 0 } = fares ?? {};
  const more = { handshakes, duplicates, unanswered, running, retrying, failed };
  const parts = numbers
    .filter((name) => more[name] > 0)
    .map((name) => translate(`status.${name}`, { [name]: more[name] }));
  if (lot.hasTwo === true) parts.push(translate("status.lastUsed", lastUsed(tally)));
  const open = translate(refused > 0 ? "status.openRefusing" : "status.open", { path, accepted, refused });
  const fill = failed > 0 || silentFor !== undefined ? "yellow" : "green";
  const silent = silentFor === undefined ? [] : [translate("status.silent", { hours: silentFor })];
  return { fill, shape: "dot", text: [[open, ...parts].join(", "), ...silent].join(" · ") };
}

/** When the first and the second of two secrets or tokens were last used. */
function lastUsed({ used: { first, second } }: Tally): Record<"first" | "second", string> {
  const text = (at: number | undefined) => (at === undefined ? "–" : timeText(new Date(at)));
  return { first: text(first), second: text(second) };
}

/** A time of day and, where it is not today, the day before it (ISO 8601), as the clock of this machine shows it. */
function timeText(time: Date): string {
  const digits = (value: number) => String(value).padStart(2, "0");
  const clock = `${digits(time.getHours())}:${digits(time.getMinutes())}`;
  if (time.toDateString() === new Date().toDateString()) return clock;
  return `${time.getFullYear()}-${digits(time.getMonth() + 1)}-${digits(time.getDate())} ${clock}`;
}
