import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import should from "should";
import { fileName, sqliteIsHere } from "../../src/config/stores";
import { readQueueClock } from "../../src/deliveries/sqlite/sqlite-queue";
import { type AttemptResult, StoreError, type StoreTrouble } from "../../src/deliveries/queue";
import { FileThread, maxWaitingBytes } from "../../src/deliveries/sqlite/file-thread";
import { schemaVersion } from "../../src/deliveries/sqlite/migrations";
import type { SqliteOptions, SqliteQueue } from "../../src/deliveries/sqlite/sqlite-queue";
import { openDatabase } from "../../src/deliveries/sqlite/tables";
import type { State } from "../../src/deliveries/delivery";
import { bodyOf, bytes, delivered } from "../harness/deliveries";
import { Fault, Faults } from "./faults";
import { compileFile } from "../harness/fixtures";
import { Listener } from "../harness/listener";
import { temporaryFolder } from "../harness/package";
import { failed, openFile, succeeded, TestFlow } from "../harness/queues";
import { until } from "../harness/until";

const faultyWorker = compileFile("test/adversary/faulty-sqlite.ts");
const accepted = (id: string) => delivered(id, { state: "queued" });

// A Node without SQLite has no tests of it: they would all be left out.
if (sqliteIsHere()) {
  describe("deliveries in a file", () => {
    let place: string;
    let listener: Listener;
    let open: SqliteQueue[];
    let faults: Faults;
    beforeEach(() => {
      place = temporaryFolder("sqlite");
      listener = new Listener();
      open = [];
      faults = new Faults();
      mkdirSync(folder());
    });
    afterEach(async () => {
      faults.clear();
      for (const queue of open) await queue.close();
    });

    const folder = () => join(place, "user");
    const file = () => join(folder(), fileName);
    /** Copies the file as it is at a moment, with what is not in it yet: until nothing was written into it meanwhile. */
    const copyAsItIs = (to: string) => {
      do for (const part of ["", "-wal"]) copyFileSync(file() + part, join(to, fileName + part));
      while (!readFileSync(file()).equals(readFileSync(join(to, fileName))));
    };
    const made = (options: SqliteOptions = {}) => {
      const queue = openFile(folder(), { maxAge: Infinity, worker: faultyWorker, ...options });
      open.push(queue);
      return queue;
    };
    const opened = async (options?: SqliteOptions) => {
      const queue = made(options);
      const before = faults.get(Fault.commits);
      await queue.open(listener);
      // It tidies up right after it has opened: that must not meet the faults of a test.
      await until(() => faults.get(Fault.commits) >= before + 2, "the first tidying");
      return queue;
    };
    const reopened = async (queue: SqliteQueue) => {
      await queue.close();
      return opened();
    };
    const said = () => listener.said;
    const told = (...what: string[]) => until(() => what.every((each) => said().includes(each)), what.join(" and "));
    const idsOf = async (queue: SqliteQueue, state?: State) => {
      const found = await queue.list({ state, limit: 10_000 });
      return found.map(({ id }) => id).reverse();
    };
    const unfinished = (queue: SqliteQueue) => idsOf(queue, "queued");
    const rejected = async (promise: Promise<unknown>, trouble: StoreTrouble) => {
      const error = await promise.catch((reason: unknown) => reason);
      should(error).be.instanceOf(StoreError).and.have.property("trouble", trouble);
    };

    it("are for nobody else to read, also when their file was moved aside", async () => {
      const store = await opened();
      await store.add(accepted("1"), bytes);
      const files = () => readdirSync(folder());
      files().should.containEql(`${fileName}-wal`);
      for (const name of files()) (statSync(join(folder(), name)).mode & 0o077).should.equal(0);
      await store.close();
      writeFileSync(file(), "no database of ours", { flag: "r+" });
      await (await opened()).add(accepted("2"), bytes);
      files()
        .filter((name) => name.includes("corrupt"))
        .should.not.be.empty();
      for (const name of files()) (statSync(join(folder(), name)).mode & 0o077).should.equal(0);
    });

    it("are refused, each alone, where a thread cannot have them, also by what goes on trying", async () => {
      const path = join(folder(), "other.sqlite");
      const thread = new FileThread(
        faultyWorker,
        { path, maxAge: Infinity, maxBytes: Infinity },
        { running: () => new Set(), now: readQueueClock, opened: () => undefined },
      );
      await thread.open(listener);
      const strange = accepted("strange");
      const error: unknown = () => "no text";
      const row = { attempts: [], now: readQueueClock() };
      const calls = [
        thread.ask("add", accepted("1"), bytes, row),
        thread.ask("add", { ...strange, error: error as string }, bytes, row),
        thread.insist("update", "1", { error: error as string }),
        thread.ask("add", accepted("2"), bytes, row),
      ];
      const outcomes = await Promise.allSettled(calls);
      outcomes.map(({ status }) => status).should.eql(["fulfilled", "rejected", "rejected", "fulfilled"]);
      (await thread.ask("list", { limit: 10 })).found.map(({ id }) => id).should.eql(["2", "1"]);
      said().should.eql([]);
      await thread.close();
    });

    for (const [way, fault] of [["before", Fault.dieBefore], ["after", Fault.dieAfter]] as const) {
      it(`are refused when their thread dies of them, ${way} it has written, and others are kept`, async () => {
        const queue = await opened();
        await queue.add(accepted("0"), bytes);
        faults.set(fault, 1);
        await rejected(queue.add(accepted("1"), bytes), "broken");
        await told("broken", "up");
        await queue.add(accepted("2"), bytes);
        (await unfinished(queue)).should.containDeepOrdered(["0", "2"]);
        said().should.eql(["broken", "up"]);
      });
    } // prettier-ignore

    describe("start their flow although their thread dies after it has written", () => {
      let queue: SqliteQueue;
      const flow = () => new TestFlow();
      const dies = async (work: Promise<void>) => {
        faults.set(Fault.dieAfter, 1);
        await rejected(work, "broken");
      };
      const starts = (started: TestFlow, ...ids: string[]) =>
        until(() => JSON.stringify(started.ids) === JSON.stringify(ids), `the start of ${ids.join()}`);
      beforeEach(async () => {
        queue = await opened();
        queue.release();
      });

      it("that their request starts them", async () => {
        const started = flow();
        await queue.addRunning(delivered("1", { state: "running", attempt: 1 }), bytes, 1000);
        // While nothing looks for what is due, this is the only one that writes.
        await dies(queue.addRunning(delivered("2", { state: "running", attempt: 1 }), bytes, 1000));
        queue.process("n", started);
        await starts(started, "2");
        started.starts.should.match([{ attempt: 1 }]);
      });

      it("that they are taken", async () => {
        await queue.add(accepted("1"), bytes);
        faults.set(Fault.dieAfter, 1);
        const started = flow();
        queue.process("n", started);
        await starts(started, "1");
        started.starts.should.match([{ attempt: 1 }]);
      });

      it("how an attempt has ended", async () => {
        const started = new TestFlow(({ delivery }) => {
          if (delivery.attempt === 1) faults.set(Fault.dieAfter, 1);
          return delivery.attempt === 1 ? failed() : succeeded();
        });
        queue.process("n", started);
        await queue.add(accepted("1"), bytes);
        await until(() => started.ends.length === 2, "the end");
        started.starts.should.match([{ attempt: 1 }, { attempt: 2 }]);
        (await queue.find("1"))?.attempts.should.match([{ error: "no" }, { ended: (at: number) => at > 0 }]);
      });
    });

    it("are started once where the transaction that puts them back has them taken, though the thread dies then", async () => {
      const queue = await opened();
      const ends: ((result: AttemptResult) => void)[] = [];
      const started = new TestFlow(() => new Promise((resolve) => ends.push(resolve)));
      queue.process("n", started);
      queue.release();
      await queue.add(accepted("1"), bytes);
      await until(() => started.running === 1, "the first start");
      queue.hold();
      ends.shift()?.({ as: "interrupted" });
      await new Promise<void>((resolve) => process.nextTick(resolve));
      queue.release();
      await until(() => started.running === 1 && started.ends.length === 1, "the second start");
      faults.set(Fault.dieBefore, 1);
      await rejected(queue.add(accepted("2"), bytes), "broken");
      await told("broken", "up");
      await queue.add(accepted("3"), bytes);
      await until(() => started.ids.includes("3"), "the other");
      started.ids.should.eql(["1", "1", "3"]);
      for (const end of ends) end(succeeded());
    });

    describe("are refused, which is told once, and kept again by themselves, when a write ends in", () => {
      const codes: [string, number, StoreTrouble][] = [
        ["SQLITE_IOERR_FSYNC", 1034, "broken"],
        ["SQLITE_READONLY", 8, "readOnly"],
        ["SQLITE_FULL", 13, "full"],
        ["SQLITE_CANTOPEN", 14, "unreachable"],
      ];
      for (const [name, code, trouble] of codes) {
        it(name, async () => {
          const store = await opened();
          await store.add(accepted("0"), bytes);
          should(await store.counts("n")).eql({ queued: 1 });
          faults.set(Fault.error, code);
          await Promise.all(["1", "2", "3"].map((id) => rejected(store.add(accepted(id), bytes), trouble)));
          await rejected(store.update("0", { status: 200 }), trouble);
          said().should.eql([trouble]);
          faults.clear();
          await told("up");
          (await unfinished(store)).should.eql(["0"]);
          should(await store.counts("n")).eql({ queued: 1 });
          await store.add(accepted("4"), bytes);
          should(await store.counts("n")).eql({ queued: 2 });
          (await unfinished(await reopened(store))).should.eql(["0", "4"]);
          said().should.eql([trouble, "up"]);
        });
      }
    });

    it("are refused when the disk is full; small ones are kept beside large ones, and changes as well", async () => {
      const store = await opened();
      await store.add(accepted("0"), bytes);
      faults.set(Fault.mostPages, 100);
      const large = rejected(store.add(accepted("large"), Buffer.alloc(1_000_000)), "full");
      const small = store.add(accepted("small"), bytes);
      const change = store.update("0", { status: 200 });
      await Promise.all([large, small, change]);
      await store.add(accepted("smaller"), bytes);
      await told("full", "up");
      faults.clear();
      await store.add(accepted("large"), Buffer.alloc(1_000_000));
      (await unfinished(await reopened(store))).should.eql(["0", "small", "smaller", "large"]);
    });

    it("are refused once when the file is deleted while it is open, and kept in a new one then", async () => {
      const store = await opened();
      await store.add(accepted("1"), bytes);
      unlinkSync(file());
      await rejected(store.add(accepted("2"), bytes), "unreachable");
      await told("up");
      await store.add(accepted("3"), bytes);
      (await unfinished(await reopened(store))).should.eql(["3"]);
    });

    it("are one process's: another is refused until that has gone", async () => {
      const one = await opened();
      await one.add(accepted("1"), bytes);
      const other = made();
      await rejected(other.open(listener), "unreachable");
      await one.close();
      await told("up");
      (await unfinished(other)).should.eql(["1"]);
    });

    it("are refused beside a file that a newer version has written, which stays as it is", async () => {
      const store = await opened();
      await store.add(accepted("1"), bytes);
      await store.close();
      const setVersion = (version: number) => {
        const database = openDatabase(file());
        database.exec(`PRAGMA user_version = ${version}`);
        database.close();
      };
      setVersion(1000);
      const before = readFileSync(file());
      const queue = made();
      await rejected(queue.open(listener), "newer");
      await rejected(queue.add(accepted("2"), bytes), "newer");
      said().should.eql(["newer"]);
      readdirSync(folder()).filter((name) => name.includes("corrupt")).should.be.empty(); // prettier-ignore
      readFileSync(file()).equals(before).should.be.true();
      // Between two of its tries, which open it.
      await until(() => {
        try {
          setVersion(schemaVersion);
          return true;
        } catch {
          return false;
        }
      }, "a moment at which nobody has it");
      await told("up");
      (await unfinished(queue)).should.eql(["1"]);
    });

    for (const [what, act] of [
      ["deleted", (wal: string) => unlinkSync(wal)],
      ["replaced", (wal: string) => (unlinkSync(wal), writeFileSync(wal, "nothing"))],
    ] as const) {
      it(`are all in the file itself before another one is answered when its -wal is ${what}`, async () => {
        const store = await opened();
        await store.add(accepted("1"), bytes);
        act(`${file()}-wal`);
        await store.add(accepted("2"), bytes);
        const copy = join(place, "copy");
        mkdirSync(copy);
        copyFileSync(file(), join(copy, fileName));
        await told("unreachable", "up");
        await store.add(accepted("3"), bytes);
        (await unfinished(await reopened(store))).should.eql(["1", "2", "3"]);
        const cut = openFile(copy, { maxAge: Infinity });
        open.push(cut);
        await cut.open(new Listener());
        (await unfinished(cut)).should.eql(["1", "2"]);
      });
    }

    describe("wait by a clock that nobody sets, and", () => {
      const { now } = Date;
      const [hour, year] = [3_600_000, 365 * 24 * 3_600_000];
      afterEach(() => {
        Date.now = now;
        mock.timers.reset();
      });

      for (const [way, by] of [
        ["back", -hour],
        ["ahead", hour],
      ] as const) {
        it(`keep pace, breaker and retries when the clock is set ${way}`, async () => {
          const queue = await opened({ breakerInterval: 200 });
          const rated = new TestFlow(succeeded, { ratePerMinute: 600 });
          const broken = new TestFlow(({ delivery: { attempt } }) => (attempt < 4 ? failed() : succeeded()), { breaker: 2, attempts: 9, backoffFirstMs: 200 }); // prettier-ignore
          queue.process("rated", rated);
          queue.process("broken", broken);
          await queue.add(delivered("b", { node: "broken", state: "queued" }), bytes);
          for (const id of ["1", "2", "3", "4", "5"]) await queue.add(delivered(id, { node: "rated", state: "queued" }), bytes); // prettier-ignore
          const begun = performance.now();
          queue.release();
          await until(() => broken.ends.length >= 1 && rated.ends.length >= 1, "the first");
          Date.now = () => now() + by;
          await until(() => rated.ends.length === 5 && broken.ends.length === 4, "all");
          // Four times between starts; two waits after failures, and at least one of the breaker.
          (performance.now() - begun).should.be.aboveOrEqual(200 + 400 + 400 - 10);
        });

        it(`wait no longer than planned where the clock is set ${way} before a start`, async () => {
          const before = await opened({ now: () => readQueueClock() - by * 24 * 365 });
          const pace = { backoffFirstMs: 300, backoffLongestMs: 300 };
          const failing = new TestFlow(() => failed(), pace);
          before.process("n", failing);
          before.release();
          await before.add(accepted("1"), bytes);
          await until(() => failing.ends.length >= 1, "the failure");
          before.hold();
          await before.pause("n");
          await before.add(accepted("2"), bytes);
          const after = await reopened(before);
          await after.resume("n");
          const flow = new TestFlow(succeeded, pace);
          after.process("n", flow);
          after.release();
          await until(() => flow.ends.length === 2, "both");
        });
      }

      it("are looked at each minute, however long they wait", async () => {
        let ahead = 0;
        const queue = await opened({ now: () => readQueueClock() + ahead });
        const flow = new TestFlow(({ delivery: { attempt } }) => (attempt === 1 ? failed() : succeeded()), { backoffFirstMs: year, backoffLongestMs: year }); // prettier-ignore
        mock.timers.enable({ apis: ["setTimeout"] });
        queue.process("n", flow);
        queue.release();
        await queue.add(accepted("1"), bytes);
        const turnsUntil = async (ends: number) => {
          while (flow.ends.length < ends) await setImmediate();
        };
        await turnsUntil(1);
        // It has asked when the next one is due.
        await queue.counts("n");
        await setImmediate();
        ahead = 2 * year;
        mock.timers.tick(60_000);
        await turnsUntil(2);
      });

      it("wait as after a failure where a crash has ended their attempt, and others do not wait for them", async () => {
        const before = await opened();
        const pace = { attempts: 2, backoffFirstMs: hour, backoffLongestMs: hour, concurrency: 1 };
        const hanging = new TestFlow(() => new Promise(() => undefined), pace);
        before.process("n", hanging);
        before.release();
        await before.add(accepted("1"), bytes);
        await until(() => hanging.running === 1, "the flow");
        await before.add(accepted("2"), bytes);
        const copy = join(place, "copy");
        mkdirSync(copy);
        copyAsItIs(copy);
        let ahead = 0;
        const after = openFile(copy, { maxAge: Infinity, now: () => readQueueClock() + ahead });
        open.push(after);
        await after.open(listener);
        should(await after.find("1")).match({ delivery: { state: "retrying", attempt: 1, error: "interrupted" }, attempts: [{}] }); // prettier-ignore
        const { nextAt = 0 } = (await after.find("1"))?.delivery ?? {};
        (nextAt - now()).should.be.within(hour - 60_000, hour + 1000);
        const flow = new TestFlow(() => failed({ isSenderTold: true }), pace);
        after.process("n", flow);
        after.release();
        await until(() => flow.ends.length === 1, "the other");
        ahead = hour;
        await after.add(accepted("3"), bytes);
        await until(() => flow.ends.length === 3, "both");
        flow.ids.should.eql(["2", "1", "3"]);
      });
    });

    it("are kept when they came before the end, and refused after it", async () => {
      const store = await opened();
      faults.set(Fault.slow, 100);
      const adding = ["1", "2", "3"].map((id) => store.add(accepted(id), bytes));
      const closing = [store.close(), store.close()];
      await Promise.all([...adding, ...closing]);
      await rejected(store.add(accepted("4"), bytes), "unreachable");
      await rejected(store.list({ limit: 1 }), "unreachable");
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
          await store.close();
          act();
          const bad = readFileSync(file());
          const again = await opened();
          await again.add(accepted("next"), bytes);
          (await unfinished(again)).should.eql(["next"]);
          said().should.eql(["moved aside"]);
          const [aside = ""] = listener.aside;
          aside.should.match(/webhook-trigger\.sqlite\.corrupt-\d{8}T\d{6}Z$/);
          readFileSync(aside).length.should.equal(bad.length);
          (await unfinished(await reopened(again))).should.eql(["next"]);
        });
      }

      it("is found corrupt while it is in use: what is under way is refused", async () => {
        const store = await opened();
        await store.add(accepted("0"), bytes);
        faults.set(Fault.errors, 1);
        faults.set(Fault.error, 11);
        await rejected(store.add(accepted("1"), bytes), "broken");
        await told("up");
        await store.add(accepted("2"), bytes);
        (await unfinished(await reopened(store))).should.eql(["2"]);
        said().should.eql(["moved aside", "broken", "up"]);
        existsSync(listener.aside[0] ?? "").should.be.true();
      });
    });

    it("are refused when more wait than there is memory for, and those that wait are kept", async () => {
      const store = await opened();
      faults.set(Fault.slow, 300);
      const body = Buffer.alloc(maxWaitingBytes / 8 - 10_000);
      const adds = Array.from({ length: 12 }, (_, index) => store.add(accepted(`${index}`), body));
      const ends = await Promise.allSettled(adds);
      ends.slice(0, 8).every(({ status }) => status === "fulfilled").should.be.true(); // prettier-ignore
      for (const add of adds.slice(8)) await rejected(add, "busy");
      await told("up");
      said().should.eql(["busy", "up"]);
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
      // A loop that waits for the disk itself has a turn for each sync, which are two or three.
      turns.should.be.above(20);
    });

    it("are all there after a power cut, as far as they had been accepted", async () => {
      const store = await opened();
      const copy = join(place, "copy");
      mkdirSync(copy);
      let isCut = false;
      const known: string[] = [];
      const send = async (caller: number) => {
        for (let index = 0; !isCut; index++) {
          await store.add(accepted(`${caller}-${index}`), bytes);
          known.push(`${caller}-${index}`);
        }
      };
      const callers = Array.from({ length: 20 }, async (_, caller) => send(caller));
      await until(() => known.length > 500, "deliveries");
      const cut = [...known];
      copyAsItIs(copy);
      isCut = true;
      await Promise.all(callers);
      const left = openFile(copy, { maxAge: Infinity });
      open.push(left);
      await left.open(listener);
      (await unfinished(left)).should.containDeep(cut);
    });
  });
}
