// The response that a flow answers by: Express's, as nodes expect it.

import type { Express } from "express";
import { ServerResponse, STATUS_CODES } from "node:http";
import { problems } from "../../src/problem";
import type { OwedReply } from "../../src/reply/owed";
import { watch } from "../../src/reply/reply";
import type { RequestSummary } from "../../src/request/summary";
import { cleanConnection, cleanRequest } from "./clean-request";
import { Relay } from "./relay";

type Method = (...values: never[]) => unknown;
type Fields = Record<string, string | string[]>;

/** What hands the response itself to whatever it is given. */
const notForFlows = ["assignSocket", "detachSocket"];

/**
 * Stands for a response to a flow. Express's own methods run on the stand-in, so that the request they see is a clean one;
 * Node's run on the response itself. Once there is nothing more to be said, what changes it does nothing.
 */
class StandIn implements ProxyHandler<Relay> {
  readonly #express: object;
  readonly #owed: OwedReply;
  /** What flows find in the place of properties, and of what a property or a method gives. */
  readonly #own = new Map<PropertyKey, unknown>();
  readonly #inPlaceOf = new Map<unknown, unknown>();
  #standIn: object = this;

  private constructor(app: Express, owed: OwedReply) {
    this.#express = app.response;
    this.#owed = owed;
  }

  /** @param summary what the flow may know of the request */
  static of(app: Express, owed: OwedReply, summary: RequestSummary): object {
    const { response, request } = owed;
    const relay = new Relay(response, ["close", "drain", "error", "finish", "prefinish"]);
    const handler = new StandIn(app, owed);
    const standIn = (relay.standIn = new Proxy(relay, handler));
    const connection = cleanConnection(request.socket, () => owed.isOver);
    const fail = (error: unknown) => owed.fail(problems.unforeseen, error);
    const clean = cleanRequest(app, summary, connection, standIn, fail);
    handler.#own.set("req", clean).set("socket", connection).set("connection", connection);
    handler.#own.set("locals", Object.create(null));
    for (const name of notForFlows) handler.#own.set(name, undefined);
    handler.#standIn = standIn;
    handler.#inPlaceOf.set(response, standIn).set(request, clean).set(request.socket, connection);
    return standIn;
  }

  get(relay: Relay, key: PropertyKey): unknown {
    if (this.#own.has(key)) return this.#own.get(key);
    if (key in relay) return Reflect.get(relay, key) as unknown;
    const { response } = this.#owed;
    // What a layer in front has put on the response goes before what Express has.
    if (!Object.hasOwn(response, key) && this.#isOfExpress(key)) return Reflect.get(this.#express, key, this.#standIn);
    const value: unknown = Reflect.get(response, key);
    return typeof value === "function" ? this.#calling(key, value as Method) : this.#clean(value);
  }

  set(relay: Relay, key: PropertyKey, value: unknown): boolean {
    // On the response itself, a function of the flow's would be called with that.
    if (this.#own.has(key) || typeof value === "function") this.#own.set(key, value);
    else if (key in relay) Reflect.set(relay, key, value);
    else if (!this.#owed.isOver) Reflect.set(this.#owed.response, key, value);
    return true;
  }

  has(relay: Relay, key: PropertyKey): boolean {
    return this.#own.has(key) || key in relay || key in this.#owed.response || this.#isOfExpress(key);
  }

  getPrototypeOf(): object {
    return this.#express;
  }

  /** Whether it is something that Express has beside what Node has. */
  #isOfExpress(key: PropertyKey): boolean {
    let layer: object | null = this.#express;
    for (; layer && layer !== ServerResponse.prototype; layer = Object.getPrototypeOf(layer) as object | null) {
      if (Object.hasOwn(layer, key)) return true;
    }
    return false;
  }

  #calling(key: PropertyKey, method: Method): (...values: unknown[]) => unknown {
    return (...values) => {
      const { request, response, recording, isOver } = this.#owed;
      if (isOver && !/^(?:get|has)/.test(String(key))) return this.#drop(key, values);
      if (recording?.isShared && key === "writeHead" && isRecord(values.at(-1))) {
        // What is given here only, nobody could read again.
        for (const [name, field] of Object.entries(values.pop() as Fields)) response.setHeader(name, field);
      }
      const isContent = key === "write" || key === "end";
      if (isContent) this.#writeHead();
      const record = isContent ? recording?.of(response, values[0], values[1]) : undefined;
      const result = this.#apply(key, method, values);
      record?.();
      if (key === "end") this.#owed.end();
      if (result instanceof Promise) watch(result, request, response);
      return this.#clean(result);
    };
  }

  /** Says nothing, in such a way that who says it goes on. */
  #drop(key: PropertyKey, values: unknown[]): unknown {
    const onDone = values.at(-1);
    if (typeof onDone === "function") process.nextTick(onDone);
    if (key === "end") this.#owed.drop();
    return key === "write" ? true : this.#inPlaceOf.get(this.#owed.response);
  }

  /** @throws what a layer makes it throw */
  #apply(key: PropertyKey, method: Method, values: unknown[]): unknown {
    const { response } = this.#owed;
    try {
      // RFC 9110 §15.2: after an interim response the caller waits for the final one, which would never come.
      const { statusCode } = response;
      if (key === "end" && statusCode < 200) throw new RangeError(`${statusCode} ${STATUS_CODES[statusCode]}`);
      return Reflect.apply(method, response, values.map((value) => this.#handed(value))); // prettier-ignore
    } catch (error) {
      this.#owed.obstruct(error);
      throw error;
    }
  }

  /** What writes the head, where the flow has put something in its place: Node calls its own. */
  #writeHead(): void {
    const writeHead = this.#own.get("writeHead");
    const { response } = this.#owed;
    if (typeof writeHead === "function" && !response.headersSent) {
      Reflect.apply(writeHead, this.#standIn, [response.statusCode]);
    }
  }

  /** What a flow gives to a method: whatever that calls back gets nothing but stand-ins. */
  #handed(value: unknown): unknown {
    if (typeof value !== "function") return value;
    return (...given: unknown[]): unknown =>
      Reflect.apply(value, this.#standIn, given.map((each) => this.#clean(each))); // prettier-ignore
  }

  #clean(value: unknown): unknown {
    return this.#inPlaceOf.has(value) ? this.#inPlaceOf.get(value) : value;
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What nodes find in `msg.res`: core's `http response` takes `_res`, and some that are older call its methods here. */
export interface FlowResponse {
  readonly _res: object;
  readonly [method: string]: unknown;
}

/**
 * Makes what a message has as `msg.res`.
 *
 * @param warn tells the user that a flow has called one of its methods, which core's own does as well
 */
export function flowResponse(
  app: Express,
  owed: OwedReply,
  summary: RequestSummary,
  warn: (method: string) => void,
): FlowResponse {
  const _res = StandIn.of(app, owed, summary);
  const methods = methodsOf(app).map((name) => [
    name,
    (...values: unknown[]) => {
      warn(`msg.res.${name}`);
      const result: unknown = Reflect.apply(Reflect.get(_res, name) as Method, _res, values);
      return result === _res ? response : result;
    },
  ]);
  const response = { _res, ...(Object.fromEntries(methods) as Record<string, Method>) };
  return response;
}

/** The methods that Express gives to its responses, and the one that ends them. */
function methodsOf(app: Express): string[] {
  const names = new Set(["end"]);
  let layer = app.response as object | null;
  for (; layer && layer !== ServerResponse.prototype; layer = Object.getPrototypeOf(layer) as object | null) {
    for (const name of Object.keys(layer)) if (typeof Reflect.get(layer, name) === "function") names.add(name);
  }
  names.delete("app");
  return [...names];
}
