// Whether a request can be handled before Express has run: when nothing of others stands in front of its endpoint.

import type { Express, RequestHandler } from "express";
import type { HostSettings } from "../config/node-red";
import type { Endpoint } from "../flow/endpoint";
import { findOwnMountPath, getLayers, getParent, type Layer, layerNames, matches } from "./host-internals";

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
export interface LayersInFront {
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
 * Decides by the names and the number of the layers that match an endpoint's path: middleware of others has another
 * name, or is one more than Node-RED's own. In doubt, a request goes through Express.
 */
export class DirectRule {
  readonly #apps: Apps;
  readonly #all: readonly (Express | undefined)[];
  readonly #settings: HostSettings;
  readonly #layers: OurLayers;
  #fronts = new WeakMap<Endpoint, LayersInFront>();
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
    const { root, admin, nodes } = this.#apps;
    const { httpNodeMiddleware, httpNodeCors } = this.#settings;
    const fullPath = (findOwnMountPath(nodes) ?? "") + path;
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
        isPlain(before.slice(0, last + 1), [layerNames.rawBody, ...ofExpress, ...apps]) &&
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
    const login = authType === "credentials" ? [layerNames.login] : [];
    // The editor, the admin API, and the admin routes of nodes.
    const mounts = [...(disableEditor === true ? [] : [mount]), mount, mount];
    const found = this.#find(admin, path);
    return isPlain(found, [...ofAdmin, ...login, ...mounts]) && isPlain(this.#find(adminNodes, path), ofExpress);
  }

  /** The path below the admin root, where that is in front of HTTP nodes. */
  #findPathInAdmin(fullPath: string): string | undefined {
    const { root, admin } = this.#apps;
    const mountPath = admin && getParent(admin) === root ? findOwnMountPath(admin) : undefined;
    if (mountPath === undefined || !`${fullPath}/`.startsWith(`${mountPath}/`)) return undefined;
    return fullPath.slice(mountPath.length);
  }

  /** Whether a layer behind the endpoint of a path may answer another method. */
  mayBeAnsweredBehind(path: string, method: string): boolean {
    const { root, nodes } = this.#apps;
    if (!root || getParent(root)) return true;
    const fullPath = (findOwnMountPath(nodes) ?? "") + path;
    const layers = this.#find(root, fullPath, method);
    const mounts = layers.filter(({ name }) => name === mount).length;
    // Other apps may be mounted behind.
    if (mounts !== (this.#findPathInAdmin(fullPath) === undefined ? 1 : 2)) return true;
    const behind = layers.slice(1 + layers.findLastIndex(({ name }) => name === mount));
    const answers = (name: string) => name !== layerNames.files || /^(?:GET|HEAD)$/.test(method);
    return behind.some(({ name }) => name !== layerNames.rawBody && answers(name));
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
    const layer = getLayers(admin).find(({ name }) => name === layerNames.cors);
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
