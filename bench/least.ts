import { hash, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";

/**
 * The least that a webhook can be: `node:http` alone, the token checked by its digest in constant time, `JSON.parse`,
 * and the reply that ours gives, field by field.
 *
 * @param deliver takes what was parsed. @returns the id for the reply
 */
export function leastServer(token: string, deliver: (payload: unknown) => string): Server {
  const expected = digest(token);
  return createServer((request, response) => {
    const presented = /^bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (!timingSafeEqual(digest(presented), expected)) {
      const problem = JSON.stringify({ title: "Unauthorized", status: 401 });
      response.writeHead(401, {
        "Content-Type": "application/problem+json",
        "Content-Length": Buffer.byteLength(problem),
        "Cache-Control": "no-store",
      });
      response.end(problem);
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const id = deliver(JSON.parse(Buffer.concat(chunks).toString()));
      const body = JSON.stringify({ status: "accepted", id });
      response.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
        "Cache-Control": "no-store",
      });
      response.end(body);
    });
  });
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Has a server listen where only this machine reaches it. */
export function listenLocally(server: Server, onListening: (port: number) => void): void {
  server.listen(0, "127.0.0.1", () => onListening((server.address() as AddressInfo).port));
}
