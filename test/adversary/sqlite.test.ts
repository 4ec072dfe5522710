import should from "should";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import type { State } from "../../src/deliveries/delivery";
import { fileName, type SqliteOptions, SqliteStore } from "../../src/deliveries/sqlite-store";
import { openDatabase, sqliteIsHere } from "../../src/deliveries/sqlite/module";
import { mostWaiting } from "../../src/deliveries/sqlite/thread";
import { StoreError, type Trouble } from "../../src/deliveries/store";
import { Fault, Faults, faultyWorker } from "../harness/faults";
import { bodyOf, bytes, claimsOf, delivered, pagesOf, Shelf } from "../harness/stores";
import { until } from "../harness/until";

const hour = 3_600_000;
const accepted = (id: string) => delivered(id, { state: "queued" });

// A Node without SQLite has no tests of it: they would all be left out.
if (sqliteIsHere()) {
  describe("deliveries in a file", () => {
    let shelf: Shelf;
    let faults: Faults;
    beforeEach(() => {
      shelf = new Shelf();
      faults = new Faults();
      mkdirSync(folder());
    });
    afterEach(async () => {
      faults.clear();
      await shelf.clear();
    });

    const folder = () => join(shelf.place, "user");
    const file = () => join(folder(), fileName);
    const made = (options: SqliteOptions = {}) => new SqliteStore(folder(), { maxAge: Infinity, worker: faultyWorker, ...options }); // prettier-ignore
    const opened = (options?: SqliteOptions) => shelf.opened(made(options));
    const reopened = async (store: SqliteStore) => {
      await shelf.closed(store);
      return opened();
    };
    const said = () => shelf.told.said;
    const told = (...what: string[]) => until(() => what.every((each) => said().includes(each)), what.join(" and "));
    const unfinished = async (store: SqliteStore) => (await claimsOf(store, "n", 1000)).flat();
    const rejected = async (promise: Promise<unknown>, trouble: Trouble) => {
      const error = await promise.then(() => undefined, (reason: unknown) => reason); // prettier-ignore
      should(error).be.instanceOf(StoreError).and.have.property("trouble", trouble);
      return error as StoreError;
    };

    it("are for nobody else to read", async () => {
      const store = await opened();
      await store.add(accepted("1"), bytes);
      const files = readdirSync(folder());
      files.should.containEql(`${fileName}-wal`);
      for (const name of files) (statSync(join(folder(), name)).mode & 0o077).should.equal(0);
    });

    describe("are kept on, and nothing of them is lost, when", () => {
      const ways: [string, () => void, string[]][] = [
        ["the file is deleted", () => rmSync(file()), ["open"]],
        ["the file is deleted with its log", () => [file(), `${file()}-wal`].forEach((path) => rmSync(path)), ["open"]],
        ["the file is moved away", () => renameSync(file(), join(shelf.place, "away")), ["open"]],
        ["the log is deleted", () => rmSync(`${file()}-wal`), ["open", "done"]],
      ];
      for (const [way, act, kept] of ways) {
        it(`${way} under them`, async () => {
          const store = await opened();
          await store.add(accepted("open"), bodyOf("open"));
          await store.change("open", { attempt: 1, run: { at: 5 } });
          await store.add(delivered("done"), bytes);
          const found = await store.duplicates.reserve({ endpoint: "n", key: "k", id: "1", keptFor: hour });
          if (found.isFirst) await found.settle();
          const before = await store.find("open");
          act();
          await store.add(accepted("next"), bodyOf("next"));
          const again = await reopened(store);
          (await pagesOf(again, { limit: 9 })).flat().should.eql(["next", ...kept.toReversed()]);
          should(await again.find("open")).eql(before);
          should((await again.find("next"))?.body).eql(bodyOf("next"));
          should(await again.counts("n")).eql({ queued: 2, ...(kept.length > 1 && { succeeded: 1 }) });
          (
            await again.duplicates.reserve({ endpoint: "n", key: "k", id: "2", keptFor: hour })
          ).isFirst.should.be.false();
          said().should.eql([]);
        });
      }

      it("the file is deleted while they are written", async () => {
        const store = await opened();
        await store.add(accepted("1"), bytes);
        faults.set(Fault.slow, 300);
        faults.set(Fault.committing, 0);
        const adding = store.add(accepted("2"), bytes);
        await until(() => faults.get(Fault.committing) === 1, "the commit");
        rmSync(file());
        await adding;
        // What only the thread has goes with it.
        faults.set(Fault.dieBefore, 1);
        await store.add(accepted("3"), bytes);
        (await unfinished(store)).should.eql(["1", "2", "3"]);
      });

      it("the file is deleted before they are let go of", async () => {
        const store = await opened();
        await store.add(accepted("1"), bytes);
        rmSync(file());
        (await unfinished(await reopened(store))).should.eql(["1"]);
      });

      it("their folder is deleted, and comes back", async () => {
        const store = await opened();
        await store.add(accepted("open"), bodyOf("open"));
        renameSync(folder(), join(shelf.place, "away"));
        for (const id of ["1", "2", "3"]) await rejected(store.add(accepted(id), bytes), "unreachable");
        said().should.eql(["unreachable"]);
        mkdirSync(folder());
        await told("mended");
        await store.add(accepted("next"), bytes);
        (await unfinished(await reopened(store))).should.eql(["open", "next"]);
        said().should.eql(["unreachable", "mended"]);
      });

      for (const [way, fault] of [["before", Fault.dieBefore], ["after", Fault.dieAfter]] as const) {
        it(`their thread dies ${way} it has written`, async () => {
          const store = await opened();
          await store.add(accepted("1"), bytes);
          faults.set(fault, 1);
          await Promise.all(["2", "3", "4"].map((id) => store.add(accepted(id), bytes)));
          await store.change("4", { state: "running" });
          (await unfinished(await reopened(store))).should.eql(["1", "2", "3", "4"]);
          said().should.eql(["broken", "mended"]);
        });
      } // prettier-ignore
    });

    for (const [way, fault] of [["before", Fault.dieBefore], ["after", Fault.dieAfter]] as const) {
      it(`are refused when their thread dies of them twice, ${way} it has written, and others are kept`, async () => {
        const store = await opened();
        faults.set(fault, 2);
        await rejected(store.add(accepted("1"), bytes), "broken");
        await store.add(accepted("2"), bytes);
        (await unfinished(store)).should.eql(["2"]);
        said().should.eql(["broken", "mended"]);
      });
    } // prettier-ignore

    describe("are refused, which is told once, and kept again by themselves, when a write ends in", () => {
      const codes: [string, number, Trouble][] = [
        ["SQLITE_IOERR_FSYNC", 1034, "broken"],
        ["SQLITE_READONLY", 8, "readOnly"],
        ["SQLITE_FULL", 13, "full"],
        ["SQLITE_CANTOPEN", 14, "unreachable"],
        ["SQLITE_BUSY", 5, "unreachable"],
        ["SQLITE_INTERNAL", 2, "broken"],
      ];
      for (const [name, code, trouble] of codes) {
        it(name, async () => {
          const store = await opened();
          await store.add(accepted("0"), bytes);
          should(await store.counts("n")).eql({ queued: 1 });
          faults.set(Fault.error, code);
          await Promise.all(["1", "2", "3"].map((id) => rejected(store.add(accepted(id), bytes), trouble)));
          await rejected(store.change("0", { state: "succeeded" }), trouble);
          (await unfinished(store)).should.eql(["0"]);
          should(await store.counts("n")).eql({ queued: 1 });
          said().should.eql([trouble]);
          faults.clear();
          await told("mended");
          await store.add(accepted("4"), bytes);
          should(await store.counts("n")).eql({ queued: 2 });
          (await unfinished(await reopened(store))).should.eql(["0", "4"]);
          said().should.eql([trouble, "mended"]);
        });
      }
    });

    it("are refused when the disk is full; small ones are kept beside large ones, and changes as well", async () => {
      const store = await opened();
      await store.add(accepted("0"), bytes);
      faults.set(Fault.mostPages, 100);
      const large = rejected(store.add(accepted("large"), Buffer.alloc(1_000_000)), "full");
      const small = store.add(accepted("small"), bytes);
      const change = store.change("0", { state: "running", attempt: 1, run: { at: 1 } });
      await Promise.all([large, small, change]);
      said()[0]?.should.equal("full");
      faults.clear();
      await told("mended");
      await store.add(accepted("large"), Buffer.alloc(1_000_000));
      (await unfinished(await reopened(store))).should.eql(["0", "small", "large"]);
    });

    it("are refused where a folder is in the file's place, until it has gone", async () => {
      mkdirSync(file());
      const store = made();
      await rejected(shelf.opened(store), "unreachable");
      await rejected(store.add(accepted("1"), bytes), "unreachable");
      await rejected(store.page({ limit: 1 }), "unreachable");
      said().should.eql(["unreachable"]);
      rmdirSync(file());
      await told("mended");
      await store.add(accepted("2"), bytes);
      (await unfinished(store)).should.eql(["2"]);
    });

    it("are one process's: another is refused until that has gone", async () => {
      const one = await opened();
      await one.add(accepted("1"), bytes);
      const other = made();
      await rejected(shelf.opened(other), "unreachable");
      await shelf.closed(one);
      await told("mended");
      (await unfinished(other)).should.eql(["1"]);
    });

    it("are there in a file of the first version, with what became of them", async () => {
      const one = await opened();
      await one.add(accepted("1"), bytes);
      await one.change("1", { state: "failed", attempt: 1, run: { at: 1, ended: 2, error: "No order" } });
      await shelf.closed(one);
      const database = openDatabase(file());
      database.exec("ALTER TABLE deliveries DROP COLUMN answer");
      database.exec("ALTER TABLE attempts DROP COLUMN searched");
      database.exec("DELETE FROM migrations WHERE version > 1");
      database.close();
      const store = await opened();
      await store.change("1", { answer: "late" });
      const { deliveries } = await store.page({ text: "no ORDER", limit: 1 });
      deliveries.should.containDeep([{ id: "1", state: "failed", attempt: 1, error: "No order", answer: "late" }]);
    });

    it("are refused in a file of a later version, which is left as it is", async () => {
      await shelf.closed(await opened());
      const database = openDatabase(file());
      database.exec("INSERT INTO migrations VALUES (1000, '')");
      database.close();
      const before = readFileSync(file());
      const store = made();
      const { cause } = await rejected(shelf.opened(store), "broken");
      String(cause).should.match(/version 1000, of a later webhook-trigger; this one knows them up to \d+$/);
      await rejected(store.add(accepted("1"), bytes), "broken");
      await shelf.closed(store);
      said().should.eql(["broken"]);
      readFileSync(file()).equals(before).should.be.true();
    });

    it("are kept when they came before the end, and refused after it", async () => {
      const store = await opened();
      faults.set(Fault.slow, 100);
      const adding = ["1", "2", "3"].map((id) => store.add(accepted(id), bytes));
      const closing = [store.close(), store.close()];
      await rejected(store.add(accepted("4"), bytes), "unreachable");
      await Promise.all([...adding, ...closing]);
      await rejected(store.page({ limit: 1 }), "unreachable");
      faults.clear();
      (await unfinished(await reopened(store))).should.eql(["1", "2", "3"]);
      await rejected(made().add(accepted("5"), bytes), "unreachable");
    });

    describe("begin anew, and the old file is kept aside, where it", () => {
      const junk = (path: string, from: number, length: number) => {
        const descriptor = openSync(path, "r+");
        writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, from);
        closeSync(descriptor);
      };
      const ways: [string, () => void][] = [
        ["is none of SQLite's", () => writeFileSync(file(), "a letter to a friend ".repeat(1000))],
        ["has another head", () => junk(file(), 0, 100)],
        ["has other pages", () => junk(file(), 4096, 200_000)],
        ["has been cut", () => truncateSync(file(), 50_000)],
      ];
      for (const [way, act] of ways) {
        it(way, async () => {
          const store = await opened();
          await Promise.all(Array.from({ length: 100 }, (_, index) => store.add(accepted(`${index}`), bodyOf(`${index}`.repeat(20))))); // prettier-ignore
          await shelf.closed(store);
          act();
          const bad = readFileSync(file());
          const again = await opened();
          await again.add(accepted("next"), bytes);
          (await unfinished(again)).should.eql(["next"]);
          said().should.eql(["moved aside"]);
          const [aside = ""] = shelf.told.aside;
          aside.should.match(/webhook-trigger\.sqlite\.corrupt-\d{8}T\d{6}Z$/);
          readFileSync(aside).length.should.equal(bad.length);
          (await unfinished(await reopened(again))).should.eql(["next"]);
        });
      }

      it("is found corrupt while it is in use: what is under way goes on in the new one", async () => {
        const store = await opened();
        await store.add(accepted("0"), bytes);
        faults.set(Fault.errors, 1);
        faults.set(Fault.error, 11);
        await Promise.all(["1", "2"].map((id) => store.add(accepted(id), bytes)));
        (await unfinished(await reopened(store))).should.eql(["1", "2"]);
        said().should.eql(["moved aside"]);
        existsSync(shelf.told.aside[0] ?? "").should.be.true();
      });
    });

    it("go on although one of them cannot be read any more, which counts as failed", async () => {
      const store = await opened();
      for (const id of ["1", "2", "3"]) await store.add(accepted(id), bytes);
      await shelf.closed(store);
      const database = openDatabase(file());
      database.exec("UPDATE deliveries SET rest = substr(rest, 1, 20) WHERE id = '2'");
      database.close();
      const again = await opened();
      (await unfinished(again)).should.eql(["1", "3"]);
      should(await again.find("2")).be.undefined();
      should(await again.counts("n")).eql({ queued: 2, failed: 1 });
      (await pagesOf(again, { limit: 9 })).flat().should.eql(["3", "1"]);
    });

    it("go when they are too old, but for unfinished ones and those that have failed, whatever else the clock said", async () => {
      const now = Date.now();
      const store = await opened();
      const ages = { old: -3 * hour, open: -5 * hour, bad: -6 * hour, future: 9 * hour, recent: 0, older: -4 * hour };
      const states: Record<string, State> = { open: "running", bad: "failed" };
      for (const [id, age] of Object.entries(ages)) {
        await store.add(delivered(id, { at: now + age, state: states[id] ?? "succeeded" }), bytes);
      }
      await shelf.closed(store);
      const again = await opened({ maxAge: hour });
      let left: string[] = [];
      while (left.length !== 4) left = (await pagesOf(again, { limit: 9 })).flat();
      left.should.eql(["recent", "future", "bad", "open"]);
      should(await again.counts("n")).eql({ succeeded: 2, failed: 1, running: 1 });
    });

    it("are refused when more wait than there is memory for, and those that wait are kept", async () => {
      const store = await opened();
      faults.set(Fault.slow, 300);
      const body = Buffer.alloc(mostWaiting / 8 - 10_000);
      const adds = Array.from({ length: 12 }, (_, index) => store.add(accepted(`${index}`), body));
      const ends = await Promise.allSettled(adds);
      ends.slice(0, 8).every(({ status }) => status === "fulfilled").should.be.true(); // prettier-ignore
      for (const add of adds.slice(8)) await rejected(add, "busy");
      said().should.eql(["busy", "mended"]);
      await store.add(accepted("next"), body);
      should(await store.counts("n")).eql({ queued: 9 });
    });

    it("leave the event loop to others while the disk is slow", async () => {
      const store = await opened();
      faults.set(Fault.slow, 400);
      await store.add(accepted("first"), bytes);
      const adding = Array.from({ length: 200 }, (_, index) => store.add(accepted(`${index}`), bytes));
      const added = Promise.all(adding).then(() => true);
      let turns = 0;
      while (!(await Promise.race([added, setImmediate(false)]))) turns++;
      // A loop that waits for the disk itself has a turn for each sync.
      turns.should.be.above(1000);
    });

    it("come after a start in steps that hold up nothing, however many and however long they are", async () => {
      const store = await opened();
      const add = (id: string, body: Buffer) => store.add(accepted(id), body);
      const ids = Array.from({ length: 5000 }, (_, index) => `${index}`);
      await Promise.all(ids.map((id) => add(id, bytes)));
      const long = ["a", "b", "c", "d", "e"];
      for (const id of long) await add(id, Buffer.alloc(3_000_000));
      const steps = await claimsOf(await reopened(store), "n", 100);
      steps.flat().should.eql([...ids, ...long]);
      steps.every(({ length }) => length <= 100).should.be.true(); // prettier-ignore
      const withLong = steps.map((step) => step.filter((id) => long.includes(id)).length);
      Math.max(...withLong).should.equal(2);
    });

    describe("of a process that is killed", () => {
      const child = (...args: string[]) => spawn(process.execPath, ["--import", "tsx", join(__dirname, "../harness/sqlite-child.ts"), folder(), ...args], { stdio: ["ignore", "pipe", "inherit"] }); // prettier-ignore
      /** What it has said that it has kept, until it is killed after so many. */
      const keptBy = async (process: ChildProcess, most: number) => {
        const kept: string[] = [];
        const closed = once(process, "close");
        if (!process.stdout) throw new Error("it says nothing");
        for await (const line of createInterface(process.stdout)) if (kept.push(line) === most) process.kill("SIGKILL");
        await closed;
        return kept;
      };

      it("are all there, each time of twenty", async () => {
        const kept: string[] = [];
        for (let kill = 0; kill < 20; kill++) kept.push(...(await keptBy(child(`${kill}`), 1 + kill * 37)));
        kept.length.should.be.above(20);
        const store = await opened();
        const there = new Set(await unfinished(store));
        kept.filter((id) => !there.has(id)).should.eql([]);
        should((await store.counts("n")).queued).equal(there.size);
        for (const id of kept.filter((_, index) => index % 50 === 0)) should((await store.find(id))?.body).eql(bodyOf(id)); // prettier-ignore
        said().should.eql([]);
      });

      it("are kept by the next one, where it made its tables", async () => {
        let killed = 0;
        // The statements until the first transaction after the migration.
        for (const killAt of [1, 2, 3, 4, 5]) killed += Number((await keptBy(child("x", `${killAt}`), 1)).length === 0);
        killed.should.be.aboveOrEqual(4);
        const store = await opened();
        await store.add(accepted("1"), bytes);
        (await unfinished(store)).should.containEql("1");
        said().should.eql([]);
      });
    });
  });
}
