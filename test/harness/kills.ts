/** Callers that never pause, at a Node-RED that is ended again and again, and what its flow has told of it. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { scheduler, setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { bearer, tab, webhook } from "./flow";
import { type Reply, send } from "./http";
import { NodeRed, type Options } from "./node-red";
import { temporaryFolder } from "./package";
import { ShownDeliveries } from "./shown-deliveries";
import { until } from "./until";

/** A time that the flow was started. */
interface Start {
  /** What the caller has sent. */
  readonly number: number;
  /** The id of the delivery. */
  readonly id: string;
  readonly attempt: number;
}

/**
 * A file to which the flow adds a line by each `write`, which the system has even if the process is killed in the next
 * moment: `start <number> <id> <attempt>` and `done <number>`.
 */
class Journal {
  readonly path = join(temporaryFolder("kills"), "journal");

  constructor() {
    writeFileSync(this.path, "");
  }

  get size(): number {
    return statSync(this.path).size;
  }

  /** Whether a flow is at work for long that has begun behind so many bytes. */
  isAtWork(behind: number): boolean {
    const lines = readFileSync(this.path).toString("latin1", behind).split("\n").map((line) => line.split(" ")); // prettier-ignore
    const ended = new Set(lines.filter(([kind]) => kind === "done").map(([, number]) => number));
    return lines.some(([kind, number]) => kind === "start" && number?.endsWith("0") && !ended.has(number));
  }

  get starts(): Start[] {
    return this.#linesOf("start").map(([, number, id = "", attempt]) => ({ number: Number(number), id, attempt: Number(attempt) })); // prettier-ignore
  }

  /** The numbers that the flow is done with. */
  get done(): Set<number> {
    return new Set(this.#linesOf("done").map(([, number]) => Number(number)));
  }

  #linesOf(kind: string): string[][] {
    return this.#lines.filter(([first]) => first === kind);
  }

  get #lines(): string[][] {
    return readFileSync(this.path, "utf8").split("\n").map((line) => line.split(" ")); // prettier-ignore
  }
}

/** Each sends its next number when it knows what became of the last one, to whatever server there is. */
class Callers {
  /** The numbers that were answered with a 2xx, and the ids in these answers. */
  readonly accepted = new Map<number, string>();
  /** How many of these were sent again and answered, and how many of them not as duplicates of the first. */
  repeated = 0;
  keysLost = 0;
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

  /** Sends the last accepted ones again, as senders do that have forgotten the answer. */
  async repeat(): Promise<void> {
    const last = [...this.accepted].slice(-maxRepeated);
    await Promise.all(
      last.map(async ([number, id]) => {
        const reply = await this.#ask(this.#url ?? "", number);
        if (reply?.status !== 200) return;
        this.repeated++;
        if (!isDeepStrictEqual(reply.json, { status: "duplicate", id })) this.keysLost++;
      }),
    );
  }

  /** They call no more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#calling;
    this.#agent.destroy();
  }

  async #call(): Promise<void> {
    while (!this.#isOver) {
      // A hundred of them that look more often take as much of the machine as the start that they wait for.
      if (this.#url === undefined) await scheduler.wait(50);
      else await this.#send(this.#url, ++this.#last);
    }
  }

  async #send(url: string, number: number): Promise<void> {
    const { status, json } = (await this.#ask(url, number)) ?? {};
    if (status !== undefined && status >= 200 && status < 300) this.accepted.set(number, String(json?.id));
    else await scheduler.wait(5);
    if (status === undefined) this.cut++;
    else if (!this.accepted.has(number)) this.refused[status] = (this.refused[status] ?? 0) + 1;
  }

  /** @returns nothing where there is no answer */
  async #ask(url: string, number: number): Promise<Reply | undefined> {
    const headers = { ...bearer, "Content-Type": "application/json", "Idempotency-Key": `${number}` };
    return send(url, { headers, body: `{"number":${number}}`, agent: this.#agent }).catch(() => undefined);
  }
}

/** Numbers below a limit that look like chance, and are the same each time: https://doi.org/10.1145/63039.63042. */
function chance(seed: number): (limit: number) => number {
  let state = (seed % 2147483646) + 1;
  return (limit) => (state = (state * 48271) % 2147483647) % limit;
}

/** A flow that takes up to 20 ms, and each tenth time 300 so that each end finds some at work; it tells the journal. */
const plugin = (journal: string) => `
const { appendFileSync } = require("node:fs");
const tell = (line) => appendFileSync(${JSON.stringify(journal)}, line + "\\n");
module.exports = (RED) => {
  RED.nodes.registerType("journal", function (config) {
    RED.nodes.createNode(this, config);
    this.on("input", ({ _msgid, payload: { number }, webhook: { attempt } }, send, done) => {
      tell("start " + number + " " + _msgid + " " + attempt);
      setTimeout(() => {
        tell("done " + number);
        done();
      }, number % 10 === 0 ? 300 : number % 20);
    });
  });
};`;

/** How often a Node-RED is ended, and by whom it is called. */
export interface Plan {
  readonly times: number;
  readonly callers: number;
  readonly seed: number;
  /** Whether each end comes while a deploy runs. */
  readonly deploys?: boolean;
  /** Whether it is told to end, by SIGTERM, instead of being killed. */
  readonly term?: boolean;
  /** Whether duplicates are ignored, and the last accepted deliveries sent again after each start. */
  readonly duplicates?: boolean;
  /** How long it takes until a flow is started again, as the node's fields say; as in a new node unless given. */
  readonly backoff?: Record<"backoffFirst" | "backoffLongest", number>;
  /** Packages that its store needs, and the settings that name it. */
  readonly modules?: string[];
  readonly settings?: Record<string, unknown>;
  readonly onKill?: (kills: number, accepted: number) => void;
}

/** What became of all that was answered with a 2xx. */
export interface Report {
  readonly accepted: number;
  readonly delivered: number;
  /** Kept as failed: a kill has ended each of their attempts. */
  readonly usedUp: number;
  readonly lost: number;
  /** How many requests got no answer, and how many other answers there were, by their status. */
  readonly cut: number;
  readonly refused: Readonly<Record<number, number>>;
  readonly startedAgain: number;
  readonly maxAttempts: number;
  /** How many starts were no first attempt: the end of Node-RED was counted as a failure of the flow. */
  readonly counted: number;
  /** How many accepted deliveries were sent again and answered, and how many of them not as duplicates of the first. */
  readonly repeated: number;
  readonly keysLost: number;
}

/** How many of the last accepted are sent again. */
const maxRepeated = 100;
/** How many are accepted at most between two kills; at least none, so that it is killed while it takes up the rest, too. */
const maxAccepted = 200;
/** How long it is waited at most for the end of all, in ms. */
const patience = 120_000;

/** Ends a Node-RED while callers never pause, and starts it again with the same store. */
export async function killAgainAndAgain({ times, callers, seed, onKill, ...plan }: Plan): Promise<Report> {
  const journal = new Journal();
  const ignoring = plan.duplicates && { ignoreDuplicates: true, duplicateKey: "header:Idempotency-Key" };
  const options: Options = {
    flow: tab(webhook("hook", "/hook", { guaranteed: true, ...plan.backoff, ...ignoring, wires: [["journal"]] }), { id: "journal", type: "journal", wires: [] }), // prettier-ignore
    plugin: plugin(journal.path),
    modules: plan.modules ?? [],
    settings: { logging: { console: { level: "fatal" } }, ...plan.settings },
  };
  const calling = new Callers(callers);
  const random = chance(seed);
  let userDir: string | undefined;
  const begin = async () => {
    const nodeRed = await NodeRed.start({ ...options, ...(userDir !== undefined && { userDir }) });
    userDir = nodeRed.userDir;
    return nodeRed;
  };
  for (let kill = 1; kill <= times; kill++) {
    const { size } = journal;
    const nodeRed = await begin();
    calling.turnTo(nodeRed.node("/hook"));
    if (plan.duplicates) await calling.repeat();
    await calling.areAccepted(random(maxAccepted), () => !nodeRed.running);
    // Every other one is killed while flows run for sure, the rest maybe before they do.
    if (kill % 2 === 0) {
      calling.turnTo(undefined);
      await until(() => journal.size > size || !nodeRed.running, "the flow");
      calling.turnTo(nodeRed.node("/hook"));
      await calling.areAccepted(random(maxAccepted), () => !nodeRed.running);
      await until(() => journal.isAtWork(size) || !nodeRed.running, "a flow that takes long");
    }
    if (plan.deploys) void nodeRed.deploy(options.flow ?? []).catch(() => undefined);
    if (plan.deploys) await wait(random(100));
    await nodeRed.kill(plan.term ? "SIGTERM" : "SIGKILL");
    calling.turnTo(undefined);
    onKill?.(kill, calling.accepted.size);
  }
  await calling.end();
  const last = await begin();
  const usedUp = await waitForAll(calling, journal, new ShownDeliveries(last));
  await last.stop();
  return makeReport(calling, journal, usedUp);
}

/** Waits until the flow is done with all that was accepted, or has had its attempts. @returns how many have had these */
async function waitForAll({ accepted }: Callers, journal: Journal, shown: ShownDeliveries): Promise<number> {
  const start = performance.now();
  for (;;) {
    const { deliveries } = await shown.page("state=failed&limit=500");
    const failed = new Set(deliveries.map(({ id }) => id));
    const { starts, done } = journal;
    const usedUp = new Set(starts.filter(({ id }) => failed.has(id)).map(({ number }) => number));
    const open = [...accepted.keys()].filter((number) => !done.has(number));
    const isOver = open.every((number) => usedUp.has(number)) || performance.now() - start > patience;
    if (isOver) return open.filter((number) => usedUp.has(number)).length;
    await wait(100);
  }
}

function makeReport(calling: Callers, { starts, done }: Journal, usedUp: number): Report {
  const { accepted, cut, refused, repeated, keysLost } = calling;
  const delivered = [...accepted.keys()].filter((number) => done.has(number)).length;
  const attempts = new Map<string, number>();
  for (const { id } of starts) attempts.set(id, (attempts.get(id) ?? 0) + 1);
  return {
    accepted: accepted.size,
    delivered,
    usedUp,
    lost: accepted.size - delivered - usedUp,
    cut,
    refused,
    startedAgain: [...attempts.values()].filter((number) => number > 1).length,
    maxAttempts: Math.max(...attempts.values()),
    counted: starts.filter(({ attempt }) => attempt > 1).length,
    repeated,
    keysLost,
  };
}
