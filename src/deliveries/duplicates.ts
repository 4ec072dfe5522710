// Deliveries that come more than once: which one starts the flow, and what the others are told.

/** A delivery that has a key. */
export interface Candidate {
  /** The id of the node whose endpoint it came to: what is known of it outlives a deploy. */
  endpoint: string;
  key: string;
  /** The id of its message. */
  id: string;
  /** How long its key is kept once it has been answered, in ms. */
  keptFor: number;
}

/** How the first delivery of a key was answered by the flow. */
export interface FirstAnswer {
  status: number;
  /** The header fields that its body is not understood without. */
  fields: Readonly<Record<string, string>>;
  /** Nothing where it is not kept: it was too long, or many others came after it. */
  body: Buffer | undefined;
}

/** From so many bytes on, the body of an answer is not kept. */
export const longestAnswer = 64 * 1024;

/**
 * Reserves keys, so that of any deliveries with one key exactly one starts the flow at a time, and none does once that
 * one has been answered. In the memory of this process, or in a store that outlives it or that several instances share.
 */
export interface Duplicates {
  /** Asked before the flow is started, for each delivery that has a key. */
  reserve(candidate: Candidate): Found | Promise<Found>;
}

export type Found = Reservation | Earlier;

/** The delivery has the key, and is to start the flow. It says once what came of it; what it says after that is nothing. */
export interface Reservation {
  readonly isFirst: true;
  /**
   * It has been answered. The key is kept, but where the answer is a failure (RFC 9110 §15.6), after which senders try
   * again: then the key is free, and only those who wait already are told the answer.
   *
   * @param answer that of the flow; nothing where this node has answered
   */
  settle(answer?: FirstAnswer): void | Promise<void>;
  /** It has not started the flow after all: another delivery may. */
  release(): void | Promise<void>;
}

/** Another delivery has the key. */
export interface Earlier {
  readonly isFirst: false;
  /** The id of its message. */
  readonly id: string;
  /** What came of it; where that is not known yet, when it is. */
  readonly outcome: Outcome | Promise<Outcome>;
}

/** An answer, which is nothing where the node itself has given it; or `released`, where the key is free again. */
export type Outcome = "released" | { readonly answer: FirstAnswer | undefined };

/** What a delivery is to be told that does not start the flow. */
export interface KnownDuplicate {
  readonly isFirst: false;
  /** The id of the message of the first one. */
  readonly id: string;
  readonly answer: FirstAnswer | undefined;
}

/**
 * Reserves the key of a delivery or, while another has it, waits for what comes of that one: should it be refused after
 * all, one of those who wait takes its place, and no delivery is lost. Who has been given the key and has no use for it
 * any more, since its caller has gone, releases it.
 *
 * @param wait waits in the place of the delivery; what is no outcome ends that
 */
export async function reserveOrWait<Other extends object = never>(
  duplicates: Duplicates,
  candidate: Candidate,
  wait: (outcome: Promise<Outcome>) => Promise<Outcome | Other> = async (outcome) => outcome,
): Promise<Reservation | KnownDuplicate | Other> {
  for (;;) {
    const found = await duplicates.reserve(candidate);
    if (found.isFirst) return found;
    const outcome = found.outcome instanceof Promise ? await wait(found.outcome) : found.outcome;
    if (outcome === "released") continue;
    return "answer" in outcome ? { isFirst: false, id: found.id, answer: outcome.answer } : outcome;
  }
}
