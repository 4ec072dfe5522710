// What came of a test request.

import type { BrokenRule } from "../config/rules";

/** What came of a test request, by the key of its text under `trial` in the message catalog. */
export type Outcome =
  /** The flow was started. */
  | "accepted"
  /** The flow was started, and has answered. */
  | "answered"
  /** The flow was started, and did not answer within its time limit (504). */
  | "unanswered"
  /** The editor knows the node, the runtime does not. */
  | "notDeployed"
  /** HTTP nodes are switched off. */
  | "switchedOff"
  /** The node's configuration breaks a rule. */
  | "closed"
  /** The delivery whose body was to be sent is not kept any more, or is another node's. */
  | "deliveryGone"
  /** Another node has the path. */
  | "taken"
  /** `httpNodeAuth` asked for a user and a password. */
  | "blocked"
  /** The request reached an endpoint, which did not find the right token in it. */
  | "tokenRefused"
  /** The flows did not start in time. */
  | "deploying"
  /** Nothing answers at the path. */
  | "notFound"
  /** Something else answered. */
  | "otherwise"
  /** There was no answer. */
  | "unreachable";

/** The result of a test request, as the form is told. */
export interface TrialResult {
  outcome: Outcome;
  /** The status code of the answer, if there was one. */
  status?: number;
  /** The id of the message, if the flow was started. */
  id?: string;
  /** The rule that keeps the endpoint closed, and its value. */
  rule?: BrokenRule;
  value?: string;
}

/** How the answer to a test request tells the id of the message, where it is the flow that answers. */
export const messageField = "X-Webhook-Trigger-Message";

/** Tells what an answer to a test request means. */
export function resultOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
): TrialResult {
  const given = headers[messageField.toLowerCase()];
  if (typeof given === "string") return { outcome: isOurs(headers) ? "unanswered" : "answered", status, id: given };
  const id = status === 200 ? acceptedId(body) : undefined;
  if (id !== undefined) return { outcome: "accepted", status, id };
  return { outcome: outcomeOf(status, headers["www-authenticate"] ?? ""), status };
}

/** Whether it tells of a problem, such as that the flow has not answered. */
function isOurs({ "content-type": type }: Readonly<Record<string, unknown>>): boolean {
  return type === "application/problem+json";
}

/** How the challenges of `src/problem.ts` begin, which the form cannot import. */
const ourChallenge = /^(?:Bearer|Signature) realm="webhook"/;

function outcomeOf(status: number, challenge: string | string[]): Outcome {
  // RFC 9110 §11.6.1: the challenge tells whose refusal it is.
  if (status === 401) return ourChallenge.test(String(challenge)) ? "tokenRefused" : "blocked";
  if (status === 404) return "notFound";
  if (status === 503) return "deploying";
  return "otherwise";
}

/** The id in an endpoint's reply; nothing when something else answered. */
function acceptedId(body: string): string | undefined {
  try {
    const { status, id } = JSON.parse(body) as { status?: unknown; id?: unknown };
    return status === "accepted" && typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
