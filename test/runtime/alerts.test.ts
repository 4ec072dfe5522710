import should from "should";
import type { Alert } from "../../src/admin/alert";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, token, webhook } from "../harness/flow";
import { endHeld, guaranteed, storeIn } from "../harness/guaranteed";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { until } from "../harness/until";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

const second = "ABCDEFGHIJ".repeat(4);
/** Some three seconds. */
const hours = 0.0008;
const watch = (id: string, fields: object) => ({ id, type: "webhook-watch", scope: null, events: [], wires: [[`${id}-sink`]], ...fields }); // prettier-ignore
const sinks = ["all", "some", "none", "failing"].map((id) => ({ id: `${id}-sink`, type: "sink", wires: [] }));

const flow = tab(
  webhook("quiet", "/quiet", { alertWhenSilent: hours }),
  webhook("plain", "/plain", { name: "Shop", credentials: { token, secondToken: second }, wires: [["thrower"]] }),
  { id: "thrower", type: "function", func: "throw new Error('no order')", outputs: 1, libs: [], wires: [[]] },
  ...guaranteed("kept", { attempts: 1 }),
  watch("all", {}),
  watch("some", { scope: ["plain"], events: ["refusals", "silent"] }),
  watch("none", { scope: [] }),
  // Its own flow fails, which is no alert.
  watch("failing", { events: ["delivery-failed"], wires: [["failing-sink", "thrower"]] }),
  ...sinks,
);

/** The alerts that a watch has sent, in order. */
function alertsOf(nodeRed: NodeRed, id: string): Alert[] {
  const ours = nodeRed.messages.filter(({ sink }) => sink === `${id}-sink`);
  for (const { topic, payload } of ours) should((payload as Alert).event).equal(topic);
  return ours.map(({ payload }) => payload as Alert);
}

if (serverIsHere) {
  describe("a webhook watch", () => {
    let server: ValkeyServer;
    let nodeRed: NodeRed;
    before(async () => {
      server = await ValkeyServer.start();
      nodeRed = await NodeRed.start({ flow, ...storeIn(server).options, plugin: moduleOf("hold") });
    });
    after(async () => {
      await nodeRed.stop();
      await server.stop();
    });

    const post = (path: string, value = token) =>
      send(nodeRed.node(path), { headers: { ...bearer, Authorization: `Bearer ${value}` }, body: "{}" });
    const raised = (event: Alert["event"], node: string | undefined) =>
      nodeRed.until(
        () => alertsOf(nodeRed, "all").find((each) => each.event === event && each.node === node),
        `the alert ${event} of ${node}`,
      );

    it("sends a message when a delivery has failed for good, and none when its own flow fails", async () => {
      const { json } = await post("/plain");
      const { at, ...failed } = await raised("delivery-failed", "plain");
      should(at).be.within(Date.now() - 60_000, Date.now());
      should(failed).match({
        ...{ name: "Shop", path: "/plain", delivery: json.id, event: "delivery-failed" },
        ...{ reason: "function: no order", fix: /replay/i },
      });
      await post("/kept").then((kept) => nodeRed.message(kept.json.id));
      await endHeld(nodeRed, "kept", "no stock");
      should((await raised("delivery-failed", "kept")).reason).match(/no stock/);
      await until(() => alertsOf(nodeRed, "failing").length === 2, "both failures");
      alertsOf(nodeRed, "all")
        .filter(({ event }) => event === "delivery-failed")
        .length.should.equal(2);
    });

    it("sends one when a webhook is silent, and when requests arrive again", async () => {
      should(await raised("silent", "quiet")).match({ path: "/quiet", reason: /0\.0008 h/, fix: /sender/ });
      await post("/quiet");
      await raised("heard", "quiet");
    });

    it("sends one when a node is paused and resumed", async () => {
      for (const [act, event] of [
        ["pause", "paused"],
        ["resume", "resumed"],
      ] as const) {
        (await send(nodeRed.admin(`/webhook-trigger/kept/${act}`))).status.should.equal(204);
        await raised(event, "kept");
      }
    });

    it("sends one when the second token is used, and when many requests are refused", async () => {
      await post("/plain", second);
      await raised("second-credential", "plain");
      for (let each = 0; each < 12; each++) await post("/plain", "x".repeat(40));
      should((await raised("refusals", "plain")).reason).match(/^10 .*401/);
    });

    it("sends one when the store is away, with a flow that is not stored, and one when it is back", async () => {
      await server.stop();
      await raised("store-down", undefined);
      (await post("/kept")).status.should.equal(503);
      await server.restart();
      await raised("store-up", undefined);
      for (const event of ["store-down", "store-up"])
        alertsOf(nodeRed, "all")
          .filter((each) => each.event === event)
          .length.should.equal(1, event);
    });

    it("tells of the chosen nodes and events only, and never of a secret", () => {
      alertsOf(nodeRed, "some")
        .map(({ event }) => event)
        .should.eql(["refusals"]);
      alertsOf(nodeRed, "none").should.eql([]);
      const told = JSON.stringify(alertsOf(nodeRed, "all"));
      for (const secret of [token, second]) told.should.not.containEql(secret);
    });
  });
}
