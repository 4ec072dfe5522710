import should from "should";
import { gzipSync } from "node:zlib";
import { Custody, type First } from "../../src/custody";
import type { Kept } from "../../src/deliveries/delivery";
import type { Ending, Flow } from "../../src/deliveries/flow";
import { Guarding, DuplicateGuard } from "../../src/deliveries/duplicate-guard";
import { Keeper } from "../../src/deliveries/keeper";
import { MemoryDuplicates } from "../../src/deliveries/memory-duplicates";
import type { Duplicates } from "../../src/deliveries/duplicates";
import { MemoryStore } from "../../src/deliveries/memory-store";
import { StoreError } from "../../src/deliveries/store";
import { Problem } from "../../src/problem";
import { Recorder } from "../../src/recorder";
import { Recent } from "../../src/recent";
import { Records } from "../../src/records";
import { Redactor } from "../../src/trust/redactor";
import { answerTo } from "../harness/answering";
import { bearer, token } from "../harness/flow";
import { send } from "../harness/http";
import { Reception } from "../harness/reception";
import { until } from "../harness/until";

const limit = 5 * 1024 * 1024;
const path = "/hook";

/** Takes deliveries when it is let, and fails when it is told to. */
class GatedStore extends MemoryStore {
  isBroken = false;
  asked = 0;

  override async add(...args: Parameters<MemoryStore["add"]>): Promise<void> {
    this.asked++;
    if (this.gate) await this.gate;
    if (this.isBroken) throw new StoreError("full");
    await super.add(...args);
  }

  gate: Promise<void> | undefined;
}

class Started implements Flow<First> {
  readonly kept: Kept[] = [];
  readonly firsts: (First | undefined)[] = [];
  endings: Promise<Ending>[] = [];

  start(kept: Kept, first: First | undefined): Promise<Ending> {
    this.kept.push(kept);
    this.firsts.push(first);
    const ending = first?.owed?.ending ?? new Promise<Ending>(() => undefined);
    this.endings.push(ending);
    return ending;
  }

  readonly retry = { attempts: 5, backoffFirst: 1, backoffLongest: 1 };
  readonly fared = () => undefined;
  readonly gaveUp = () => undefined;
  readonly redelivered = () => undefined;
}

describe("what must not be lost", () => {
  let reception: Reception;
  let store: GatedStore;
  let keeper: Keeper<First>;
  let flow: Started;
  let recorder: Recorder;
  beforeEach(async () => {
    reception = await Reception.open();
    store = new GatedStore();
    keeper = new Keeper<First>(store, true);
    keeper.enter("n", (flow = new Started()));
    recorder = new Recorder("n", new Redactor([token]));
    reception.custody = new Custody(keeper, recorder);
    reception.records = new Records(store, {
      recorder,
      path,
      keepsBodies: true,
      keepsAnswers: true,
      begun: new Recent(1),
      newId: () => "refused",
    });
    reception.deploy();
  });
  afterEach(async () => {
    reception.close();
    await keeper.close();
  });

  const post = (body: string | Buffer = "{}", headers: Record<string, string> = {}) =>
    send(`${reception.origin}${path}`, {
      headers: { ...bearer, "Content-Type": "application/json", ...headers },
      body,
    });
  const restored = async (kept: Kept | undefined, rawBody = false) => {
    if (!kept) throw new Error("nothing was kept");
    const delivery = await recorder.restore(kept, limit, rawBody);
    if (delivery instanceof Problem) throw new Error(delivery.name);
    return delivery;
  };

  it("is kept before its sender hears of it, and starts the flow then", async () => {
    let letIn: () => void = () => undefined;
    store.gate = new Promise((resolve) => (letIn = resolve));
    let isTold = false;
    const reply = post().then((told) => {
      isTold = true;
      return told;
    });
    await until(() => store.asked === 1, "it to come to the store");
    should([isTold, flow.kept.length]).eql([false, 0]);
    letIn();
    const { status, json } = await reply;
    should([status, json.id]).eql([200, flow.kept[0]?.delivery.id]);
    should(flow.firsts[0]?.delivery.webhook.attempt).equal(1);
  });

  it("is refused with 503 and a time to try again where it cannot be kept, and nothing starts", async () => {
    store.isBroken = true;
    const { status, headers, body } = await post();
    should([status, headers["retry-after"]]).eql([503, "10"]);
    body.should.not.match(/full/);
    flow.kept.should.be.empty();
    store.isBroken = false;
    (await post()).status.should.equal(200);
  });

  it("keeps its key before its sender hears of it", async () => {
    const duplicates = new MemoryDuplicates();
    const settled: boolean[] = [];
    const how = { endpoint: "n", key: "body", keptFor: 60_000, isIdLoose: false, patience: 1000 } as const;
    let tell: () => void = () => undefined;
    const isKept = new Promise<void>((resolve) => (tell = resolve));
    const slow: Duplicates = {
      reserve(candidate) {
        const found = duplicates.reserve(candidate);
        if (!found.isFirst) return found;
        return { ...found, settle: () => isKept.then(() => found.settle()) };
      },
    };
    reception.duplicates = new DuplicateGuard(how, new Guarding(slow));
    reception.deploy();
    const reply = post('"a"').then((told) => {
      settled.push(true);
      return told;
    });
    await until(async () => (await store.counts("n")).running === 1, "it to be kept");
    settled.should.be.empty();
    tell();
    (await reply).status.should.equal(200);
    (await post('"a"')).json.status?.should.equal("duplicate");
  });

  it("leaves its key to the next delivery where it cannot be kept", async () => {
    const how = { endpoint: "n", key: "body", keptFor: 60_000, isIdLoose: false, patience: 1000 } as const;
    reception.duplicates = new DuplicateGuard(how, new Guarding(new MemoryDuplicates()));
    reception.deploy();
    store.isBroken = true;
    (await post('"a"')).status.should.equal(503);
    store.isBroken = false;
    (await post('"a"')).json.status?.should.equal("accepted");
    (await post('"a"')).json.status?.should.equal("duplicate");
    flow.kept.length.should.equal(1);
  });

  it("leaves its key to the next delivery where something else has answered meanwhile", async () => {
    const duplicates = new MemoryDuplicates();
    let answer: () => unknown = () => undefined;
    const slow: Duplicates = {
      reserve: (candidate) => {
        answer();
        return Promise.resolve(duplicates.reserve(candidate));
      },
    };
    const how = { endpoint: "n", key: "body", keptFor: 60_000, isIdLoose: false, patience: 1000 } as const;
    reception.duplicates = new DuplicateGuard(how, new Guarding(slow));
    reception.deploy();
    reception.layer = (_request, response) => void (answer = () => response.writeHead(503).end());
    (await post('"a"')).status.should.equal(503);
    await until(() => reception.refusals.length === 1, "it to be refused");
    reception.layer = () => (answer = () => undefined);
    (await post('"a"')).json.status?.should.equal("accepted");
    flow.kept.length.should.equal(1);
  });

  it("starts the flow although its caller has gone, or a deploy has come, while it was kept", async () => {
    let letIn: () => void = () => undefined;
    store.gate = new Promise((resolve) => (letIn = resolve));
    const gone = post().catch(() => undefined);
    const socket = await reception.connection();
    await until(() => store.asked === 1, "it to come to the store");
    keeper.hold();
    reception.hold();
    socket.destroy();
    await gone;
    letIn();
    await until(async () => (await store.counts("n")).running === 1, "it to be kept");
    flow.kept.should.be.empty();
    keeper.resume();
    reception.resume();
    await until(() => flow.kept.length === 1, "the flow to start");
  });

  it("is done when the flow has answered, and the answer is noted", async () => {
    reception.reply = { by: "flow", timeout: 10_000 };
    reception.deploy();
    const reply = post();
    await until(() => flow.firsts.length === 1, "the flow to start");
    answerTo(flow.firsts[0]?.owed).status(202).send("x");
    (await reply).status.should.equal(202);
    should(await flow.endings[0]).containDeep({ as: "succeeded", told: { status: 202 } });
    await until(async () => (await store.counts("n")).succeeded === 1, "it to be done");
    should((await store.find(String(flow.kept[0]?.delivery.id)))?.delivery.status).equal(202);
  });

  for (const [what, answer] of [
    ["has answered 500", () => answerTo(flow.firsts[0]?.owed).status(500).send("x")],
    ["has not answered in time", () => undefined],
  ] as const) {
    it(`is left to its sender when the flow ${what}`, async () => {
      reception.reply = { by: "flow", timeout: 100 };
      reception.deploy();
      const reply = post();
      await until(() => flow.firsts.length === 1, "the flow to start");
      answer();
      (await reply).status.should.be.aboveOrEqual(500);
      await until(async () => (await store.counts("n")).failed === 1, "it to fail");
      flow.kept.length.should.equal(1);
    });
  }

  describe("what is kept", () => {
    it("is what came, but for the token, also when it is delivered again", async () => {
      const body = JSON.stringify({ token, list: [`a${token}b`, token] });
      await post(body, { "X-Repeated": `Bearer ${token}`, "X-Other": "y" });
      const [kept] = flow.kept;
      JSON.stringify([kept?.delivery, String(kept?.body)]).should.not.containEql(token);
      const delivery = await restored(kept, true);
      should(delivery.body).eql({ token: "[redacted]", list: ["a[redacted]b", "[redacted]"] });
      should(String(delivery.rawBody)).equal(JSON.stringify(delivery.body));
      delivery.req.should.eql(flow.firsts[0]?.delivery.req);
      should(delivery.webhook.attempt).equal(1);
    });

    for (const [how, type, body] of [
      ["a form", "application/x-www-form-urlencoded", new URLSearchParams({ token, other: "1" }).toString()],
      ["JSON with escapes", "application/json", JSON.stringify({ token, 'quote"': "x" })],
    ] as const) {
      it(`has no token in it as ${how} writes one, and the flow finds a mark there when it is delivered again`, async () => {
        await post(body, { "Content-Type": type });
        const kept = String(flow.kept[0]?.body);
        kept.should.not.containEql(token);
        kept.should.not.containEql(encodeURIComponent(token));
        const first = flow.firsts[0]?.delivery.body as object;
        should((await restored(flow.kept[0])).body).eql({ ...first, token: "[redacted]" });
      });
    }

    it("has no header field that lets somebody in elsewhere", async () => {
      await post("{}", { Cookie: "session=s3cret", "Proxy-Authorization": "Basic s3cret" });
      JSON.stringify(flow.kept[0]?.delivery).should.not.containEql("s3cret");
    });

    it("is unpacked where the token is in what is packed", async () => {
      await post(gzipSync(JSON.stringify({ token })), { "Content-Encoding": "gzip" });
      should(flow.kept[0]?.delivery.head.headers["content-encoding"]).be.undefined();
      should((await restored(flow.kept[0])).body).eql({ token: "[redacted]" });
    });

    it("is packed where it is not", async () => {
      const packed = gzipSync('{"a":1}');
      await post(packed, { "Content-Encoding": "gzip" });
      should(flow.kept[0]?.body.equals(packed)).be.true();
      should((await restored(flow.kept[0])).body).eql({ a: 1 });
    });

    it("is what a parser in front has made of it", async () => {
      reception.layer = (request) => void Object.assign(request, { _body: true, body: { made: token } });
      await post("{}");
      String(flow.kept[0]?.body).should.not.containEql(token);
      should((await restored(flow.kept[0])).body).eql({ made: "[redacted]" });
    });
  });

  it("is told as broken when what is kept cannot be read any more", async () => {
    await post(gzipSync("{}"), { "Content-Encoding": "gzip" });
    const [kept] = flow.kept;
    if (!kept) throw new Error("nothing was kept");
    const outcome = await recorder.restore({ ...kept, body: Buffer.from("x") }, limit, false);
    should(outcome).be.instanceof(Problem);
  });

  it("has no room for the files of a form that something else has read", async () => {
    reception.layer = (request) => void Object.assign(request, { _body: true, body: {}, files: [] });
    (await post("{}")).status.should.equal(500);
    flow.kept.should.be.empty();
  });

  describe("records", () => {
    beforeEach(() => {
      reception.custody = undefined;
      reception.deploy();
    });
    const noted = async () => (await store.page({ limit: 100 })).deliveries;

    it("tell of what was accepted, with its answer", async () => {
      const { json } = await post('{"a":1}', { "X-Token": token });
      const [record] = await noted();
      should([record?.id, record?.state, record?.status, record?.size]).eql([json.id, "succeeded", 200, 7]);
      JSON.stringify(record).should.not.containEql(token);
      should(String((await store.find(String(json.id)))?.body)).equal('{"a":1}');
    });

    it("tell of what the flow answers when it has", async () => {
      reception.reply = { by: "flow", timeout: 10_000 };
      reception.deploy();
      const reply = post();
      await until(() => reception.owed.length === 1, "the flow to start");
      should((await noted())[0]?.state).equal("running");
      answerTo(reception.owed[0]).status(503).send("x");
      await reply;
      const [record] = await noted();
      should([record?.state, record?.status]).eql(["failed", 503]);
    });

    it("tell of what the flow answers before it is let go on with", async () => {
      reception.reply = { by: "flow", timeout: 10_000 };
      reception.onDelivery = () => void answerTo(reception.owed[0]).status(202).send("x");
      reception.deploy();
      await post();
      const [record] = await noted();
      should([record?.state, record?.status]).eql(["succeeded", 202]);
    });

    it("tell of duplicates without their bodies", async () => {
      const how = { endpoint: "n", key: "body", keptFor: 60_000, isIdLoose: false, patience: 1000 } as const;
      reception.duplicates = new DuplicateGuard(how, new Guarding(new MemoryDuplicates()));
      reception.deploy();
      await post('"a"');
      await post('"a"');
      const [repeat] = await noted();
      should([repeat?.state, (await store.find(String(repeat?.id)))?.body.length]).eql(["duplicate", 0]);
    });

    it("tell of refused requests nothing that may let anybody in, and of ten a second at most", async () => {
      let ids = 0;
      const recorder = new Recorder("n", new Redactor([token]));
      reception.records = new Records(store, {
        recorder,
        path,
        keepsBodies: true,
        keepsAnswers: true,
        begun: new Recent(1),
        newId: () => `${++ids}`,
      });
      reception.deploy();
      const wrong = `${token.slice(0, -1)}!`;
      const odd = { Host: token, "User-Agent": "x".repeat(5000) };
      await send(`${reception.origin}${path}`, { headers: odd });
      const [first] = await noted();
      JSON.stringify(first).should.not.containEql(token);
      JSON.stringify(first).length.should.be.below(1000);
      const headers = { Authorization: `Bearer ${wrong}`, Cookie: wrong, "User-Agent": "curl" };
      for (let sent = 0; sent < 20; sent++) {
        (await send(`${reception.origin}${path}?state=${wrong}`, { headers, body: wrong })).status.should.equal(401);
      }
      const records = await noted();
      records.length.should.be.within(10, 19);
      for (const { state, status, problem, head } of records.slice(0, -1)) {
        should([state, status, problem]).eql(["refused", 401, "tokenInvalid"]);
        should(head.headers["user-agent"]).equal("curl");
      }
      JSON.stringify(records).should.not.containEql(wrong);
    });
  });
});
