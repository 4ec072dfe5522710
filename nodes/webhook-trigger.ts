// Registers the node type, and opens and closes an endpoint for each node.

import type { Request } from "express";
import type { Node, NodeAPI, NodeDef } from "node-red";
import { setImmediate as nextTurn } from "node:timers/promises";
import { serveCallers } from "../src/admin/callers";
import { pushChanges, serveDeliveries } from "../src/admin/deliveries-api";
import type { NodeHealth } from "../src/admin/node-health";
import { Observers } from "../src/admin/observers";
import { servePage } from "../src/admin/page";
import { addRoute, notFound } from "../src/admin/routes";
import { readSamples } from "../src/admin/samples";
import { usesDelivery } from "../src/admin/test-parts";
import { sendTestRequest } from "../src/admin/test-requests";
import { createAuthenticator } from "../src/auth/create-authenticator";
import { KeptPublications } from "../src/auth/published";
import { type LimitServices, MemoryRateCounter } from "../src/auth/limits";
import { TestCredentials } from "../src/auth/test-credentials";
import {
  type Breach,
  credentialNames,
  credentials,
  type SavedCredentials,
  type SavedFields,
} from "../src/config/fields";
import { isAdminPath } from "../src/config/paths";
import { getApiMaxBytes, getMiddleware, getRoots, getSettings, isMiddlewareBroken } from "../src/config/node-red";
import { readOwnSettings } from "../src/config/own-settings";
import { parseConfig, type WebhookConfig } from "../src/config/parse";
import { permissions } from "../src/config/permissions";
import { getErrorMessage } from "../src/config/values";
import { MemoryDuplicates } from "../src/deliveries/duplicates";
import { Completion, describeError, maxErrorLength } from "../src/flow/completion";
import { DeployGate } from "../src/flow/deploy-gate";
import { createEndpoint, type Endpoint, EndpointRegistry } from "../src/flow/endpoint";
import { OwedReplies } from "../src/flow/flow-reply";
import { GuaranteedFlow } from "../src/flow/guaranteed";
import { checkInternals, listSavedNodes, watchFlows } from "../src/flow/node-red-internals";
import { Replays } from "../src/flow/replays";
import { DeliveryStores } from "../src/flow/stores";
import { trustsEveryProxy } from "../src/http/host-internals";
import { HttpFront } from "../src/http/front";
import { MissedRequests } from "../src/http/missed-requests";
import { setBodyMemory } from "../src/request/memory";
import { registerWatch } from "./webhook-watch";

const nodeType = "webhook-trigger";

type WebhookTriggerNode = Node<SavedCredentials>;

/** Core's `http in` nodes do not open then, either. */
const brokenMiddleware: Breach = { rule: "httpNodeMiddleware", value: "" };

/** What all nodes share. */
type Common = ReturnType<typeof prepare>;

export = function webhookTrigger(RED: NodeAPI): void {
  const { valid, invalid, given } = readOwnSettings(RED);
  const common = prepare(RED, valid.webhookTriggerBaseUrl);
  const { webhookTriggerBaseUrl: baseUrl = "", webhookTriggerMemory: memory, webhookTriggerDeliveries } = valid;
  if (given.length > 0) RED.log.info(RED._("settings.given", { settings: given.join(", ") }));
  for (const { name, examples } of invalid) RED.log.warn(RED._("settings.invalid", { name, examples }));
  setBodyMemory(memory, common.apiMaxBytes);

  servePage(RED, {
    settings: { roots: common.roots, baseUrl, given, keepsNothing: webhookTriggerDeliveries?.keep === 0 },
    getChanges: common.getChanges,
  });

  function WebhookTrigger(this: WebhookTriggerNode, saved: NodeDef & SavedFields): void {
    RED.nodes.createNode(this, saved);
    // Node-RED ends only when its nodes have.
    this.on("close", (done: () => void) => void common.ended().then(done));
    configure(RED, common, this, saved);
  }

  registerWatch(RED, common.observers.alerts);
  RED.nodes.registerType(nodeType, WebhookTrigger, {
    credentials: Object.fromEntries(credentialNames.map((name) => [name, { type: credentials[name].type }])),
    settings: {
      webhookTriggerRoots: { value: common.roots, exportable: true },
      webhookTriggerBaseUrl: { value: baseUrl, exportable: true },
      webhookTriggerHasNodeAuth: { value: Boolean(getSettings(RED).httpNodeAuth), exportable: true },
      webhookTriggerDeliveries: { value: webhookTriggerDeliveries ?? {}, exportable: true },
      webhookTriggerGiven: { value: given, exportable: true },
      webhookTriggerGuaranteed: { value: common.stores.storeKind, exportable: true },
    },
  });
};

function prepare(RED: NodeAPI, baseUrl: string | undefined) {
  const roots = getRoots(RED);
  const isOfAdmin = (path: string) => isAdminPath(path, roots);
  const observers = new Observers(RED);
  const registry = new EndpointRegistry(isOfAdmin);
  const deployGate = new DeployGate();
  const stores = new DeliveryStores(RED, observers.outcomes);
  const apiMaxBytes = getApiMaxBytes(RED);
  serveCallers(RED, observers);
  serveDeliveries(RED, stores, observers.nodes, new Replays(RED, registry, deployGate));
  const testCredentials = new TestCredentials();
  const testServices = { deployGate, nodes: observers.nodes, stores, testCredentials };
  const test = async (request: Request<{ id: string }>) => ({
    body: await sendTestRequest(RED, testServices, request),
  });
  addRoute(RED, "post", ":id/test", test, permissions.write, usesDelivery);
  addRoute(RED, "get", "samples/:id", async ({ params: { id } }) => {
    const samples = await readSamples(id);
    return samples ? { body: { samples } } : notFound;
  });
  const missed = new MissedRequests(RED, {
    registry,
    report: (delivery) => stores.recordMissed(delivery),
  });
  const front =
    roots.node === false
      ? undefined
      : new HttpFront(RED, {
          registry,
          deployGate,
          missed,
          settings: getSettings(RED),
          getMiddleware: () => getMiddleware(RED),
          isAdminPath: isOfAdmin,
        });
  const owed = new OwedReplies();
  const internals = checkInternals(RED);
  const completion = new Completion(RED, (id, error, by) => {
    stores.recentAttempts.failed(id, (redactor) => redactor.redact(describeError(by, error)).slice(0, maxErrorLength));
  });
  const suspend = () => {
    stores.hold();
    registry.suspend();
    deployGate.close();
  };
  let ending: Promise<void> | undefined;
  const end = async () => {
    deployGate.giveUp();
    // Until all nodes were told to close.
    await nextTurn();
    completion.endStopped();
    owed.interrupt();
    await observers.uses.write();
    await stores.close();
  };
  // Requests wait until the flows run.
  const isInstalledLater = listSavedNodes(RED)?.every(({ type }) => type !== nodeType);
  if (isInstalledLater) deployGate.open();
  else suspend();
  watchFlows(RED, {
    stopping: (reason) => {
      suspend();
      if (reason === "end") ending = end();
    },
    stopped: (reason) => {
      if (reason === "stop") owed.interrupt();
    },
    starting: () => {
      ending = undefined;
      stores.reopen();
    },
    started: () => {
      stores.release();
      registry.resume();
      front?.refresh();
      deployGate.open();
      internals.checkStart();
    },
  });
  return {
    registry,
    deployGate,
    front,
    stores,
    completion,
    checkNode: internals.checkNode,
    owed,
    /** When what runs was put back, and the queue is closed; at once, unless Node-RED ends. */
    ended: async () => ending,
    testCredentials,
    kept: new KeptPublications(getSettings(RED).userDir ?? process.cwd(), (file, error) =>
      RED.log.warn(RED._("settings.unkept", { file, cause: getErrorMessage(error) })),
    ),
    limiting: { testCredentials, counter: stores.rates ?? new MemoryRateCounter() } satisfies LimitServices,
    duplicates: new MemoryDuplicates(),
    observers,
    outcomes: observers.outcomes,
    roots,
    baseUrl,
    apiMaxBytes,
    getChanges: pushChanges(RED, observers.outcomes),
  };
}

/** Opens the endpoint of a node, unless its configuration breaks a rule. */
function configure(RED: NodeAPI, common: Common, node: WebhookTriggerNode, saved: SavedFields): void {
  const { testCredentials, kept, observers, roots, baseUrl, stores, apiMaxBytes: maxBodyBytes } = common;
  const health = observers.nodes.reset(node.id);
  if (roots.node === false) return observers.showSwitchedOff(node);
  const config = isMiddlewareBroken(RED) ? brokenMiddleware : parseConfig(saved, node.credentials, { roots, baseUrl });
  if ("rule" in config) return observers.showBreach(node, config);
  const breach = stores.breachOf(config.guaranteed);
  if (breach) return observers.showBreach(node, breach);
  const authenticator = createAuthenticator(config, node.id, testCredentials, kept);
  if ("rule" in authenticator) return observers.showBreach(node, authenticator);
  open(RED, node, { ...common, health, config, authenticator, maxBodyBytes });
}

/** What an endpoint is made of. */
type Whole = Common & Pick<Endpoint, "config" | "authenticator" | "maxBodyBytes"> & { readonly health: NodeHealth };

/** The text about `httpNodeAuth`, where it checks the node's credential before the node does. */
function findGuarded(
  { access }: WebhookConfig,
  { fields }: Endpoint["authenticator"],
  httpNodeAuth: ReturnType<typeof getSettings>["httpNodeAuth"],
): "basic.guarded" | "jwt.guarded" | undefined {
  // A host may have a function of its own instead.
  if (typeof httpNodeAuth !== "object") return undefined;
  // The password may be the same, too: only its hash is known.
  if (access.method === "basic") return access.user === httpNodeAuth.user ? undefined : "basic.guarded";
  return fields.includes("authorization") ? "jwt.guarded" : undefined;
}

function open(RED: NodeAPI, node: WebhookTriggerNode, whole: Whole): void {
  const { config, authenticator, observers, registry, stores, completion, checkNode } = whole;
  // Deliveries stored before are started, also where guaranteed delivery is off by now.
  const flow =
    config.guaranteed || stores.hasQueue ? new GuaranteedFlow(RED, node, { ...whole, queue: stores.queue }) : undefined;
  const guaranteed = config.guaranteed ? flow : undefined;
  // Keys of guaranteed delivery are in the store.
  const { duplicates } = guaranteed ? stores.queue : whole;
  const recorder = stores.createRecorder(node.id, authenticator.redactor, config);
  const endpoint = createEndpoint(RED, node, { ...whole, duplicates, guaranteed, recorder });
  if (endpoint.judgeHead && trustsEveryProxy(RED.httpNode)) node.warn(RED._("limits.trustsEveryProxy"));
  const guarded = findGuarded(config, authenticator, getSettings(RED).httpNodeAuth);
  if (guarded !== undefined) node.warn(RED._(guarded));
  whole.health.running = endpoint;
  observers.uses.open(node.id, config, stores.sharedUsesOf(config.guaranteed));
  checkNode(node);
  completion.watchErrors(node);
  const leave = flow && stores.process(node.id, flow);
  const unregister = registry.register({
    endpoint,
    onActive: () => observers.open(endpoint, guarded !== undefined),
    onBlocked: () => observers.showBlocked(endpoint),
  });
  const close = whole.front?.open(endpoint);
  node.on("close", () => {
    close?.();
    unregister();
    leave?.();
    observers.close(endpoint);
  });
}
