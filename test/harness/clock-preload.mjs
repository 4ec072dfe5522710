/**
 * What a Node-RED loads before all else so that a test can put its clock forward: `{ clock: 5000 }` stops the clock and
 * puts it forward by 5 s. From then on, no time passes but that, and timers of a second or more fire when they are due
 * by that clock.
 */
import { performance } from "node:perf_hooks";
import timers from "node:timers";

/** Timers that are set for less, in ms, fire as ever: what does not wait for long goes on by itself. */
const shortest = 1000;

const { setTimeout: set, clearTimeout: clear } = globalThis;
const realNow = performance.now.bind(performance);
let ahead = 0;
/** @type {number | undefined} */
let stoppedAt;
const now = () => (stoppedAt ?? realNow()) + ahead;

/**
 * The long timers that have not fired.
 *
 * @type {Map<NodeJS.Timeout, { due: number, fire: () => void }>}
 */
const pending = new Map();

/**
 * @param {(...values: unknown[]) => void} callback
 * @param {number} [delay]
 * @param {unknown[]} values
 */
function setLongTimeout(callback, delay = 0, ...values) {
  if (!(delay >= shortest)) return set(callback, delay, ...values);
  const timer = set(() => stoppedAt === undefined && pending.get(timer)?.fire(), delay);
  const fire = () => {
    clearLongTimeout(timer);
    callback(...values);
  };
  pending.set(timer, { due: now() + delay, fire });
  return timer;
}

/** @param {NodeJS.Timeout | undefined} timer */
function clearLongTimeout(timer) {
  if (timer) pending.delete(timer);
  clear(timer);
}

const replacements = {
  setTimeout: Object.defineProperties(setLongTimeout, Object.getOwnPropertyDescriptors(set)),
  clearTimeout: clearLongTimeout,
};
Object.assign(globalThis, replacements);
Object.assign(timers, replacements);
performance.now = now;
Date.now = () => Math.floor(performance.timeOrigin + now());

process.on("message", (/** @type {unknown} */ message) => {
  if (typeof message !== "object" || message === null || !("clock" in message)) return;
  // A whole number: sums of fractions depend on their order, and a timer would be due a little later.
  stoppedAt ??= Math.ceil(realNow());
  ahead += Number(message.clock);
  const due = [...pending.values()].filter((timer) => timer.due <= now());
  for (const { fire } of due.sort((one, other) => one.due - other.due)) fire();
  process.send?.({ trace: "clock" });
});
