// Senders that have gone silent: nothing of theirs was accepted for longer than was expected.

import type { NodeAPI } from "node-red";
import type { RequestHandler } from "express";
import type { State } from "../../src/deliveries/delivery";
import type { Store } from "../../src/deliveries/store";
import { Remembered } from "./remembered";
import { permissions } from "./permissions";

/** What `setTimeout` takes at most, in ms. */
const longestSleep = 2 ** 31 - 1;
/** How often it is looked whether another instance has heard of a silent sender, in ms. */
const askInterval = 60_000;
/** So many deliveries are looked through for one that is no replay. */
const mostAsked = 50;
const hour = 60 * 60 * 1000;

/** What a request has become that was accepted, or was a repeat of one that was. */
const signsOfLife: readonly State[] = ["queued", "running", "succeeded", "failed", "duplicate"];

/** What is remembered of a node while it is deployed anew. */
interface Life {
  /** When its sender was last heard of or, before that, when it was first opened; in ms since the epoch. */
  heardAt: number;
  hasHeard: boolean;
  /** Whether it was found out what the process before this one has heard. */
  hasAsked: boolean;
  isSilent: boolean;
}

/** How often a node expects its sender to be heard of. */
interface Expectation {
  /** 0 where it does not matter. */
  hours: number;
  /** Where its deliveries are kept over a restart, if they are. */
  store: Store | undefined;
}

/** Who is told of a silence: once when it begins, and once when it ends. */
interface Listener {
  wentSilent(silent: Silent): void;
  heardAgain(): void;
}

/** A node whose sender is silent, as the editor is told. */
export interface Silent {
  node: string;
  /** How long nothing may be heard of its sender. */
  hours: number;
  /** When its sender was last heard of or, before that, when it was first opened; in ms since the epoch. */
  since: number;
}

/** Knows of each node when its sender was last heard of, for as long as the process runs and the node is there. */
export class Silences {
  readonly #lives: Remembered<Life>;
  readonly #watches = new Set<Watch>();

  constructor(RED: NodeAPI) {
    this.#lives = new Remembered(RED, () => ({
      heardAt: Date.now(),
      hasHeard: false,
      hasAsked: false,
      isSilent: false,
    }));
    const { httpAdmin, auth } = RED;
    const silent: RequestHandler = (_request, response) => {
      response.set("Cache-Control", "no-store").json({ nodes: this.#silent });
    };
    httpAdmin.get("/webhook-trigger/silent", auth.needsPermission(permissions.read), silent);
  }

  /** What watches over the sender of a node, from when its endpoint is open. */
  watch(node: string, expectation: Expectation): Watch {
    return new Watch(node, expectation, this.#watches, () => this.#lives.of(node));
  }

  get #silent(): Silent[] {
    return [...this.#watches].map((watch) => watch.silent).filter((silent) => silent !== undefined);
  }
}

/** Watches over the sender of a node for as long as its endpoint is open. No request has to wind a timer up. */
export class Watch {
  readonly #hours: number;
  readonly #node: string;
  readonly #store: Store | undefined;
  readonly #watches: Set<Watch>;
  readonly #begin: () => Life;
  #life: Life | undefined;
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(node: string, { hours, store }: Expectation, watches: Set<Watch>, begin: () => Life) {
    this.#hours = hours;
    this.#node = node;
    this.#store = store;
    this.#watches = watches;
    this.#begin = begin;
  }

  /** The endpoint is open. */
  begin(listener: Listener): void {
    this.#life = this.#begin();
    if (this.#hours === 0) {
      this.#life.isSilent = false;
      return;
    }
    this.#listener = listener;
    this.#watches.add(this);
    void this.#look(this.#life);
  }

  /**
   * The sender was heard of.
   *
   * @param at in ms since the epoch
   */
  heard(at: number): void {
    const life = this.#life;
    if (!life) return;
    life.heardAt = at;
    life.hasHeard = true;
    if (!life.isSilent) return;
    life.isSilent = false;
    this.#listener?.heardAgain();
    this.#sleep(life, this.#left(life));
  }

  /** Nothing where its sender is not silent. */
  get silent(): Silent | undefined {
    return this.#life?.isSilent === true ? this.#silentBy(this.#life) : undefined;
  }

  #silentBy({ heardAt: since }: Life): Silent {
    return { node: this.#node, hours: this.#hours, since };
  }

  /** The endpoint is closed. */
  end(): void {
    clearTimeout(this.#timer);
    this.#watches.delete(this);
    this.#life = undefined;
  }

  /** How long the sender may still be silent, in ms. */
  #left(life: Life): number {
    const now = Date.now();
    // A clock that was set back must not put it off.
    life.heardAt = Math.min(life.heardAt, now);
    return life.heardAt + this.#hours * hour - now;
  }

  async #look(life: Life): Promise<void> {
    const store = this.#store;
    const mayKnowMore = !life.hasAsked || (store?.isShared === true && this.#left(life) <= 0);
    if (store && mayKnowMore) await this.#ask(life, store);
    // It may have been closed meanwhile.
    if (this.#life !== life) return;
    const left = this.#left(life);
    if (left > 0) {
      // More may be expected now than before a deploy, or less.
      life.isSilent = false;
      return this.#sleep(life, left);
    }
    if (!life.isSilent) {
      life.isSilent = true;
      this.#listener?.wentSilent(this.#silentBy(life));
    }
    if (this.#store?.isShared === true) this.#sleep(life, askInterval);
  }

  /** Another process may have heard of the sender: the one before this, or one beside it. */
  async #ask(life: Life, store: Store): Promise<void> {
    const times = await keptTimes(store, this.#node);
    if (!times || this.#life !== life) return;
    life.hasAsked = true;
    const at = Math.max(...times);
    if (at > life.heardAt) this.heard(at);
    else if (!life.hasHeard && times.length > 0) Object.assign(life, { heardAt: at, hasHeard: true });
  }

  #sleep(life: Life, milliseconds: number): void {
    clearTimeout(this.#timer);
    // What is left is whole milliseconds only by chance.
    const pause = Math.min(Math.ceil(milliseconds), longestSleep);
    this.#timer = setTimeout(() => void this.#look(life), pause).unref();
  }
}

/**
 * When the last deliveries of a node came that were accepted, in ms since the epoch.
 *
 * @returns nothing where the store cannot tell now
 */
async function keptTimes(store: Store, node: string): Promise<number[] | undefined> {
  try {
    const pages = await Promise.all(signsOfLife.map((state) => store.page({ node, state, limit: mostAsked })));
    const deliveries = pages.flatMap(({ deliveries }) => deliveries);
    return deliveries.filter(({ replayOf, isTrial }) => replayOf === undefined && !isTrial).map(({ at }) => at);
  } catch {
    return undefined;
  }
}
