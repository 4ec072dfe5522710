// A delivery is sent to its flow once more.

import { obstacles } from "../../../src/deliveries/state";
import { text } from "./texts";

export interface Failure {
  readonly status: number;
  /** What is in the way of a replay, by the key of its text under `replay` in the message catalog. */
  readonly code?: unknown;
}

/** The id of the new delivery; or why there is none. */
export type Replayed = { readonly id: string } | Failure;

/** @param changed what the message is to have as its payload; nothing for what came */
export function replay(id: string, changed: { readonly payload?: unknown } = {}): Promise<Replayed> {
  return new Promise((resolve) => {
    void $.ajax({
      type: "POST",
      url: `webhook-trigger/deliveries/${encodeURIComponent(id)}/replay`,
      contentType: "application/json",
      data: JSON.stringify(changed),
      success: (replayed: { id: string }) => resolve(replayed),
      error: ({ status, responseJSON }) => resolve({ status, code: codeIn(responseJSON) }),
    });
  });
}

function codeIn(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null && "code" in answer ? answer.code : undefined;
}

/** Whether the next one would fare no better: nobody may, or nobody is reached. */
export function isHopeless({ status }: Failure): boolean {
  return [0, 401, 403].includes(status);
}

/** Why a request about a delivery has failed. */
export function failureText({ status, code }: Failure): string {
  if (status === 0) return text("trial.failed");
  if (status === 401 || status === 403) return text("delivery.forbidden");
  if (status === 404) return text("delivery.gone");
  const obstacle = status === 409 ? obstacles.find((each) => each === code) : undefined;
  if (obstacle) return text("standing.sentence", { sentence: text(`replay.${obstacle}`) });
  return text("delivery.otherwise", { status: String(status) });
}
