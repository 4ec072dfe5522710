// Holds requests while the flows restart.

import type { ServerResponse } from "node:http";

/** How long requests are held, in ms from `flows:stopping` on. */
export const holdTimeoutMs = 10_000;
/** How many requests are held at most. */
export const maxHeld = 1000;

type Settle = (isOpen: boolean) => void;

/** Closed from `flows:stopping` to `flows:started`; the latter may never come (missing node types, *Stop flows*). */
export class DeployGate {
  /** How many times it was closed. */
  deploys = 0;
  readonly #held = new Set<Settle>();
  /** Requests that were held in vain: none is held twice. */
  readonly #late = new WeakSet<ServerResponse>();
  /** When the hold ends (`performance.now()`); only while closed. */
  #deadline: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  get isClosed(): boolean {
    return this.#deadline !== undefined;
  }

  close(): void {
    this.deploys++;
    this.#deadline = performance.now() + holdTimeoutMs;
    // Requests held since an earlier deploy keep their time.
    if (this.#held.size === 0) clearTimeout(this.#timer);
  }

  open(): void {
    this.#deadline = undefined;
    this.#release(true);
  }

  /** Node-RED ends: what is held is refused, and nothing more is held. */
  giveUp(): void {
    this.#deadline = -Infinity;
    this.#release(false);
  }

  /**
   * Waits until the flows run.
   *
   * @param response of the held request: when its sender goes, its place is free
   * @returns `false` where that took too long, or too many requests are held
   */
  async wait(response?: ServerResponse): Promise<boolean> {
    if (this.#deadline === undefined) return true;
    const patience = this.#deadline - performance.now();
    if (patience <= 0 || this.#held.size >= maxHeld || response?.destroyed) return false;
    if (response && this.#late.has(response)) return false;
    if (this.#held.size === 0) this.#timer = setTimeout(() => this.#release(false), patience);
    return new Promise((resolve) => {
      const settle: Settle = (isOpen) => {
        this.#held.delete(settle);
        response?.off("close", giveUp);
        if (response && !isOpen) this.#late.add(response);
        resolve(isOpen);
      };
      const giveUp = () => settle(false);
      this.#held.add(settle);
      response?.once("close", giveUp);
    });
  }

  #release(isOpen: boolean): void {
    clearTimeout(this.#timer);
    for (const settle of this.#held) settle(isOpen);
  }
}
