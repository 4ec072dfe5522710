// Where a request comes from, as Express knows it.

import type { Express } from "express";
import type { IncomingMessage } from "node:http";

/**
 * The address of the sender, by the setting `trust proxy` of the app for HTTP nodes. The request need not have been through
 * Express.
 */
export function clientAddress(app: Express, { headers, socket }: IncomingMessage): string {
  // Without this field it is the other end of the connection, whatever the setting.
  if (headers["x-forwarded-for"] === undefined) return socket.remoteAddress ?? "";
  const request = Object.create(app.request, {
    headers: { value: headers },
    socket: { value: socket },
    connection: { value: socket },
  }) as Express["request"];
  return request.ip ?? "";
}

/** Whether `trust proxy` trusts every proxy, so that any sender can claim any address by `X-Forwarded-For`. */
export function trustsEveryProxy(app: Express): boolean {
  const trusts = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  // Addresses that nobody has (RFC 5737, RFC 9637), behind more hops than a number of proxies would allow.
  return ["192.0.2.1", "3fff::1"].every((address) => trusts(address, 99));
}
