// Carries requests and messages over a deploy, so that what was accepted reaches its flow exactly once.

import type { Node, NodeAPI, NodeMessage, NodeMessageInFlow } from "node-red";
import { Underway } from "./underway";

/** A message that is about to be routed (with its source) or to be received, as Node-RED's hooks tell of it. */
interface Delivery {
  msg: NodeMessage;
  source?: { id: string; node: Node };
  destination: { id: string; node: Node | undefined };
}

/** What waits while flows are deployed. */
interface Holdable {
  hold(): void;
  resume(): void;
}

/** Ends a hook: the message goes on, or no further. */
type GoOn = (halt?: false) => void;

/** Of the stages of a message, those at which a plugin may hold it up. */
const stages = ["onSend", "preRoute", "preDeliver", "onReceive"] as const;
const label = "webhook-trigger";
/** How often it is looked whether hooks are still needed, in ms. */
const tidyInterval = 10_000;

/**
 * Requests wait until the flows run again. And messages: between its sending and its delivery lie some moments, or as
 * much time as the hooks of plugins take. When a deploy replaces the nodes in between, Node-RED loses the message. So
 * what is on its way stops before the next node while flows are deployed, and goes on to the one in its place.
 *
 * Hooks of our own cost every message of every flow: they are there only while there is something to follow or to stop.
 */
export class Deploys {
  readonly #RED: NodeAPI;
  /** Node-RED's test helper has none. */
  readonly #hooks: NodeAPI["hooks"] | undefined;
  readonly #underway = new Underway();
  #deploying = false;
  /** When the flows were last started: what was sent before may be on its way to a node that is no more. */
  #startedAt = 0;
  /** What goes on when the flows run. */
  readonly #stopped: (() => void)[] = [];
  #tidying: NodeJS.Timeout | undefined;

  /** @param waiting what is held while flows are deployed, in the order in which it goes on */
  constructor(RED: NodeAPI, waiting: readonly Holdable[]) {
    this.#RED = RED;
    this.#hooks = RED.hooks;
    RED.events.on("flows:stopping", () => {
      for (const each of waiting) each.hold();
      this.#deploying = true;
      if (this.#underway.size > 0) this.#guard();
    });
    RED.events.on("flows:started", () => {
      this.#deploying = false;
      this.#startedAt = performance.now();
      for (const goOn of this.#stopped.splice(0)) goOn();
      // Nodes that came with this deploy may have added hooks.
      if (this.#hooks?.has(`onReceive.${label}`)) this.#guard();
      this.#tidy();
      for (const each of waiting) each.resume();
    });
  }

  /** Whether flows run, and a node is one of theirs. */
  isRunning(node: Node): boolean {
    return !this.#deploying && this.#nodeOf(node.id) === node;
  }

  /** Sends a message to the nodes that a node is wired to. */
  send(node: Node, message: NodeMessageInFlow): void {
    const { _msgid: id } = message;
    const [destinations = []] = (node as Node & { wires: string[][] }).wires;
    const isHeldUp = stages.some((stage) => this.#hooks?.has(stage));
    this.#underway.add(id, node.id, destinations);
    if (isHeldUp) this.#follow();
    node.send(message);
    // Runs right after the deliveries, which `send` has put into the same queue, unless a plugin holds them up.
    if (!isHeldUp) setImmediate(() => this.#underway.delete(id));
  }

  /** From now on it is noticed when a message has reached a node. */
  #follow(): void {
    const hook = `postReceive.${label}`;
    if (this.#hooks?.has(hook)) return;
    this.#hooks?.add(hook, ({ msg, destination }: Delivery) => this.#underway.arrived(msg._msgid, destination.id));
    this.#tidying ??= setInterval(() => this.#tidy(), tidyInterval).unref();
  }

  /** From now on messages can be stopped: behind all other hooks, since who held one up lets it go on to the next. */
  #guard(): void {
    this.#unguard();
    this.#hooks?.add(`preRoute.${label}`, (delivery: Delivery, goOn: GoOn) => this.#route(delivery, goOn));
    this.#hooks?.add(`onReceive.${label}`, (delivery: Delivery, goOn: GoOn) => this.#receive(delivery, goOn));
    this.#tidying ??= setInterval(() => this.#tidy(), tidyInterval).unref();
  }

  #unguard(): void {
    for (const stage of ["preRoute", "onReceive"]) this.#remove(stage);
  }

  /** Node-RED's log tells of each removal, also of what is not there. */
  #remove(stage: string): void {
    const hook = `${stage}.${label}`;
    if (this.#hooks?.has(hook)) this.#hooks.remove(hook);
  }

  /** Takes the hooks away that are no longer needed. */
  #tidy(): void {
    const oldest = this.#underway.tidy();
    if (this.#deploying) return;
    if (oldest === undefined || oldest > this.#startedAt) this.#unguard();
    if (oldest !== undefined) return;
    this.#remove("postReceive");
    clearInterval(this.#tidying);
    this.#tidying = undefined;
  }

  /** Before Node-RED looks the destination up: in the flow that sent the message, which may be gone. */
  #route({ msg, source, destination }: Delivery, goOn: GoOn): void {
    if (!source || !this.#underway.isTo(msg._msgid, destination.id, source.id)) return goOn();
    if (!this.#deploying && this.#nodeOf(source.id) === source.node) return goOn();
    this.#whenRunning(() => {
      const node = this.#nodeOf(destination.id);
      if (!node) {
        this.#underway.arrived(msg._msgid, destination.id);
        return goOn(false);
      }
      // Node-RED is about to write here whom it has found.
      const lasting = { get: () => node, set: () => undefined, enumerable: true, configurable: true };
      Object.defineProperty(destination, "node", lasting);
      goOn();
    });
  }

  /** Before a node receives a message. One that was replaced has no handler any more, or works while it is closing. */
  #receive({ msg, destination }: Delivery, goOn: GoOn): void {
    if (!this.#underway.isTo(msg._msgid, destination.id)) return goOn();
    this.#whenRunning(() => {
      const node = this.#nodeOf(destination.id);
      if (node === destination.node) return goOn();
      goOn(false);
      if (node) node.receive(msg);
      else this.#underway.arrived(msg._msgid, destination.id);
    });
  }

  #whenRunning(goOn: () => void): void {
    if (this.#deploying) this.#stopped.push(goOn);
    else goOn();
  }

  #nodeOf(id: string): Node | null | undefined {
    return this.#RED.nodes.getNode(id);
  }
}
