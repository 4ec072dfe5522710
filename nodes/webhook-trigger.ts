import type { Node, NodeAPI, NodeDef } from "node-red";
import { credentialsOf } from "../src/authenticate";
import { parseConfig, type SavedFields } from "../src/config";
import { Endpoints } from "../src/endpoints";
import { conceal } from "../src/message";
import type { Endpoint } from "../src/receive";
import { Deploys } from "./deploys";
import { openFrontDoor } from "./front-door";
import { bodyLimitOf, rootsOf } from "./host";
import { Report } from "./report";

type WebhookTriggerNode = Node<{ token: unknown }>;

export = function webhookTrigger(RED: NodeAPI): void {
  const endpoints = new Endpoints<Endpoint>();
  const deploys = new Deploys(RED, endpoints);
  openFrontDoor(RED, endpoints);
  const roots = rootsOf(RED);
  const limit = bodyLimitOf(RED);

  function WebhookTrigger(this: WebhookTriggerNode, saved: NodeDef & SavedFields): void {
    RED.nodes.createNode(this, saved);
    const report = new Report(this, RED._);
    if (roots.node === false) return report.switchedOff();

    const config = parseConfig(saved, this.credentials.token, roots);
    if ("rule" in config) return report.broken(config);

    const { path, returnQueryParams } = config;
    const credentials = credentialsOf(config);
    const claim = endpoints.claim(path, {
      owner: this.id,
      endpoint: {
        credentials,
        limit,
        deliver: (body, req) => {
          const id = RED.util.generateId();
          const payload = returnQueryParams ? { body, query: req.query } : body;
          deploys.send(this, { _msgid: id, payload, req });
          return id;
        },
        accepted: (acceptance) => report.accepted(acceptance),
        refused: (problem, cause) =>
          report.refused(problem, cause === undefined ? undefined : conceal(describe(cause), credentials)),
      },
      onTurn: () => report.open(path),
      onWait: () => report.waiting(path),
    });
    this.on("close", () => {
      claim.release();
      report.stop();
    });
  }

  RED.nodes.registerType("webhook-trigger", WebhookTrigger, {
    credentials: { token: { type: "password" } },
    settings: { webhookTriggerRoots: { value: roots, exportable: true } },
  });
};

/** An error with the place it came from, for the log. */
function describe(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error);
}
