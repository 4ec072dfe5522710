import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import should from "should";
import type { Detail } from "../../src/admin/summary";
import { sqliteIsHere } from "../../src/config/stores";
import { bearer, tab, webhook } from "../harness/flow";
import { freePort } from "../harness/free-port";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { ShownDeliveries } from "../harness/shown-deliveries";

/** Whether an API answers only if it is asked again: `late` and `refused` have no status. */
type Way = "503" | "404" | "late" | "refused" | "200" | "302";

const request = (id: string, url: string, wires: string[] = []) => ({
  ...{ id, name: `call ${id}`, type: "http request", method: "POST", ret: "txt", paytoqs: "ignore", url },
  wires: [wires],
});
const code = (id: string, func: string, wires: string[] = []) => ({ id, type: "function", func, outputs: 1, wires: [wires] }); // prettier-ignore
/** Two attempts, the second one soon after the first. */
const twice = { guaranteed: true, attempts: 2, backoffFirst: 1 };

// Guaranteed delivery needs a store.
if (sqliteIsHere()) {
  describe("a flow that calls an API by core's http request", () => {
    const held: ServerResponse[] = [];
    /** The paths that were asked for. */
    const asked: string[] = [];
    const api = createServer(({ url = "" }, response) => {
      const isAgain = asked.includes(url);
      asked.push(url);
      const [, way = "", which] = url.split("/");
      if (which === "recovers" && isAgain) return void response.end();
      if (way === "late") return void held.push(response);
      response.writeHead(Number(way), way === "302" ? { Location: "/200" } : {}).end();
    });
    let nodeRed: NodeRed;
    let shown: ShownDeliveries;

    before(async () => {
      await once(api.listen(0, "127.0.0.1"), "listening");
      const origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
      const nobody = `http://127.0.0.1:${await freePort()}`;
      const url = (way: Way) => (way === "refused" ? nobody : `${origin}/${way}/{{payload}}`);
      const calls = (id: string, way: Way, fields: object = {}) => [
      webhook(id, `/${id}`, { ...twice, ...fields, wires: [[`soon-${id}`]] }),
      code(`soon-${id}`, `${way === "late" ? "msg.requestTimeout = 50;" : ""} return msg;`, [`at-${id}`]),
      request(`at-${id}`, url(way)),
    ]; // prettier-ignore
      const flow = tab(
        ...calls("busy", "503"),
        ...calls("unknown", "404"),
        ...calls("late", "late"),
        ...calls("refused", "refused"),
        ...calls("fine", "200"),
        ...calls("moved", "302"),
        ...calls("tolerant", "503", { httpErrorsFail: false }),
        ...calls("tolerantRefused", "refused", { httpErrorsFail: false }),
        ...calls("older", "503", { httpErrorsFail: undefined }),
        webhook("branches", "/branches", { ...twice, wires: [["good", "bad", "better"]] }),
        request("good", url("200")),
        request("bad", url("503")),
        request("better", url("200")),
        webhook("caught", "/caught", { ...twice, wires: [["first"]] }),
        { ...request("first", url("503"), ["second"]), senderr: true },
        request("second", url("200")),
        webhook("list", "/list", { ...twice, wires: [["item"]] }),
        code("item", `msg.url = "${origin}/503"; return msg;`, ["each"]),
        request("each", "", ["next"]),
        code("next", `if (msg.isLast) return; msg.isLast = true; msg.url = "${origin}/200"; return msg;`, ["each"]),
        webhook("sets", "/sets", { ...twice, wires: [["status"]] }),
        code("status", "msg.statusCode = 404; return msg;"),
        webhook("replies", "/replies", { ...twice, reply: "flow", wires: [["fails"]] }),
        request("fails", url("503"), ["says"]),
        code("says", "msg.statusCode = 404; return msg;", ["response"]),
        { id: "response", type: "http response", statusCode: "", headers: {}, wires: [] },
      );
      nodeRed = await NodeRed.start({ flow, besides: ["21-httprequest.js"] });
      shown = new ShownDeliveries(nodeRed);
    });
    after(async () => {
      await nodeRed.stop();
      for (const response of held) response.destroy();
      api.close();
      api.closeAllConnections();
    });

    /** What has become of a delivery, in the end. */
    async function post(id: string, body = ""): Promise<Detail & { replied: number }> {
      const { status } = await send(nodeRed.node(`/${id}`), {
        headers: { ...bearer, "X-Body": `${id}-${body}` },
        body,
      });
      const { id: delivery } = await shown.find(
        ({ state }) => state === "succeeded" || state === "failed",
        new URLSearchParams({ node: id, text: `x-body: ${id}-${body}` }).toString(),
      );
      return { ...(await shown.detail(delivery)), replied: status };
    }

    for (const [id, error] of [
      ["busy", /^call at-busy: HTTP 503$/],
      ["unknown", /^call at-unknown: HTTP 404$/],
      ["late", /^call at-late: ./],
      ["refused", /^call at-refused: .*ECONNREFUSED/],
      ["branches", /^call bad: HTTP 503$/],
      ["caught", /^call first: HTTP 503$/],
      ["list", /^call each: HTTP 503$/],
      ["older", /^call at-older: HTTP 503$/],
      ["tolerantRefused", /^call at-tolerantRefused: .*ECONNREFUSED/],
    ] as const) {
      it(`fails where the answer is an error or missing, and is retried: ${id}`, async () => {
        const { state, attempts } = await post(id);
        should([state, attempts.length]).eql(["failed", 2]);
        for (const attempt of attempts) should(attempt.error).match(error);
      });
    }

    for (const id of ["fine", "moved", "tolerant", "sets"]) {
      it(`succeeds at once where the answer is none, or may be one, or the flow has set it itself: ${id}`, async () => {
        const { state, attempts } = await post(id);
        should([state, attempts.length]).eql(["succeeded", 1]);
        should(attempts[0]).not.have.property("error");
      });
    }

    it("succeeds as soon as the API does", async () => {
      should(await post("busy", "recovers")).match({ state: "succeeded", attempt: 2, attempts: [{ error: "call at-busy: HTTP 503" }, {}] }); // prettier-ignore
    });

    it("has not failed by what it has replied itself, whatever an API has answered before", async () => {
      should(await post("replies")).match({ replied: 404, state: "succeeded", status: 404, attempt: 1 });
    });
  });
}
