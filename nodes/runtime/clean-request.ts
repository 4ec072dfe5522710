// The request as its response knows it, for flows: without what let it in.

import type { Express } from "express";
import type { Socket } from "node:net";
import type { RequestSummary } from "../../src/request/summary";
import { Relay } from "./relay";

/** What a flow may know of a connection, and do with it: by the rest of it, it would reach the request. */
const knownOfConnections = [
  ...["remoteAddress", "remotePort", "remoteFamily", "localAddress", "localPort", "encrypted", "authorized"],
  ...["bytesRead", "bytesWritten", "destroyed", "readable", "writable"],
  ...["setTimeout", "setKeepAlive", "setNoDelay", "destroy", "destroySoon"],
];

/**
 * A connection by which nobody reaches what has come over it.
 *
 * @param isOver whether it is somebody else's by now: further requests come over it, and nothing is done to it any more
 */
export function cleanConnection(socket: Socket, isOver: () => boolean): object {
  const relay = new Relay(socket, ["close", "drain", "end", "error", "timeout"]);
  const connection = new Proxy(relay, {
    get(_, key) {
      if (key in relay) return Reflect.get(relay, key) as unknown;
      if (typeof key !== "string" || !knownOfConnections.includes(key)) return undefined;
      const value: unknown = Reflect.get(socket, key);
      if (typeof value !== "function") return value;
      return (...values: unknown[]) => {
        if (!isOver()) Reflect.apply(value, socket, values.map(handed));
        return connection;
      };
    },
  });
  relay.standIn = connection;
  /** What is called back is called on the stand-in. */
  const handed = (value: unknown) =>
    typeof value === "function" ? (...given: unknown[]) => Reflect.apply(value, connection, given) as unknown : value;
  return connection;
}

/**
 * A request with all that Express's responses ask of theirs, such as which media types it accepts.
 *
 * @param fail what to do with an error that Express would pass on
 */
export function cleanRequest(
  app: Express,
  { method, url, query, headers }: RequestSummary,
  connection: object,
  response: object,
  fail: (error: unknown) => void,
): object {
  const known = {
    ...{ method, url, originalUrl: url, query, headers, rawHeaders: [], httpVersion: "1.1" },
    ...{ socket: connection, connection, res: response },
    next: (error?: unknown) => {
      if (error !== undefined) fail(error);
    },
  };
  return Object.create(app.request, Object.getOwnPropertyDescriptors(known)) as object;
}
