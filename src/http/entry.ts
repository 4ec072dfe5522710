// The first layer of the app in which Node-RED's apps are mounted.

import type { Express, Request, RequestHandler } from "express";
import type { ServerResponse } from "node:http";
import { getParent, type HostSettings } from "../config/node-red";
import { acceptsMethod, type Endpoint } from "../flow/endpoint";
import { Problem } from "../request/problem";
import { getPathKey, parseTarget, type Target } from "../request/target";
import { getLayers, getMountPath, type Layer, matches } from "./express";
import { handleRequest, type Services } from "./handle-request";
import type { MissedRequests } from "./missed-requests";
import { prepareForExpress } from "./raw-body";
import { type Exchange, isHandshake, judgeHead, type ParsedRequest } from "./receive-request";
import { isPattern } from "../config/fields";

interface EntryOptions extends Services {
  /** The path of `RED.httpNode` below this app, without a slash at its end. */
  readonly mountPath: string;
  readonly rule: DirectRule;
  readonly missed: MissedRequests;
  /** Whether the saved flows have a node with this path key and method. */
  readonly isConfigured: (key: string, method: string) => boolean;
  /** Whether a route of another node takes the endpoint's requests with a path and by a method. */
  readonly isShadowed: (endpoint: Endpoint, path: string, method: string) => boolean;
  readonly makeExchange: (request: ParsedRequest, response: ServerResponse, target: Target) => Exchange;
}

/**
 * Holds requests during a deploy before anything else runs, handles requests that nothing stands in front of, and
 * reports requests that were answered in front of their endpoint.
 */
export function makeEntry(options: EntryOptions): RequestHandler {
  const { deployGate, registry, missed, isConfigured, makeExchange } = options;
  return (request: ParsedRequest & Request, response, next) => {
    const target = parseBelow(options.mountPath, request.url);
    const endpoint = target && registry.find(target.path);
    const exchange = endpoint && makeExchange(request, response, target);
    if (exchange && !deployGate.isClosed && isDirect(exchange, endpoint, options)) {
      const { adminCors } = options.rule.getFront(endpoint);
      // A handshake by OPTIONS looks like a preflight request (Fetch §4.8).
      if (!adminCors || request.method === "OPTIONS") return void handleRequest(exchange, endpoint, options);
      return void adminCors(request, response, () => void handleRequest(exchange, endpoint, options));
    }
    const { method } = request;
    const isShadowed = endpoint ? options.isShadowed(endpoint, target.path, method) : false;
    const hasParameters = endpoint !== undefined && isPattern(endpoint.config.path);
    // One of many requests that the path matches: it is the other node's, whatever is being deployed.
    if (isShadowed && hasParameters) return next();
    // Requests by other methods may be for another node, as those with parameters.
    if (exchange && acceptsMethod(endpoint.config, method) && !isShadowed && !hasParameters) {
      prepareForExpress(request, response);
    }
    missed.watch(request, response);
    if (!deployGate.isClosed || !target) return next();
    // What has no body can wait behind everything else: it may be for the editor.
    const passes = exchange
      ? !(judgeHead(exchange, endpoint) instanceof Problem)
      : !/^(?:GET|HEAD)$/.test(method) && isConfigured(getPathKey(target.path), method);
    if (!passes) return next();
    void deployGate.wait(response).then(() => {
      if (!response.destroyed) next();
    });
  };
}

function isDirect(exchange: Exchange, endpoint: Endpoint, { rule, isShadowed }: EntryOptions): boolean {
  const { request, path } = exchange;
  const { method = "" } = request;
  // Only the exact configured path, which cannot be read in two ways.
  if (path !== endpoint.config.path || endpoint.config.reply.by === "flow" || isShadowed(endpoint, path, method))
    return false;
  if (request._body || request.readableDidRead || !rule.getFront(endpoint).isPlain) return false;
  if (acceptsMethod(endpoint.config, method)) return true;
  return endpoint.authenticator.methods.includes(method) && isHandshake(exchange, endpoint);
}

/** The path below a mount, of a target in plain origin-form. */
function parseBelow(mountPath: string, url: string): Target | undefined {
  if (!url.startsWith(mountPath) || url[mountPath.length] !== "/" || url.includes("#")) return undefined;
  return parseTarget(url.slice(mountPath.length));
}

// Whether a request can be handled before Express has run.

export interface Apps {
  /** `RED.httpNode`, and the app that contains it. */
  readonly nodes: Express;
  readonly root: Express | undefined;
  /** `RED.httpAdmin`, and the admin app that contains it, with the body parsers. */
  readonly adminNodes: Express;
  readonly admin: Express | undefined;
}

interface OurLayers {
  isOurs(layer: Layer): boolean;
  /** The layer that serves an endpoint in the app for HTTP nodes. */
  getLayer(endpoint: Endpoint): Layer | undefined;
}

/** The layers in front of an endpoint. */
interface Front {
  /** Whether all of them are Node-RED's and Express's own. */
  readonly isPlain: boolean;
  /** The same in the admin app, for any method. */
  readonly isAdminPlain: boolean;
  /** The CORS middleware that Node-RED 4.1 runs in its admin app. */
  readonly adminCors: RequestHandler | undefined;
}

const ofExpress = ["query", "expressInit"];
const ofAdmin = [...ofExpress, "corsMiddleware", "jsonParser", "urlencodedParser"];
const mount = "mounted_app";

/**
 * Decides by the names and the number of the layers that match an endpoint's path: middleware of others has another
 * name, or is one more than Node-RED's own. When in doubt, something stands in front.
 */
export class DirectRule {
  readonly #apps: Apps;
  readonly #all: readonly (Express | undefined)[];
  readonly #settings: HostSettings;
  readonly #layers: OurLayers;
  #fronts = new WeakMap<Endpoint, Front>();
  /** The number of layers of each app when the rule was evaluated. */
  #counts: number[] = [];

  constructor(apps: Apps, settings: HostSettings, layers: OurLayers) {
    this.#apps = apps;
    this.#all = [apps.root, apps.admin, apps.adminNodes, apps.nodes];
    this.#settings = settings;
    this.#layers = layers;
  }

  /** Evaluates the rule anew. */
  reset(): void {
    this.#counts = [];
  }

  getFront(endpoint: Endpoint): Front {
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

  #look(endpoint: Endpoint): Front {
    const { path, methods } = endpoint.config;
    // Which layers a request meets depends on its parameters: it meets all of them.
    if (isPattern(path)) return { isPlain: false, isAdminPlain: false, adminCors: undefined };
    const { root, admin, nodes } = this.#apps;
    const { httpNodeMiddleware, httpNodeCors } = this.#settings;
    const fullPath = (getMountPath(nodes) ?? "") + path;
    const adminPath = this.#findPathInAdmin(fullPath);
    const isAdminInFront = adminPath !== undefined;
    const isAdminPlain = this.#isAdminPlain(adminPath ?? "");
    const [method] = [...methods, ...endpoint.authenticator.methods].length === 1 ? methods : [];
    const before = this.#find(root, fullPath, method);
    const apps = isAdminInFront ? [mount, mount] : [mount];
    const last = before.findLastIndex(({ name }) => name === mount);
    return {
      isPlain:
        (!isAdminInFront || isAdminPlain) &&
        before.filter(({ name }) => name === mount).length === apps.length &&
        isPlain(before.slice(0, last + 1), ["rawBodyCapture", ...ofExpress, ...apps]) &&
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
    const { httpAdminMiddleware, httpAdminCors, requireHttps, adminAuth, disableEditor } = this.#settings;
    const { type: authType } = (adminAuth ?? {}) as { type?: unknown };
    if (httpAdminMiddleware || httpAdminCors || requireHttps || authType === "strategy") return false;
    const login = authType === "credentials" ? ["initialize"] : [];
    // The editor, the admin API, and the admin routes of nodes.
    const mounts = [...(disableEditor === true ? [] : [mount]), mount, mount];
    const found = this.#find(admin, path);
    return isPlain(found, [...ofAdmin, ...login, ...mounts]) && isPlain(this.#find(adminNodes, path), ofExpress);
  }

  /** The path below the admin root, where that is in front of HTTP nodes. */
  #findPathInAdmin(fullPath: string): string | undefined {
    const { root, admin } = this.#apps;
    const mountPath = admin && getParent(admin) === root ? getMountPath(admin) : undefined;
    if (mountPath === undefined || !`${fullPath}/`.startsWith(`${mountPath}/`)) return undefined;
    return fullPath.slice(mountPath.length);
  }

  /** Whether a layer behind the endpoint of a path may answer another method. */
  mayBeAnsweredBehind(path: string, method: string): boolean {
    const { root, nodes } = this.#apps;
    if (!root || getParent(root)) return true;
    const fullPath = (getMountPath(nodes) ?? "") + path;
    const layers = this.#find(root, fullPath, method);
    const mounts = layers.filter(({ name }) => name === mount).length;
    // Other apps may be mounted behind.
    if (mounts !== (this.#findPathInAdmin(fullPath) === undefined ? 1 : 2)) return true;
    const behind = layers.slice(1 + layers.findLastIndex(({ name }) => name === mount));
    return behind.some(({ name }) => name !== "serveStatic" || /^(?:GET|HEAD)$/.test(method));
  }

  /** Whether the layers of other nodes that match stand behind the endpoint's. */
  #isPlainAmongNodes(endpoint: Endpoint, method: string | undefined): boolean {
    const layers = getLayers(this.#apps.nodes);
    const index = layers.findIndex((layer) => layer === this.#layers.getLayer(endpoint));
    const before = layers.slice(0, Math.max(index, 0));
    const met = this.#find(this.#apps.nodes, endpoint.config.path, method).filter((layer) => before.includes(layer));
    return index !== -1 && isPlain(met, ofExpress);
  }

  #find(app: Express | undefined, path: string, method?: string): Layer[] {
    return getLayers(app).filter((layer) => !this.#layers.isOurs(layer) && matches(layer, path, method));
  }

  #findCors(admin: Express | undefined): RequestHandler | undefined {
    const layer = getLayers(admin).find(({ name }) => name === "corsMiddleware");
    return layer?.handle as RequestHandler | undefined;
  }
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
