// Which delivery's body the test request of a node has: kept for as long as the editor is open.

import { form } from "./fields";

export interface TrialBody {
  /** The id of the delivery. */
  readonly delivery: string;
  /** When it came, in ms since the epoch. */
  readonly at: number;
}

/** Happens to the form that is open when a body was chosen, or given up. */
export const bodyEvent = "webhook-trigger-body";

const bodies = new Map<string, TrialBody>();

/** @param body nothing for the usual one */
export function chooseTrialBody(node: string, body: TrialBody | undefined): void {
  if (body) bodies.set(node, body);
  else bodies.delete(node);
  form().trigger(bodyEvent);
}

/** Nothing where it has the usual one. */
export function trialBodyOf(node: string): TrialBody | undefined {
  return bodies.get(node);
}
