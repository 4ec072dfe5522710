import should from "should";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { problems } from "../../src/problem";
import { token } from "../harness/flow";
import { dial, exchange, repliesIn } from "../harness/http";
import { hookRequest, type Layer, Reception } from "../harness/reception";

const authorised = `Authorization: Bearer ${token}`;
const last = "Connection: close";
const broken = () => {
  throw new Error("a layer");
};
const rejects = () => Promise.reject(new Error("a layer"));
/** Has a layer replace a method of the response. */
const replaced =
  (
    name: "writeHead" | "end" | "setHeader" | "removeHeader" | "getHeaderNames",
    method: (response: ServerResponse) => unknown,
  ): Layer =>
  (_request, response) => {
    response.setHeader("X-Layer", "yes");
    Object.assign(response, { [name]: () => method(response) });
  };
const trailer: Layer = (_request, response) => void response.setHeader("Trailer", "x");
const both =
  (...layers: Layer[]): Layer =>
  (...args) => {
    for (const layer of layers) layer(...args);
  };

/** As `on-headers` does it: what listens for the head is called once, before it is written. */
const failingListener: Layer = (_request, response) => {
  const writeHead = response.writeHead.bind(response);
  let told = false;
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    if (!told) {
      told = true;
      broken();
    }
    return writeHead(...args);
  }) as typeof writeHead;
};
const endsTwice: Layer = (_request, response) => {
  const end = response.end.bind(response);
  response.end = (body: unknown) => {
    end(body);
    return end(body);
  };
};
const endsWithHead: Layer = (_request, response) => {
  const writeHead = response.writeHead.bind(response);
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    writeHead(...args);
    return response.end();
  }) as typeof writeHead;
};

/** What layers do, and the statuses of a request with the token, with how many messages, and of one without it. */
const layers: [name: string, layer: Layer, accepted: number[], messages: number, refused: number[]][] = [
  ["sets a trailer, which Node refuses to send", trailer, [500], 0, [500]],
  ["throws when the head is written, once", failingListener, [500], 0, [500]],
  ["throws whenever the head is written", replaced("writeHead", broken), [], 0, []],
  ["writes the head later, and fails", replaced("writeHead", rejects), [], 0, []],
  ["writes no head", replaced("writeHead", (response) => response), [], 0, []],
  ["throws when a field is set", replaced("setHeader", broken), [], 0, []],
  ["sets a trailer and lets no field be removed", both(trailer, replaced("removeHeader", broken)), [], 0, []],
  ["sets a trailer and hides the fields", both(trailer, replaced("getHeaderNames", broken)), [], 0, []],
  ["throws when the reply is ended", replaced("end", broken), [], 1, []],
  ["ends the reply later, and fails", replaced("end", rejects), [], 1, []],
  ["ends the reply twice", endsTwice, [200], 1, [401]],
];

describe("serve", () => {
  let reception: Reception;
  beforeEach(async () => {
    reception = await Reception.open();
  });
  afterEach(() => reception.close());
  const statuses = async (...sent: Uint8Array[]) =>
    repliesIn(await exchange(reception.origin, Buffer.concat(sent))).map(({ status }) => status);

  describe("whatever a layer has done to the response, neither throws nor says what is not so:", () => {
    for (const [name, layer, accepted, messages, refused] of layers) {
      it(`a layer ${name}`, async () => {
        reception.layer = layer;
        (await statuses(hookRequest("x", authorised, last))).should.eql(accepted);
        reception.payloads.should.have.length(messages);
        const failed = reception.refusals.splice(0);
        if (accepted[0] === 500 || messages === 0) {
          failed.map(({ problem }) => problem).should.eql([problems.unforeseen]);
          should(failed[0]?.cause).be.an.Error();
        }
        for (const fields of [[], [authorised, "Content-Encoding: compress"], ["Authorization: Bearer x"]]) {
          const status = await statuses(hookRequest("x", ...fields, last));
          status.should.eql(refused[0] === 401 && fields.includes(authorised) ? [415] : refused);
        }
        reception.payloads.should.have.length(messages);
        reception.refusals.should.have.length(3);
      });
    }

    for (const [name, layer, status] of [
      ["sets a trailer", trailer, [500]],
      ["throws when the reply is ended", replaced("end", broken), [401]],
      ["ends the reply later, and fails", replaced("end", rejects), [401]],
    ] as const) {
      it(`a layer ${name}, while the caller is still sending`, async () => {
        reception.layer = layer;
        (await statuses(hookRequest(Buffer.alloc(70_000)))).should.eql(status);
      });
    }

    it("a layer that answers when the head is written", async () => {
      reception.layer = endsWithHead;
      (await exchange(reception.origin, hookRequest("x", authorised, last))).should.not.match(/accepted/);
      reception.payloads.should.eql([]);
      reception.refusals.map(({ problem }) => problem).should.eql([problems.unforeseen]);
    });

    it("a layer that does it to a reply that has to wait for earlier ones", async () => {
      reception.layer = ({ headers }, response) => {
        if (headers["x-broken"]) response.setHeader("Trailer", "x");
      };
      const ok = hookRequest("x", authorised);
      const refused = hookRequest("x", "X-Broken: yes");
      (await statuses(ok, refused)).should.eql([200, 500]);
      reception.refusals.map(({ problem }) => problem).should.eql([problems.unforeseen]);
    });
  });

  it("gives neither 200 nor 500 where delivering fails: there may be a message", async () => {
    reception.onDelivery = broken;
    (await statuses(hookRequest("x", authorised, last))).should.eql([]);
    reception.refusals.should.have.length(1);
    should(reception.refusals[0]).have.property("problem", problems.unforeseen);
    should(reception.refusals[0]?.cause).have.property("message", "a layer");
  });

  describe("where what a request is passed on to throws, refuses it, and does not reject:", () => {
    beforeEach(() => {
      reception.behind = broken;
    });
    const failed = () => reception.refusals.map(({ problem, cause }) => [problem, String(cause)]);

    for (const [name, fields] of [
      ["one whose token fits", [authorised]],
      ["one whose token may come with the deploy", []],
    ] as const) {
      it(`${name}, and which has waited for a deploy`, async () => {
        reception.endpoints.hold();
        const replies = statuses(hookRequest("x", ...fields, last));
        await reception.met(1);
        reception.endpoints.resume();
        (await replies).should.eql([500]);
        failed().should.eql([[problems.unforeseen, "Error: a layer"]]);
        reception.payloads.should.eql([]);
      });
    }

    it("one whose endpoint has gone when its turn on the connection comes", async () => {
      reception.onDelivery = () => reception.remove();
      const first = hookRequest(gzipSync("first"), authorised, "Content-Encoding: gzip");
      (await statuses(first, hookRequest("second", authorised, last))).should.eql([200, 500]);
      failed().should.eql([[problems.unforeseen, "Error: a layer"]]);
      reception.payloads.should.eql(["first"]);
    });
  });

  describe("a caller that waits to be told to send its body (RFC 9110 §10.1.1)", () => {
    const expecting = "Expect: 100-continue";

    it("is told right before the body is read", async () => {
      (await statuses(hookRequest("x", authorised, expecting, last))).should.eql([100, 200]);
      reception.payloads.should.eql(["x"]);
    });

    for (const [name, fields, status] of [
      ["without a token", [], 401],
      ["with a body that is too large", [authorised], 413],
    ] as const) {
      it(`is not told when it is refused ${name}, and loses the connection`, async () => {
        reception.deploy(token, 10);
        const body = Buffer.alloc(100);
        const received = await exchange(reception.origin, hookRequest(body, expecting, ...fields));
        repliesIn(received).map((reply) => reply.status).should.eql([status]); // prettier-ignore
        received.should.match(/^Connection: close\r$/m);
      });
    }
  });

  describe("a body that a parser in front has read", () => {
    const parsed =
      (value: unknown): Layer =>
      (_request, _response, arrival) =>
        void (arrival.parsed = { value });
    const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as unknown;

    for (const [name, value, payload] of [
      ["an object", { a: [1, "b", null] }, { a: [1, "b", null] }],
      ["a text", "text", "text"],
      ["a falsy value", 0, 0],
      ["bytes of JSON, which are decoded", Buffer.from('{"a":1}'), { a: 1 }],
      ["256 levels", nested(256), nested(256)],
      ["a prototype, which is left out", JSON.parse('{"a":{"__proto__":{"b":1}}}'), { a: {} }],
    ] as const) {
      it(`is taken over: ${name}`, async () => {
        reception.layer = parsed(value);
        const fields = [authorised, "Content-Type: application/json", "Content-Encoding: gzip", last];
        (await statuses(hookRequest("x", ...fields))).should.eql([200]);
        reception.payloads.should.eql([payload]);
        reception.refusals.should.eql([]);
      });
    }

    for (const [name, value, status] of [
      ["257 levels", nested(257), 400],
      ["bytes that are no JSON", Buffer.from("{"), 400],
      ["more bytes than the limit", Buffer.alloc(6_000_000), 413],
      ["nothing left of it", undefined, 500],
    ] as const) {
      it(`is refused with ${status}: ${name}`, async () => {
        reception.layer = parsed(value);
        (await statuses(hookRequest("x", authorised, "Content-Type: application/json", last))).should.eql([status]);
        reception.payloads.should.eql([]);
        reception.refusals.should.have.length(1);
      });
    }
  });

  describe("while flows are being deployed", () => {
    const gzipped = (text: string) => [gzipSync(text), "Content-Encoding: gzip"] as const;

    it("unpacks a body anew when another deploy begins while it is unpacked", async () => {
      const [body, coding] = gzipped("packed");
      // The deploy begins when the body is read, and so is being unpacked.
      reception.layer = (request) => void request.once("end", () => setImmediate(() => reception.endpoints.hold()));
      const replies = statuses(hookRequest(body, authorised, coding, last));
      await reception.met(1);
      await new Promise(setImmediate);
      reception.payloads.should.eql([]);
      reception.deploy();
      reception.endpoints.resume();
      (await replies).should.eql([200]);
      reception.payloads.should.eql(["packed"]);
    });

    it("takes a token that only the deploy brings, and refuses the one that it takes away", async () => {
      const other = token.replace("0", "1");
      reception.endpoints.hold();
      const before = statuses(hookRequest("old", authorised, last));
      await reception.met(1);
      const after = statuses(hookRequest("new", `Authorization: Bearer ${other}`, last));
      await reception.met(1);
      reception.deploy(other);
      reception.endpoints.resume();
      (await before).should.eql([401]);
      (await after).should.eql([200]);
      reception.payloads.should.eql(["new"]);
    });

    it("makes no message for a caller that hangs up while its whole request waits", async () => {
      reception.endpoints.hold();
      const socket = dial(reception.origin);
      socket.write(hookRequest("gone", authorised));
      const connection = await reception.connection();
      socket.destroy();
      await once(connection, "close");
      reception.endpoints.resume();
      (await statuses(hookRequest("here", authorised, last))).should.eql([200]);
      reception.payloads.should.eql(["here"]);
    });
  });
});
