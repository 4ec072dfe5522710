// Whether a request can be handled before Express has run, because nothing stands in front of its endpoint.

import type { Express, RequestHandler } from "express";
import type { Endpoint } from "../endpoint";
import { getLayers, getMountPath, getParent, type Layer, matches } from "./express";

/** The settings of Node-RED that say what stands in front. */
export interface FrontSettings {
  readonly httpNodeMiddleware?: unknown;
  readonly httpNodeCors?: unknown;
  readonly httpAdminMiddleware?: unknown;
  readonly httpAdminCors?: unknown;
  readonly adminAuth?: unknown;
  readonly disableEditor?: boolean;
  readonly requireHttps?: unknown;
}

/** Node-RED's apps. */
export interface Apps {
  /** `RED.httpNode`, and the app in which it is mounted. */
  readonly nodes: Express;
  readonly root: Express | undefined;
  /** `RED.httpAdmin`, and the app in which it is mounted: Node-RED's own admin app with the body parsers. */
  readonly adminNodes: Express;
  readonly admin: Express | undefined;
}

/** The layers of this package. */
export interface OurLayers {
  isOurs(layer: Layer): boolean;
  /** The one in which an endpoint is met, in the app for HTTP nodes. */
  getLayer(endpoint: Endpoint): Layer | undefined;
}

/** What stands in front of an endpoint. */
export interface Front {
  /** Whether that is nothing but Node-RED's and Express's own. */
  readonly isPlain: boolean;
  /** The same of the admin app alone, for any method. */
  readonly isAdminPlain: boolean;
  /** What Node-RED 4.1 does in its admin app: it lets the scripts of any page read the reply. */
  readonly adminCors: RequestHandler | undefined;
}

const ofExpress = ["query", "expressInit"];
const ofAdmin = [...ofExpress, "corsMiddleware", "jsonParser", "urlencodedParser"];
const mount = "mounted_app";

/**
 * Tells what stands in front of an endpoint by the names and the number of the layers that match its path. A middleware
 * that somebody has added has another name, or comes once more than Node-RED's own. When in doubt, something does.
 */
export class DirectRule {
  readonly #apps: Apps;
  readonly #all: readonly (Express | undefined)[];
  readonly #settings: FrontSettings;
  readonly #layers: OurLayers;
  #fronts = new WeakMap<Endpoint, Front>();
  /** How many layers each of the apps had when these were found. */
  #counts: number[] = [];

  constructor(apps: Apps, settings: FrontSettings, layers: OurLayers) {
    this.#apps = apps;
    this.#all = [apps.root, apps.admin, apps.adminNodes, apps.nodes];
    this.#settings = settings;
    this.#layers = layers;
  }

  /** Asks anew from now on. */
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
    const { path } = endpoint;
    const { root, admin, adminNodes, nodes } = this.#apps;
    const fullPath = (getMountPath(nodes) ?? "") + path;
    const adminPath = this.#findPathInAdmin(fullPath);
    const isAdminInFront = adminPath !== undefined;
    const {
      httpAdminMiddleware,
      httpAdminCors,
      adminAuth,
      requireHttps,
      httpNodeMiddleware,
      httpNodeCors,
      disableEditor,
    } = this.#settings;
    const { type: authType } = (adminAuth ?? {}) as { type?: unknown };
    const isAdminPlain =
      !(httpAdminMiddleware || httpAdminCors || requireHttps || authType === "strategy") &&
      // The editor, the admin API, and the app for the admin routes of nodes.
      isPlain(this.#find(admin, adminPath ?? ""), [
        ...ofAdmin,
        ...(authType === "credentials" ? ["initialize"] : []),
        ...(disableEditor === true ? [] : [mount]),
        mount,
        mount,
      ]) &&
      isPlain(this.#find(adminNodes, adminPath ?? ""), ofExpress);
    // Handshakes come by other methods.
    const method = endpoint.gate.methods.length > 0 ? undefined : "POST";
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
        // One that is a function decides by the request as Express has made it.
        typeof httpNodeCors !== "function",
      isAdminPlain,
      adminCors: isAdminInFront ? this.#findCors(admin) : undefined,
    };
  }

  /** The path that the admin app sees of a request, where that is in front. */
  #findPathInAdmin(fullPath: string): string | undefined {
    const { root, admin } = this.#apps;
    const mountPath = admin && getParent(admin) === root ? getMountPath(admin) : undefined;
    if (mountPath === undefined || !`${fullPath}/`.startsWith(`${mountPath}/`)) return undefined;
    return fullPath.slice(mountPath.length);
  }

  /** Whether a layer behind the endpoint's may answer another method. */
  mayBeAnsweredBehind({ path }: Endpoint, method: string): boolean {
    const { root, nodes } = this.#apps;
    if (!root || getParent(root)) return true;
    const fullPath = (getMountPath(nodes) ?? "") + path;
    const layers = this.#find(root, fullPath, method);
    const mounts = layers.filter(({ name }) => name === mount).length;
    // Where other apps are mounted as well, theirs may be behind.
    if (mounts !== (this.#findPathInAdmin(fullPath) === undefined ? 1 : 2)) return true;
    const behind = layers.slice(1 + layers.findLastIndex(({ name }) => name === mount));
    return behind.some(({ name }) => name !== "serveStatic" || /^(?:GET|HEAD)$/.test(method));
  }

  /** Whether the layers of other nodes that match stand behind the one in which an endpoint is met. */
  #isPlainAmongNodes(endpoint: Endpoint, method: string | undefined): boolean {
    const layers = getLayers(this.#apps.nodes);
    const index = layers.findIndex((layer) => layer === this.#layers.getLayer(endpoint));
    const before = layers.slice(0, Math.max(index, 0));
    const met = this.#find(this.#apps.nodes, endpoint.path, method).filter((layer) => before.includes(layer));
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

/** Whether layers have no other names than these, and each of them no more often. */
function isPlain(layers: readonly Layer[], names: readonly string[]): boolean {
  const left = [...names];
  return layers.every(({ name }) => {
    const index = left.indexOf(name);
    if (index !== -1) left.splice(index, 1);
    return index !== -1;
  });
}
