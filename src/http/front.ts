// Adds the layers of this package to Node-RED's web server.

import type { Express, RequestHandler } from "express";
import type { NodeAPI } from "node-red";
import { createRequire } from "node:module";
import type { HostSettings } from "../config/node-red";
import type { Endpoint } from "../flow/endpoint";
import { parseTarget } from "../request/target";
import { Dispatcher } from "./dispatcher";
import { type Apps, DirectRule } from "./direct-rule";
import { makeEntry } from "./entry";
import {
  canParseUrl,
  canRunParameterHandlers,
  findParsers,
  getLayers,
  findOwnMountPath,
  getParent,
  hasKnownLayers,
  insertLayer,
  type Layer,
  layerNames,
  matches,
  type MissingInternal,
  type UpgradingServer,
} from "./host-internals";
import type { Services } from "./handle-request";
import type { MissedRequests } from "./missed-requests";
import { addHandshakeLayer, addRawBodyLayer, type RawBodyOptions } from "./raw-body";
import { arrive } from "./receive-request";

interface FrontOptions extends Services {
  readonly missed: MissedRequests;
  readonly settings: HostSettings;
  readonly getMiddleware: () => RequestHandler[];
  /** Whether a path is Node-RED's own. */
  readonly isAdminPath: (path: string) => boolean;
}

/** Loads what only some settings need. An `import()` would be late, as the layers have their places from the start. */
const load = createRequire(__filename);

/**
 * Three kinds of layers: the entry in the app that contains Node-RED's apps, the raw body in front of the admin app's
 * parsers, and the dispatcher among the routes of the app for HTTP nodes.
 */
export class HttpFront {
  readonly #RED: NodeAPI;
  readonly #options: FrontOptions;
  readonly #apps: Apps;
  readonly #rule: DirectRule;
  readonly dispatcher: Dispatcher;
  readonly #ours = new Set<Layer>();
  /** Endpoints, and the methods whose requests a route of another node takes. */
  #shadowed = new Map<Endpoint, Set<string>>();

  constructor(RED: NodeAPI, options: FrontOptions) {
    const { httpNode: nodes, httpAdmin: adminNodes } = RED;
    const { httpNodeCors } = options.settings;
    this.#RED = RED;
    this.#options = options;
    const parent = getParent(nodes);
    const root = parent && findOwnMountPath(nodes) !== undefined ? parent : undefined;
    this.#apps = { nodes, root, adminNodes, admin: getParent(adminNodes) };
    this.#rule = new DirectRule(this.#apps, options.settings, {
      isOurs: (layer) => this.#ours.has(layer) || this.dispatcher.isOurs(layer),
      getLayer: (endpoint) => this.dispatcher.getLayer(endpoint),
    });
    const cors = httpNodeCors ? ((load("cors") as typeof import("cors"))(httpNodeCors) as RequestHandler) : undefined;
    const common = { ...options, nodes, rule: this.#rule };
    this.dispatcher = new Dispatcher({ ...common, cors });
    if (root) {
      const mountPath = findOwnMountPath(nodes) ?? "";
      const entry = makeEntry({ ...common, mountPath, isShadowed: this.#isShadowed, isOthers: this.#isOthers });
      this.#add(insertLayer(root, entry, 0));
    }
    this.#addRawBody();
    this.#declineUpgrades();
    this.#refuseUnreadableUpgrades();
    for (const missing of this.#findMissing()) RED.log.warn(RED._(`internals.${missing}`));
  }

  /** What of the host's internals is missing. */
  #findMissing(): MissingInternal[] {
    const { nodes, root } = this.#apps;
    const admin = this.#findAdminInFront();
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const mayDecline = major > 24 || (major === 24 && minor >= 9);
    const { server } = this.#RED as { server?: UpgradingServer | null };
    const rows: [MissingInternal, boolean][] = [
      ["holds", root === undefined || !hasKnownLayers(root)],
      ["order", !hasKnownLayers(nodes)],
      ["parameters", !canRunParameterHandlers(nodes)],
      ["parsers", admin !== undefined && findParsers(admin) === -1],
      ["upgrades", mayDecline && Boolean(server) && typeof server?.shouldUpgradeCallback !== "function"],
    ];
    return rows.filter(([, isMissing]) => isMissing).map(([name]) => name);
  }

  /** The admin app, where its root is a prefix of that of the nodes: its body parsers are in front of them. */
  #findAdminInFront(): Express | undefined {
    const { admin, root, nodes } = this.#apps;
    const adminPath = admin && root && getParent(admin) === root ? findOwnMountPath(admin) : undefined;
    const nodesPath = findOwnMountPath(nodes) ?? "";
    return adminPath !== undefined && `${nodesPath}/`.startsWith(`${adminPath}/`) ? admin : undefined;
  }

  /** Other nodes may have added layers. */
  refresh(): void {
    this.dispatcher.refresh();
    this.#rule.reset();
    this.#reportShadowed();
  }

  #addRawBody(): void {
    const { adminNodes, nodes } = this.#apps;
    const admin = this.#findAdminInFront();
    if (!admin) return;
    const below = (findOwnMountPath(nodes) ?? "").slice(findOwnMountPath(admin)?.length);
    const pathOf = (path: string) => (path.startsWith(`${below}/`) ? path.slice(below.length) : undefined);
    const options: RawBodyOptions = {
      admin,
      deployGate: this.#options.deployGate,
      find: ({ path, method }) => {
        const nodePath = pathOf(path);
        const endpoint = nodePath === undefined ? undefined : this.dispatcher.find(nodePath);
        if (!endpoint || nodePath === undefined || this.#isShadowed(endpoint, nodePath, method)) return undefined;
        const isAdminRoute = endpoint.hasParameters && hasRoute(getLayers(adminNodes), path, method);
        return isAdminRoute ? undefined : endpoint;
      },
      arrive: (request, response) => {
        const { search } = parseTarget(request.url);
        return arrive(nodes, request, response, { path: pathOf(request.path) ?? "", search });
      },
      mayLeaveAdmin: (endpoint) => this.#rule.getFront(endpoint).isAdminPlain,
    };
    this.#add(addHandshakeLayer(options));
    this.#add(addRawBodyLayer(options));
  }

  #add(layer: Layer | undefined): void {
    if (layer) this.#ours.add(layer);
  }

  /**
   * RFC 9110 §7.8 allows to ignore `Upgrade`. curl's `--http2` and Java's HttpClient ask for HTTP/2 with every POST;
   * because the editor listens for upgrades, Node would take the request away from HTTP.
   */
  #declineUpgrades(): void {
    const { server } = this.#RED as { server?: UpgradingServer | null };
    const decide = server?.shouldUpgradeCallback;
    if (!server || !decide) return;
    const mountPath = findOwnMountPath(this.#apps.nodes) ?? "";
    server.shouldUpgradeCallback = (request) => {
      const { path } = parseTarget(request.url ?? "");
      const isOurs = path.startsWith(`${mountPath}/`) && this.#options.registry.find(path.slice(mountPath.length));
      // A web socket on the same path belongs to another node.
      const isWebSocket = request.method === "GET" && /\bwebsocket\b/i.test(request.headers.upgrade ?? "");
      return (!isOurs || isWebSocket) && decide.call(server, request);
    };
  }

  /**
   * Node-RED reads the target of an upgrade by a function that throws for some, which ends the process. Its runtime
   * listens from the start, so that this listener takes no upgrade away from HTTP.
   */
  #refuseUnreadableUpgrades(): void {
    const { server } = this.#RED as { server?: UpgradingServer | null };
    server?.prependListener("upgrade", (request, socket) => {
      if (canParseUrl(request.url ?? "")) return;
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", () => socket.destroy());
      // The listeners behind this one get the request all the same: this is nobody's path.
      request.url = "*";
    });
  }

  /** Express answers HEAD by the routes for GET. */
  readonly #isShadowed = (endpoint: Endpoint, path: string, method: string): boolean =>
    endpoint.hasParameters
      ? this.#isTakenBefore(endpoint, path, method)
      : this.#shadowed.get(endpoint)?.has(method === "HEAD" ? "GET" : method) === true;

  /** Whether a request is for the editor, or for a part of a host application with a path of its own. */
  readonly #isOthers = (path: string, method: string): boolean => {
    const { root, admin, nodes } = this.#apps;
    const mountPath = findOwnMountPath(nodes) ?? "";
    const adminPath = admin && findOwnMountPath(admin);
    const layers = getLayers(root);
    // What is for all paths of HTTP nodes, and for those of the admin app, is a guard, or Node-RED's.
    const isPart = (layer: Layer) =>
      [layerNames.router, layerNames.mount].includes(layer.name as "router") &&
      matches(layer, mountPath + path) &&
      ![mountPath, adminPath].some((own) => own !== undefined && matches(layer, `${own}/`));
    return this.#options.isAdminPath(path) || hasRoute(layers, mountPath + path, method) || layers.some(isPart);
  };

  /** Whether a route of another node, in front of an endpoint with parameters, is for a request. */
  #isTakenBefore(endpoint: Endpoint, path: string, method: string): boolean {
    const layers = getLayers(this.#apps.nodes);
    const own = this.dispatcher.getLayer(endpoint);
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
        const own = endpoint && this.dispatcher.getLayer(endpoint);
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
}

/** Whether a route is for a request; one for everything is a guard. */
function hasRoute(layers: readonly Layer[], path: string, method: string): boolean {
  const isRoute = ({ route }: Layer) => typeof route?.path === "string" && !route.path.includes("*");
  return layers.some((layer) => isRoute(layer) && matches(layer, path, method));
}
