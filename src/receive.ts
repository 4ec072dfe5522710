import type { ServerResponse } from "node:http";
import { authenticate, type Credentials } from "./authenticate";
import { decodeContent, readBody } from "./body";
import { type Body, decodeBody } from "./decode";
import { type Arrival, type RequestSummary, summarise } from "./message";
import { Problem, problems } from "./problem";
import { accept, refuse } from "./reply";

/** What a request that carries the right token starts, and who hears how requests fared. */
export interface Endpoint {
  readonly credentials: Credentials;
  /** The most bytes a body may have, before and after its content codings are undone. */
  readonly limit: number;
  /** Starts the flow. @returns the id of its message */
  deliver(body: Body, req: RequestSummary): string;
  accepted(acceptance: Acceptance): void;
  refused(problem: Problem): void;
  /** Hears of an error that no rule foresees. */
  failed(error: unknown): void;
}

/** An accepted request, as metrics want it. */
export interface Acceptance {
  id: string;
  /** From the head of the request to the reply. */
  milliseconds: number;
  /** The length of the reply's body, in bytes. */
  contentLength: number;
}

/** Serves a request to an endpoint, from its head to the reply. Never rejects. */
export async function serve(arrival: Arrival, response: ServerResponse, endpoint: Endpoint): Promise<void> {
  const { request } = arrival;
  const start = performance.now();
  const outcome = await receive(arrival, endpoint).catch((error: unknown) => {
    endpoint.failed(error);
    return problems.unforeseen;
  });
  if (outcome instanceof Problem) {
    refuse(request, response, outcome);
    endpoint.refused(outcome);
  } else {
    const contentLength = accept(request, response, outcome.id);
    endpoint.accepted({ id: outcome.id, milliseconds: performance.now() - start, contentLength });
  }
}

async function receive(arrival: Arrival, endpoint: Endpoint): Promise<{ id: string } | Problem> {
  const { request, search } = arrival;

  // The token comes before the body, so that a stranger cannot make us read or unpack anything.
  const refusal = authenticate(endpoint.credentials, request.rawHeaders, search);
  if (refusal) return refusal;

  const bytes = await readBody(request, endpoint.limit);
  if (bytes instanceof Problem) return bytes;

  const content = await decodeContent(bytes, request.headers["content-encoding"], endpoint.limit);
  if (content instanceof Problem) return content;

  const body = decodeBody(content, request.headers["content-type"]);
  if (body instanceof Problem) return body;

  return { id: endpoint.deliver(body, summarise(arrival, endpoint.credentials)) };
}
