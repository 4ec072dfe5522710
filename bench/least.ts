import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";

/** Takes what was parsed, and gives the id for the reply. */
type Deliver = (payload: unknown) => string;

/**
 * The least that a webhook can be: `node:http` alone, the token checked by its digest in constant time, `JSON.parse`,
 * and the reply that ours gives, field by field.
 */
export function leastServer(token: string, deliver: Deliver): Server {
  const expected = digest(token);
  return createServer((request, response) => {
    const presented = /^bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (timingSafeEqual(digest(presented), expected)) readBody(request, (body) => accept(response, body, deliver));
    else refuse(response);
  });
}

/** The same where GitHub's signature is checked in the token's place. */
export function leastSignedServer(secret: string, deliver: Deliver): Server {
  return createServer((request, response) => {
    readBody(request, (body) => {
      const given = Buffer.from(String(request.headers["x-hub-signature-256"]).replace("sha256=", ""), "hex");
      const own = createHmac("sha256", secret).update(body).digest();
      if (given.length === own.length && timingSafeEqual(given, own)) accept(response, body, deliver);
      else refuse(response);
    });
  });
}

function readBody(request: IncomingMessage, then: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => then(Buffer.concat(chunks)));
}

function accept(response: ServerResponse, bytes: Buffer, deliver: Deliver): void {
  const id = deliver(JSON.parse(bytes.toString()));
  reply(response, 200, "application/json", { status: "accepted", id });
}

function refuse(response: ServerResponse): void {
  reply(response, 401, "application/problem+json", { title: "Unauthorized", status: 401 });
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

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Has a server listen where only this machine reaches it. */
export function listenLocally(server: Server, onListening: (port: number) => void): void {
  server.listen(0, "127.0.0.1", () => onListening((server.address() as AddressInfo).port));
}
