import should from "should";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";

/** The editor has users, and whoever says a permission in the place of a token has it. */
const code = `adminAuth: {
  type: "credentials", users: [],
  tokens: async (permissions) => permissions === "none" ? null : { username: "somebody", permissions },
}`;

/** What each route answers to who may use it; in the place of `:id` stands the id of a delivery. */
const read: Record<string, number> = {
  deliveries: 200,
  "deliveries/:id": 200,
  "deliveries/nobody": 404,
  silent: 200,
  metrics: 200,
  "orders/standing": 200,
};
const written: Record<string, number> = {
  "deliveries/:id/replay": 200,
  "deliveries/nobody/replay": 404,
  "orders/test": 200,
  "orders/secret": 404,
};

describe("the admin API", () => {
  let nodeRed: NodeRed;
  let id: string;
  before(async () => {
    nodeRed = await NodeRed.start({ flow: tab(webhook("orders", "/orders")), code });
    ({ id } = (await send(nodeRed.node("/orders"), { headers: bearer })).json as { id: string });
  });
  after(() => nodeRed.stop());

  for (const [permissions, mayRead, mayWrite] of [
    ["*", true, true],
    ["read", true, false],
    ["write", false, true],
    ["webhook-trigger.read", true, false],
    ["webhook-trigger.write", false, true],
    ["flows.read", false, false],
    ["flows.write", false, false],
    ["status.read", false, false],
    ["none", false, false],
  ] as const) {
    it(`is ${mayRead ? "" : "not "}read and ${mayWrite ? "" : "not "}used by a user with the permission: ${permissions}`, async () => {
      const headers = { Authorization: `Bearer ${permissions}`, "Content-Type": "application/json" };
      const call = async (method: string, path: string) =>
        (await send(nodeRed.admin(`/webhook-trigger/${path.replace(":id", id)}`), { method, headers })).status;
      for (const [path, status] of Object.entries(read)) {
        should([path, await call("GET", path)]).eql([path, mayRead ? status : 401]);
      }
      for (const [path, status] of Object.entries(written)) {
        should([path, await call("POST", path)]).eql([path, mayWrite ? status : 401]);
      }
    });
  }
});
