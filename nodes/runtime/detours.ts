// What plugins hold up, of the messages that are followed, on the way from one node to the next.

import { EventEmitter } from "node:events";
import type { NodeAPI } from "node-red";
import type { Followed, Visit } from "./followed";
import { isInReach } from "./running";
import type { SendEvent, Trails } from "./trails";

/** What Node-RED logs of each message. */
interface Metric {
  level: number;
  nodeid?: string;
  event?: string;
  msgid?: string;
}

/** Of the stages of a message, those at which a plugin may hold it up that nobody else looks at. */
const stages = ["onSend", "preRoute", "onReceive"];

/**
 * Hooks run in the order in which they were added: while one of a plugin has a message, those behind it know nothing.
 * The metrics in Node-RED's log come before all of them. They are listened to only where a plugin has such a hook.
 */
export class Detours {
  readonly #RED: NodeAPI;
  readonly #trails: Trails;
  readonly #hook: string;
  /** By the event that hooks are called with: it is the same at each stage. */
  readonly #held = new WeakMap<object, Visit>();
  readonly #log = new EventEmitter().on("log", (metric: Metric) => this.#hear(metric));
  #isWatching = false;

  /** @param label of its hook */
  constructor(RED: NodeAPI, trails: Trails, label: string) {
    this.#RED = RED;
    this.#trails = trails;
    this.#hook = `onSend.${label}`;
  }

  /** Looks whether there are such hooks now. @param isKnown whether there are, whatever is seen */
  watch(isKnown = false): void {
    const { hooks, log } = this.#RED;
    if (this.#isWatching || !(isKnown || stages.some((stage) => hooks.has(stage)))) return;
    this.#isWatching = true;
    log.addHandler(this.#log);
    hooks.add(this.#hook, (events: SendEvent[]) => this.#send(events));
  }

  unwatch(): void {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    this.#RED.log.removeHandler(this.#log);
    this.#RED.hooks.remove(this.#hook);
  }

  /** What it was known as, if it was, that has passed all hooks on its way. */
  passed(event: SendEvent): Visit | undefined {
    return this.#held.get(event);
  }

  #hear({ level, event, nodeid, msgid }: Metric): void {
    const { hooks, log } = this.#RED;
    const followed = level === log.METRIC && event && nodeid !== undefined && this.#trails.of(msgid);
    if (!followed) return;
    if (event.endsWith(".send")) this.#trails.hold(followed, nodeid, "sent", { id: nodeid });
    // Some nodes are handed a message without its being sent to them.
    const isHanded = event.endsWith(".receive") && !isExpected(followed, nodeid);
    if (isHanded && hooks.has("onReceive")) this.#trails.hold(followed, nodeid, "held");
  }

  /** The hooks on the sending have let messages pass: now it is known to whom they go. */
  #send(events: SendEvent[]): void {
    const sent = new Set<Visit>();
    const { nodes } = this.#RED;
    for (const event of events) {
      const { msg, source, destination } = event;
      const followed = this.#trails.of(msg._msgid);
      const visit = followed?.open.find(({ id, stage }) => stage === "sent" && id === source.id);
      if (visit) sent.add(visit);
      // Node-RED drops what goes to no node; while it deploys, nobody knows of one.
      const { isDeploying } = this.#trails;
      const isThere = isInReach(source.node, destination.id) || (visit?.isFirst && nodes.getNode(destination.id));
      if (!followed || !(isDeploying || isThere)) continue;
      const held = this.#trails.hold(followed, destination.id, "held", source);
      held.isOvertaken = Boolean(visit?.isOvertaken);
      this.#held.set(event, held);
    }
    for (const visit of sent) this.#trails.release(visit);
  }
}

function isExpected({ open }: Followed, id: string): boolean {
  return open.some((visit) => visit.id === id && (visit.stage === "held" || visit.stage === "routed"));
}
