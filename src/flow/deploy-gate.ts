// Holds requests while the flows restart.

import type { ServerResponse } from "node:http";

/** How long requests are held, in ms from `flows:stopping` on. */
export const holdTimeoutMs = 10_000;
/** How many requests are held at most. */
export const maxHeld = 1000;
/** How many of them may come from senders that are not verified, and how many of these from one network. */
export const maxStrangers = { all: (maxHeld * 3) / 4, ofNetwork: maxHeld / 4 };

type Settle = (isOpen: boolean) => void;

/** Closed from `flows:stopping` to `flows:started`; the latter may never come (missing node types, *Stop flows*). */
export class DeployGate {
  /** How many times it was closed. */
  deploys = 0;
  /** Whether flows have run: before, no node has a path, whatever the saved flows have. */
  hasOpened = false;
  /** With the network of each sender that is not verified. */
  readonly #held = new Map<Settle, string | undefined>();
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
    this.hasOpened = true;
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
   * @param stranger the network of its sender, if that is not verified: see `findNetwork`
   * @returns `false` where that took too long, or too many requests are held
   */
  async wait(response?: ServerResponse, stranger?: string): Promise<boolean> {
    if (this.#deadline === undefined) return true;
    const patience = this.#deadline - performance.now();
    if (patience <= 0 || !this.#hasRoom(stranger) || response?.destroyed) return false;
    if (response && this.#late.has(response)) return false;
    if (this.#held.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#release(false), patience);
    }
    return new Promise((resolve) => {
      const settle: Settle = (isOpen) => {
        this.#held.delete(settle);
        response?.off("close", giveUp);
        if (response && !isOpen) this.#late.add(response);
        resolve(isOpen);
      };
      const giveUp = () => settle(false);
      this.#held.set(settle, stranger);
      response?.once("close", giveUp);
    });
  }

  #hasRoom(stranger: string | undefined): boolean {
    if (this.#held.size >= maxHeld) return false;
    if (stranger === undefined) return true;
    const strangers = [...this.#held.values()].filter((network) => network !== undefined);
    const { length } = strangers.filter((network) => network === stranger);
    return strangers.length < maxStrangers.all && length < maxStrangers.ofNetwork;
  }

  #release(isOpen: boolean): void {
    clearTimeout(this.#timer);
    for (const settle of this.#held.keys()) settle(isOpen);
  }
}
