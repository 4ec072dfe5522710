/** Callers that never pause, at a server that is killed again and again, and what its flow has told of it. */
import { readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { scheduler } from "node:timers/promises";
import { bearer } from "./flow";
import { send } from "./http";
import { temporaryFolder } from "./package";
import { until } from "./until";

/** A time that the flow was started. */
export interface Start {
  /** What the caller has sent. */
  readonly number: number;
  /** The id of the delivery. */
  readonly id: string;
  readonly attempt: number;
}

/** The ids of deliveries that were claimed at a time, and of those that were started then, both in their order. */
export interface Claimed {
  readonly ids: string[];
  readonly started: string[];
}

/**
 * A file to which the flow adds a line by each `write`, which the system has even if the process is killed in the next
 * moment: `start <number> <id> <attempt>`, `done <number>`, and `claim <id> …` for what was not
 * finished, with `more <id> …` for each further step.
 */
export class Journal {
  readonly path = join(temporaryFolder("kills"), "journal");

  constructor() {
    writeFileSync(this.path, "");
  }

  get starts(): Start[] {
    return this.#linesOf("start").map(startOf);
  }

  /** The numbers that the flow is done with. */
  get done(): Set<number> {
    return new Set(this.#linesOf("done").map(([, number]) => Number(number)));
  }

  /** What was claimed, by each time that it was looked for, and what was started of it. */
  get claims(): Claimed[] {
    const claims: Claimed[] = [];
    const waiting = new Map<string, Claimed>();
    for (const line of this.#lines) {
      const [kind, ...ids] = line;
      if (kind === "claim") claims.push({ ids: [], started: [] });
      const last = claims.at(-1);
      if (last && (kind === "claim" || kind === "more")) {
        last.ids.push(...ids);
        for (const id of ids) waiting.set(id, last);
      } else if (kind === "start") {
        const { id } = startOf(line);
        waiting.get(id)?.started.push(id);
        waiting.delete(id);
      }
    }
    return claims;
  }

  #linesOf(kind: string): string[][] {
    return this.#lines.filter(([first]) => first === kind);
  }

  get #lines(): string[][] {
    return readFileSync(this.path, "utf8").split("\n").map((line) => line.split(" ")); // prettier-ignore
  }
}

function startOf([, number, id = "", attempt]: string[]): Start {
  return { number: Number(number), id, attempt: Number(attempt) };
}

/** Each sends its next number when it knows what became of the last one, to whatever server there is. */
export class Callers {
  /** The numbers that were answered with a 2xx. */
  readonly accepted = new Set<number>();
  /** How many requests were answered otherwise, by the status. */
  readonly refused: Record<number, number> = {};
  /** How many have got no answer, as the server was killed before. */
  cut = 0;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #calling: Promise<unknown>;
  #url: string | undefined;
  #last = 0;
  #isOver = false;

  constructor(count: number) {
    this.#calling = Promise.all(Array.from({ length: count }, () => this.#call()));
  }

  /** @param url where the server is from now on; nothing while there is none */
  turnTo(url: string | undefined): void {
    this.#url = url;
  }

  /** Waits until so many more were accepted, or the server is no more. */
  async areAccepted(more: number, isOver: () => boolean): Promise<void> {
    const wanted = this.accepted.size + more;
    while (this.accepted.size < wanted && !isOver()) await scheduler.wait(1);
  }

  /** They call no more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#calling;
    this.#agent.destroy();
  }

  async #call(): Promise<void> {
    while (!this.#isOver) {
      if (this.#url === undefined) await scheduler.wait(5);
      else await this.#send(this.#url, ++this.#last);
    }
  }

  async #send(url: string, number: number): Promise<void> {
    const call = { headers: { ...bearer, "Content-Type": "application/json" }, body: `{"number":${number}}` };
    const status = await send(url, { ...call, agent: this.#agent }).then(
      (reply) => reply.status,
      () => undefined,
    );
    if (status !== undefined && status >= 200 && status < 300) this.accepted.add(number);
    else await scheduler.wait(5);
    if (status === undefined) this.cut++;
    else if (!this.accepted.has(number)) this.refused[status] = (this.refused[status] ?? 0) + 1;
  }
}

/** Numbers below a limit that look like chance, and are the same each time: https://doi.org/10.1145/63039.63042. */
export function chance(seed: number): (limit: number) => number {
  let state = (seed % 2147483646) + 1;
  return (limit) => (state = (state * 48271) % 2147483647) % limit;
}

/** Waits until the flow is done with all that was accepted. */
export async function allDone(accepted: Iterable<number>, journal: Journal): Promise<void> {
  const wanted = [...accepted];
  await until(() => {
    const { done } = journal;
    return wanted.every((number) => done.has(number));
  }, "the flow to be done with all that was accepted");
}
