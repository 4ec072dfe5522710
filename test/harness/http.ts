import { type Agent, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { hearReports } from "./turns";

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  json: Record<string, unknown>;
}

export interface Call {
  method?: string;
  /** Names and values in turn are sent as they stand, duplicates included. */
  headers?: OutgoingHttpHeaders | string[];
  body?: string | Uint8Array;
  /** Keeps its connections for further requests. */
  agent?: Agent;
  /** The address of this machine that it comes from. */
  localAddress?: string;
}

/** Sends a request, its URL and headers untouched, with a connection of its own unless an agent has one. */
export async function send(url: string, call: Call = {}): Promise<Reply> {
  const { method = "POST", headers = {}, body = "", agent = false, localAddress } = call;
  const [, host = "", port = "", path = ""] = /^http:\/\/([^:/]+):(\d+)(.*)$/.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, method, headers, agent, localAddress });
    sent.on("error", reject);
    sent.on("response", (response) => {
      text(response)
        .then(async (received) => {
          await hearReports();
          const json = (response.headers["content-type"] ?? "").includes("json") && received !== "";
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: received,
            json: json ? (JSON.parse(received) as Record<string, unknown>) : {},
          });
        })
        .catch(reject);
    });
    sent.end(body);
  });
}

/** Has the admin API do something. */
export async function command(url: string, asked: unknown = {}): Promise<Reply> {
  return send(url, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
}

/** Stands between parts of an exchange: what follows is sent when a reply to what went before has come. */
export const afterReply = Symbol("after a reply");
/** The last part of an exchange in which it is the caller that ends the connection. */
export const hangUp = Symbol("hang up");
/** A function is called at its place. */
export type Part = string | Uint8Array | typeof afterReply | typeof hangUp | (() => void);

/**
 * Opens a connection, writes text as it is and answers with all that comes back until the server ends it.
 * Parts go out together: a server may end the connection in their middle, and what came after that would reset it.
 */
export async function exchange(origin: string, ...parts: Part[]): Promise<string> {
  const socket = dial(origin).setEncoding("latin1");
  let received = "";
  socket.on("data", (text: string) => (received += text));
  // Whether the connection ended well or was reset, what counts is what came before.
  const closed = new Promise((resolve) => socket.on("error", () => undefined).once("close", resolve));
  const more = () => new Promise((resolve) => socket.once("data", resolve));
  const together: Uint8Array[] = [];
  const flush = () => socket.write(Buffer.concat(together.splice(0)));
  for (const part of parts) {
    if (part === hangUp) socket.end(Buffer.concat(together.splice(0)));
    else if (typeof part === "function") part();
    else if (part !== afterReply) together.push(bytesOf(part));
    else {
      const before = received.length;
      flush();
      while (received.length === before && !socket.closed) await Promise.race([more(), closed]);
    }
  }
  if (socket.writable) flush();
  await closed;
  await hearReports();
  return Buffer.from(received, "latin1").toString();
}

/** @param localAddress the address of this machine that it comes from */
export function dial(origin: string, localAddress?: string): Socket {
  const { hostname: host, port } = new URL(origin);
  return connect({ host, port: Number(port), ...(localAddress !== undefined && { localAddress }) });
}

/** What goes over the wire for a text: a byte for each character. */
export function bytesOf(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? Buffer.from(part, "latin1") : part;
}

/** A reply as it came over a connection. */
export interface RawReply {
  status: number;
  head: string;
  body: string;
}

/** Takes apart the replies that came over one connection, one after the other. */
export function repliesIn(received: string): RawReply[] {
  const replies: RawReply[] = [];
  for (let rest = received; rest !== "";) {
    const [head = "", status] = /^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/.exec(rest) ?? [];
    if (status === undefined) throw new Error(`This is no reply: ${rest}`);
    rest = rest.slice(head.length);
    const chunks = /^transfer-encoding: chunked\r$/im.test(head);
    const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0);
    const body = chunks ? (/^[^]*?\r\n\r\n/.exec(rest)?.[0] ?? "") : rest.slice(0, length);
    rest = rest.slice(body.length);
    replies.push({ status: Number(status), head, body });
  }
  return replies;
}
