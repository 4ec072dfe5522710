// How a state looks: an icon and a colour beside its word.

import type { Summary } from "../../../src/deliveries/summary";

type State = Summary["state"];

/** The icon of each state, in the order in which they are offered, and whether it is good or bad news. */
const looks: Readonly<Record<State, readonly [icon: string, news?: "good" | "bad"]>> = {
  refused: ["fa-ban", "bad"],
  failed: ["fa-times-circle", "bad"],
  queued: ["fa-inbox"],
  running: ["fa-play"],
  retrying: ["fa-repeat"],
  succeeded: ["fa-check", "good"],
  duplicate: ["fa-clone"],
  handshake: ["fa-handshake-o"],
};

export const states = Object.keys(looks) as State[];

/** The classes of its icon. */
export function iconOf(state: State): string {
  const [icon, news] = looks[state];
  return `fa fa-fw ${icon}${news ? ` webhook-deliveries-${news}` : ""}`;
}
