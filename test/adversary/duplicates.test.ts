import type { Response } from "express";
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import should from "should";
import { DuplicateGuard, maxReplyBytes, MemoryDuplicates } from "../../src/deliveries/duplicates";
import type { FlowReply } from "../../src/flow/flow-reply";
import { bodyMemory } from "../../src/request/memory";
import { problems } from "../../src/request/problem";
import { callerToken, presentations } from "../harness/callers";
import { bearer, token } from "../harness/flow";
import { dial, type Reply, send } from "../harness/http";
import { hookRequest, Reception } from "../harness/reception";
import { until } from "../harness/until";

const longestWait = 60_000;
const byFlow = { by: "flow", timeoutMs: longestWait } as const;
const authorised = `Authorization: Bearer ${token}`;
/** What a flow answers by. */
const answerTo = (owed: FlowReply | undefined) => owed?.response as Response;
const told = ({ status, headers, body }: Reply) => [status, headers["content-type"], headers["content-encoding"], body];

describe("ten equal deliveries at once", () => {
  let reception: Reception;
  let duplicates: MemoryDuplicates;
  /** How many find a key taken, and wait or are told. */
  let late: number;
  beforeEach(async () => {
    reception = await Reception.open();
    late = 0;
    duplicates = new MemoryDuplicates();
    const reserve = duplicates.reserve.bind(duplicates);
    duplicates.reserve = (candidate) => {
      const found = reserve(candidate);
      if (!found.isFirst) late++;
      return found;
    };
    guard();
  });
  const { verified } = bodyMemory;
  const { max } = verified;
  afterEach(() => {
    verified.max = max;
    reception.close();
  });

  function guard(): void {
    const how = { endpoint: "hook", key: "header:X-Id", keptForMs: 3_600_000, isIdLoose: false } as const;
    reception.duplicates = new DuplicateGuard({ ...how, patienceMs: longestWait }, duplicates);
    reception.deploy();
  }
  const post = (body = "x", headers: Record<string, string> = {}) =>
    send(`${reception.origin}/hook`, { headers: { ...bearer, "X-Id": "1", ...headers }, body });
  const flow = () => {
    reception.reply = byFlow;
    reception.deploy();
  };
  const started = async (count = 1) => until(() => reception.owed.length === count, `${count} to start the flow`);
  const waiting = async (count: number) => until(() => late === count, `${count} to wait`);
  /** Opens a connection of its own, of which the server will see that it ends. */
  const leaving = () => {
    const socket = dial(reception.origin).on("error", () => undefined);
    socket.write(hookRequest("x", authorised, "X-Id: 1"));
    return socket;
  };

  it("start the flow once when a deploy comes while nine wait, and one while all wait for the next", async () => {
    flow();
    const all = Array.from({ length: 10 }, () => post());
    await waiting(9);
    reception.hold();
    reception.deploy();
    answerTo(reception.owed[0]).send("kept");
    reception.resume();
    for (const reply of await Promise.all(all)) reply.body.should.equal("kept");
    reception.hold();
    const next = Array.from({ length: 10 }, () => post("y", { "X-Id": "2" }));
    await reception.met(10);
    reception.deploy();
    reception.resume();
    await waiting(9 + 9);
    answerTo(reception.owed[1]).send("next");
    for (const reply of await Promise.all(next)) reply.body.should.equal("next");
    reception.payloads.should.have.length(2);
  });

  it("start the flow once when a deploy makes their token invalid while nine wait, and the first fails", async () => {
    const caller = { name: "one", digest: hash("sha256", callerToken("one")) };
    const byCaller = presentations.header("one").headers;
    for (const [headers, now, status] of [
      [bearer, callerToken("new"), 503],
      [byCaller, token, 401],
    ] as const) {
      late = 0;
      reception.reply = byFlow;
      reception.deploy(token, undefined, [caller]);
      const id = { "X-Id": String(status) };
      const all = Array.from({ length: 10 }, () => post("x", { ...headers, ...id }));
      await waiting(9);
      reception.hold();
      reception.owed.pop()?.fail(problems.flowLate);
      // One waits for the deploy, and the others for that one.
      await waiting(9 + 8);
      reception.deploy(now, undefined, headers === bearer ? [caller] : []);
      reception.resume();
      should((await Promise.all(all)).map((reply) => reply.status).sort()).eql(
        [...Array<number>(9).fill(status), 504].sort(),
      );
    }
    reception.payloads.should.have.length(2);
  });

  it("start no flow for one that goes when its key is reserved, and one for the next", async () => {
    const { duplicates: guarding } = reception;
    const judge = guarding?.judge.bind(guarding);
    let first: ReturnType<typeof leaving> | undefined;
    Object.assign(guarding ?? {}, {
      judge: async (...asked: Parameters<DuplicateGuard["judge"]>) => {
        const found = await judge?.(...asked);
        first?.resetAndDestroy();
        if (first) await until(() => asked[2].destroyed, "the first to go");
        first = undefined;
        return found;
      },
    });
    first = leaving();
    await until(() => first === undefined, "the first to come");
    should((await post()).json.status).equal("accepted");
    reception.payloads.should.have.length(1);
  });

  it("start the flow once when the caller of the first goes: the others have its answer", async () => {
    flow();
    const first = leaving();
    await started();
    const others = Array.from({ length: 9 }, () => post());
    await waiting(9);
    first.resetAndDestroy();
    await until(() => reception.owed[0]?.response.destroyed === true, "the first to go");
    answerTo(reception.owed[0]).send("for the others");
    for (const reply of await Promise.all(others)) reply.body.should.equal("for the others");
    reception.payloads.should.have.length(1);
  });

  it("are told the answer that was sent, not the one that could not be", async () => {
    flow();
    const all = Array.from({ length: 10 }, () => post());
    await waiting(9);
    const answer = answerTo(reception.owed[0]);
    should(() => answer.status(99).send("none")).throw();
    answer.status(422).type("text/plain").send("some");
    for (const reply of [...(await Promise.all(all)), await post()])
      should([reply.status, reply.body]).eql([422, "some"]);
  });

  it("are told the status of an answer that is too long to be kept, and not how to read it", async () => {
    flow();
    const all = Array.from({ length: 10 }, () => post());
    await waiting(9);
    const long = Buffer.alloc(maxReplyBytes + 1, "x");
    answerTo(reception.owed[0]).set("Content-Encoding", "x-own").status(201).type("text").send(long);
    const replies = await Promise.all(all);
    const short = replies.filter(({ body }) => body === "");
    short.should.have.length(9);
    for (const reply of short) told(reply).should.eql([201, undefined, undefined, ""]);
  });

  it("wait with as many bytes as they have unpacked", async () => {
    // A quarter of it is for this address, and three quarters of that for large ones.
    verified.max = 5_000_000;
    flow();
    const packed = () =>
      send(`${reception.origin}/hook`, {
        headers: { ...bearer, "X-Id": "1", "Content-Encoding": "gzip" },
        body: gzipSync("x".repeat(600_000)),
      });
    const all = [packed()];
    await started();
    all.push(packed());
    await waiting(1);
    (await packed()).status.should.equal(503);
    answerTo(reception.owed[0]).send("done");
    for (const reply of await Promise.all(all)) reply.body.should.equal("done");
  });

  it("wait in so many places, and leave those free that they have gone from", async () => {
    // As much as five of them take, from one address.
    verified.max = 20;
    flow();
    const first = post();
    await started();
    const gone = Array.from({ length: 5 }, leaving);
    await waiting(5);
    (await post()).status.should.equal(503);
    for (const socket of gone) socket.resetAndDestroy();
    // A place is free when the server has seen it.
    let reply: Reply | undefined;
    const stays = (async () => {
      do reply = await post();
      while (reply.status === 503);
    })();
    await until(() => late > 6, "another to come");
    await until(() => reception.refusals.length > 0, "a refusal");
    answerTo(reception.owed[0]).send("done");
    await stays;
    should([(await first).body, reply?.body]).eql(["done", "done"]);
    should(reception.refusals.every(({ problem }) => problem.name === "duplicatesWaiting")).be.true();
  });
});
