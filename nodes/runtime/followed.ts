// One message on its way through a flow: who has it, and how the flow came to its end with it.

import type { Node } from "node-red";
import type { Ending } from "../../src/deliveries/flow";

/** Of what an error says, so many characters are kept. */
export const longestError = 200;

/**
 * How far a message has come: it was `sent`, and a plugin holds it up before it is known to whom; it is `held` up on its
 * way to a node; it is about to be received (`routed`); a node has it (`received`); a node is done with it, and its
 * handler still runs (`over`).
 */
type Stage = "sent" | "held" | "routed" | "received" | "over";

/** A node that has sent a message. */
export interface Sender {
  id: string;
  node?: Node;
}

/** One node's part in it. */
export interface Visit {
  readonly followed: Followed;
  /** The id of the node that has it, or is to get it; at the stage `sent`, of the one that has sent it. */
  readonly id: string;
  node: Node | undefined;
  /** Who has sent it there, if it is known. */
  readonly sender: Node | undefined;
  /** Whether it comes from where it was sent first. */
  readonly isFirst: boolean;
  stage: Stage;
  /** The number of the round in which it began. */
  readonly round: number;
  /** Whether a deploy came while it was on its way. */
  isOvertaken: boolean;
}

/** What is known of a message when it is sent. */
export interface Begun {
  readonly id: string;
  /** The id of the node that sends it first. */
  readonly source: string;
  /** Takes the secrets out of an error, before it is shortened. */
  readonly redact: (error: string) => string;
  readonly resolve: (ending: Ending) => void;
}

/** The visits of one message, and of all that is sent on from it. */
export class Followed {
  readonly id: string;
  readonly #source: string;
  readonly #redact: (error: string) => string;
  readonly #resolve: (ending: Ending) => void;
  readonly #open: Visit[] = [];
  #error: string | undefined;
  #isLost = false;

  constructor({ id, source, redact, resolve }: Begun) {
    this.id = id;
    this.#source = source;
    this.#redact = redact;
    this.#resolve = resolve;
  }

  /** The visits that have not come to their end. */
  get open(): readonly Visit[] {
    return this.#open;
  }

  /** @param from who has sent it there; nobody where it was handed over */
  begin({ id, node, stage, round }: Pick<Visit, "id" | "node" | "stage" | "round">, from?: Sender): Visit {
    const isFirst = from?.id === this.#source;
    const begun = { followed: this, id, node, sender: from?.node, isFirst, stage, round, isOvertaken: false };
    this.#open.push(begun);
    return begun;
  }

  end(visit: Visit): void {
    const index = this.#open.indexOf(visit);
    if (index !== -1) this.#open.splice(index, 1);
  }

  /** A node has reported an error. The first one is kept: what follows from it tells less. */
  fail(node: Node, error: unknown): void {
    this.#error ??= this.#redact(errorOf(node, error)).slice(0, longestError);
  }

  lose(): void {
    this.#isLost = true;
  }

  /** Nothing is open any more. An error tells more than that something is lost. */
  conclude(): void {
    if (this.#error !== undefined) this.#resolve({ as: "failed", error: this.#error });
    else this.#resolve({ as: this.#isLost ? "lost" : "succeeded" });
  }
}

/** What a node has reported, and which node it was: a flow may have many. */
export function errorOf({ name, type }: Pick<Node, "name" | "type">, error: unknown): string {
  return `${name === undefined || name === "" ? type : name}: ${errorText(error)}`;
}

/** What an error says, without where it came from and what else it has. */
function errorText(error: unknown): string {
  try {
    return String(typeof error === "object" && error && "message" in error ? error.message : error);
  } catch {
    // Anything may be thrown, also what throws when it is looked at.
    return typeof error;
  }
}
