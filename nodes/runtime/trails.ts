// Counts which nodes have the messages that are followed.

import type { Node, NodeMessage } from "node-red";
import type { Ending } from "../../src/deliveries/flow";
import { type Begun, Followed, type Sender, type Visit } from "./followed";
import { isRunning, tellsDone } from "./running";
import { Visits } from "./visits";

/** A message from one node to another, as Node-RED's hooks tell of it. */
export interface SendEvent {
  msg: NodeMessage;
  source: { id: string; node: Node };
  destination: { id: string; node?: Node | undefined };
}

/** For so many rounds a plugin may hold a message up: for as long as a person looks at it. */
export const mostRounds = 60;

/** What is followed, and where it is. */
export class Trails {
  readonly #followed = new Map<string, Followed>();
  readonly #visits = new Visits();
  /** What errors were reported about: Node-RED tells each of them twice, and some nodes are done as well. */
  readonly #failed = new WeakSet<object>();
  #round = 0;
  #isDeploying = false;

  get size(): number {
    return this.#followed.size;
  }

  get isDeploying(): boolean {
    return this.#isDeploying;
  }

  of(id: string | undefined): Followed | undefined {
    return this.#followed.get(id ?? "");
  }

  follow(begun: Omit<Begun, "resolve">): Promise<Ending> {
    // Of two with one id nobody could tell which is which.
    this.#conclude(this.of(begun.id), "lost");
    return new Promise((resolve) => {
      const followed = new Followed({ ...begun, resolve });
      this.#followed.set(begun.id, followed);
      this.#settle(followed);
    });
  }

  /** A plugin has a message that was sent, or that is on its way. */
  hold(followed: Followed, id: string, stage: "sent" | "held", from?: Sender): Visit {
    return followed.begin({ id, node: undefined, stage, round: this.#round }, from);
  }

  /** It is known how a message goes on that was only known to be sent. */
  release(visit: Visit): void {
    visit.followed.end(visit);
    this.#settle(visit.followed);
  }

  /**
   * A message is about to be received.
   *
   * @param held as what it was known to be on its way
   * @returns whether it is followed
   */
  route({ msg, source, destination: { id, node } }: SendEvent, held: Visit | undefined): boolean {
    const visit = held ?? this.of(msg._msgid)?.begin({ id, node, stage: "routed", round: this.#round }, source);
    if (!visit) return false;
    visit.node = node;
    visit.stage = "routed";
    this.#visits.add(msg, visit);
    return true;
  }

  /** A node's handler has run. */
  receive(msg: NodeMessage, node: Node): void {
    const visit = this.#visits.find(msg, node, ({ stage }) => stage !== "received") ?? this.#handOver(msg, node);
    if (!visit) return;
    if (visit.stage === "over") return this.#visits.delete(msg, visit);
    visit.stage = "received";
    if (tellsDone(node)) return;
    this.#visits.delete(msg, visit);
    this.#end(visit);
  }

  /** A node is done with a message; with an error, if there is a failure. */
  complete(msg: NodeMessage, node: Node, failure?: { error: unknown }): void {
    const known = this.#visits.find(msg, node, ({ stage }) => stage !== "over") ?? this.#heldFor(msg, node);
    const followed = known?.followed ?? this.of(msg._msgid);
    if (!followed) return;
    const isTold = this.#failed.has(msg);
    if (failure) {
      followed.fail(node, failure.error);
      this.#failed.add(msg);
    }
    // An error may come with a copy of the message that the node has.
    const isItself = ({ node: who, stage }: Visit) => who === node && stage === "received";
    const visit = known ?? (failure && !isTold ? followed.open.find(isItself) : undefined);
    if (!visit && isTold) return;
    if (visit?.stage === "received") this.#visits.delete(msg, visit);
    else this.#markOver(msg, node, visit ?? followed);
    if (visit) this.#end(visit);
  }

  /** Flows are being stopped: some nodes say now that they are done with what they drop. */
  stop(): void {
    this.#isDeploying = true;
  }

  /** Flows run again. */
  start(): void {
    this.#isDeploying = false;
    for (const { open } of this.#followed.values()) {
      for (const visit of [...open]) this.#overtake(visit);
    }
  }

  /** What has not come after so many rounds was stopped by a plugin; where a deploy came in between, nobody knows. */
  nextRound(): void {
    this.#round++;
    if (this.#isDeploying) return;
    const late = ({ stage, round }: Visit) => stage !== "received" && this.#round - round > mostRounds;
    for (const { open } of this.#followed.values()) {
      for (const visit of open.filter(late)) this.#end(visit);
    }
  }

  /** A message of a stopped node is lost, and so is one on its way to it. */
  #overtake(visit: Visit): void {
    const { node, sender, stage, followed } = visit;
    // Until it is known who gets it, it is the sender's flow that knows where it goes.
    const last = node ?? sender;
    if (!last || isRunning(last)) visit.isOvertaken = stage !== "received";
    else {
      followed.lose();
      this.#end(visit);
    }
  }

  /** A node was handed a message without its being sent to it, as `link call` and errors do. */
  #handOver(msg: NodeMessage, node: Node): Visit | undefined {
    const held = this.#heldFor(msg, node);
    if (held) return this.#visits.add(msg, Object.assign(held, { node, stage: "routed" }));
    const followed = this.of(msg._msgid);
    if (!followed || !tellsDone(node) || !isRunning(node)) return undefined;
    return this.#visits.add(msg, followed.begin({ id: node.id, node, stage: "routed", round: this.#round }));
  }

  #heldFor(msg: NodeMessage, node: Node): Visit | undefined {
    return this.of(msg._msgid)?.open.find(({ stage, id }) => stage === "held" && id === node.id);
  }

  /** A node is done before its handler is: what comes of the handler is not a further visit. */
  #markOver(msg: NodeMessage, node: Node, from: Visit | Followed): void {
    if (!(from instanceof Followed)) return void this.#visits.add(msg, Object.assign(from, { node, stage: "over" }));
    if (this.#visits.find(msg, node, ({ stage }) => stage === "over")) return;
    const visit = from.begin({ id: node.id, node, stage: "over", round: this.#round });
    from.end(visit);
    this.#visits.add(msg, visit);
  }

  #end(visit: Visit): void {
    const { followed, node, isOvertaken } = visit;
    const isDoubtful = this.#isDeploying || isOvertaken;
    if (isDoubtful && !(node && isRunning(node))) followed.lose();
    followed.end(visit);
    if (followed.open.length === 0) this.#settle(followed);
  }

  /** What a node sends in the same turn in which it says that it is done still belongs to it. */
  #settle(followed: Followed): void {
    setImmediate(() => {
      if (followed.open.length === 0 && this.of(followed.id) === followed) this.#conclude(followed);
    });
  }

  #conclude(followed: Followed | undefined, as?: "lost"): void {
    if (!followed) return;
    if (as) followed.lose();
    this.#followed.delete(followed.id);
    followed.conclude();
  }
}
