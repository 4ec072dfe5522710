// Requests that ask for another protocol.

import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

type ShouldUpgrade = (this: Server, request: IncomingMessage) => boolean;

/** A server of Node 22.21, 24.9 or later, which asks for each request whether its wish is granted. */
type AskingServer = Server & { shouldUpgradeCallback?: ShouldUpgrade };

/** What Node's HTTP server has at each connection: it hands over every request whose head is complete. */
interface Parser {
  onIncoming: (request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean) => number;
}

/**
 * Lets requests ask for another protocol in vain, as RFC 9110 §7.8 allows a server. curl's `--http2` and Java's
 * HttpClient ask for HTTP/2 with every POST, and once anything listens for upgrades, as the editor does, Node takes the
 * connection of such a request away from HTTP: the caller would wait for ever.
 *
 * @param isOurs whether a request is one that we serve, in the protocol it came in
 */
export function declineUpgrades(server: AskingServer, isOurs: (request: IncomingMessage) => boolean): void {
  const { shouldUpgradeCallback: should } = server;
  if (should) {
    server.shouldUpgradeCallback = function (request) {
      return !isOurs(request) && should.call(this, request);
    };
    return;
  }
  // Older versions ask nobody. There the wish is taken from the request before the server looks for it.
  for (const event of ["connection", "secureConnection"]) {
    server.on(event, ({ parser }: Socket & { parser?: Parser | null }) => {
      if (!parser) return;
      const { onIncoming } = parser;
      const decline: Parser["onIncoming"] = (request, keepAlive) => {
        if (request.upgrade && isOurs(request)) request.upgrade = false;
        return onIncoming(request, keepAlive);
      };
      parser.onIncoming = decline;
    });
  }
}
