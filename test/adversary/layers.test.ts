import should from "should";
import type { ServerResponse } from "node:http";
import { answerTo } from "../harness/answering";
import { bearer, token } from "../harness/flow";
import { exchange, send } from "../harness/http";
import { hookRequest, Reception } from "../harness/reception";

const throws = () => {
  throw new Error("a layer");
};
const rejects = () => Promise.reject(new Error("a layer"));
/** Has a layer do something beside what a method does. */
const besides =
  (name: "write" | "end" | "setHeader" | "writeHead", what: () => unknown) => (response: ServerResponse) => {
    const method = response[name].bind(response) as (...values: unknown[]) => unknown;
    Object.assign(response, { [name]: (...values: unknown[]) => (method(...values), what()) });
  };
const instead = (name: string, what: () => unknown) => (response: ServerResponse) =>
  void Object.assign(response, { [name]: what });

/** What layers do to a response, and what the caller gets of the flow's answer. */
const layers: Record<string, [layer: (response: ServerResponse) => void, outcome: string]> = {
  "ends and throws": [besides("end", throws), "200"],
  "throws instead of ending": [instead("end", throws), "200 in part"],
  "fails instead of ending, later": [instead("end", rejects), "200 in part"],
  "ends and fails later": [besides("end", rejects), "200"],
  "throws instead of writing": [instead("write", throws), "504"],
  "writes and throws": [besides("write", throws), "200 in part"],
  "writes and fails later": [besides("write", rejects), "200"],
  "takes no fields and throws": [instead("setHeader", throws), "504"],
  "takes fields and fails later": [besides("setHeader", rejects), "200"],
  "throws instead of writing the head": [instead("writeHead", throws), "nothing"],
  "ends, and once more": [
    (response) => {
      const end = response.end.bind(response);
      response.end = (body: unknown) => (end(body), end(body));
    },
    "200",
  ],
  "answers before the flow": [(response) => void setImmediate(() => response.writeHead(503).end()), "503"],
};

/** The connection ends in any case. */
function outcomeOf(received: string): string {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? [];
  if (status === undefined) return "nothing";
  return received.includes("chunked") && !received.endsWith("0\r\n\r\n") ? `${status} in part` : status;
}

/** Without a handler, a promise that fails ends the process, and with it these tests. */
describe("an answer by the flow, where a layer in front", () => {
  let reception: Reception;
  before(async () => {
    reception = await Reception.open();
    reception.reply = { by: "flow", timeout: 200 };
    reception.onDelivery = () => {
      // What delivers goes on before the flow does.
      setImmediate(() => setImmediate(answer));
    };
    reception.deploy();
  });
  after(() => reception.close());

  function answer(): void {
    try {
      const response = answerTo(reception.owed.at(-1));
      response.set("X-Flow", "yes").type("text");
      response.write("a");
      response.end("b");
    } catch (error) {
      should(error).have.property("message", "a layer");
    }
  }

  for (const [name, [layer, outcome]] of Object.entries(layers)) {
    it(`${name}, is ${outcome} to the caller, and the next request is served`, async () => {
      reception.layer = (_request, response) => layer(response);
      const request = hookRequest("x", `Authorization: Bearer ${token}`, "Connection: close");
      should(outcomeOf(await exchange(reception.origin, request))).equal(outcome);
      reception.layer = () => undefined;
      const next = await send(`${reception.origin}/hook`, { headers: bearer, body: "x" });
      should([next.status, next.body]).eql([200, "ab"]);
    });
  }
});
