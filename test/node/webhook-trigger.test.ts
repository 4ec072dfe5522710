import should from "should";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { NodeAPI, NodeMessage } from "node-red";
import helper from "node-red-node-test-helper";
import { defaults } from "../../src/config/fields";
import webhookTrigger from "../../nodes/webhook-trigger";
import { bearer, token } from "../harness/flow";
import { send } from "../harness/http";
import { nodeRedFolder } from "../harness/node-red";

/** Under the helper, texts are their keys: what is seen here is the node itself, without packaging or catalogs. */
describe("the webhook-trigger node", () => {
  let server: Server | undefined;
  let origin: string;
  const withServer = (RED: NodeAPI) => {
    webhookTrigger(RED);
    server = createServer(RED.httpNode).listen(0, "127.0.0.1");
  };
  const load = async (fields: Record<string, unknown>, credentials: Record<string, string> = { token }) => {
    const node = { id: "webhook", type: "webhook-trigger", ...defaults, relativePath: "/hook", ...fields };
    await helper.load(
      withServer,
      [
        { ...node, wires: [["next"]] },
        { id: "next", type: "helper" },
      ],
      { webhook: credentials },
    );
    if (server && !server.listening) await once(server, "listening");
    origin = `http://127.0.0.1:${(server?.address() as AddressInfo).port}`;
    return helper.getNode("webhook");
  };
  const nextMessage = async () => {
    const [message] = (await once(helper.getNode("next"), "input")) as [NodeMessage & { req: unknown }];
    return message;
  };

  before(async () => {
    helper.init(nodeRedFolder);
    await helper.startServer();
  });
  afterEach(async () => {
    await helper.unload();
    server?.close();
  });
  after(() => helper.stopServer());

  it("sends one message with the payload, the request and the id of the reply", async () => {
    await load({});
    const message = nextMessage();
    const reply = await send(`${origin}/hook`, { headers: bearer, body: "x" });
    should(await message).have.properties({ _msgid: reply.json.id, payload: "x" });
  });

  it("keeps its credentials out of what it was saved with", async () => {
    const node = await load({});
    should(JSON.stringify(Object.entries(node).filter(([key]) => key !== "credentials"))).not.containEql(token);
  });

  it("shows how many requests it accepted and refused", async () => {
    const node = await load({});
    const statuses: unknown[] = [];
    const seen = new Promise<void>((resolve) => {
      node.status = (status) => {
        statuses.push(status);
        if (JSON.stringify(status).includes("openRefusing")) resolve();
      };
    });
    await send(`${origin}/hook`, { headers: bearer });
    await send(`${origin}/hook`);
    await seen;
    statuses.at(-1)?.should.have.properties({ fill: "green", shape: "dot" });
  });

  it("stays closed without a token", async () => {
    await load({}, {});
    (await send(`${origin}/hook`, { headers: bearer })).status.should.equal(404);
  });

  it("closes its endpoint with itself", async () => {
    await load({});
    (await send(`${origin}/hook`, { headers: bearer })).status.should.equal(200);
    await helper.getNode("webhook").close(false);
    (await send(`${origin}/hook`, { headers: bearer })).status.should.equal(404);
  });
});
