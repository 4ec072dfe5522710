import should from "should";
import type { ServerResponse } from "node:http";
import { problems } from "../../src/problem";
import { token } from "../harness/flow";
import { exchange, repliesIn } from "../harness/http";
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
});
