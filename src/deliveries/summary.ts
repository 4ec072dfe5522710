// What is told of deliveries to whoever looks at them in the editor: nothing of it lets anybody in.

import type { Reason } from "../trust/diagnosis/explanation";
import type { SenderId } from "../trust/senders/table";
import type { Attempt, Pause, State } from "./state";

/** One delivery in a list. What is not known of it is `null`. */
export interface Summary {
  /** The id of its message. */
  readonly id: string;
  /** The id of the node whose endpoint it came to; `null` where it came to none, and none is like its path. */
  readonly node: string | null;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  readonly state: State;
  /** The status of the reply. */
  readonly status: number | null;
  /** Why it was refused or has failed, for the operator, in the language of the runtime. */
  readonly reason: string | null;
  /** What to do about that, for the operator, in the language of the runtime. */
  readonly fix: string | null;
  readonly method: string;
  /** Without the query: below Node-RED's root for nodes where it came to an endpoint, else whole. */
  readonly path: string;
  /** The address of the sender; empty where it is not known. */
  readonly ip: string;
  readonly sender: SenderId | null;
  /** The type of the event. */
  readonly event: string | null;
  /** The first words of its body, where no event is known. */
  readonly words: string | null;
  /** The sender's own id of the delivery. */
  readonly senderId: string | null;
  /** The length of the body as it was sent, in bytes. */
  readonly size: number;
  /** How long it took from the head of the request to the reply, in ms. */
  readonly milliseconds: number | null;
  /** How often the flow was started with it. */
  readonly attempt: number;
  /** How often it is started at most; `null` without guaranteed delivery. */
  readonly maxAttempts: number | null;
  /** When it is started again, in ms since the epoch; `null` where it does not wait for that. */
  readonly nextAt: number | null;
  /** Why its node starts no flow, where this delivery waits for that or has failed; `null` where it starts them. */
  readonly pause: Pause | null;
  /** The id of the delivery that it is a replay of. */
  readonly replayOf: string | null;
  /** Whether the editor has sent it, to try the endpoint. */
  readonly isTrial: boolean;
  readonly cause: Cause | null;
}

/** Why a delivery was refused or has failed, for whoever reads in another language than the runtime's. */
export interface Cause {
  /** Why it was refused, by the key of its text under `refused` in the message catalog; `null` where the flow has failed. */
  readonly problem: string | null;
  /** What was wrong and how to mend it, the surest first, each by the key of its text under `whyNot`. */
  readonly reasons: readonly Reason[];
  /** The sender that it looks like: a guess that nothing has proven. */
  readonly looksLike: SenderId | null;
  /** What the flow has failed with; `null` where it was not the flow. */
  readonly error: string | null;
}

/** One delivery, with all that is kept of it. */
export interface Detail extends Summary {
  /** Without what lets somebody in. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly body: ShownBody;
  /** Whether its body is kept as JSON, whatever its content type says: it was parsed in front, or changed by somebody. */
  readonly isJson: boolean;
  /**
   * What the flow would get of it now, without what lets somebody in; missing where its node is closed, where it is not
   * kept, too long or no JSON, and where it cannot be replayed.
   */
  readonly payload?: unknown;
  /** What was answered; `null` where nothing was, or not yet. */
  readonly answer: ShownAnswer | null;
  /** Each start of the flow, the first one first. */
  readonly attempts: readonly Attempt[];
}

export interface ShownBody {
  readonly encoding: "utf8" | "base64";
  /** Text, or its bytes in base64 where they are none. */
  readonly data: string;
  /** Whether there was more than is kept or shown. */
  readonly truncated: boolean;
}

export interface ShownAnswer {
  readonly status: number;
  readonly milliseconds: number | null;
  /** How its body begins; `null` where that is empty, is no text, or is not known. */
  readonly body: string | null;
}

/** A page of a list, the newest first. */
export interface SummaryPage {
  readonly deliveries: readonly Summary[];
  /** The `before` of the next page; `null` where there is none. */
  readonly next: string | null;
}
