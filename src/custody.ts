// The deliveries of an endpoint that never loses one: what is kept of a request, and what a message is made of again.

import type { Kept } from "./deliveries/delivery";
import type { Keeper } from "./deliveries/keeper";
import type { Ending } from "./deliveries/flow";
import { StoreError } from "./deliveries/store";
import type { Delivery } from "./endpoint";
import { Problem, problems } from "./problem";
import type { OwedReply } from "./reply/owed";
import type { Recorder, Sent } from "./recorder";
import { contentOf } from "./request/content";
import { toObject } from "./request/parameters";
import type { RequestSummary } from "./request/summary";

/** The reply that a flow is to give, and what that says of it: the flow is done when it has given it. */
export interface Owed {
  readonly reply: OwedReply;
  readonly ending: Promise<Ending>;
}

/** What comes with a request, besides what is kept of it. */
export interface First {
  readonly delivery: Delivery;
  /** Where the flow is to reply. */
  readonly owed?: Owed | undefined;
}

const codings = "content-encoding";
const type = "content-type";

export class Custody {
  readonly #keeper: Keeper<First>;
  readonly #recorder: Recorder;

  constructor(keeper: Keeper<First>, recorder: Recorder) {
    this.#keeper = keeper;
    this.#recorder = recorder;
  }

  /**
   * Keeps a delivery safely. Then `begin` is due, or `withdraw`.
   *
   * @returns what is kept; or why that is not possible, and its sender has to keep it
   */
  async keep(delivery: Delivery, sent: Sent): Promise<Kept | Problem> {
    const kept = this.#recorder.record(delivery, sent, { state: "running" });
    try {
      await this.#keeper.keep(kept);
      return kept;
    } catch (error) {
      if (error instanceof StoreError) return problems.storeTroubled;
      throw error;
    }
  }

  /** Has the flow started: now, or when the flows run. */
  begin(kept: Kept, first: First): void {
    this.#keeper.begin(kept, first);
  }

  /** The flow is not to be started after all. */
  withdraw(kept: Kept): void {
    this.#keeper.withdraw(kept);
  }

  /**
   * What a message is made of once more.
   *
   * @param limit the most bytes that its body may have without its content codings
   * @param rawBody whether messages have the bytes of the body as they were sent
   */
  async restore({ delivery, body }: Kept, limit: number, rawBody: boolean): Promise<Delivery | Problem> {
    const { id, head, webhook, attempt, gaps = [], isJson = false } = delivery;
    const bytes = this.#recorder.secrets.putBack(body, gaps);
    const parsed = isJson ? { value: JSON.parse(bytes.toString()) as unknown } : undefined;
    const request = { headers: { [type]: textOf(head.headers[type]), [codings]: textOf(head.headers[codings]) } };
    const content = await contentOf({ request, parsed }, bytes, limit);
    if (content instanceof Problem) return content;
    const { method, path, search, headers, ip } = head;
    const req: RequestSummary = {
      method,
      url: search === "" ? path : `${path}?${search}`,
      path,
      query: search === "" ? {} : toObject(new URLSearchParams(search)),
      headers: { ...headers },
      ip,
      ...(content.files && { files: content.files }),
    };
    // What is kept outlives a change of who sends.
    const known = { credential: "first" as const, ...webhook, attempt };
    return { id, body: content.value, ...(rawBody && { rawBody: bytes }), req, webhook: known };
  }
}

function textOf(field: string | string[] | undefined): string | undefined {
  return field === undefined ? undefined : String(field);
}
