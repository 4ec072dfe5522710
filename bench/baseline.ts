/** `node:http` alone, doing the same work: token check by digest in constant time, JSON.parse, a reply with an id. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const sha256 = (text: string) => createHash("sha256").update(text).digest();
const expected = sha256(process.env.TOKEN ?? "");

const server = createServer((request, response) => {
  const token = /^bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (!timingSafeEqual(sha256(token), expected)) {
    const problem = JSON.stringify({ title: "Unauthorized", status: 401 });
    response.writeHead(401, {
      "Content-Type": "application/problem+json",
      "Content-Length": Buffer.byteLength(problem),
    });
    response.end(problem);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    const body = JSON.stringify({ status: "accepted", id: randomBytes(8).toString("hex") });
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
