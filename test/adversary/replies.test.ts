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
/** What the log says of an answer that is dropped. */
const dropped = /\[warn\] \[webhook-trigger:[^\n]*message [\da-f]{16}/g;

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
  /** What is dropped from now on. */
  const drops = () => {
    const { length } = nodeRed().log;
    return () => nodeRed().log.slice(length).match(dropped) ?? [];
  };

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

    it("keep neither a timer nor a connection of callers that have gone, and say nothing of them", async () => {
      const told = drops();
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
      told().should.eql([]);
    });

    it("are told of once for each answer, by the message; callers have a 504, and keep their connection", async () => {
      const told = drops();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const late = act("hold(() => { res.send('late'); })", "/act", agent);
      await nodeRed().told("held");
      expire();
      should((await late).status).equal(504);
      const next = act("hold(() => res.send('next'))", "/act", agent);
      await nodeRed().told("held");
      // The first one's answer comes while the second one's is owed on the same connection.
      await release();
      (await next).body.should.equal("next");
      await nodeRed().logged(/message [\da-f]{16}/);
      told().should.have.length(1);
      agent.destroy();
    });

    it("cannot end the connection that is by now another request's", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await act("hold(() => res.socket.destroy()); res.send('first')", "/act", agent);
      await nodeRed().told("held");
      const next = act("hold(() => res.send('second'))", "/act", agent);
      await nodeRed().told("held");
      await release();
      (await next).body.should.equal("second");
      agent.destroy();
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

    it("leave nothing at a connection that stays, however often they listen there", async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const { length } = nodeRed().log;
      for (let index = 0; index < 15; index++) {
        (await act("res.sendFile(__filename)", "/act", agent)).status.should.equal(200);
        const once =
          "const gone = () => {}; res.socket.on('close', gone); res.socket.off('close', gone); res.send('x')";
        (await act(once, "/act", agent)).body.should.equal("x");
      }
      agent.destroy();
      await nodeRed().connections(0);
      nodeRed()
        .log.slice(length)
        .should.not.match(/MaxListeners/);
    });

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
    it("who do not wait for replies: a request starts when those before it are answered", async () => {
      const all = replies(part("/act", "hold(() => res.send('1'))"), part("/act", "res.send('2')"), part("/act", "hold(() => res.send('3'))", last)); // prettier-ignore
      for (let held = 0; held < 2; held++) {
        await nodeRed().told("held");
        await release();
      }
      should((await all).map(({ body }) => body)).eql(["1", "2", "3"]);
    });

    it("who ask before they send (RFC 9110 §10.1.1)", async () => {
      const all = await replies(part("/act", echo, last, "Expect: 100-continue"));
      should(all.map(({ status }) => status)).eql([100, 200]);
    });

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

  it("are deployed anew while their callers wait: each of those gets one answer", async () => {
    const waiting = Array.from({ length: 20 }, () => act(holdEcho));
    await nodeRed().told("held", waiting.length);
    await nodeRed().deploy(actingFlow().filter(({ id }) => id !== "act"));
    expire();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    statuses.should.eql(waiting.map(() => 504));
    await release();
    await nodeRed().deploy(actingFlow());
    (await act(echo)).body.should.equal("echo");
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
