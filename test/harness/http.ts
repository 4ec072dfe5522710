import { type Agent, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  json: Record<string, unknown>;
}

export interface Call {
  method?: string;
  /** Names and values in turn are sent as they stand, repeats included. */
  headers?: OutgoingHttpHeaders | string[];
  body?: string | Uint8Array;
  /** Keeps its connections for further requests. */
  agent?: Agent;
}

/** Sends a request, its URL and headers untouched, with a connection of its own unless an agent has one. */
export async function send(url: string, call: Call = {}): Promise<Reply> {
  const { method = "POST", headers = {}, body = "", agent = false } = call;
  const [, host = "", port = "", path = ""] = /^http:\/\/([^:/]+):(\d+)(.*)$/.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, method, headers, agent });
    sent.on("error", reject);
    sent.on("response", (response) => {
      text(response).then((received) => {
        const json = (response.headers["content-type"] ?? "").includes("json") && received !== "";
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: received,
          json: json ? (JSON.parse(received) as Record<string, unknown>) : {},
        });
      }, reject);
    });
    sent.end(body);
  });
}

/** Opens a connection, writes text as it is and answers with all that comes back until the server ends it. */
export async function exchange(origin: string, ...parts: string[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  for (const part of parts) socket.write(part, "latin1");
  return text(socket);
}
