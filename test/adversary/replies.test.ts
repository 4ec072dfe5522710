import should from "should";
import { Agent } from "node:http";
import { once } from "node:events";
import { actingFlow, actingNode, actingTimeout } from "../harness/acts";
import { bearer } from "../harness/flow";
import { afterReply, dial, exchange, type Part, repliesIn, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { authorised, hastyTimers, last } from "../harness/siege";

const holdEcho = "hold(() => res.send('held'))";
const echo = "res.send('echo')";
const megabytes = 100;
onBothWays("flows that answer", { flow: actingFlow(), plugin: actingNode, code: hastyTimers }, (nodeRed) => {
  const act = (body: string, path = "/act", agent?: Agent) =>
    send(nodeRed().node(path), { headers: bearer, body, ...(agent && { agent }) });
  const part = (path: string, body: string, ...fields: string[]) => {
    const { pathname } = new URL(nodeRed().node(path));
    const head = [`POST ${pathname} HTTP/1.1`, "Host: x", authorised, ...fields, `Content-Length: ${body.length}`];
    return [...head, "", body].join("\r\n");
  };
  const replies = async (...parts: Part[]) => repliesIn(await exchange(nodeRed().origin, ...parts));
  const release = () => nodeRed().tell({ release: true }, "released");
  const expire = () => nodeRed().expire(actingTimeout * 1000);
  describe("late", () => {
    it("keep 500 callers waiting at once, and nobody else; each gets its own answer", async () => {
      const waiting = Array.from({ length: 500 }, (_, index) => act(`hold(() => res.send('${index}'))`, "/patient"));
      await nodeRed().told("held", 500);
      should((await act("", "/now")).json.status).equal("accepted");
      await release();
      const bodies = (await Promise.all(waiting)).map(({ body }) => body);
      bodies.should.eql(waiting.map((_, index) => `${index}`));
      await nodeRed().connections(0);
    });

    it("keep neither a timer nor a connection of callers that have gone, and end nothing else", async () => {
      const before = Number(await nodeRed().ask({ timers: true }, "timers "));
      const callers = Array.from({ length: 200 }, () => dial(nodeRed().origin).on("error", () => undefined));
      for (const caller of callers) caller.write(part("/patient", holdEcho));
      await nodeRed().told("held", callers.length);
      for (const caller of callers) caller.resetAndDestroy();
      await nodeRed().connections(0);
      const timers = Number(await nodeRed().ask({ timers: true }, "timers "));
      timers.should.be.below(before + callers.length / 2);
      await release();
      (await act(echo)).body.should.equal("echo");
    });
  });

  describe("in their own ways", () => {
    for (const [name, code] of Object.entries({
      "a status that is none": "send({ ...msg, payload: 'x', statusCode: 99 })",
      "a status that has no answer": "send({ ...msg, payload: 'x', statusCode: 103 })",
      "a header with a line end": "send({ ...msg, payload: 'x', headers: { 'X-A': 'a\\r\\nb' } })",
      "a header whose name is none": "send({ ...msg, payload: 'x', headers: { 'a b': 'c' } })",
      "an answer that cannot be JSON": "const payload = {}; payload.a = payload; send({ ...msg, payload })",
      "half of a head":
        "res.set({ 'X-Flow': '1', 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked', 'Set-Cookie': 'a=b' }); res.status(201).statusMessage = 'Fine'",
    })) {
      it(`leave ${name}: the caller gets a problem that is whole, and goes on`, async () => {
        // What is sent on reaches the next node by then.
        const acted = "setImmediate(() => setImmediate(() => hold(() => undefined)))";
        const all = replies(part("/act", `${code}; ${acted}`), afterReply, part("/act", echo, last));
        await nodeRed().told("held");
        expire();
        const [first, second] = await all;
        should([first?.status, second?.status, second?.body]).eql([504, 200, "echo"]);
        should(first?.head)
          .match(/^HTTP\/1\.1 504 Gateway Timeout\r\n/)
          .and.not.match(/x-flow|gzip|chunked|cookie/i);
        should(JSON.parse(first?.body ?? "")).have.property("status", 504);
      });
    }

    it(`send ${megabytes} MB to who reads, and to who goes in their middle`, async () => {
      const large = `res.send(Buffer.alloc(${megabytes} * 1024 * 1024))`;
      should((await act(large)).body.length).equal(megabytes * 1024 * 1024);
      const leaving = dial(nodeRed().origin).on("error", () => undefined);
      leaving.write(part("/act", large));
      await once(leaving, "data");
      leaving.resetAndDestroy();
      await nodeRed().connections(0);
      (await act(echo)).body.should.equal("echo");
    });
  });

  describe("callers of all kinds", () => {
    it("of HTTP/1.0 (RFC 9112 §9.3): the connection ends, whether a length is told or not", async () => {
      for (const code of [echo, "res.write('ec'); res.end('ho')"]) {
        const received = await exchange(nodeRed().origin, part("/act", code).replace("HTTP/1.1", "HTTP/1.0"));
        received.should.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\necho$/).and.not.match(/chunked/);
      }
    });

    it("by another method, whom no flow has to answer", async () => {
      const { pathname } = new URL(nodeRed().node("/act"));
      const [reply] = await replies(`HEAD ${pathname} HTTP/1.1\r\nHost: x\r\n${authorised}\r\n${last}\r\n\r\n`);
      should(reply?.status).equal(405);
    });
  });

  describe("after all of that", () => {
    it("have done the runtime no harm", () => {
      should(nodeRed().running).be.true();
      nodeRed().log.should.not.match(
        /uncaught|unhandled|warning: possible|ERR_(?!HTTP_INVALID|INVALID_CHAR|INVALID_HTTP)/i,
      );
    });
  });
});
