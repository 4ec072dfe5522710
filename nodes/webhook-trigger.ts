// The node: its configuration in, its endpoint open, its endpoint closed.

import type { Node, NodeAPI, NodeDef } from "node-red";
import { Credentials } from "../src/trust/token";
import { parseBaseUrl } from "../src/config/base-url";
import type { SavedFields } from "../src/config/fields";
import type { Roots } from "../src/config/roots";
import { parseConfig } from "../src/config/parse";
import { Endpoints } from "../src/endpoints";
import type { Breach } from "../src/config/rules";
import type { Endpoint } from "../src/endpoint";
import { ConfiguredPaths } from "./runtime/configured";
import { Deploys } from "./runtime/deploys";
import { Door } from "./door/door";
import { bodyLimitOf, isMiddlewareBroken, rootsOf, settingsOf } from "./runtime/host";
import { Report } from "./runtime/report";
import { Trials } from "./runtime/trials";

type WebhookTriggerNode = Node<{ token: unknown }>;

/** Core's `http in` nodes do not open then, either. */
const brokenMiddleware: Breach = { rule: "httpNodeMiddleware", value: "" };

/** What all nodes of the type have in common. */
interface Common {
  endpoints: Endpoints<Endpoint>;
  deploys: Deploys;
  trials: Trials;
  roots: Roots;
  /** Missing where HTTP nodes are switched off. */
  door: Door | undefined;
  /** The most bytes that a body may have. */
  limit: number;
}

export = function webhookTrigger(RED: NodeAPI): void {
  const common = prepare(RED);
  const { webhookTriggerBaseUrl: baseUrl = "" } = settingsOf(RED);
  if (baseUrl !== "" && parseBaseUrl(baseUrl) === undefined) RED.log.warn(RED._("settings.baseUrl"));

  function WebhookTrigger(this: WebhookTriggerNode, saved: NodeDef & SavedFields): void {
    RED.nodes.createNode(this, saved);
    begin(RED, common, this, saved);
  }

  RED.nodes.registerType("webhook-trigger", WebhookTrigger, {
    credentials: { token: { type: "password" } },
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
  return {
    endpoints,
    deploys: new Deploys(RED, endpoints),
    trials: new Trials(RED, endpoints),
    roots,
    door: roots.node === false ? undefined : new Door(RED, endpoints),
    limit: bodyLimitOf(RED),
  };
}

/** Opens the endpoint of a node, or tells why it stays closed. */
function begin(RED: NodeAPI, common: Common, node: WebhookTriggerNode, saved: SavedFields): void {
  const { endpoints, deploys, trials, roots, door, limit } = common;
  const report = new Report(node, RED._);
  if (!door) {
    trials.note(node, "switchedOff");
    return report.switchedOff();
  }

  const config = isMiddlewareBroken(RED) ? brokenMiddleware : parseConfig(saved, node.credentials.token, roots);
  if ("rule" in config) {
    trials.note(node, config);
    return report.broken(config);
  }

  const { path, returnQueryParams } = config;
  const credentials = new Credentials(config, node.id, trials.standIns);
  const endpoint: Endpoint = {
    credentials,
    limit,
    newId: () => RED.util.generateId(),
    deliver: (id, body, req) => {
      deploys.send(node, { _msgid: id, payload: returnQueryParams ? { body, query: req.query } : body, req });
    },
    accepted: (acceptance) => report.accepted(acceptance),
    refused: (problem, cause) => report.refused(problem, cause, credentials),
  };
  trials.note(node, { config, endpoint });
  const [onTurn, onWait] = [() => report.open(path), () => report.waiting(path)];
  const place = endpoints.enter(path, { owner: node.id, endpoint, onTurn, onWait });
  const leave = door.open(path, endpoint);
  node.on("close", () => {
    leave();
    place.release();
    report.stop();
  });
}
