// The deliveries of one endpoint that its flow is not done with: it is started with each, and again where it failed.

import { backoffAfter, type RetryPolicy } from "../config/handling";
import type { Kept } from "./delivery";
import { type Ending, type Failed, type Flow, type Start } from "./flow";
import type { Ground } from "./ground";
import { Pauses } from "./pauses";
import { Room } from "./room";
import { attemptsOf, endedAttempt, hasHadAll, type History, historyOf, hopelessOf, isSuspect } from "./attempts";
import { interrupted } from "./state";
import type { Change } from "./store";

/** How many deliveries are claimed in one step. */
export const step = 100;
/** When so many are on their way, no more are taken up for a while. */
export const mostAtOnce = 1000;
/** So many wait for their next attempt in memory. Others are taken up again after a minute. */
export const mostWaiting = 20_000;

export class Line<First> {
  readonly #node: string;
  readonly #ground: Ground;
  #flow: Flow<First> | undefined;
  /** That of the flow that was here last. */
  #retry: RetryPolicy = { attempts: 1, backoffFirst: 0, backoffLongest: 0 };
  /** The ids of those that are looked after here. */
  readonly #known = new Set<string>();
  /** What waits for the flow to run: by its id where it has to be started once more. */
  #parked: (Start<First> | string)[] = [];
  readonly #pauses = new Pauses();
  #running = 0;
  #failed = 0;
  #isClaiming = false;
  /** Whether to claim once more, as that came to be needed meanwhile. */
  #claimsAgain = false;
  readonly #room: Room;

  constructor(node: string, ground: Ground) {
    this.#node = node;
    this.#ground = ground;
    this.#room = new Room(() => this.#running < mostAtOnce, ground.timing.patience);
  }

  /** The node is there again, or another one with its id; its flow is started from when all flows run. */
  enter(flow: Flow<First>): void {
    this.#flow = flow;
    this.#retry = flow.retry;
    this.#tell();
    void this.count();
    this.run();
  }

  leave(flow: Flow<First>): void {
    if (this.#flow === flow) this.#flow = undefined;
  }

  /** The flows run: what has waited for that goes on, and so does what was not finished. */
  run(): void {
    if (!this.#ground.isOpen) return;
    for (const waiting of this.#parked.splice(0)) {
      // Of what has no flow any more, the store knows.
      if (!this.#flow) this.#known.delete(typeof waiting === "string" ? waiting : waiting.kept.delivery.id);
      else if (typeof waiting === "string") void this.#again(waiting);
      else void this.#start(waiting);
    }
    void this.claim();
  }

  /** Keeps a delivery safely. @throws {StoreError} */
  async keep({ delivery, body }: Kept): Promise<void> {
    this.#known.add(delivery.id);
    try {
      await this.#ground.store.add(delivery, body);
    } catch (error) {
      this.#known.delete(delivery.id);
      throw error;
    }
  }

  /** Starts the flow with what has just been kept, as soon as it runs. */
  begin(kept: Kept, first: First): void {
    void this.#startOrPark({ kept, first });
  }

  /** What was kept is not to start the flow after all: its sender was told so. */
  withdraw({ delivery: { id } }: Kept): void {
    void this.#finish(id, { state: "refused" });
  }

  /** Takes up all that is not finished and that nobody looks after, in the order in which it came. */
  async claim(): Promise<void> {
    this.#claimsAgain = this.#isClaiming;
    if (this.#isClaiming || !this.#isRunning) return;
    this.#isClaiming = true;
    const number = await this.#claimFrom(undefined);
    this.#isClaiming = false;
    if (number > 0) this.#flow?.redelivered(number);
    if (this.#claimsAgain) return this.claim();
  }

  async #claimFrom(after: string | undefined): Promise<number> {
    await this.#room.wait();
    if (!this.#isRunning) return 0;
    const { deliveries, next } = await this.#ground.ledger.claim(this.#node, step, this.#known, after);
    for (const { delivery } of deliveries) this.#known.add(delivery.id);
    await this.#takeUp(deliveries);
    return deliveries.length + (next === undefined ? 0 : await this.#claimFrom(next));
  }

  /** What was under way more than once when the process ended may have ended it: each of these is started alone. */
  async #takeUp(deliveries: readonly Kept[]): Promise<void> {
    const { attempts } = this.#retry;
    const hopeless = hopelessOf(deliveries, attempts);
    const others: Kept[] = [];
    for (const kept of deliveries) {
      if (!isSuspect(kept, attempts)) others.push(kept);
      else {
        await this.#startAll(others.splice(0));
        if (hopeless.includes(kept)) void this.#giveUp(kept.delivery.id, historyOf(kept), { error: interrupted });
        else await this.#tryAlone(await this.#ground.ledger.begin(kept));
      }
    }
    await this.#startAll(others);
  }

  async #startAll(deliveries: readonly Kept[]): Promise<void> {
    const begun = await Promise.all(deliveries.map((kept) => this.#ground.ledger.begin(kept)));
    for (const kept of begun) void this.#startOrPark({ kept });
  }

  async #tryAlone(kept: Kept): Promise<void> {
    await Promise.race([this.#startOrPark({ kept }), this.#pauses.pass(this.#ground.timing.alone)]);
  }

  get #isRunning(): boolean {
    return this.#flow !== undefined && this.#ground.isOpen;
  }

  async #startOrPark(start: Start<First>): Promise<void> {
    if (this.#isRunning) return this.#start(start);
    this.#parked.push(start);
    this.#tell();
  }

  /** While the flow has it, no more of it is in memory here than what tells it from others. */
  async #start({ kept, first }: Start<First>): Promise<void> {
    const [{ id }, history] = [kept.delivery, historyOf(kept)];
    this.#running++;
    this.#tell();
    const ending = (await this.#flow?.start(kept, first)) ?? { as: "lost" };
    this.#running--;
    this.#tell();
    this.#room.changed();
    void this.#ended(id, history, ending);
  }

  async #ended(id: string, history: History, ending: Ending): Promise<void> {
    const { told } = ending;
    if (ending.as === "succeeded") return this.#finish(id, { ...told, state: "succeeded", run: endedAttempt(history) });
    const error = ending.as === "failed" ? ending.error : undefined;
    if (ending.as === "failed" && (ending.isTold || hasHadAll(history, this.#retry.attempts)))
      return this.#giveUp(id, history, ending);
    await this.#ground.ledger.change(id, { ...told, state: "queued", run: endedAttempt(history, error) });
    return ending.as === "failed" ? this.#waitToTryAgain(id, history) : this.#again(id);
  }

  async #giveUp(id: string, history: History, { error, isTold, told }: Failed): Promise<void> {
    if (!isTold) this.#flow?.gaveUp(id, attemptsOf(history), error);
    await this.#finish(id, { ...told, state: "failed", run: endedAttempt(history, error) });
    await this.count();
  }

  #waitToTryAgain(id: string, history: History): void {
    const { lookAgainAfter } = this.#ground.timing;
    if (this.#pauses.size >= mostWaiting) {
      this.#known.delete(id);
      return this.#pauses.onceAfter(lookAgainAfter, () => void this.claim());
    }
    this.#pauses.after(backoffAfter(this.#retry, attemptsOf(history)), () => void this.#again(id));
    this.#tell();
  }

  /** Starts the flow once more, with what the store has: flows may change what they are given. */
  async #again(id: string): Promise<void> {
    if (!this.#isRunning) {
      this.#parked.push(id);
      return this.#tell();
    }
    const kept = await this.#ground.ledger.find(id);
    if (kept) await this.#startOrPark({ kept: await this.#ground.ledger.begin(kept) });
    else this.#known.delete(id);
  }

  async #finish(id: string, change: Change): Promise<void> {
    await this.#ground.ledger.change(id, change);
    this.#known.delete(id);
  }

  /** Counts what has failed for good. */
  async count(): Promise<void> {
    this.#failed = await this.#ground.ledger.countFailed(this.#node);
    this.#tell();
  }

  #tell(): void {
    const waiting = this.#pauses.size + this.#parked.length;
    this.#flow?.fared({ running: this.#running, waiting, failed: this.#failed });
  }
}
