// How a node fares, as its form in the editor is told.

import type { Explanation } from "../trust/diagnosis/explanation";
import type { Credential } from "../trust/signature/why";

/** What became of the last request, and of all since the node was started. */
export interface Standing {
  accepted: number;
  refused: number;
  handshakes: number;
  /** How many were duplicates of others. */
  duplicates: number;
  /** How many started the flow without the key by which a repeat of them would be known. */
  withoutKey: number;
  /** How many the flow has not answered in time, of those that were accepted. */
  unanswered: number;
  /** Missing while there was no request. */
  last?: { at: number; outcome: "accepted" | "refused" | "handshake" | "repeated" | "unanswered" };
  /** Missing while none was refused. */
  lastRefused?: RefusedRequest;
  /** Which of two secrets or tokens the last accepted request had; missing where there is one only. */
  credential?: Credential;
  /** Whether the sender has brought a secret that nobody has fetched yet. */
  hasSecret: boolean;
  /**
   * Whether all requests so far seem to come from this computer itself: a proxy may stand in front that Node-RED is not
   * told of.
   */
  hasOnlyLoopback?: boolean;
  /** Whether any sender can claim any address, since `trust proxy` trusts every proxy. */
  trustsEveryProxy?: boolean;
}

export interface RefusedRequest extends Explanation {
  /** When it came, in ms since the epoch. */
  at: number;
  /** The key of its text under `refused` in the message catalog. */
  problem: string;
  /** Its address, where that is what was against it. */
  ip?: string;
}
