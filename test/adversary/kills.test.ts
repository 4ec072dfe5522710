import should from "should";
import { buildSync } from "esbuild";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import { sqliteIsHere } from "../../src/deliveries/sqlite/module";
import type { Store } from "../../src/deliveries/store";
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import { allDone, Callers, chance, Journal } from "../harness/kills";
import type { Life } from "../harness/kills-child";
import { root, temporaryFolder } from "../harness/package";
import { pagesOf, Shelf } from "../harness/stores";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

const kills = 100;
const callers = 12;
/** One in so many is killed when its flow is done with all that was accepted before: no delivery has five attempts. */
const round = 4;

/** Where deliveries are kept over all kills. */
interface Place {
  readonly name: string;
  readonly isHere: boolean;
  begin(): Promise<{ of: Life["store"]; open: () => Store; end: () => Promise<void> }>;
}

const places: Place[] = [
  {
    name: "in a file",
    isHere: sqliteIsHere(),
    begin: () => {
      const folder = temporaryFolder("kills");
      return Promise.resolve({ of: { folder }, open: () => new SqliteStore(folder), end: () => Promise.resolve() });
    },
  },
  {
    name: "in a server",
    isHere: serverIsHere,
    begin: async () => {
      const server = await ValkeyServer.start();
      const url = server.url();
      return { of: { url }, open: () => new ValkeyStore({ url }), end: () => server.stop() };
    },
  },
];

/** A process with the store, for as long as it lives. */
class Victim {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  origin = "";

  static async begin(script: string, life: Life): Promise<Victim> {
    const victim = new Victim(script, life);
    // It may kill itself before it says where it is.
    await Promise.race([once(victim.#child, "message").then(([origin]) => (victim.origin = String(origin))), victim.#closed]); // prettier-ignore
    return victim;
  }

  private constructor(script: string, life: Life) {
    this.#child = spawn(process.execPath, [script, JSON.stringify(life)], { stdio: ["ignore", "inherit", "inherit", "ipc"] }); // prettier-ignore
    this.#closed = once(this.#child, "close");
  }

  get isOver(): boolean {
    return this.#child.signalCode !== null || this.#child.exitCode !== null;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
    this.#child.signalCode?.should.equal("SIGKILL");
  }

  async end(): Promise<void> {
    this.#child.send("end");
    await this.#closed;
    should(this.#child.exitCode).equal(0);
  }
}

/** The child and its thread, each in one file: so it starts in a moment. */
function built(): string {
  const outdir = temporaryFolder("kills");
  buildSync({
    absWorkingDir: root,
    entryPoints: { child: "test/harness/kills-child.ts", worker: "src/deliveries/sqlite/worker.ts" },
    outdir,
    bundle: true,
    platform: "node",
    target: "node20",
  });
  return join(outdir, "child.js");
}

describe(`what was accepted by a process that is killed ${kills} times in a row`, function () {
  // On a machine that does much else.
  this.timeout(400_000);
  let script: string;
  before(() => {
    script = built();
  });

  for (const place of places.filter(({ isHere }) => isHere)) {
    describe(`and keeps it ${place.name}`, () => {
      const journal = new Journal();
      const shelf = new Shelf();
      let calling: Callers;
      let end: () => Promise<void> = () => Promise.resolve();
      let store: Store;

      before(async () => {
        const kept = await place.begin();
        end = kept.end;
        calling = new Callers(callers);
        const random = chance(1);
        const life = { store: kept.of, journal: journal.path };
        for (let kill = 0; kill < kills; kill++) {
          const accepted = new Set(calling.accepted);
          const victim = await Victim.begin(script, { ...life, killAt: kill % round === 0 ? 1 + random(60) : 0 });
          calling.turnTo(`${victim.origin}/hook`);
          if (kill % round === round - 1) await allDone(accepted, journal);
          await calling.areAccepted(kill % round === 0 ? Infinity : random(60), () => victim.isOver);
          calling.turnTo(undefined);
          await victim.kill();
        }
        await calling.end();
        const last = await Victim.begin(script, { ...life, killAt: 0 });
        await allDone(calling.accepted, journal);
        await last.end();
        store = await shelf.opened(kept.open());
      });
      after(async () => {
        await shelf.clear();
        await end();
      });

      it("reaches the flow, all of it, and the flow gets to its end with it", async () => {
        calling.accepted.size.should.be.above(kills * 10);
        calling.cut.should.be.above(0);
        const { done } = journal;
        [...calling.accepted].filter((number) => !done.has(number)).should.eql([]);
        const counts = await store.counts("hook");
        // One that was killed five times when the flow was done with it, before that was written down, counts as failed.
        const { failed = 0, succeeded: ended = 0, ...others } = counts;
        should(others).eql({});
        should(failed + ended).equal(new Set(journal.starts.map(({ id }) => id)).size);
        failed.should.be.below(5);
      });

      it("has one attempt after the other", () => {
        const attempts = new Map<string, number[]>();
        for (const { id, attempt } of journal.starts) attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
        for (const [id, numbers] of attempts) {
          numbers.should.eql([...new Set(numbers)].sort(), id);
        }
        [...attempts.values()].filter((numbers) => numbers.length > 1).length.should.be.above(kills);
      });

      it("starts the flow again in the order in which it came", async () => {
        const came = (await pagesOf(store, { node: "hook", limit: 1000 })).flat().toReversed();
        const position = new Map(came.map((id, index) => [id, index]));
        const places = (ids: string[]) => ids.map((id) => position.get(id) ?? NaN);
        const { claims } = journal;
        for (const { ids, started } of claims) {
          // One that takes up what several others have left does so when it knows of each that it is no more.
          places(ids).should.eql(places(ids).sort((one, other) => one - other));
          started.should.eql(ids.filter((id) => started.includes(id)));
        }
        claims.filter(({ started }) => started.length > 1).length.should.be.above(kills / 4);
      });
    });
  }
});
