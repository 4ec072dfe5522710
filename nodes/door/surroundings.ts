// What stands between the web server and the endpoints.

import type { Express } from "express";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { NodeAPI } from "node-red";
import { serverOf, settingsOf, settingsThatGuard, parentOf } from "../runtime/host";
import { Mounts, pathBelow, withoutSlash } from "./mounts";
import { Glance } from "./glance";
import { OwnFunctions } from "./own";
import type { Cors } from "./ways";
import { type Layer, layersOf, routerOf } from "./stack";
import { ForeignLayers, type Readers } from "./foreign-layers";

/** Why requests go the ordinary way: the key of a text under `way.why` in the message catalog, and what it is about. */
export type Reason = readonly [key: string, name?: string];

/** What a request passes on its way. */
export interface Front {
  /** What of it is not Node-RED's and Express's own. */
  readonly obstacle: Reason | undefined;
  /** The layers; some of Node-RED's own may be missing. */
  readonly layers: readonly Passage[];
}

/** A layer as it was: what it does may be exchanged, and a route may get more to do. */
export interface Passage extends Pick<Layer, "handle"> {
  readonly layer: Layer;
  /** How many handlers its route has. */
  readonly handlers: number | undefined;
}

/** What a request for an endpoint meets before it gets there; with an obstacle, the fast way is closed. */
export interface View extends Front {
  /** What of it is outside of the app for HTTP nodes. */
  readonly outside: Front;
  /** Whether the admin app does with such a request only what a plain Node-RED does. */
  readonly adminIsPlain: boolean;
  /** What Node-RED 4.1 does with every request that passes its admin app: it lets scripts of any page read the reply. */
  readonly adminCors: Cors | undefined;
  /** Who comes after Node-RED's own body parsers, and may look for what they leave. */
  readonly readers: Readers;
}

/**
 * Looks at all that a request passes before it gets to an endpoint. To look for guards would leave a hole for each kind
 * that one does not know. So it is the other way round: whatever is not what a plain Node-RED has there, by number,
 * order, name and source, is taken for a guard.
 */
export class Surroundings {
  readonly #RED: NodeAPI;
  readonly #own: OwnFunctions;
  readonly #foreign: ForeignLayers;
  #mount: string | undefined;
  #glance: Glance | undefined;

  /** @param ours the layers of this package, wherever they are */
  constructor(RED: NodeAPI, ours: ReadonlySet<Layer>) {
    this.#RED = RED;
    this.#own = new OwnFunctions(RED);
    this.#foreign = new ForeignLayers(RED, this.#own, ours, new Mounts(this.root));
  }

  /** The app that the server calls, and in which Node-RED's are; nothing where that cannot be seen. */
  get root(): Express | undefined {
    const root = parentOf(this.#RED.httpNode);
    return root && !parentOf(root) && routerOf(root) && isPlace(this.#RED.httpNode) ? root : undefined;
  }

  /** Node-RED's own admin app, in which that of its nodes is. */
  get admin(): Express | undefined {
    const admin = parentOf(this.#RED.httpAdmin);
    return admin && isPlace(admin) ? admin : undefined;
  }

  /** Where the app for HTTP nodes is, without a slash at its end; nothing where that cannot be seen. */
  get mount(): string | undefined {
    return this.#mount;
  }

  /** Whether something has changed since this was last asked. */
  haveChanged(): boolean {
    if (this.#glance?.isStillTrue()) return false;
    const { root, admin } = this;
    this.#glance = new Glance(serverOf(this.#RED), [root, admin, this.#RED.httpAdmin, this.#RED.httpNode]);
    this.#mount = root && withoutSlash(this.#RED.httpNode.path());
    return true;
  }

  /** Whether a layer is one of Node-RED's own body parsers, or one that is made as they are. */
  isParser({ name, handle }: Layer): boolean {
    return (name === "jsonParser" || name === "urlencodedParser") && this.#own.isOf(name, handle);
  }

  /**
   * What requests for an endpoint meet.
   *
   * @param path the endpoint's, below the root of HTTP nodes
   * @param place the layer that serves it
   */
  look(path: string, place: Layer | undefined): View {
    const { root } = this;
    const passed = this.#passedAdmin(path);
    const outside = this.outside(path);
    const inAdmin = passed && this.#foreign.inAdmin(passed, this.#fullPath(path));
    const amongNodes = this.#foreign.amongNodes(path, place);
    const [setting] = settingsThatGuard(this.#RED, passed !== undefined);
    const reasons: (Reason | undefined)[] = [
      setting === undefined ? undefined : ["setting", setting],
      root && layersOf(this.#RED.httpNode).some((layer) => layer === place) ? undefined : ["unseen"],
      outside.obstacle,
      amongNodes === undefined ? undefined : ["amongNodes", amongNodes],
    ];
    return {
      obstacle: reasons.find((reason) => reason !== undefined),
      layers: [...outside.layers, ...this.#foreign.among(path, place).map(asItIs)],
      outside,
      adminIsPlain: inAdmin === undefined && !settingsOf(this.#RED).requireHttps,
      adminCors: passed && this.#foreign.adminCors(passed),
      readers: inAdmin !== undefined || amongNodes !== undefined ? "anybody" : this.#foreign.readersIn(root),
    };
  }

  /** What requests meet before they get to the app for HTTP nodes. */
  outside(path: string): Front {
    const { root, admin } = this;
    const fullPath = this.#fullPath(path);
    const passed = this.#passedAdmin(path);
    const inRoot = root && this.#foreign.inRoot(root, admin);
    const inAdmin = passed && this.#foreign.inAdmin(passed, fullPath);
    const reasons: (Reason | undefined)[] = [
      root && this.#isServed(root) ? undefined : ["server"],
      inRoot === undefined ? undefined : inRoot === "mounted_app" ? ["otherApps"] : ["inFront", inRoot],
      inAdmin === undefined ? undefined : ["inAdmin", inAdmin],
    ];
    const apps = [root, passed, passed && this.#RED.httpAdmin];
    return {
      obstacle: reasons.find((reason) => reason !== undefined),
      layers: apps.flatMap((app) => this.#foreign.before(app, fullPath)).map(asItIs),
    };
  }

  #fullPath(path: string): string {
    return withoutSlash(this.#RED.httpNode.path()) + path;
  }

  /** The admin app, if requests for a path pass it. */
  #passedAdmin(path: string): Express | undefined {
    const { admin } = this;
    return admin && pathBelow(admin.path(), this.#fullPath(path)) !== undefined ? admin : undefined;
  }

  /** Whether a request came by the server that is looked at. */
  areOf(request: IncomingMessage): boolean {
    return (request.socket as Socket & { server?: unknown }).server === serverOf(this.#RED);
  }

  /** Whether no other node has a say in requests of a method for an endpoint's path. */
  isLeftToUs(path: string, method: string): boolean {
    return this.#foreign.amongNodes(path, undefined, method) === undefined;
  }

  /** Whether a route was added to the app for HTTP nodes by what Express has for that, and by nothing else. */
  isPlainRoute(layer: Layer | undefined): boolean {
    return this.#foreign.makesRoutesAsUsual(this.#RED.httpNode) && this.#foreign.isCalledAsUsual(layer);
  }

  /** Whether nobody but Node-RED itself wants to hear of requests for another protocol. */
  get upgradesArePlain(): boolean {
    const listeners: readonly unknown[] = serverOf(this.#RED)?.listeners("upgrade") ?? [];
    const owners = ["runtime", "editor", "webSocket"] as const;
    return listeners.every((listener) => owners.some((owner) => this.#own.isOf(owner, listener)));
  }

  /** Whether the server calls this app, and nothing else, as Node-RED's command and the simplest application do it. */
  #isServed(root: Express): boolean {
    const listeners: readonly unknown[] = serverOf(this.#RED)?.listeners("request") ?? [];
    const [listener] = listeners;
    const isNodeRed = () => this.#own.startedByItself && this.#own.isOf("command", listener);
    return listeners.length === 1 && (listener === root || isNodeRed());
  }
}

/** Whether a request that has passed one has all of another behind it as well. */
export function hasPassed(passed: Front, now: Front): boolean {
  if (now.obstacle && !passed.obstacle) return false;
  return now.layers.every(({ layer, handle, handlers }) =>
    passed.layers.some((seen) => seen.layer === layer && seen.handle === handle && seen.handlers === handlers),
  );
}

function asItIs(layer: Layer): Passage {
  return { layer, handle: layer.handle, handlers: layer.route?.stack.length };
}

/** Whether an app is mounted at one path: Express also takes patterns, and several at once. */
function isPlace({ mountpath }: Express): boolean {
  return typeof mountpath === "string" && /^[\w\-.~/]*$/.test(mountpath);
}
