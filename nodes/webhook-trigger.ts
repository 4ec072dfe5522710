// The node: its configuration in, its endpoint open, its endpoint closed.

import type { Node, NodeAPI, NodeDef } from "node-red";
import { parseBaseUrl } from "../src/config/base-url";
import { credentialNames, type SavedCredentials, type SavedFields } from "../src/config/fields";
import type { Roots } from "../src/config/roots";
import { parseConfig } from "../src/config/parse";
import { Guarding } from "../src/deliveries/guard";
import { MemoryRepeats } from "../src/deliveries/memory-repeats";
import { Endpoints } from "../src/endpoints";
import type { Breach } from "../src/config/rules";
import type { Endpoint } from "../src/endpoint";
import { gateOf } from "../src/trust/gates";
import { Limiting } from "../src/trust/limits";
import { ConfiguredPaths } from "./runtime/configured";
import { Deploys } from "./runtime/deploys";
import { Door } from "./door/door";
import { bodyLimitOf, isMiddlewareBroken, rootsOf, settingsOf } from "./runtime/host";
import { endpointOf, lotOf } from "./runtime/endpoint";
import { Report } from "./runtime/report";
import { Standings } from "./runtime/standings";
import { Trials } from "./runtime/trials";

type WebhookTriggerNode = Node<SavedCredentials>;

/** Core's `http in` nodes do not open then, either. */
const brokenMiddleware: Breach = { rule: "httpNodeMiddleware", value: "" };

/** What all nodes of the type have in common. */
interface Common {
  endpoints: Endpoints<Endpoint>;
  deploys: Deploys;
  trials: Trials;
  limiting: Limiting;
  guarding: Guarding;
  standings: Standings;
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
    },
  });
};

function prepare(RED: NodeAPI): Common {
  const configured = new ConfiguredPaths(RED);
  const endpoints = new Endpoints<Endpoint>((key) => configured.has(key));
  // Flows with a node of ours cannot run yet.
  if (!configured.needNothing) endpoints.hold();
  const roots = rootsOf(RED);
  const trials = new Trials(RED, endpoints);
  return {
    endpoints,
    deploys: new Deploys(RED, endpoints),
    trials,
    limiting: new Limiting(trials.standIns),
    guarding: new Guarding(new MemoryRepeats()),
    standings: new Standings(RED),
    roots,
    baseUrl: parseBaseUrl(settingsOf(RED).webhookTriggerBaseUrl),
    door: roots.node === false ? undefined : new Door(RED, endpoints),
    limit: bodyLimitOf(RED),
  };
}

/** Opens the endpoint of a node, or tells why it stays closed. */
function begin(RED: NodeAPI, common: Common, node: WebhookTriggerNode, saved: SavedFields): void {
  const { endpoints, trials, standings, roots, baseUrl, door } = common;
  const report = new Report(node, RED._);
  const close = (breach: Breach) => {
    trials.note(node, breach);
    report.broken(breach);
  };
  if (!door) {
    trials.note(node, "switchedOff");
    return report.switchedOff();
  }

  const config = isMiddlewareBroken(RED) ? brokenMiddleware : parseConfig(saved, node.credentials, { roots, baseUrl });
  if ("rule" in config) return close(config);
  const gate = gateOf(config, node.id, trials.standIns);
  if ("rule" in gate) return close(gate);

  const endpoint = endpointOf(RED, node, { ...common, config, gate, report });
  trials.note(node, { config, endpoint });
  standings.note(node, report);
  const { path } = config;
  const [onTurn, onWait] = [() => report.open(path, lotOf(config)), () => report.waiting(path)];
  const place = endpoints.enter(path, { owner: node.id, endpoint, onTurn, onWait });
  const leave = door.open(path, endpoint);
  node.on("close", () => {
    leave();
    place.release();
    report.stop();
  });
}
