// The node: its configuration in, its endpoint open, its endpoint closed.

import type { Node, NodeAPI, NodeDef } from "node-red";
import { Credentials } from "../src/trust/token";
import { parseBaseUrl } from "../src/config/base-url";
import type { SavedFields } from "../src/config/fields";
import { parseConfig } from "../src/config/parse";
import { Endpoints } from "../src/endpoints";
import type { Endpoint } from "../src/receive";
import { ConfiguredPaths } from "./runtime/configured";
import { Deploys } from "./runtime/deploys";
import { openFrontDoor } from "./door/door";
import { bodyLimitOf, rootsOf, settingsOf } from "./runtime/host";
import { Report } from "./runtime/report";
import { Trials } from "./runtime/trials";

type WebhookTriggerNode = Node<{ token: unknown }>;

export = function webhookTrigger(RED: NodeAPI): void {
  const configured = new ConfiguredPaths(RED);
  const endpoints = new Endpoints<Endpoint>((key) => configured.has(key));
  // Flows with a node of ours cannot run yet.
  if (!configured.needNothing) endpoints.hold();
  const deploys = new Deploys(RED, endpoints);
  const trials = new Trials(RED, endpoints);
  openFrontDoor(RED, endpoints);
  const roots = rootsOf(RED);
  const limit = bodyLimitOf(RED);
  const { webhookTriggerBaseUrl: baseUrl = "" } = settingsOf(RED);
  if (baseUrl !== "" && parseBaseUrl(baseUrl) === undefined) RED.log.warn(RED._("settings.baseUrl"));

  function WebhookTrigger(this: WebhookTriggerNode, saved: NodeDef & SavedFields): void {
    RED.nodes.createNode(this, saved);
    const report = new Report(this, RED._);
    if (roots.node === false) {
      trials.note(this, "switchedOff");
      return report.switchedOff();
    }

    const config = parseConfig(saved, this.credentials.token, roots);
    if ("rule" in config) {
      trials.note(this, config);
      return report.broken(config);
    }

    const { path, returnQueryParams } = config;
    const credentials = new Credentials(config, this.id, trials.standIns);
    const endpoint: Endpoint = {
      credentials,
      limit,
      newId: () => RED.util.generateId(),
      deliver: (id, body, req) => {
        const payload = returnQueryParams ? { body, query: req.query } : body;
        deploys.send(this, { _msgid: id, payload, req });
      },
      accepted: (acceptance) => report.accepted(acceptance),
      refused: (problem, cause) => report.refused(problem, cause, credentials),
    };
    trials.note(this, { config, endpoint });
    const onTurn = () => report.open(path);
    const onWait = () => report.waiting(path);
    const place = endpoints.enter(path, { owner: this.id, endpoint, onTurn, onWait });
    this.on("close", () => {
      place.release();
      report.stop();
    });
  }

  RED.nodes.registerType("webhook-trigger", WebhookTrigger, {
    credentials: { token: { type: "password" } },
    settings: {
      webhookTriggerRoots: { value: roots, exportable: true },
      webhookTriggerBaseUrl: { value: "", exportable: true },
    },
  });
};
