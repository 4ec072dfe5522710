import { mkdirSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import type { Alert } from "../../src/admin/alerts";
import { sqliteIsHere } from "../../src/config/stores";
import type { WatchEvent } from "../../src/config/watch";
import { putForward, withClock } from "../harness/clock";
import { callers, callerToken } from "../harness/callers";
import { moduleOf } from "../harness/fixtures";
import { bearer, tab, token, webhook } from "../harness/flow";
import { endHeld, guaranteed, storeIn } from "../harness/guaranteed";
import { command, send } from "../harness/http";
import { coreNodesOf, type Flow, NodeRed, type Options, type Received } from "../harness/node-red";
import { temporaryFolder } from "../harness/package";
import { serverIsHere, ValkeyServer } from "../harness/valkey";

/** A watch, with a sink of the same name. */
const watch = (id: string, fields: Record<string, unknown> = {}) => [
  { id, type: "webhook-watch", name: "", scope: null, events: null, wires: [[`${id}-sink`]], ...fields },
  { id: `${id}-sink`, type: "sink", wires: [] },
];
const failing = (id: string) => ({ id, type: "function", func: "throw new Error(`no ${msg.payload}`);", outputs: 1, wires: [[]] }); // prettier-ignore

/** What a watch has sent. */
class Heard {
  constructor(
    private readonly nodeRed: () => NodeRed,
    private readonly id = "all",
  ) {}

  get messages(): (Received & { payload: Alert })[] {
    const own = this.nodeRed().messages.filter(({ sink }) => sink === `${this.id}-sink`);
    return own as (Received & { payload: Alert })[];
  }

  /** The events, each with the node that it is about. */
  get events(): string[] {
    return this.messages.map(({ payload: { event, node = "" } }) => `${event} ${node}`.trim());
  }

  async alert(event: WatchEvent, count = 1): Promise<Alert> {
    const find = () => this.messages.filter(({ topic }) => topic === event)[count - 1]?.payload;
    return this.nodeRed().until(find, `${event} number ${count} of ${this.id}`);
  }
}

const sentence = (text: string) => `${text}.`;
const by = (caller: string) => ({ Authorization: `Bearer ${callerToken(caller)}` });

describe("a webhook watch", () => {
  let nodeRed: NodeRed;
  let shared: NodeRed | undefined;
  const heard = (id?: string) => new Heard(() => nodeRed, id);
  /** Tests that differ by their flow alone share one Node-RED. */
  const deploy = async (flow: Flow) => {
    shared ??= await NodeRed.start({ only: coreNodesOf([failing("any")]) });
    await shared.deploy(flow);
    shared.messages.splice(0);
    nodeRed = shared;
  };
  const start = async (options: Options) => {
    nodeRed = await NodeRed.start({ plugin: moduleOf("hold"), ...options });
  };
  afterEach(() => (nodeRed === shared ? undefined : nodeRed.stop()));
  after(() => shared?.stop());
  const post = async (path: string, headers: Record<string, string> = bearer, body = "{}") =>
    send(nodeRed.node(path), { headers: { ...headers, "Content-Type": "text/plain" }, body });

  it("sends what has failed without guaranteed delivery, and hears nothing of its own flow, though that fails", async () => {
    await deploy(
      tab(
        webhook("shop", "/shop", {
          name: `Shop ${token}`,
          credentials: { token, ...callers(`<b> ${token}`) },
          wires: [["shop-flow"]],
        }),
        failing("shop-flow"),
        ...watch("all"),
        ...watch("loop", { wires: [["loop-sink", "loop-flow"]] }),
        failing("loop-flow"),
        webhook("answering", "/answering", { credentials: callers("Door 1"), reply: "flow", wires: [["500"]] }),
        { id: "500", type: "http response", statusCode: "500", headers: {}, wires: [] },
      ),
    );
    const { json } = await post("/shop", by(`<b> ${token}`), token);
    const before = Date.now();
    const { at, ...alert } = await heard().alert("delivery-failed");
    at.should.be.within(before - 60_000, Date.now());
    should(alert).eql({
      ...{
        event: "delivery-failed",
        node: "shop",
        name: "Shop [redacted]",
        path: "/shop",
        caller: "<b> [redacted]",
        delivery: json.id,
      },
      ...{
        link: `/webhook-trigger/#${String(json.id)}`,
        reason: "function: no [redacted]",
        fix: sentence(catalog.fix.flow),
      },
    });
    (await post("/answering", by("Door 1"))).status.should.equal(500);
    should(await heard().alert("delivery-failed", 2)).containEql({
      node: "answering",
      caller: "Door 1",
      reason: "HTTP 500",
    });
    await heard("loop").alert("delivery-failed", 2);
    await nodeRed.logged(/no \[object Object\][^]*no \[object Object\]/);
    // Whatever they might bring about has been told by the time that a later alert is.
    await post("/shop");
    should(await heard("loop").alert("delivery-failed", 3)).not.have.property("caller");
    heard("loop").events.should.eql(["delivery-failed shop", "delivery-failed answering", "delivery-failed shop"]);
    for (const { _msgid } of heard().messages) should(_msgid).not.equal(json.id);
  });

  it("sends what is refused ten times a minute, once in ten minutes, and what is silent and heard again", async () => {
    const hours = 24;
    await start({
      flow: tab(
        ...["shop", "other"].map((id) => webhook(id, `/${id}`)),
        webhook("rare", "/rare", { alertWhenSilent: hours }),
        webhook("doors", "/doors", {
          alertWhenSilent: hours + 1,
          alertPerCaller: true,
          credentials: callers("one", "two"),
        }),
        ...watch("all"),
        ...watch("quiet", { events: ["silent"] }),
      ),
      env: withClock,
    });
    const refuse = async (count: number, path = "/shop", headers: Record<string, string> = {}) => {
      for (let sent = 0; sent < count; sent++) (await post(path, headers)).status.should.equal(401);
    };
    const reasonOf = (problem: "tokenMissing" | "tokenInvalid") =>
      catalog.alert.reason.refusals
        .replace("__count__", "10")
        .replace("__refused__", `${catalog.refused[problem]} (401)`);
    await putForward(nodeRed, 0);
    await refuse(9);
    await putForward(nodeRed, 61_000);
    await refuse(9);
    await refuse(9, "/other");
    heard().events.should.eql([]);
    await refuse(1, "/shop", { Authorization: "Bearer wrong" });
    should(await heard().alert("refusals")).containEql({
      ...{ event: "refusals", node: "shop", path: "/shop", link: "/webhook-trigger/#?node=shop&state=refused" },
      ...{ reason: reasonOf("tokenMissing"), fix: sentence(catalog.fix.tokenMissing) },
    });
    await putForward(nodeRed, 599_000);
    await refuse(20);
    await putForward(nodeRed, 1000);
    await refuse(4);
    await refuse(6, "/shop", { Authorization: "Bearer wrong" });
    should(await heard().alert("refusals", 2)).containEql({ reason: reasonOf("tokenInvalid") });
    heard().events.should.eql(["refusals shop", "refusals shop"]);

    await putForward(nodeRed, hours * 3_600_000);
    const silent = await heard().alert("silent");
    should(silent).containEql({ node: "rare", path: "/rare", fix: sentence(catalog.alert.fix.silent) });
    silent.reason.should.match(/since \d{4}-\d\d-\d\dT.* 24 h\)/);
    await post("/rare");
    should(await heard().alert("heard")).containEql({ node: "rare", link: "/webhook-trigger/#?node=rare", reason: catalog.alert.reason.heard }); // prettier-ignore
    heard("quiet").events.should.eql(["silent rare"]);

    await putForward(nodeRed, 2_500_000);
    await post("/doors", by("one"));
    await putForward(nodeRed, 600_000);
    const door = { node: "doors", path: "/doors", caller: "two" };
    should(await heard().alert("silent", 2)).containEql({ ...door, fix: sentence(catalog.alert.fix.silent) });
    await post("/doors", by("two"));
    const reason = catalog.alert.reason.callerHeard.replace("__caller__", "two");
    should(await heard().alert("heard", 2)).containEql({ ...door, reason });
    heard("quiet").events.should.eql(["silent rare", "silent doors"]);
  });

  it("sends that a second password was used, once for each deploy of its node", async () => {
    const credentials = { user: "sensor", password: "old", secondPassword: "new" };
    const flow = tab(webhook("shop", "/shop", { verificationMethod: "basic", credentials }), ...watch("all"));
    await deploy(flow);
    const use = async () => {
      for (const each of ["old", "new", "new"]) {
        (await post("/shop", { Authorization: `Basic ${btoa(`sensor:${each}`)}` })).status.should.equal(200);
      }
    };
    await use();
    should(await heard().alert("second-credential")).containEql({
      ...{ node: "shop", path: "/shop", reason: catalog.alert.reason["second-credential"] },
      fix: sentence(catalog.alert.fix["second-credential"]),
    });
    await nodeRed.deploy(flow);
    await use();
    await heard().alert("second-credential", 2);
    heard().events.should.have.length(2);
  });

  it("sends a day before a subscription ends, unless the sender has said that it was renewed", async () => {
    const [hour, day] = [3_600_000, 86_400_000];
    const graph = { verificationMethod: "signature", sender: "microsoft-graph", credentials: { secret: token } };
    const flow = tab(
      webhook("mail", "/mail", { ...graph, events: ["created"] }),
      webhook("gone", "/gone", graph),
      webhook("google", "/google"),
      ...watch("all"),
    );
    await start({ flow, env: withClock });
    await putForward(nodeRed, 0);
    const begin = Date.now();
    const at = (milliseconds: number) => new Date(begin + milliseconds).toISOString();
    const notify = async (ends: Record<string, unknown>, path = "/mail", clientState = token) => {
      const value = Object.entries(ends).map(([subscriptionId, end]) => {
        return { clientState, subscriptionId, subscriptionExpirationDateTime: end, changeType: "updated" };
      });
      const headers = { "Content-Type": "application/json" };
      return (await send(nodeRed.node(path), { headers, body: JSON.stringify({ value }) })).status;
    };
    const expect = async (ends: number[]) => {
      if (ends.length > 0) await heard().alert("subscription-expiring", ends.length);
      const reasons = heard().messages.map(({ payload: { reason } }) => reason);
      const said = catalog.alert.reason["subscription-expiring"];
      reasons.should.eql(ends.map((end) => said.replace("__time__", at(end))));
    };
    (await notify({ stranger: at(7 * day) }, "/mail", "another")).should.equal(401);
    (await notify({ stranger: at(8 * day) }, "/gone")).should.equal(200);
    const odd = { soon: "soon", missing: undefined, old: at(-day), ["long".repeat(51)]: at(5 * day) };
    (await notify(odd)).should.equal(200);
    (await notify({ one: at(7 * day), renewed: at(7 * day), short: at(4 * hour) })).should.equal(200);
    await nodeRed.deploy(flow.filter(({ id }) => id !== "gone"));
    await putForward(nodeRed, 2.9 * hour);
    await expect([]);
    await putForward(nodeRed, 0.2 * hour);
    await expect([4 * hour]);
    (await notify({ renewed: at(14 * day) })).should.equal(200);
    // The sender repeats a request that came before.
    (await notify({ renewed: at(7 * day) })).should.equal(200);
    await putForward(nodeRed, 6 * day - 3.2 * hour);
    await expect([4 * hour]);
    await putForward(nodeRed, 0.2 * hour);
    await expect([4 * hour, 7 * day]);
    (await notify({ one: at(7 * day) })).should.equal(200);
    await putForward(nodeRed, 6.9 * day);
    await expect([4 * hour, 7 * day]);
    await putForward(nodeRed, 0.2 * day);
    await expect([4 * hour, 7 * day, 14 * day]);
    should(heard().messages[0]?.payload).containEql({
      ...{ event: "subscription-expiring", node: "mail", path: "/mail" },
      fix: sentence(catalog.alert.fix["subscription-expiring"]),
    });
    // More than are remembered; the last one is not.
    for (let batch = 0; batch < 11; batch++) {
      const ends = Array.from({ length: 100 }, (_, index) => [`${batch}-${index}`, at(20 * day + batch)]);
      (await notify(Object.fromEntries(ends) as Record<string, string>)).should.equal(200);
    }
    await putForward(nodeRed, 6 * day);
    await heard().alert("subscription-expiring", 1002);
    heard().messages.should.have.length(1002);
    for (const end of [26 * day, 30 * day]) {
      const expiry = new Date(begin + end).toUTCString();
      const headers = { ...bearer, "X-Goog-Resource-ID": "calendar", "X-Goog-Channel-Expiration": expiry };
      (await send(nodeRed.node("/google"), { headers })).status.should.equal(200);
    }
    await putForward(nodeRed, 10 * day);
    await heard().alert("subscription-expiring", 1003);
    should(heard().messages[1002]?.payload).match({ node: "google", reason: /expires at \d{4}-/ });
  });

  it("hears its triggers alone, whichever may be missing, and in a subflow those of the same instance", async () => {
    const instance = (id: string) => [
      { id, type: "subflow:sub", env: [{ name: "PLACE", type: "str", value: `/${id}` }], wires: [[`${id}-sink`], [`${id}-both-sink`]] },
      ...["", "-both"].map((suffix) => ({ id: `${id}${suffix}-sink`, type: "sink", wires: [] })),
    ]; // prettier-ignore
    const inSubflow = { z: "sub", name: "", type: "webhook-watch", events: null, wires: [] };
    await deploy([
      {
        ...{ id: "sub", type: "subflow", name: "Sub", in: [], env: [] },
        out: ["one-id", "two-ids"].map((id) => ({ wires: [{ id, port: 0 }] })),
      },
      { ...inSubflow, id: "one-id", scope: ["inner"] },
      { ...inSubflow, id: "two-ids", scope: ["inner", "gone"] },
      webhook("inner", "${PLACE}", { z: "sub", wires: [["inner-flow"]] }),
      { ...failing("inner-flow"), z: "sub" },
      ...tab(
        ...["shop", "other"].map((id) => webhook(id, `/${id}`, { wires: [["failing"]] })),
        webhook("off", "/off", { d: true }),
        failing("failing"),
        ...instance("a"),
        ...instance("b"),
        ...watch("all"),
        ...watch("chosen", { scope: ["other", "gone", "off", "group"] }),
        ...watch("outside", { scope: ["inner"] }),
        ...watch("none", { scope: [] }),
        ...watch("nothing", { events: [] }),
        ...watch("paused", { events: ["paused", "of another version"] }),
        ...watch("odd", { scope: { a: 1 }, events: 7 }),
        { id: "group", type: "group", nodes: [] },
      ),
    ]);
    for (const path of ["/shop", "/other", "/a", "/b"]) (await post(path)).status.should.equal(200);
    const expected = {
      ...{ all: ["/shop", "/other", "/a", "/b"], chosen: ["/other"], outside: ["/a", "/b"] },
      ...{ a: ["/a"], "a-both": ["/a"], b: ["/b"], "b-both": ["/b"], none: [], nothing: [], paused: [], odd: [] },
    };
    for (const [id, { length }] of Object.entries(expected))
      if (length) await heard(id).alert("delivery-failed", length);
    for (const [id, paths] of Object.entries(expected)) {
      heard(id)
        .messages.map(({ payload: { path } }) => path)
        .should.eql(paths, id);
    }
  });

  if (sqliteIsHere()) {
    it("sends what failed for good, and pauses and resumptions by persons and by the circuit breaker", async () => {
      const settings = { webhookTriggerStore: { type: "sqlite", folder: temporaryFolder("watch") } };
      const flow = tab(...guaranteed("shop", { attempts: 1, breaker: 2 }), ...watch("all"));
      await start({ flow, settings });
      const fail = async () => {
        const { json } = await post("/shop");
        await nodeRed.message(json.id);
        await endHeld(nodeRed, "shop", "no");
        return json.id;
      };
      const act = async (what: "pause" | "resume") =>
        (await command(nodeRed.admin(`/webhook-trigger/shop/${what}`))).status.should.equal(204);
      const delivery = await fail();
      const node = { node: "shop", path: "/shop" };
      should(await heard().alert("delivery-failed")).containEql({
        ...node,
        ...{ delivery, reason: "hold: no", fix: sentence(catalog.fix.flow) },
      });
      await fail();
      should(await heard().alert("paused")).containEql({
        ...node,
        reason: catalog.alert.reason.paused.breaker,
        fix: sentence(catalog.alert.fix.paused),
      });
      await act("resume");
      should(await heard().alert("resumed")).containEql({ ...node, reason: catalog.alert.reason.resumed });
      await act("pause");
      await act("pause");
      should(await heard().alert("paused", 2)).containEql({
        ...node,
        reason: catalog.alert.reason.paused.manual,
        fix: sentence(catalog.alert.fix.paused),
      });
      // The flows are restarted just before the alert reaches the next node.
      await nodeRed.interruptNextDelivery();
      await act("resume");
      await heard().alert("resumed", 2);
      heard().events.filter((event) => /paused|resumed/.test(event)).should.eql(
        ["paused", "resumed", "paused", "resumed"].map((event) => `${event} shop`),
      ); // prettier-ignore
      // What was paused before the start is no news.
      await act("pause");
      await heard().alert("paused", 3);
      const { userDir } = nodeRed;
      await nodeRed.stop();
      await start({ flow, settings, userDir });
      await nodeRed.status("shop", /paused/);
      heard().events.should.eql([]);
    });

    it("sends once that the store is away, from the start on and over deploys, and once that it is back", async () => {
      const folder = join(temporaryFolder("watch"), "deliveries");
      const settings = { webhookTriggerStore: { type: "sqlite", folder } };
      const flow = tab(
        ...["shop", "other"].flatMap((id) => guaranteed(id)),
        webhook("usual", "/usual"),
        ...watch("all"),
        ...watch("chosen", { scope: ["shop", "other"] }),
        ...watch("unconcerned", { scope: ["usual"] }),
        { id: "slow", type: "slow", wires: [] },
      );
      await start({ flow, settings });
      const { at: _, ...down } = await heard().alert("store-down");
      should(down).eql({
        event: "store-down",
        reason: catalog.status.store.unreachable,
        fix: sentence(catalog.alert.fix.store.unreachable),
      });
      (await post("/shop")).status.should.equal(503);
      const endDeploy = await nodeRed.beginDeploy(flow);
      // It comes back while the watch is being restarted.
      mkdirSync(folder);
      await nodeRed.logged(new RegExp(catalog.store.restored));
      await endDeploy();
      const { at: __, ...up } = await heard().alert("store-up");
      should(up).eql({ event: "store-up", reason: catalog.store.restored });
      (await post("/shop")).status.should.equal(200);
      await heard("chosen").alert("store-up");
      for (const id of ["all", "chosen"]) heard(id).events.should.eql(["store-down", "store-up"], id);
      heard("unconcerned").events.should.eql([]);
    });
  }

  if (serverIsHere) {
    it("sends on each instance that the server is away and back, and what another instance has paused", async () => {
      const server = await ValkeyServer.start();
      const flow = tab(...guaranteed("shop", { attempts: 1 }), ...watch("all"));
      const options = { flow, ...storeIn(server).options };
      await start(options);
      const other = await NodeRed.start({ plugin: moduleOf("hold"), ...options });
      try {
        const both = [heard(), new Heard(() => other)];
        (await command(other.admin("/webhook-trigger/shop/pause"))).status.should.equal(204);
        for (const each of both) await each.alert("paused");
        await server.kill();
        for (const each of both) should((await each.alert("store-down")).reason).match(/cannot be reached$/);
        await server.restart();
        for (const each of both) await each.alert("store-up");
        (await command(nodeRed.admin("/webhook-trigger/shop/resume"))).status.should.equal(204);
        for (const each of both) await each.alert("resumed");
        const id = (await post("/shop")).json.id;
        const had = await Promise.race([nodeRed.message(id).then(() => nodeRed), other.message(id).then(() => other)]);
        await endHeld(had, "shop", "no");
        // One of them has had it, and tells.
        await new Heard(() => had).alert("delivery-failed");
        for (const each of both) {
          each.events.slice(0, 4).should.eql(["paused shop", "store-down", "store-up", "resumed shop"]);
        }
      } finally {
        await other.stop();
        await server.stop();
      }
    });
  }
});
