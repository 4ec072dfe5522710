import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, type Credentials } from "./trust/token";
import { decodeContent, readBody } from "./request/body";
import { type Body, decodeBody } from "./request/decode";
import type { Endpoints } from "./endpoints";
import { type Arrival, type RequestSummary, summarise } from "./request/summary";
import { Interference, Problem, problems } from "./problem";
import { accept, refuse } from "./reply/reply";

/** What a request that carries the right token starts, and who hears how requests fared. */
export interface Endpoint {
  readonly credentials: Credentials;
  /** The most bytes a body may have, before and after its content codings are undone. */
  readonly limit: number;
  /** Starts the flow. @returns the id of its message */
  deliver(body: Body, req: RequestSummary): string;
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

/**
 * Serves a request, from its head to the reply. Never rejects.
 *
 * @param passOn called instead of a reply when no endpoint has the path
 */
export async function serve(
  arrival: Arrival,
  response: ServerResponse,
  endpoints: Endpoints<Endpoint>,
  passOn: () => void,
): Promise<void> {
  const { request } = arrival;
  const start = performance.now();

  // Node gives a response its socket when all earlier ones on the connection are done: so requests keep their order.
  if (!response.socket) await once(response, "socket");
  // RFC 9112 §9.6: what follows on a connection that is being closed is not served; it could not be answered.
  if (!request.socket.writable) return;

  const found = endpoints.find(arrival.path);
  const endpoint = found === "deploying" ? await deployed(arrival.path, endpoints) : found;
  if (!endpoint) return passOn();
  if (endpoint instanceof Problem) return refuse(request, response, endpoint);

  try {
    const outcome = await receive(arrival, response, endpoint, endpoints);
    if (outcome instanceof Problem) {
      refuse(request, response, outcome);
      // After a deploy it is another that counts.
      const holder = endpoints.find(arrival.path);
      (typeof holder === "object" ? holder : endpoint).refused(outcome);
    } else {
      const contentLength = accept(request, response, outcome.id);
      outcome.receiver.accepted({ id: outcome.id, milliseconds: performance.now() - start, contentLength });
    }
  } catch (error) {
    fail(request, response, endpoint, error);
  }
}

/** Refuses a request because of an error that no rule foresees. */
export function fail(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint, cause: unknown): void {
  refuse(request, response, problems.unforeseen);
  endpoint.refused(problems.unforeseen, cause);
}

/** Waits until the flows run again, and answers who has a path then. */
async function deployed(path: string, endpoints: Endpoints<Endpoint>): Promise<Endpoint | Problem | undefined> {
  for (;;) {
    if (!(await endpoints.settled())) return problems.deploying;
    const found = endpoints.find(path);
    if (found !== "deploying") return found;
  }
}

async function receive(
  arrival: Arrival,
  response: ServerResponse,
  endpoint: Endpoint,
  endpoints: Endpoints<Endpoint>,
): Promise<{ id: string; receiver: Endpoint } | Problem> {
  const { request, path, search } = arrival;
  const refusalOf = ({ credentials }: Endpoint) => authenticate(credentials, request.rawHeaders, search);

  // The token comes before the body, so that a stranger cannot make us read or unpack anything.
  const refusal = refusalOf(endpoint);
  if (refusal) return refusal;

  const bytes = await readBody(request, endpoint.limit);
  if (bytes instanceof Problem) return bytes;

  const coding = request.headers["content-encoding"];
  const content = coding === undefined ? bytes : await decodeContent(bytes, coding, endpoint.limit);
  if (content instanceof Problem) return content;

  const body = decodeBody(content, request.headers["content-type"]);
  if (body instanceof Problem) return body;

  // A deploy may have come while the body was on its way. No other work may come between finding and delivering.
  let receiver = endpoints.find(path);
  while (receiver === "deploying") {
    if (!(await endpoints.settled())) return problems.deploying;
    receiver = endpoints.find(path);
  }
  if (!receiver) return problems.gone;
  // Who has the path now may want another token.
  const laterRefusal = receiver === endpoint ? undefined : refusalOf(receiver);
  if (laterRefusal) return laterRefusal;
  if (response.headersSent) throw new Interference("answered");
  return { id: receiver.deliver(body, summarise(arrival, receiver.credentials)), receiver };
}
