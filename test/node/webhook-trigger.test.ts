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
  const load = async () => {
    const node = { id: "webhook", type: "webhook-trigger", ...defaults, relativePath: "/hook", wires: [["next"]] };
    await helper.load(withServer, [node, { id: "next", type: "helper" }], { webhook: { token } });
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
    await load();
    const message = nextMessage();
    const reply = await send(`${origin}/hook`, { headers: bearer, body: "x" });
    should(await message).have.properties({ _msgid: reply.json.id, payload: "x" });
  });

  it("keeps its credentials out of what it was saved with", async () => {
    const node = await load();
    should(JSON.stringify(Object.entries(node).filter(([key]) => key !== "credentials"))).not.containEql(token);
  });
});
