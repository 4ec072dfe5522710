// The bodies of endpoints, and Node-RED's own body parsers.

import type { ErrorRequestHandler, Express, Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Endpoint } from "../../src/endpoint";
import type { Arrival } from "../../src/request/summary";
import { decodeBody } from "../../src/request/decode";
import { decodeContent, readBody } from "../../src/request/body";
import { Problem, problems } from "../../src/problem";
import { addLayer, type Layer, layersOf } from "./stack";
import type { View } from "./surroundings";

/** A request that is for an endpoint, as the admin app sees it. */
export interface Passing {
  readonly endpoint: Endpoint;
  readonly view: View;
  /** Whether it carries what lets it in. */
  readonly fits: boolean;
  /** Whether its target is written as the endpoint's path was configured. */
  readonly canonical: boolean;
  /** Whether the flows do not run at the moment. */
  readonly isHeld: boolean;
}

/** The bytes of a body that were read for others who stand in front, from when they were read until the endpoint takes them. */
const readAhead = Symbol("readAhead");
const nothing = Symbol("nothing");
/** What a form was for those who stand in front, as JSON. */
const handedForm = Symbol("handedForm");
const passing = Symbol("passing");

/** A request with body-parser's mark for one whose body is taken care of. */
type Parsed = Request & {
  _body?: boolean;
  /** The mark of `http in` nodes that take bodies as they came. */
  skipRawBodyParser?: boolean;
  [readAhead]?: Buffer;
  /** What stands in `body` where nothing was read. */
  [nothing]?: object;
  [handedForm]?: string | undefined;
  [passing]?: Passing | undefined;
};

/** What the door does for bodies. */
export interface DoorForBodies {
  /** What a request is for. */
  find(request: Request): Passing | undefined;
  /** Which endpoint's a request would be with another method, if it is nobody else's. */
  findMisdirected(request: Request): Endpoint | undefined;
  /** Lets a request wait for the flows, and go on. */
  wait(request: Request, response: ServerResponse, goOn: () => void): void;
  refuse(request: Request, response: ServerResponse, endpoint: Endpoint, problem: Problem): void;
}

/**
 * With equal roots the admin app's body parsers come before any node. Of a request for an endpoint they would take the
 * bytes, and answer for it, before anybody has looked for its token: so they are kept from it, and only they. Who stands
 * behind them, and is not known, still finds in `request.body` what they would have left, if the request may come in at
 * all; where somebody else might take the request for themselves, nobody is kept from anything.
 */
export class Bodies {
  readonly #door: DoorForBodies;
  #parsers: readonly Layer[] = [];

  constructor(door: DoorForBodies) {
    this.#door = door;
  }

  /**
   * Takes the places around the parsers of the admin app.
   *
   * @param isParser whether a layer is one of them, or was made in the same way
   * @param ours gets the layers that are added
   */
  surround(admin: Express, isParser: (layer: Layer) => boolean, ours: Set<Layer>): void {
    const [first, second, ...more] = layersOf(admin).filter(isParser);
    // With others, the operator's among them, it is not known which are Node-RED's: then nobody is kept from anything.
    if (!first || !second || more.length > 0) return;
    this.#parsers = [first, second];
    const layers = [
      addLayer(admin, this.#keep, (others) => others.indexOf(first)),
      addLayer(admin, this.#give, (others) => others.indexOf(second) + 1),
      // One for errors, which Express's types do not tell from others here.
      addLayer(admin, this.#refuseUnread as unknown as RequestHandler, (others) => others.indexOf(second) + 2),
    ];
    for (const layer of layers) if (layer) ours.add(layer);
  }

  /** In front of the parsers. */
  readonly #keep: RequestHandler = (request: Parsed, response, next) => {
    const found = request.method === "POST" && !request._body ? this.#door.find(request) : undefined;
    if (!found || (found.view.readers === "anybody" && !found.fits)) return next();
    // What has to wait waits as it was sent: its body is not read for anybody before.
    if (found.view.readers !== "nobody" && found.isHeld) {
      return this.#door.wait(request, response, () => this.#keep(request, response, next));
    }
    // To leave the admin app spares all that is left of it.
    if (found.canonical && found.view.adminIsPlain)
      return this.#handOut(request, response, found, () => next("router"));
    request._body = true;
    request[passing] = found;
    next();
  };

  /** Behind them. */
  readonly #give: RequestHandler = (request: Parsed, response, next) => {
    const found = request[passing];
    if (!found) return next();
    request._body = false;
    request[passing] = undefined;
    this.#handOut(request, response, found, next);
  };

  /** What the parsers could not read would have been refused without a look at it. */
  readonly #refuseUnread: ErrorRequestHandler = (error: unknown, request, response, next) => {
    const endpoint = this.#door.findMisdirected(request);
    if (endpoint) this.#door.refuse(request, response, endpoint, problems.methodNotAllowed);
    else next(error);
  };

  /** Leaves a value for those who look for one in `request.body`. */
  #handOut(request: Parsed, response: ServerResponse, found: Passing, next: (error?: unknown) => void): void {
    const { endpoint, view, fits } = found;
    if (view.readers === "nobody" || request.readableDidRead || response.headersSent) return next();
    // As the parsers do it where they read nothing.
    if (request.body === undefined) request.body = request[nothing] = {};
    if (!fits || !isParsable(request)) return next();
    this.#readAhead(request, endpoint).then((refusal) => {
      if (refusal) this.#door.refuse(request, response, endpoint, refusal);
      else next();
    }, next);
  }

  async #readAhead(request: Parsed, { limit }: Endpoint): Promise<Problem | undefined> {
    const bytes = await readBody(request, limit);
    if (bytes instanceof Problem) return bytes;
    const coding = request.headers["content-encoding"];
    const content = coding === undefined ? bytes : await decodeContent(bytes, coding, limit);
    request[readAhead] = bytes;
    request._body = true;
    if (content instanceof Problem) return content;
    const form = isForm(request) ? await this.#parsedForm(request, content) : undefined;
    const value = form ?? decodeBody(content, request.headers["content-type"]);
    if (value instanceof Problem) return value;
    request.body = value;
    request[handedForm] = form === undefined ? undefined : JSON.stringify(form);
    return undefined;
  }

  /** What the parser of forms makes of one: it knows of objects in objects, and who looks for them is to find them. */
  async #parsedForm({ method, headers }: Parsed, content: Buffer): Promise<unknown> {
    const form = {
      method,
      headers: { ...headers, "content-encoding": undefined, "content-length": `${content.length}` },
    };
    const copy = Object.assign(Readable.from([content]), form) as unknown as Parsed;
    const parser = this.#parsers[1]?.handle as RequestHandler | undefined;
    // What it cannot read is left to what the endpoint makes of it.
    const error = await new Promise((resolve) => parser?.(copy, {} as never, resolve));
    return error === undefined && copy._body ? (copy.body as unknown) : undefined;
  }
}

/** What of a body was read before its endpoint was reached, if it was: its bytes, or what somebody's parser made of them. */
export function readBefore(request: Parsed): Partial<Pick<Arrival, "received" | "parsed">> {
  const { [readAhead]: received, [handedForm]: form } = request;
  // What others have made of it is what the flow gets; of a form that is as it was, what the endpoint makes of it.
  if (received)
    return form && form === JSON.stringify(request.body)
      ? { received }
      : { parsed: { value: request.body as unknown } };
  if (!request.readableDidRead && !request._body) return {};
  const value: unknown = request.body === request[nothing] ? undefined : request.body;
  if (request.skipRawBodyParser && Buffer.isBuffer(value)) return { received: value };
  return value === undefined ? {} : { parsed: { value } };
}

/** Whether the parsers may take a body of this type; whatever else they leave alone. */
function isParsable(request: Request): boolean {
  return isForm(request) || /json/i.test(request.headers["content-type"] ?? "");
}

function isForm({ headers }: Request): boolean {
  return /x-www-form-urlencoded/i.test(headers["content-type"] ?? "");
}
