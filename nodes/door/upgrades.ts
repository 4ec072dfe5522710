import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";

/**
 * Lets requests ask for another protocol in vain, as RFC 9110 §7.8 allows a server. curl's `--http2` and Java's
 * HttpClient ask for HTTP/2 with every POST, and once anything listens for upgrades, as the editor does, Node takes the
 * connection of such a request away from HTTP: the caller would wait for ever. So it is given back, without the wish.
 *
 * @param isOurs whether a request is one that we serve
 */
export function ignoreUpgrades(server: Server, isOurs: (request: IncomingMessage) => boolean): void {
  server.prependListener("upgrade", (request: IncomingMessage, socket: Duplex, rest: Buffer) => {
    if (!isOurs(request)) return;
    socket.unshift(Buffer.concat([headWithoutUpgrade(request), rest]));
    server.emit(socket instanceof TLSSocket ? "secureConnection" : "connection", socket);
  });
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method ?? ""} ${url ?? ""} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (name.toLowerCase() !== "upgrade") head += `${name}: ${value}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, "latin1");
}
