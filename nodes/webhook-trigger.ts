// The node: its configuration in, its endpoint open, its endpoint closed.

import type { Node, NodeAPI, NodeDef } from "node-red";
import { parseBaseUrl } from "../src/config/base-url";
import { credentialNames, type SavedCredentials, type SavedFields } from "../src/config/fields";
import type { Roots } from "../src/config/roots";
import { parseConfig } from "../src/config/parse";
import { Guarding } from "../src/deliveries/duplicate-guard";
import { MemoryDuplicates } from "../src/deliveries/memory-duplicates";
import { clientAddress, trustsEveryProxy } from "../src/http/express";
import { DeployGate } from "../src/http/deploy-gate";
import { EndpointRegistry } from "../src/http/endpoint-registry";
import { getMountPath } from "../src/http/express";
import { HttpFront } from "../src/http/front";
import { MissedRequests } from "../src/http/missed-requests";
import { Recorder } from "../src/recorder";
import { memoryBudget } from "../src/request/memory-budget";
import type { Breach } from "../src/config/rules";
import { gateOf } from "../src/trust/gates";
import { type LimitServices, MemoryRateCounter } from "../src/trust/limits";
import { Completion } from "./runtime/completion";
import { ConfiguredPaths } from "./runtime/configured";
import { Failures } from "./runtime/failures";
import { listenToErrors } from "./runtime/flow-errors";
import { bodyLimitOf, isMiddlewareBroken, memoryOf, middlewareOf, rootsOf, settingsOf } from "./runtime/host";
import { durabilityOf } from "./runtime/guaranteed";
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
  registry: EndpointRegistry;
  deployGate: DeployGate;
  storehouse: Storehouse;
  completion: Completion;
  /** Missing where HTTP nodes are switched off. */
  front: HttpFront | undefined;
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
  /** The most bytes that a body may have. */
  limit: number;
}

export = function webhookTrigger(RED: NodeAPI): void {
  const common = prepare(RED);
  const { webhookTriggerBaseUrl: baseUrl = "", webhookTriggerMemory } = settingsOf(RED);
  if (baseUrl !== "" && common.baseUrl === undefined) RED.log.warn(RED._("settings.baseUrl"));
  const memory = memoryOf(RED);
  if (memory !== undefined) memoryBudget.max = memory;
  else if (webhookTriggerMemory !== undefined) RED.log.warn(RED._("settings.memory"));

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
      webhookTriggerGuaranteed: { value: common.storehouse.keeping, exportable: true },
    },
  });
};

function prepare(RED: NodeAPI): Common {
  const configured = new ConfiguredPaths(RED);
  const registry = new EndpointRegistry();
  const deployGate = new DeployGate();
  const roots = rootsOf(RED);
  const opened = new OpenedNodes(RED, registry);
  const storehouse: Storehouse = new Storehouse(RED, (id) => shown.seen(id));
  const limit = bodyLimitOf(RED);
  const traffic = new Traffic(RED);
  const stores = storehouse.shown;
  const shown = new ShownDeliveries(RED, { stores, traffic, replays: new Replays(RED, opened, deployGate, limit) });
  const trials = new Trials(RED, deployGate, opened, stores);
  const isConfigured = (key: string) => configured.has(key);
  const missed = new MissedRequests({
    registry,
    isConfigured,
    getMountPath: () => getMountPath(RED.httpNode) ?? "",
    getAddress: (request) => clientAddress(RED.httpNode, request),
    newId: () => RED.util.generateId(),
    report: (delivery) => storehouse.note(delivery),
    count: (node) => traffic.add(node, "refused"),
  });
  const front =
    roots.node === false
      ? undefined
      : new HttpFront(RED, {
          registry,
          gate: deployGate,
          missed,
          settings: settingsOf(RED),
          getMiddleware: () => middlewareOf(RED),
          isConfigured,
        });
  const suspend = () => {
    storehouse.hold();
    registry.suspend();
    deployGate.close();
  };
  // Flows with a node of ours cannot run yet.
  if (!configured.needNothing) suspend();
  RED.events.on("flows:stopping", suspend);
  RED.events.on("flows:started", () => {
    storehouse.resume();
    registry.resume();
    front?.refresh();
    deployGate.open();
  });
  return {
    registry,
    deployGate,
    front,
    storehouse,
    completion: new Completion(RED),
    opened,
    trials,
    traffic,
    failures: new Failures(storehouse.begun),
    limiting: { standIns: trials.standIns, counter: storehouse.rates ?? new MemoryRateCounter() },
    guarding: new Guarding(new MemoryDuplicates()),
    standings: new Standings(RED),
    silences: new Silences(RED),
    metrics: new Metrics(RED),
    roots,
    baseUrl: parseBaseUrl(settingsOf(RED).webhookTriggerBaseUrl),
    limit,
  };
}

/** Opens the endpoint of a node, or tells why it stays closed. */
function begin(RED: NodeAPI, common: Common, node: WebhookTriggerNode, saved: SavedFields): void {
  const { opened, trials, metrics, roots, baseUrl, storehouse } = common;
  const report = new Report(node, RED._, metrics.of(node));
  const close = (breach: Breach) => {
    opened.note(node, breach);
    report.broken(breach);
  };
  if (roots.node === false) {
    opened.note(node, "switchedOff");
    return report.switchedOff();
  }

  const config = isMiddlewareBroken(RED) ? brokenMiddleware : parseConfig(saved, node.credentials, { roots, baseUrl });
  if ("rule" in config) return close(config);
  const breach = storehouse.breachOf(config.guaranteed);
  if (breach) return close(breach);
  const gate = gateOf(config, node.id, trials.standIns);
  if ("rule" in gate) return close(gate);
  const recorder = new Recorder(node.id, gate.redactor);
  open(RED, node, { ...common, config, gate, report, recorder });
}

/** All that the endpoint of a node is made of. */
type Whole = Common & Pick<Parts, "config" | "gate" | "report"> & { recorder: Recorder };

function open(RED: NodeAPI, node: WebhookTriggerNode, whole: Whole): void {
  const { config, gate, report, recorder, registry, storehouse } = whole;
  const { path, guaranteed } = config;
  const durability = guaranteed || storehouse.hasKept ? durabilityOf(RED, node, whole) : undefined;
  const { custody, guarding = whole.guarding } = durability ?? {};
  const records = storehouse.recordsOf(recorder, path, guaranteed);
  const endpoint = endpointOf(RED, node, { ...whole, guarding, custody, records });
  if (endpoint.limits && trustsEveryProxy(RED.httpNode)) node.warn(RED._("limits.trustsEveryProxy"));
  whole.opened.note(node, { node, config, endpoint, recorder });
  listenToErrors(node, whole.failures.heard);
  whole.standings.note(node, report);
  whole.metrics.describe(node, path, gate.redactor);
  const watch = whole.silences.watch(node.id, {
    hours: config.alertWhenSilent,
    store: storehouse.lastingOf(guaranteed),
  });
  const unregister = registry.register({
    endpoint,
    onActive: () => report.open(path, lotOf(config), watch),
    onBlocked: () => report.waiting(path),
  });
  const close = whole.front?.open(endpoint);
  node.on("close", () => {
    close?.();
    unregister();
    durability?.close();
    report.stop();
  });
}
