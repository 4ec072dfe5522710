// What is used of `@redis/client`, which is there only where somebody has installed it.

import { StoreError } from "../store";

/** What talks to the server. */
export const clientName = "@redis/client";

export type Argument = string | Buffer;

/** A connection that is not made anew by itself, and whose commands are done in their order. */
export interface Client {
  connect(): Promise<unknown>;
  /** @param bytes whether texts come as they are: as a `Buffer` each */
  send(command: Argument[], bytes: boolean): Promise<unknown>;
  /** Ends it at once; what has no answer is rejected. */
  destroy(): void;
}

/** Makes a client; `ended` is told what has ended its connection. */
export type ClientMaker = (ended: (cause: unknown) => void) => Client;

/** Bulk strings, as the protocol calls them: https://valkey.io/topics/protocol/#bulk-strings. */
const bulkStrings = 36;

/** Whether the client is installed, so that a `ValkeyStore` can be opened. */
export function clientIsHere(): boolean {
  try {
    require.resolve(clientName);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param url `redis://` or, for TLS, `rediss://`, with the user, the password and the number of the database as far as
 *   there are any
 * @param timeLimit for the network to connect, in ms
 * @throws {StoreError} `clientMissing` where it is not installed; `broken` where the URL is none of a server
 */
export async function clientMaker(url: string, timeLimit: number): Promise<ClientMaker> {
  const { createClient } = await import("@redis/client").catch((error: unknown) => {
    throw new StoreError(clientIsHere() ? "broken" : "clientMissing", error);
  });
  const make: ClientMaker = (ended) => {
    const client = createClient({
      url,
      RESP: 2,
      // What could not be sent is refused at once, and what becomes of a connection is up to `Server`.
      disableOfflineQueue: true,
      socket: { connectTimeout: timeLimit, reconnectStrategy: false },
      // `Connection` has a time limit for all; one of theirs for each command costs more than the command.
      commandOptions: { timeout: 0 },
      disableClientInfo: true,
      maintNotifications: "disabled",
    });
    client.on("error", ended);
    return {
      connect: () => client.connect(),
      send: (command, bytes) => client.sendCommand(command, bytes ? { typeMapping: { [bulkStrings]: Buffer } } : {}),
      destroy: () => client.destroy(),
    };
  };
  tryURL(make);
  return make;
}

/** What is wrong with a URL is not told on: it may have a password. */
function tryURL(make: ClientMaker): void {
  try {
    make(() => undefined);
  } catch {
    throw new StoreError("broken", new Error("the URL is none of a server, as redis://host:6379 is"));
  }
}
