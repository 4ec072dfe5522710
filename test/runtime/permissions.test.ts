import should from "should";
import { settingsOf } from "../harness/fixtures";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";

/** What each route answers to who may use it; in the place of `:id` stands the id of a delivery. */
const read: Record<string, number> = {
  deliveries: 200,
  "deliveries/:id": 200,
  "deliveries/nobody": 404,
  failures: 200,
  session: 200,
  nodes: 200,
  changes: 200,
  silent: 200,
  metrics: 200,
  "orders/lastRequest": 200,
};
const written: Record<string, number> = {
  "deliveries/:id/replay": 200,
  "deliveries/nobody/replay": 404,
  // It names no group.
  "failures/replay": 400,
  "orders/test": 200,
  "orders/secret": 404,
};

describe("the admin API", () => {
  const nodeRed = useNodeRed({ flow: tab(webhook("orders", "/orders")), code: settingsOf("admin-tokens") });
  let id: string;
  before(async () => {
    ({ id } = (await send(nodeRed().node("/orders"), { headers: bearer })).json as { id: string });
  });

  it("is read and written with the permissions for that, and with no others", async () => {
    for (const [permission, mayRead, mayWrite] of [
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
      const headers = { Authorization: `Bearer ${permission}`, "Content-Type": "application/json" };
      const statuses = async (method: string, routes: Record<string, number>) => {
        const call = (path: string) => send(nodeRed().admin(`/webhook-trigger/${path.replace(":id", id)}`), { method, headers }); // prettier-ignore
        const all = Object.keys(routes).map(async (path) => [path, (await call(path)).status] as const);
        return Object.fromEntries(await Promise.all(all));
      };
      const expected = (routes: Record<string, number>, isAllowed: boolean) =>
        isAllowed ? routes : Object.fromEntries(Object.keys(routes).map((path) => [path, 401]));
      should(await statuses("GET", read)).eql(expected(read, mayRead), permission);
      should(await statuses("POST", written)).eql(expected(written, mayWrite), permission);
    }
  });
});
