// Callers that get their reply while they are still sending.

import type { IncomingMessage, ServerResponse } from "node:http";

/** How long a caller that is still sending may take to notice its refusal before we read on, in ms. */
const noticeTime = 500;
/** How long a caller may stop sending before the connection is closed, in ms, and how long it may send in all. */
const idleTime = 2000;
const longestLinger = 30_000;
/** How many refused callers may go on sending at once: what they send fills the system's memory until it is read. */
const mostLingering = 100;
/** How much of refused bodies is read in a second, on all connections together, in bytes: a flood gets no more. */
const mostInVain = 16 * 1024 * 1024;

/**
 * RFC 9112 §9.6: to close while the caller is still sending resets the connection, and the caller may never see the
 * reply. So the whole reply goes out first. Most callers notice it and close by themselves; for those that send all
 * before they read, the rest is read and thrown away, as long as it keeps coming. A flood of them gets less of that.
 */
export class Lingering {
  #callers = 0;
  #allowedUntil = -Infinity;
  #allowance = 0;

  /**
   * Stays with a caller whose reply is written, and ends the connection when the caller has had its time.
   *
   * @param end ends the reply, and with it the connection
   */
  stay(request: IncomingMessage, response: ServerResponse, end: () => void): void {
    const { socket } = request;
    // To read on costs much more than the refusal.
    socket.pause();
    // RFC 9112 §9.3.2: the reply may have to wait for earlier ones.
    if (!response.socket) response.once("socket", () => this.stay(request, response, end));
    // A caller that has gone needs no time, and its connection would not tell again that it is closed.
    else if (this.#callers >= mostLingering || socket.destroyed) end();
    else this.#begin(request, end);
  }

  #begin(request: IncomingMessage, end: () => void): void {
    this.#callers++;
    let timer = setTimeout(() => {
      timer = setTimeout(finish, idleTime);
      this.#readOn(request, timer);
    }, noticeTime);
    const finish = () => {
      clearTimeout(timer);
      end();
    };
    request.once("end", finish);
    // The request itself does not tell when the connection closes after the reply.
    request.socket.once("close", () => {
      this.#callers--;
      finish();
    });
  }

  #readOn(request: IncomingMessage, timer: NodeJS.Timeout): void {
    const deadline = performance.now() + longestLinger;
    request.on("data", ({ length }: Buffer) => {
      if (performance.now() < deadline && this.#mayRead(length)) timer.refresh();
      else request.socket.destroy();
    });
    request.resume();
    request.socket.resume();
  }

  /** Whether so many bytes more may be read in vain in this second. */
  #mayRead(bytes: number): boolean {
    const now = performance.now();
    if (now >= this.#allowedUntil) {
      this.#allowedUntil = now + 1000;
      this.#allowance = mostInVain;
    }
    this.#allowance -= bytes;
    return this.#allowance >= 0;
  }
}
