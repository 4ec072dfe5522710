// The first layer of the app in which Node-RED's apps are mounted. It handles a request before Express has run where
// nothing of others stands in front of its endpoint.

import type { Express, NextFunction, Request, RequestHandler, Response } from "express";
import type { NodeAPI } from "node-red";
import { findNetwork } from "../auth/limits";
import type { HostSettings } from "../config/node-red";
import { acceptsMethod, type Endpoint, type EndpointRegistry, mayGreetBy } from "../flow/endpoint";
import { parseTarget, type Target } from "../request/head";
import { Problem } from "../request/problem";
import { handleRequest, type Services } from "./handle-request";
import {
  clientAddress,
  findOwnMountPath,
  getLayers,
  getParent,
  type Layer,
  layerNames,
  matches,
  readMark,
} from "./host-internals";
import type { MissedRequests } from "./missed-requests";
import { prepareForExpress } from "./raw-body";
import { type Arrived, arrive, hasNoBody, isHandshake, judge, waitForFlows } from "./receive-request";

interface EntryOptions extends Services, Pick<Apps, "nodes" | "mountPath"> {
  readonly rule: DirectRule;
  readonly missed: MissedRequests;
}

/**
 * Holds requests during a deploy before anything else runs, handles requests that nothing stands in front of, and
 * reports requests that were answered in front of their endpoint.
 */
export function makeEntry(options: EntryOptions): RequestHandler {
  const { nodes, mountPath, deployGate, registry, missed, rule } = options;
  const goOn = (waiting: Promise<unknown>, response: Response, next: NextFunction) => {
    void waiting.then(() => {
      if (!response.destroyed) next();
    });
  };
  /** What has the path of an endpoint. */
  const meet = (request: Request, response: Response, next: NextFunction, endpoint: Endpoint, target: Target): void => {
    const { method } = request;
    const arrived = arrive(nodes, request, response, target);
    const front = deployGate.isClosed ? undefined : findPlainFront(arrived, endpoint, options);
    if (front) {
      // A handshake by OPTIONS looks like a preflight request (Fetch §4.8).
      if (!front.adminCors || method === "OPTIONS") return void handleRequest(arrived, endpoint, options);
      return void front.adminCors(request, response, () => void handleRequest(arrived, endpoint, options));
    }
    const isShadowed = rule.isShadowed(endpoint, target.path, method);
    // One of many requests that the path matches: it is the other node's, whatever is being deployed.
    if (isShadowed && endpoint.hasParameters) return next();
    // Requests by other methods may be for another node, as those with parameters.
    if (acceptsMethod(endpoint.config, method) && !isShadowed && !endpoint.hasParameters) {
      prepareForExpress(request, response);
    }
    missed.watch(request, response);
    if (!deployGate.isClosed || judge(arrived, endpoint).result instanceof Problem) return next();
    goOn(waitForFlows(arrived, deployGate), response, next);
  };
  /** What has another path. */
  const pass = (request: Request, response: Response, next: NextFunction, path: string | undefined): void => {
    const { method } = request;
    missed.watch(request, response);
    // Before the first start it may be for any path. What has no body can wait behind everything else.
    const mayBeMeant = path !== undefined && !deployGate.hasOpened && !hasNoBody(method);
    if (!deployGate.isClosed || !mayBeMeant || rule.isOthers(path, method)) return next();
    goOn(deployGate.wait(response, findNetwork(clientAddress(nodes, request))), response, next);
  };
  return (request, response, next) => {
    const target = parseBelow(mountPath, request.url);
    const endpoint = target && registry.find(target.path);
    if (endpoint) meet(request, response, next, endpoint, target);
    else pass(request, response, next, target?.path);
  };
}

/** @returns nothing where a request must go through Express */
function findPlainFront(arrived: Arrived, endpoint: Endpoint, { rule }: EntryOptions): LayersInFront | undefined {
  const { request, path, head } = arrived;
  // Only the exact configured path, which cannot be read in two ways.
  if (path !== endpoint.config.path || endpoint.config.reply.by === "flow") return undefined;
  if (rule.isShadowed(endpoint, path, head.method) || request[readMark] || request.readableDidRead) return undefined;
  const front = rule.getFront(endpoint);
  if (!front.isPlain) return undefined;
  const isFor = acceptsMethod(endpoint.config, head.method);
  return isFor || (mayGreetBy(endpoint, head.method) && isHandshake(arrived, endpoint)) ? front : undefined;
}

/** The path below a mount, of a target in plain origin-form. */
function parseBelow(mountPath: string, url: string): Target | undefined {
  if (!url.startsWith(mountPath) || url[mountPath.length] !== "/" || url.includes("#")) return undefined;
  return parseTarget(url.slice(mountPath.length));
}

// What stands in front of an endpoint.

export interface Apps {
  /** `RED.httpNode`, and the app that contains it. */
  readonly nodes: Express;
  /** Where it is mounted, without a slash at its end. */
  readonly mountPath: string;
  readonly root: Express | undefined;
  /** `RED.httpAdmin`, and the admin app that contains it, with the body parsers. */
  readonly adminNodes: Express;
  readonly admin: Express | undefined;
}

export interface RuleOptions {
  readonly settings: HostSettings;
  readonly registry: EndpointRegistry;
  /** Whether a path is Node-RED's own. */
  readonly isAdminPath: (path: string) => boolean;
}

interface OurLayers {
  isOurs(layer: Layer): boolean;
  /** The layer that serves an endpoint in the app for HTTP nodes. */
  getLayer(endpoint: Endpoint): Layer | undefined;
}

/** The layers in front of an endpoint. */
interface LayersInFront {
  /** Whether all of them are Node-RED's and Express's own. */
  readonly isPlain: boolean;
  /** Whether in the admin app, for any method, all layers are Node-RED's and Express's own. */
  readonly isAdminPlain: boolean;
  /** The CORS middleware that Node-RED 4.1 runs in its admin app. */
  readonly adminCors: RequestHandler | undefined;
}

const { ofExpress, mount } = layerNames;
const ofAdmin = [...ofExpress, layerNames.cors, layerNames.json, layerNames.form];

/**
 * What stands in front of endpoints and beside them. Whether it is of others is decided by the names and the number of
 * the layers that match a path: middleware of others has another name, or is one more than Node-RED's own. In doubt, a
 * request goes through Express.
 */
export class DirectRule {
  readonly #apps: Apps;
  readonly #all: readonly (Express | undefined)[];
  readonly #RED: NodeAPI;
  readonly #options: RuleOptions;
  readonly #layers: OurLayers;
  /** Endpoints, and the methods whose requests a route of another node takes. */
  #shadowed = new Map<Endpoint, Set<string>>();
  #fronts = new WeakMap<Endpoint, LayersInFront>();
  /** The number of layers of each app when the rule was evaluated. */
  #counts: number[] = [];

  constructor(RED: NodeAPI, apps: Apps, options: RuleOptions, layers: OurLayers) {
    this.#RED = RED;
    this.#apps = apps;
    this.#all = [apps.root, apps.admin, apps.adminNodes, apps.nodes];
    this.#options = options;
    this.#layers = layers;
  }

  /** Evaluates the rule anew: other nodes may have added layers. */
  refresh(): void {
    this.#counts = [];
    this.#reportShadowed();
  }

  getFront(endpoint: Endpoint): LayersInFront {
    if (this.#hasChanged()) this.#fronts = new WeakMap();
    let front = this.#fronts.get(endpoint);
    if (!front) this.#fronts.set(endpoint, (front = this.#look(endpoint)));
    return front;
  }

  #hasChanged(): boolean {
    let hasChanged = false;
    for (let index = 0; index < this.#all.length; index++) {
      const count = getLayers(this.#all[index]).length;
      if (this.#counts[index] !== count) hasChanged = true;
      this.#counts[index] = count;
    }
    return hasChanged;
  }

  #look(endpoint: Endpoint): LayersInFront {
    const { path, methods } = endpoint.config;
    // Which layers a request meets depends on its parameters: it meets all of them.
    if (endpoint.hasParameters) return { isPlain: false, isAdminPlain: false, adminCors: undefined };
    const { root, admin, nodes, mountPath } = this.#apps;
    const { httpNodeMiddleware, httpNodeCors } = this.#options.settings;
    const fullPath = mountPath + path;
    const adminPath = findPathInAdmin(this.#apps, fullPath);
    const isAdminInFront = adminPath !== undefined;
    const isAdminPlain = this.#isAdminPlain(adminPath ?? "");
    const [method] = [...methods, ...endpoint.authenticator.handshakeMethods].length === 1 ? methods : [];
    const before = this.#find(root, fullPath, method);
    const apps = isAdminInFront ? [mount, mount] : [mount];
    const last = before.findLastIndex(({ name }) => name === mount);
    return {
      isPlain:
        (!isAdminInFront || isAdminPlain) &&
        before.filter(({ name }) => name === mount).length === apps.length &&
        isPlain(before.slice(0, last + 1), [layerNames.httpInCapture, ...ofExpress, ...apps]) &&
        this.#isPlainAmongNodes(endpoint, method) &&
        [root, nodes].every((app) => app?.get("query parser") === "extended") &&
        !httpNodeMiddleware &&
        !httpNodeCors,
      isAdminPlain,
      adminCors: isAdminInFront ? this.#findCors(admin) : undefined,
    };
  }

  #isAdminPlain(path: string): boolean {
    const { admin, adminNodes } = this.#apps;
    const { httpAdminMiddleware, httpAdminCors, requireHttps, adminAuth, disableEditor } = this.#options.settings;
    const { type: authType } = (adminAuth ?? {}) as { type?: unknown };
    if (httpAdminMiddleware || httpAdminCors || requireHttps || authType === "strategy") return false;
    const login = authType === "credentials" ? [layerNames.login] : [];
    // The editor, the admin API, and the admin routes of nodes.
    const mounts = [...(disableEditor === true ? [] : [mount]), mount, mount];
    const found = this.#find(admin, path);
    return isPlain(found, [...ofAdmin, ...login, ...mounts]) && isPlain(this.#find(adminNodes, path), ofExpress);
  }

  /** Whether a layer behind the endpoint of a path may answer another method. */
  mayBeAnsweredBehind(path: string, method: string): boolean {
    const { root, mountPath } = this.#apps;
    if (!root || getParent(root)) return true;
    const fullPath = mountPath + path;
    const layers = this.#find(root, fullPath, method);
    const mounts = layers.filter(({ name }) => name === mount).length;
    // Other apps may be mounted behind.
    if (mounts !== (findPathInAdmin(this.#apps, fullPath) === undefined ? 1 : 2)) return true;
    const behind = layers.slice(1 + layers.findLastIndex(({ name }) => name === mount));
    const answers = (name: string) => name !== layerNames.files || /^(?:GET|HEAD)$/.test(method);
    return behind.some(({ name }) => name !== layerNames.httpInCapture && answers(name));
  }

  /** Whether the layers of other nodes that match stand behind the endpoint's. */
  #isPlainAmongNodes(endpoint: Endpoint, method: string | undefined): boolean {
    const layers = getLayers(this.#apps.nodes);
    const index = layers.findIndex((layer) => layer === this.#layers.getLayer(endpoint));
    const before = layers.slice(0, Math.max(index, 0));
    const met = this.#find(this.#apps.nodes, endpoint.config.path, method).filter((layer) => before.includes(layer));
    return index !== -1 && isPlain(met, ofExpress);
  }

  /** Express answers HEAD by the routes for GET. */
  isShadowed(endpoint: Endpoint, path: string, method: string): boolean {
    return endpoint.hasParameters
      ? this.#isTakenBefore(endpoint, path, method)
      : this.#shadowed.get(endpoint)?.has(method === "HEAD" ? "GET" : method) === true;
  }

  /** Whether a request is for the editor, or for a part of a host application with a path of its own. */
  isOthers(path: string, method: string): boolean {
    const { root, admin, mountPath } = this.#apps;
    const adminPath = admin && findOwnMountPath(admin);
    const layers = getLayers(root);
    // What is for all paths of HTTP nodes, and for those of the admin app, is a guard, or Node-RED's.
    const isPart = (layer: Layer) =>
      [layerNames.router, layerNames.mount].includes(layer.name as "router") &&
      matches(layer, mountPath + path) &&
      ![mountPath, adminPath].some((own) => own !== undefined && matches(layer, `${own}/`));
    return this.#options.isAdminPath(path) || hasRoute(layers, mountPath + path, method) || layers.some(isPart);
  }

  /** Whether a route of another node, in front of an endpoint with parameters, is for a request. */
  #isTakenBefore(endpoint: Endpoint, path: string, method: string): boolean {
    const layers = getLayers(this.#apps.nodes);
    const own = this.#layers.getLayer(endpoint);
    return own !== undefined && hasRoute(layers.slice(0, layers.indexOf(own)), path, method);
  }

  /** Finds endpoints that stand behind a route of another node with the same path and method. */
  #reportShadowed(): void {
    const { registry } = this.#options;
    const layers = getLayers(this.#apps.nodes);
    const shadowed = new Map<Endpoint, Set<string>>();
    for (const [index, layer] of layers.entries()) {
      const { path, methods = {} } = layer.route ?? {};
      // A route for everything is a guard.
      if (typeof path !== "string" || path.includes("*")) continue;
      const endpoints = path.includes(":")
        ? registry.endpoints.filter((endpoint) => matches(layer, endpoint.config.path))
        : [registry.find(path)].filter((endpoint) => endpoint?.hasParameters === false);
      for (const endpoint of endpoints) {
        const own = endpoint && this.#layers.getLayer(endpoint);
        const taken = endpoint?.config.methods.filter((each) => methods[each.toLowerCase()]) ?? [];
        const [method] = taken;
        if (!endpoint || !own || method === undefined || layers.indexOf(own) < index) continue;
        shadowed.set(endpoint, new Set([...(shadowed.get(endpoint) ?? []), ...taken]));
        endpoint.outcomes.emit("shadowed", {
          node: endpoint.node.id,
          by: this.#findHttpIn(path, method.toLowerCase()),
        });
      }
    }
    this.#shadowed = shadowed;
  }

  /** The name of the `http in` node with this route. */
  #findHttpIn(path: string, wanted: string): string {
    let name = "";
    this.#RED.nodes.eachNode((node) => {
      const { type, id, url, method } = node as typeof node & { url?: string; method?: string };
      const isIt = type === "http in" && method === wanted && (url === path || `/${url ?? ""}` === path);
      if (isIt) name ||= (node as { name?: string }).name || id;
    });
    return name;
  }

  #find(app: Express | undefined, path: string, method?: string): Layer[] {
    return getLayers(app).filter((layer) => !this.#layers.isOurs(layer) && matches(layer, path, method));
  }

  #findCors(admin: Express | undefined): RequestHandler | undefined {
    const layer = getLayers(admin).find(({ name }) => name === layerNames.cors);
    return layer?.handle as RequestHandler | undefined;
  }
}

/** The path below the admin root, where that is in front: its body parsers are in front of HTTP nodes then. */
export function findPathInAdmin({ root, admin }: Apps, fullPath: string): string | undefined {
  const adminPath = root && admin && getParent(admin) === root ? findOwnMountPath(admin) : undefined;
  if (adminPath === undefined || !`${fullPath}/`.startsWith(`${adminPath}/`)) return undefined;
  return fullPath.slice(adminPath.length);
}

/** Whether layers have only these names, each at most once. */
function isPlain(layers: readonly Layer[], names: readonly string[]): boolean {
  const left = [...names];
  return layers.every(({ name }) => {
    const index = left.indexOf(name);
    if (index !== -1) left.splice(index, 1);
    return index !== -1;
  });
}

/** Whether a route is for a request; one for everything is a guard. */
export function hasRoute(layers: readonly Layer[], path: string, method: string): boolean {
  const isRoute = ({ route }: Layer) => typeof route?.path === "string" && !route.path.includes("*");
  return layers.some((layer) => isRoute(layer) && matches(layer, path, method));
}
