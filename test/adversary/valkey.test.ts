import should from "should";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { scheduler } from "node:timers/promises";
import type { State } from "../../src/deliveries/delivery";
import type { Candidate, Reservation } from "../../src/deliveries/duplicates";
import { type Store, StoreError, type Trouble } from "../../src/deliveries/store";
import { mostWaiting } from "../../src/deliveries/valkey/adding";
import { type ValkeyOptions, ValkeyStore } from "../../src/deliveries/valkey-store";
import { withWords } from "../../src/deliveries/words";
import { bodyOf, bytes, claimsOf, delivered, pagesOf, Shelf, Told } from "../harness/stores";
import { until } from "../harness/until";
import { serverIsHere, ValkeyServer } from "../harness/valkey";
import { Wire } from "../harness/wire";

const hour = 3_600_000;
const accepted = (id: string) => delivered(id, { state: "queued" });
const candidate = (id: string): Candidate => ({ endpoint: "n", key: "k", id, keptFor: hour });
/** How long an instance is held to live in these tests, in ms. */
const beatLasts = 3000;
const beats = { beatEvery: 200, beatLasts };

async function rejected(promise: Promise<unknown>, trouble: Trouble): Promise<StoreError> {
  const error = await promise.then(() => undefined, (reason: unknown) => reason); // prettier-ignore
  should(error).be.instanceOf(StoreError).and.have.property("trouble", trouble);
  return error as StoreError;
}

async function reserved(store: Store, id: string): Promise<Reservation> {
  const found = await store.duplicates.reserve(candidate(id));
  if (!found.isFirst) throw new Error(`the key is that of ${found.id}`);
  return found;
}

const unfinished = async (store: Store) => (await claimsOf(store, "n", 1000)).flat();

/** Asks until it is answered as expected: what is waited for is another instance's end. */
async function eventually<Answer>(ask: () => Promise<Answer>, expected: (answer: Answer) => boolean): Promise<Answer> {
  for (let answer = await ask(); ; answer = await ask()) {
    if (expected(answer)) return answer;
    await scheduler.wait(50);
  }
}

// Without a server there are no tests of it: `npm test` says so.
if (serverIsHere) {
  describe("deliveries in a server", () => {
    let shelf: Shelf;
    const servers: ValkeyServer[] = [];
    beforeEach(() => {
      shelf = new Shelf();
    });
    afterEach(async () => {
      for (const server of servers) server.resume();
      await shelf.clear();
      for (const server of servers.splice(0)) await server.stop();
    });

    const started = async (...args: string[]) => {
      const server = await ValkeyServer.start(...args);
      servers.push(server);
      return server;
    };
    const made = (server: ValkeyServer, options: Partial<ValkeyOptions> = {}) => new ValkeyStore({ url: server.url(), maxAge: Infinity, ...options }); // prettier-ignore
    const opened = (server: ValkeyServer, options?: Partial<ValkeyOptions>) => shelf.opened(made(server, options));
    const said = () => shelf.told.said;
    const told = (...what: string[]) => until(() => what.every((each) => said().includes(each)), what.join(" and "));

    describe("that fails", () => {
      it("are refused while it is suspended, not kept afterwards, and kept again by themselves", async () => {
        const server = await started();
        const store = await opened(server, { timeLimit: 1500 });
        await store.add(accepted("0"), bytes);
        server.suspend();
        const ids = Array.from({ length: 50 }, (_, index) => `late ${index}`);
        const change = rejected(store.change("0", { state: "succeeded" }), "unreachable");
        await Promise.all(ids.map((id) => rejected(store.add(accepted(id), bodyOf(id)), "unreachable")));
        await change;
        await rejected(store.page({ limit: 1 }), "unreachable");
        said().should.eql(["unreachable"]);
        server.resume();
        await told("mended");
        await store.add(accepted("next"), bytes);
        (await pagesOf(store, { limit: 100 })).flat().should.eql(["next", "0"]);
        should((await store.counts("n")).queued).be.within(1, 2);
        said().should.eql(["unreachable", "mended"]);
      });

      it("leave no key with what was refused while it is suspended", async () => {
        const server = await started();
        const store = await opened(server, { timeLimit: 1500 });
        server.suspend();
        await rejected(Promise.resolve(store.duplicates.reserve(candidate("late"))), "unreachable");
        server.resume();
        await told("mended");
        await reserved(store, "again");
      });

      it("are all there when it is killed and started again, and what was refused meanwhile is not", async () => {
        const server = await started();
        const store = await opened(server);
        const kept: string[] = [];
        let isGoing = true;
        const add = async (adder: number) => {
          for (let last = 0; isGoing; last++) {
            const id = `${adder} ${last}`;
            await store.add(accepted(id), bodyOf(id)).then(() => kept.push(id), () => scheduler.wait(5)); // prettier-ignore
          }
        };
        const adding = Promise.all(Array.from({ length: 16 }, (_, index) => add(index)));
        for (let round = 1; round <= 3; round++) {
          const before = kept.length;
          await until(() => kept.length > before + 200, "some to be kept");
          await server.kill();
          await until(() => said().filter((each) => each === "unreachable").length === round, "the end to be told");
          await server.restart();
        }
        isGoing = false;
        await adding;
        await until(() => said().at(-1) === "mended", "mended");
        (await unfinished(store)).sort().should.eql(kept.sort());
        should((await store.find(kept[0] ?? ""))?.body).eql(bodyOf(kept[0] ?? ""));
        said().should.eql(Array.from({ length: 3 }, () => ["unreachable", "mended"]).flat());
      });

      it("are refused before it is there, and kept as soon as it is", async () => {
        const server = await started();
        await server.kill();
        const store = made(server);
        await rejected(shelf.opened(store), "unreachable");
        await rejected(store.add(accepted("1"), bytes), "unreachable");
        await rejected(store.page({ limit: 1 }), "unreachable");
        said().should.eql(["unreachable"]);
        await server.restart();
        await told("mended");
        await store.add(accepted("2"), bytes);
        (await unfinished(store)).should.eql(["2"]);
      });

      it("are refused while it accepts connections and does nothing with them, also such as are to be secret", async () => {
        const server = await started();
        server.suspend();
        const stores = ["redis", "rediss"].map((scheme) => made(server, { url: server.url().replace("redis", scheme), timeLimit: 1000 })); // prettier-ignore
        for (const store of stores) await rejected(shelf.opened(store), "unreachable");
        said().should.eql(["unreachable", "unreachable"]);
        server.resume();
        await told("mended");
        await stores[0]?.add(accepted("1"), bytes);
        await rejected(stores[1]?.add(accepted("2"), bytes) ?? Promise.resolve(), "unreachable");
      });

      it("are refused with a wrong password, or none, and by a user who may not, without a word of it", async () => {
        const server = await started(
          "--requirepass",
          "hunter2secret",
          "--user",
          "reader",
          "on",
          ">readersecret",
          "~*",
          "+@read",
        );
        const refused = ["", ":wrongsecret", "nobody:wrongsecret", "reader:readersecret", "scripter:scriptersecret"];
        for (const userinfo of refused) {
          const store = made(server, { url: server.url(userinfo) });
          const error = await rejected(shelf.opened(store), "denied");
          await rejected(store.add(accepted("1"), bytes), "denied");
          String(error.cause).should.not.match(/secret/);
          await shelf.closed(store);
        }
        said().should.eql(refused.map(() => "denied"));
        const open = await started();
        await rejected(shelf.opened(made(open, { url: open.url(":topsecret") })), "denied");
        const store = await opened(server, { url: server.url(":hunter2secret") });
        await store.add(accepted("1"), bytes);
        (await unfinished(store)).should.eql(["1"]);
      });

      it("are refused where the URL is none of a server, and nothing of it is told on", async () => {
        for (const url of ["http://user:topsecret@127.0.0.1", "redis://user:topsecret@:x", "topsecret", "redis://user:topsecret@127.0.0.1/x"]) {
          const error = await rejected(new ValkeyStore({ url }).open(new Told()), "broken");
          JSON.stringify([error, error.cause, String(error.cause), error.stack]).should.not.match(/topsecret/);
        } // prettier-ignore
      });

      it("are refused by a replica, until it is the first again", async () => {
        const [server, other] = [await started(), await started()];
        const store = await opened(server);
        await store.add(accepted("1"), bytes);
        const admin = new Wire(server.port);
        await admin.send("REPLICAOF", "127.0.0.1", `${other.port}`);
        await rejected(store.add(accepted("2"), bytes), "readOnly");
        await admin.send("REPLICAOF", "NO", "ONE");
        await told("mended");
        await store.add(accepted("3"), bytes);
        said().should.eql(["readOnly", "mended"]);
        admin.close();
      });

      it("are kept where it has lost its scripts", async () => {
        const server = await started();
        const store = await opened(server);
        const admin = new Wire(server.port);
        await admin.send("SCRIPT", "FLUSH");
        await store.add(accepted("1"), bytes);
        (await unfinished(store)).should.eql(["1"]);
        said().should.eql([]);
        admin.close();
      });
    });

    it("are kept when they come while it is being connected to", async () => {
      const store = made(await started());
      const opening = shelf.opened(store);
      await Promise.all(["1", "2", "3"].map((id) => store.add(accepted(id), bytes)));
      (await store.duplicates.reserve(candidate("1"))).isFirst.should.be.true();
      await opening;
      (await unfinished(store)).should.eql(["1", "2", "3"]);
      said().should.eql([]);
    });

    it("are refused when they come while it is looked for in vain", async () => {
      const server = await started();
      await server.kill();
      const store = made(server);
      const opening = rejected(shelf.opened(store), "unreachable");
      await rejected(store.add(accepted("1"), bytes), "unreachable");
      await opening;
    });

    describe("that has little memory", () => {
      it("are refused when unfinished ones fill it, changes are not, and they are kept again when it has more", async () => {
        const server = await started("--maxmemory", "20mb");
        const store = await opened(server);
        const body = Buffer.alloc(100_000, "x");
        const kept: string[] = [];
        for (let refused = false; !refused;) {
          const id = `${kept.length}`;
          refused = await store.add(accepted(id), body).then(() => !kept.push(id), () => true); // prettier-ignore
        }
        kept.length.should.be.within(100, 200);
        await rejected(store.add(accepted("x"), body), "full");
        for (const id of kept) await store.change(id, { state: "running", attempt: 1, run: { at: 1 } });
        (await unfinished(store)).should.eql(kept);
        said().should.eql(["full"]);
        await store.change("0", { state: "succeeded" });
        for (const id of kept.slice(1, 4)) await store.change(id, { state: "succeeded" });
        await store.add(accepted("y"), body);
        (await unfinished(store)).should.eql([...kept.slice(4), "y"]);
        said().should.eql(["full", "mended"]);
      });

      it("give way where they are finished, the oldest first, without a word", async () => {
        const server = await started("--maxmemory", "20mb");
        const store = await opened(server);
        const body = Buffer.alloc(100_000, "x");
        for (let index = 0; index < 400; index++) await store.add(delivered(`${index}`), body);
        const left = (await pagesOf(store, { limit: 1000 })).flat();
        left.length.should.be.within(80, 200);
        left.should.eql(Array.from(left, (_, index) => `${399 - index}`));
        said().should.eql([]);
      });
    });

    it("tell of a server that may lose them, once, and of one that does not nothing", async () => {
      const rows: [string[], string[]][] = [
        [[], []],
        [["--maxmemory-policy", "allkeys-lru"], []],
        [["--appendonly", "no"], ["notPersistent"]],
        [["--appendfsync", "everysec"], ["everySecond"]],
        [["--appendfsync", "no", "--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"], ["everySecond", "evicts"]],
      ]; // prettier-ignore
      for (const [args, expected] of rows) {
        const server = await started(...args);
        const heard = new Told();
        const store = made(server);
        await store.open(heard);
        heard.warnings.should.eql(expected);
        await server.kill();
        await server.restart();
        await until(() => heard.said.includes("mended"), "mended");
        await store.page({ limit: 1 });
        await store.close();
        heard.warnings.should.eql(expected);
      }
    });

    it("are refused when more wait than there is memory for, and those that wait are kept", async () => {
      const server = await started();
      const store = await opened(server);
      await store.add(accepted("first"), bytes);
      server.suspend();
      const body = Buffer.alloc(mostWaiting / 8 - 10_000);
      const adds = Array.from({ length: 12 }, (_, index) => store.add(accepted(`${index}`), body));
      for (const add of adds.slice(8)) await rejected(add, "busy");
      server.resume();
      await Promise.all(adds.slice(0, 8));
      said().should.eql(["busy", "mended"]);
      should(await store.counts("n")).eql({ queued: 9 });
    });

    it("are kept when they came before the end, and refused after it", async () => {
      const server = await started();
      const store = await opened(server);
      const adding = ["1", "2", "3"].map((id) => store.add(accepted(id), bytes));
      const closing = [store.close(), store.close()];
      await rejected(store.add(accepted("4"), bytes), "unreachable");
      await Promise.all([...adding, ...closing]);
      await rejected(store.page({ limit: 1 }), "unreachable");
      (await unfinished(await opened(server))).should.eql(["1", "2", "3"]);
      await rejected(made(server).add(accepted("5"), bytes), "unreachable");
    });

    it("go when they are too old, but for unfinished ones and those that have failed, whatever else the clock said", async () => {
      const server = await started();
      const now = Date.now();
      const store = await opened(server);
      const ages = { old: -3 * hour, open: -5 * hour, bad: -6 * hour, future: 9 * hour, recent: 0, older: -4 * hour };
      const states: Record<string, State> = { open: "running", bad: "failed" };
      for (const [id, age] of Object.entries(ages)) {
        await store.add(delivered(id, { at: now + age, state: states[id] ?? "succeeded" }), bytes);
      }
      const again = await opened(server, { maxAge: hour });
      await eventually(() => pagesOf(again, { limit: 9 }), (pages) => pages.flat().length === 4); // prettier-ignore
      (await pagesOf(again, { limit: 9 })).flat().should.eql(["recent", "future", "bad", "open"]);
      should(await again.counts("n")).eql({ succeeded: 2, failed: 1, running: 1 });
    });

    it("come after a start in steps that hold up nothing, however many and however long they are", async () => {
      const server = await started();
      const store = await opened(server);
      const ids = Array.from({ length: 5000 }, (_, index) => `${index}`);
      await Promise.all(ids.map((id) => store.add(accepted(id), bytes)));
      const long = ["a", "b", "c", "d", "e"];
      for (const id of long) await store.add(accepted(id), Buffer.alloc(3_000_000));
      await shelf.closed(store);
      const steps = await claimsOf(await opened(server), "n", 100);
      steps.flat().should.eql([...ids, ...long]);
      steps.every(({ length }) => length <= 100).should.be.true(); // prettier-ignore
      Math.max(...steps.map((step) => step.filter((id) => long.includes(id)).length)).should.equal(2);
    });

    describe("that several instances share", () => {
      it("are taken over from one that is killed, with its reservations, and not before", async () => {
        const server = await started();
        const ids = Array.from({ length: 30 }, (_, index) => `${index}`);
        const child = spawn(process.execPath, ["--import", "tsx", join(__dirname, "../harness/valkey-child.ts"), server.url(), `${beatLasts}`, ...ids], { stdio: ["ignore", "pipe", "inherit"] }); // prettier-ignore
        const store = await opened(server, beats);
        await once(child.stdout, "data");
        (await unfinished(store)).should.eql([]);
        const found = await store.duplicates.reserve(candidate("2"));
        found.isFirst.should.be.false();
        const outcome = found.isFirst ? undefined : found.outcome;
        const closed = once(child, "close");
        child.kill("SIGKILL");
        await closed;
        (await eventually(() => unfinished(store), ({ length }) => length > 0)).should.eql(ids); // prettier-ignore
        should((await store.find("7"))?.body).eql(bodyOf("7"));
        should(await outcome).equal("released");
        await (await reserved(store, "3")).settle();
      });

      it("are never given to two that claim at once, and none is left", async () => {
        const server = await started();
        const store = await opened(server);
        const ids = Array.from({ length: 2000 }, (_, index) => `${index}`);
        await Promise.all(ids.map((id) => store.add(accepted(id), bytes)));
        const others = await Promise.all([1, 2, 3].map(() => opened(server)));
        await shelf.closed(store);
        const claimed = await Promise.all(others.map((other) => claimsOf(other, "n", 37)));
        const all = claimed.flat(2);
        all.length.should.equal(ids.length);
        new Set(all).size.should.equal(ids.length);
      });

      it("stay with one that is slow, for as long as it lives", async () => {
        const server = await started();
        const [slow, other] = [await opened(server, beats), await opened(server, beats)];
        await slow.add(accepted("1"), bytes);
        await slow.change("1", { state: "running", attempt: 1, run: { at: 1 } });
        const reservation = await reserved(slow, "1");
        for (const end = performance.now() + 1.5 * beatLasts; performance.now() < end;) {
          (await unfinished(other)).should.eql([]);
          (await other.duplicates.reserve(candidate("2"))).isFirst.should.be.false();
          await scheduler.wait(100);
        }
        await reservation.settle();
        await slow.change("1", { state: "succeeded" });
        should(await other.counts("n")).eql({ succeeded: 1 });
      });

      it("are no longer changed by one that was taken for dead and comes back", async () => {
        const server = await started();
        const lost = await opened(server, { beatEvery: 1e9, beatLasts: 100 });
        for (const id of ["1", "2"]) await lost.add(accepted(id), bytes);
        const reservation = await reserved(lost, "1");
        const other = await opened(server, beats);
        await eventually(() => unfinished(other), ({ length }) => length === 2); // prettier-ignore
        const next = await reserved(other, "2");
        await lost.change("1", { state: "succeeded", status: 200 });
        await reservation.release();
        should((await other.find("1"))?.delivery).eql(withWords(accepted("1"), bytes));
        (await lost.duplicates.reserve(candidate("3"))).isFirst.should.be.false();
        (await unfinished(lost)).should.eql([]);
        await other.change("1", { state: "succeeded" });
        await next.settle();
        should(await lost.counts("n")).eql({ queued: 1, succeeded: 1 });
      });

      it("tell one what came of what another reserved", async () => {
        const server = await started();
        const [one, other] = [await opened(server), await opened(server)];
        const answer = (status: number, body = Buffer.from([0, 255, 10])) => ({ status, fields: { "Content-Type": "a/b" }, body }); // prettier-ignore
        const waitAt = async (store: Store) => {
          const found = await store.duplicates.reserve(candidate("later"));
          if (found.isFirst) throw new Error("the key was free");
          found.id.should.equal("first");
          return found.outcome;
        };
        const first = await reserved(one, "first");
        const waiting = waitAt(other);
        await one.duplicates.reserve(candidate("between"));
        await first.settle(answer(503));
        should(await waiting).eql({ answer: answer(503) });
        const second = await reserved(one, "first");
        const waitingAgain = waitAt(other);
        await one.duplicates.reserve(candidate("between"));
        await second.release();
        should(await waitingAgain).equal("released");
        const third = await reserved(one, "first");
        const waitingLast = waitAt(other);
        await one.duplicates.reserve(candidate("between"));
        await third.settle(answer(201));
        should(await waitingLast).eql({ answer: answer(201) });
        should(await waitAt(other)).eql({ answer: answer(201) });
      });

      it("settle a key when the server is back, where it was away", async () => {
        const server = await started();
        const [one, other] = [await opened(server), await opened(server)];
        const reservation = await reserved(one, "1");
        await server.kill();
        await until(() => said().filter((each) => each === "unreachable").length === 2, "the end to be told to both");
        await reservation.settle({ status: 200, fields: {}, body: Buffer.from("x") });
        await server.restart();
        await until(() => said().filter((each) => each === "mended").length === 2, "both to be mended");
        const found = await other.duplicates.reserve(candidate("2"));
        should(found.isFirst ? undefined : await found.outcome).eql({ answer: { status: 200, fields: {}, body: Buffer.from("x") } }); // prettier-ignore
      });

      it("count requests together, and each for itself while the server is away", async () => {
        const server = await started();
        const [one, other] = [await opened(server), await opened(server)];
        for (let index = 0; index < 10; index++) one.rates.count("a").requests.should.equal(index + 1);
        const seen = await eventually(() => Promise.resolve(other.rates.count("a")), ({ requests }) => requests > 10); // prettier-ignore
        seen.leftMs.should.be.within(1, 60_000);
        await server.kill();
        const before = one.rates.count("b").requests;
        for (let index = 1; index < 5; index++) one.rates.count("b").requests.should.equal(before + index);
        await server.restart();
        await until(() => said().filter((each) => each === "mended").length === 2, "both to be mended");
        await eventually(() => Promise.resolve([one, other].map(({ rates }) => rates.count("b").requests)), ([a = 0, b = 0]) => Math.min(a, b) > 5); // prettier-ignore
      });
    });
  });
}
