// The node: its configuration in, its endpoint open, its endpoint closed.

import type { Node, NodeAPI, NodeDef } from "node-red";
import { parseBaseUrl } from "../src/config/base-url";
import { credentialNames, type SavedCredentials, type SavedFields } from "../src/config/fields";
import type { Roots } from "../src/config/roots";
import { parseConfig } from "../src/config/parse";
import type { Delivery } from "../src/deliveries/delivery";
import { Guarding } from "../src/deliveries/guard";
import { MemoryRepeats } from "../src/deliveries/memory-repeats";
import { Endpoints } from "../src/endpoints";
import { Recorder } from "../src/recorder";
import type { Breach } from "../src/config/rules";
import type { Endpoint } from "../src/endpoint";
import { trustsEveryProxy } from "../src/http/client-address";
import { gateOf } from "../src/trust/gates";
import { isSenderId, senders } from "../src/trust/senders/table";
import { type LimitServices, MemoryRateCounter } from "../src/trust/limits";
import { Completion } from "./runtime/completion";
import { ConfiguredPaths } from "./runtime/configured";
import { Deploys } from "./runtime/deploys";
import { Door } from "./door/door";
import { Elsewhere, type Surveyed } from "./door/elsewhere";
import { Failures } from "./runtime/failures";
import { listenToErrors } from "./runtime/flow-errors";
import { bodyLimitOf, isMiddlewareBroken, rootsOf, settingsOf } from "./runtime/host";
import { durabilityOf } from "./runtime/durable";
import { endpointOf, lotOf, type Parts } from "./runtime/endpoint";
import { Metrics } from "./runtime/metrics";
import { OpenedNodes } from "./runtime/opened";
import { Replays } from "./runtime/replays";
import { Report } from "./runtime/report";
import { ShownDeliveries } from "./runtime/shown-deliveries";
import { Silences } from "./runtime/silence";
import { Standings } from "./runtime/standings";
import { Storehouse } from "./runtime/storehouse";
import { Traffic } from "./runtime/traffic";
import { Trials } from "./runtime/trials";

type WebhookTriggerNode = Node<SavedCredentials>;

/** Core's `http in` nodes do not open then, either. */
const brokenMiddleware: Breach = { rule: "httpNodeMiddleware", value: "" };

/** What all nodes of the type have in common. */
interface Common {
  endpoints: Endpoints<Endpoint>;
  storehouse: Storehouse;
  completion: Completion;
  deploys: Deploys;
  opened: OpenedNodes;
  trials: Trials;
  traffic: Traffic;
  failures: Failures;
  limiting: LimitServices;
  guarding: Guarding;
  standings: Standings;
  silences: Silences;
  metrics: Metrics;
  roots: Roots;
  /** The address that callers use, where the settings file says it. */
  baseUrl: string | undefined;
  /** Missing where HTTP nodes are switched off. */
  door: Door | undefined;
  /** The most bytes that a body may have. */
  limit: number;
}

export = function webhookTrigger(RED: NodeAPI): void {
  const common = prepare(RED);
  const { webhookTriggerBaseUrl: baseUrl = "" } = settingsOf(RED);
  if (baseUrl !== "" && common.baseUrl === undefined) RED.log.warn(RED._("settings.baseUrl"));

  function WebhookTrigger(this: WebhookTriggerNode, saved: NodeDef & SavedFields): void {
    RED.nodes.createNode(this, saved);
    begin(RED, common, this, saved);
  }

  RED.nodes.registerType("webhook-trigger", WebhookTrigger, {
    credentials: Object.fromEntries(credentialNames.map((name) => [name, { type: "password" as const }])),
    settings: {
      webhookTriggerRoots: { value: common.roots, exportable: true },
      webhookTriggerBaseUrl: { value: "", exportable: true },
      webhookTriggerDeliveries: { value: {}, exportable: true },
      webhookTriggerDurable: { value: common.storehouse.keeping, exportable: true },
    },
  });
};

function prepare(RED: NodeAPI): Common {
  const configured = new ConfiguredPaths(RED);
  const endpoints = new Endpoints<Endpoint>((key) => configured.has(key));
  // Flows with a node of ours cannot run yet.
  if (!configured.needNothing) endpoints.hold();
  const roots = rootsOf(RED);
  const opened = new OpenedNodes(RED, endpoints);
  const storehouse: Storehouse = new Storehouse(RED, (id) => shown.seen(id));
  const deploys = new Deploys(RED, [storehouse, endpoints]);
  const limit = bodyLimitOf(RED);
  const traffic = new Traffic(RED);
  const stores = storehouse.shown;
  const shown = new ShownDeliveries(RED, { stores, traffic, replays: new Replays(RED, opened, deploys, limit) });
  const trials = new Trials(RED, endpoints, opened, stores);
  const isConfigured = (key: string) => configured.has(key);
  const note = (delivery: Delivery) => storehouse.note(delivery);
  const count = (node: string) => traffic.add(node, "refused");
  return {
    endpoints,
    storehouse,
    completion: new Completion(RED),
    deploys,
    opened,
    trials,
    traffic,
    failures: new Failures(storehouse.begun),
    limiting: { standIns: trials.standIns, counter: storehouse.rates ?? new MemoryRateCounter() },
    guarding: new Guarding(new MemoryRepeats()),
    standings: new Standings(RED),
    silences: new Silences(RED),
    metrics: new Metrics(RED),
    roots,
    baseUrl: parseBaseUrl(settingsOf(RED).webhookTriggerBaseUrl),
    door: roots.node === false ? undefined : doorOf(RED, endpoints, { isConfigured, note, count }),
    limit,
  };
}

/** What meets requests, and what notes those that have not got there. */
function doorOf(RED: NodeAPI, endpoints: Endpoints<Endpoint>, known: Omit<Surveyed, "endpoints" | "addressOf">): Door {
  const door = new Door(RED, endpoints);
  new Elsewhere(RED, { ...known, endpoints, addressOf: (request) => door.addressOf(request) }).watch();
  return door;
}

/** Opens the endpoint of a node, or tells why it stays closed. */
function begin(RED: NodeAPI, common: Common, node: WebhookTriggerNode, saved: SavedFields): void {
  const { opened, trials, metrics, roots, baseUrl, door, storehouse } = common;
  const report = new Report(node, RED._, metrics.of(node));
  const close = (breach: Breach) => {
    opened.note(node, breach);
    report.broken(breach);
  };
  if (!door) {
    opened.note(node, "switchedOff");
    return report.switchedOff();
  }

  const config = isMiddlewareBroken(RED) ? brokenMiddleware : parseConfig(saved, node.credentials, { roots, baseUrl });
  if ("rule" in config) return close(config);
  const breach = storehouse.breachOf(config.durable);
  if (breach) return close(breach);
  const gate = gateOf(config, node.id, trials.standIns);
  if ("rule" in gate) return close(gate);
  const row = isSenderId(config.sender) ? senders[config.sender] : undefined;
  const recorder = new Recorder(node.id, gate.secrecy, gate.scheme ?? row?.scheme, row?.id);
  open(RED, node, door, { ...common, config, gate, report, recorder });
}

/** All that the endpoint of a node is made of. */
type Whole = Common & Pick<Parts, "config" | "gate" | "report"> & { recorder: Recorder };

function open(RED: NodeAPI, node: WebhookTriggerNode, door: Door, whole: Whole): void {
  const { config, gate, report, recorder, endpoints, storehouse } = whole;
  const { path, durable } = config;
  const durability = durable || storehouse.hasKept ? durabilityOf(RED, node, whole) : undefined;
  const { custody, guarding = whole.guarding } = durability ?? {};
  const records = storehouse.recordsOf(recorder, path, durable);
  const endpoint = endpointOf(RED, node, { ...whole, guarding, custody, records });
  if (endpoint.limits && trustsEveryProxy(RED.httpNode)) node.warn(RED._("limits.trustsEveryProxy"));
  whole.opened.note(node, { node, config, endpoint, recorder });
  listenToErrors(node, whole.failures.heard);
  whole.standings.note(node, report);
  whole.metrics.describe(node, path, gate.secrecy);
  const watch = whole.silences.watch(node.id, { hours: config.expectEvery, store: storehouse.lastingOf(durable) });
  const [onTurn, onWait] = [() => report.open(path, lotOf(config), watch), () => report.waiting(path)];
  const place = endpoints.enter(path, { owner: node.id, endpoint, onTurn, onWait });
  const leave = door.open(path, endpoint);
  node.on("close", () => {
    leave();
    place.release();
    durability?.close();
    report.stop();
  });
}
