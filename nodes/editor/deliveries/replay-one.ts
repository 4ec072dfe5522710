// A delivery is sent to its flow once more.

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
  const known: Readonly<Record<number, string>> = {
    0: "trial.failed",
    401: "delivery.forbidden",
    403: "delivery.forbidden",
    404: "delivery.gone",
    409: `replay.${String(code)}`,
  };
  const key = known[status] ?? "";
  const why = text(key);
  // A newer runtime may have reasons that this catalog has no text for.
  return why === key ? text("delivery.otherwise", { status: String(status) }) : obstacle(status, why);
}

/** What is in the way is told without a full stop. */
function obstacle(status: number, why: string): string {
  return status === 409 ? text("standing.sentence", { sentence: why }) : why;
}
