import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import "should";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

const secret = "It's a Secret to Everybody";
const flow = tab(
  webhook("hook", "/hook"),
  webhook("signed", "/signed", { verificationMethod: "signature", sender: "github", credentials: { secret } }),
);
const settings = { httpAdminRoot: "/", httpNodeRoot: "/" };
const mount = "app.use(settings.httpAdminRoot, RED.httpAdmin); app.use(settings.httpNodeRoot, RED.httpNode);";

/** Node 24.9 or later. */
const mayDecline = "shouldUpgradeCallback" in createServer();

/** What a host has otherwise than this package knows it, the line about it, and the status of a signed request. */
const rows = [
  ["the usual parts", mount, undefined, 200],
  ["a router around Node-RED", "const router = express.Router(); router.use(settings.httpAdminRoot, RED.httpAdmin); router.use(settings.httpNodeRoot, RED.httpNode); app.use(router);", /\[warn\] Requests are not held during a deploy: /, 500],
  ["body parsers with other names", `${mount} for (const layer of RED.httpAdmin._router.stack) if (/Parser$/.test(layer.name)) layer.name = "parse";`, /\[warn\] Signed requests with JSON or a form are refused: /, 500],
  ["no way to decline upgrades", `${mount} server.shouldUpgradeCallback = undefined;`, /\[warn\] Requests that also offer HTTP\/2 get no reply: /, 200],
] as const; // prettier-ignore

describe("a host application with", () => {
  for (const [name, host, line, signed] of rows.filter(([name]) => mayDecline || !name.includes("upgrades"))) {
    it(`${name} is served, and the log says what is not done`, async () => {
      const nodeRed = await NodeRed.start({ flow, settings, host });
      try {
        const post = async (path: string, headers: Record<string, string>) =>
          (await send(nodeRed.node(path), { headers: { "Content-Type": "application/json", ...headers }, body: '{"a":1}' })).status; // prettier-ignore
        (await post("/hook", bearer)).should.equal(200);
        (await post("/hook", {})).should.equal(401);
        const signature = `sha256=${createHmac("sha256", secret).update('{"a":1}').digest("hex")}`;
        (await post("/signed", { "X-Hub-Signature-256": signature })).should.equal(signed);
        (await post("/signed", { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` })).should.be.oneOf(401, 500);
        const lines = nodeRed.log.match(/\[warn\] (?:Requests|Endpoints|Signed requests) .*/g) ?? [];
        lines.length.should.equal(line ? 1 : 0, lines.join("\n"));
        if (line) nodeRed.log.should.match(line);
      } finally {
        await nodeRed.stop();
      }
    });
  }
});
