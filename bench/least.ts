import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";

/** Whether a request is genuine. */
type Verify = (headers: IncomingHttpHeaders, body: Buffer) => boolean;

/**
 * The least that a webhook can be: `node:http` alone, a credential checked in constant time, `JSON.parse`, and the reply
 * that ours gives, field by field.
 *
 * @param deliver takes what was parsed, and gives the id for the reply
 */
export function leastServer(verify: Verify, deliver: (payload: unknown) => string): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      if (verify(request.headers, body)) {
        const id = deliver(JSON.parse(body.toString()));
        reply(response, 200, "application/json", { status: "accepted", id });
      } else reply(response, 401, "application/problem+json", { title: "Unauthorized", status: 401 });
    });
  });
}

/** By a token, compared by its digest. */
export function hasToken(token: string): Verify {
  const digest = (text: string) => hash("sha256", text, "buffer");
  const expected = digest(token);
  return ({ authorization = "" }) =>
    timingSafeEqual(digest(/^bearer +(.+)$/i.exec(authorization)?.[1] ?? ""), expected);
}

/** By GitHub's signature. */
export function isSigned(secret: string): Verify {
  return (headers, body) => {
    const given = Buffer.from(String(headers["x-hub-signature-256"]).replace("sha256=", ""), "hex");
    const own = createHmac("sha256", secret).update(body).digest();
    return given.length === own.length && timingSafeEqual(given, own);
  };
}

function reply(response: ServerResponse, status: number, type: string, value: object): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
  });
  response.end(body);
}

/** Has a server listen where only this machine reaches it. */
export function listenLocally(server: Server, onListening: (port: number) => void): void {
  server.listen(0, "127.0.0.1", () => onListening((server.address() as AddressInfo).port));
}
