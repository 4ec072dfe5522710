// Requests that were sent before the replies to earlier ones on the same connection.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** From so many requests on that wait for their turn on a connection, no more are read from it. */
const mostInLine = 100;

/** The requests that wait for their turn on a connection. */
interface Line {
  length: number;
  isPaused: boolean;
  /** Reading on a request that came before would let the connection go on. */
  pause: () => void;
}

const lines = new WeakMap<Socket, Line>();

/**
 * Waits until all earlier requests on the same connection are answered, which is when Node gives a response its
 * socket: so messages keep the order of the requests. On a connection that is closed before, that never comes.
 *
 * @returns nothing where it has come already
 */
export function turn({ socket }: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
  return response.socket ? undefined : waitInLine(socket, response);
}

async function waitInLine(socket: Socket, response: ServerResponse): Promise<void> {
  const line = lineOn(socket);
  line.length++;
  if (line.length > mostInLine && !line.isPaused) {
    line.isPaused = true;
    socket.on("resume", line.pause);
    line.pause();
  }
  await new Promise((resolve) => response.once("socket", resolve));
  line.length--;
  if (line.length === 0 && line.isPaused) {
    line.isPaused = false;
    socket.off("resume", line.pause);
    socket.resume();
  }
}

function lineOn(socket: Socket): Line {
  const line = lines.get(socket) ?? { length: 0, isPaused: false, pause: () => void socket.pause() };
  lines.set(socket, line);
  return line;
}
