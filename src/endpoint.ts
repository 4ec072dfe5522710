// What an endpoint is to the requests that reach it.

import type { Problem } from "./problem";
import type { Body } from "./request/decode";
import type { RequestSummary } from "./request/summary";
import type { Credentials } from "./trust/token";

/** What a request that carries the right token starts, and who hears how requests fared. */
export interface Endpoint {
  readonly credentials: Credentials;
  /** The most bytes a body may have, before and after its content codings are undone. */
  readonly limit: number;
  /** Makes the id of a message. */
  newId(): string;
  /** Starts the flow. */
  deliver(id: string, body: Body, req: RequestSummary): void;
  accepted(acceptance: Acceptance): void;
  /** @param cause the error behind a problem that no rule foresees */
  refused(problem: Problem, cause?: unknown): void;
}

/** An accepted request, as metrics want it. */
export interface Acceptance {
  id: string;
  /** From the head of the request to the reply. */
  milliseconds: number;
  /** The length of the reply's body, in bytes. */
  contentLength: number;
}
