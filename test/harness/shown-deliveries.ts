/** What the admin API tells of the deliveries of a Node-RED. */
import { setTimeout as wait } from "node:timers/promises";
import type { Detail, Summary, SummaryPage } from "../../src/admin/summary";
import { type Reply, send } from "./http";
import type { NodeRed } from "./node-red";

export class ShownDeliveries {
  readonly #nodeRed: NodeRed;
  readonly #headers: Record<string, string>;

  /** @param headers what lets its user in, where the editor is not open to all */
  constructor(nodeRed: NodeRed, headers: Record<string, string> = {}) {
    this.#nodeRed = nodeRed;
    this.#headers = headers;
  }

  async page(query = ""): Promise<SummaryPage> {
    return (await this.#get(`deliveries?${query}`)) as SummaryPage;
  }

  async detail(id: string): Promise<Detail> {
    return (await this.#get(`deliveries/${id}`)) as Detail;
  }

  async replay(id: string, body: unknown = {}): Promise<Reply> {
    return send(this.#nodeRed.admin(`/webhook-trigger/deliveries/${id}/replay`), {
      headers: { "Content-Type": "application/json", ...this.#headers },
      body: JSON.stringify(body),
    });
  }

  /** Waits for a delivery that is as it is wanted, the newest one. */
  async find(wanted: (summary: Summary) => boolean, query = "limit=500"): Promise<Summary> {
    for (;;) {
      const { deliveries } = await this.page(query);
      const found = deliveries.find(wanted);
      if (found) return found;
      await wait(10);
    }
  }

  async #get(path: string): Promise<unknown> {
    const { status, body } = await send(this.#nodeRed.admin(`/webhook-trigger/${path}`), {
      method: "GET",
      headers: this.#headers,
    });
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    return JSON.parse(body);
  }
}
