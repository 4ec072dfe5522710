// What is in the web server that a plain Node-RED does not have there.

import type { Express } from "express";
import type { NodeAPI } from "node-red";
import { authChecksOf, middlewareOf, settingsOf, parentOf } from "../runtime/host";
import type { Cors } from "./ways";
import { isMount, type Mounts, pathBelow } from "./mounts";
import type { OwnFunctions, Owner } from "./own";
import { concerns, handleOf, type Layer, layersOf, routerOf } from "./stack";

/**
 * Names the first foreign layer in each of the apps. What is ours does not count; all else has to be what a plain Node-RED has
 * in its place.
 */
export class ForeignLayers {
  readonly #RED: NodeAPI;
  readonly #own: OwnFunctions;
  readonly #ours: ReadonlySet<Layer>;
  readonly #mounts: Mounts;

  /** @param mounts those of Node-RED's apps in the app that the server calls */
  constructor(RED: NodeAPI, own: OwnFunctions, ours: ReadonlySet<Layer>, mounts: Mounts) {
    this.#RED = RED;
    this.#own = own;
    this.#ours = ours;
    this.#mounts = mounts;
  }

  /** @param admin the admin app, which may be in the same */
  inRoot(root: Express, admin: Express | undefined): string | undefined {
    const layers = this.#others(root);
    const capture: Owner[] = layers[0]?.name === "rawBodyCapture" ? ["rawBodyCapture"] : [];
    const editor: Owner[] = admin && parentOf(admin) === root ? ["app"] : [];
    const { httpNodeAuth } = settingsOf(this.#RED);
    const basicAuth: Owner[] = httpNodeAuth && authChecksOf(this.#RED).length === 0 ? ["command"] : [];
    const plain: Owner[] = [...capture, "query", "expressInit", ...editor, ...basicAuth, "app"];
    const peculiarity = this.#firstOther(layers, plain) ?? this.#peculiarity(root);
    return peculiarity ?? (this.#mounts.areAsSeen(root) ? undefined : "mounted_app");
  }

  inAdmin(admin: Express, fullPath: string): string | undefined {
    const { disableEditor, adminAuth } = settingsOf(this.#RED);
    const layers = this.#met(admin, fullPath);
    const cors: Owner[] = this.adminCors(admin) ? ["cors"] : [];
    const passport: Owner[] = adminAuth && layers.some(({ name }) => name === "initialize") ? ["passport"] : [];
    const apps: Owner[] = disableEditor ? ["app", "app"] : ["app", "app", "app"];
    const parsers: Owner[] = ["jsonParser", "urlencodedParser"];
    return (
      this.#firstOther(layers, ["query", "expressInit", ...cors, ...parsers, ...passport, ...apps]) ??
      this.#firstOther(this.#met(this.#RED.httpAdmin, fullPath), ["query", "expressInit"]) ??
      this.#peculiarity(admin) ??
      this.#peculiarity(this.#RED.httpAdmin)
    );
  }

  /**
   * @param path of an endpoint
   * @param place the layer that serves it: only what is in front of that counts
   * @param method of the requests that are asked for, if it is not that of the endpoint
   */
  amongNodes(path: string, place: Layer | undefined, method?: string): string | undefined {
    const met = this.#metAmongNodes(path, place, method);
    return this.#firstOther(met, ["query", "expressInit"]) ?? this.#peculiarity(this.#RED.httpNode);
  }

  /** The layers of other nodes that requests for an endpoint pass in the app for HTTP nodes. */
  among(path: string, place: Layer | undefined): Layer[] {
    const own = ["query", "expressInit"] as const;
    return this.#metAmongNodes(path, place).filter((layer) => !own.some((owner) => this.#isOwn(layer, owner)));
  }

  /**
   * The layers that requests pass in an app in front of that, but for one that Node-RED adds when it needs it.
   *
   * @param fullPath that of an endpoint, with all roots
   */
  before(app: Express | undefined, fullPath: string): Layer[] {
    return app ? this.#met(app, fullPath).filter((layer) => !this.#isOwn(layer, "rawBodyCapture")) : [];
  }

  #met(app: Express, fullPath: string): Layer[] {
    const path = pathBelow(app.path(), fullPath) ?? fullPath;
    return this.#others(app).filter((layer) => concerns(layer, path));
  }

  #metAmongNodes(path: string, place: Layer | undefined, method?: string): Layer[] {
    const layers = layersOf(this.#RED.httpNode);
    // Where it has none at the moment, it may get one behind all others.
    const index = place ? layers.indexOf(place) : -1;
    const before = index === -1 ? layers : layers.slice(0, index);
    return before.filter((layer) => !this.#ours.has(layer) && concerns(layer, path, method));
  }

  /** What Node-RED 4.1 has in front of all in its admin app. */
  adminCors(admin: Express): Cors | undefined {
    const third = settingsOf(this.#RED).version?.startsWith("4.") ? this.#others(admin)[2] : undefined;
    return third && this.#own.isOf("cors", third.handle) ? (third.handle as Cors) : undefined;
  }

  /** Who comes behind the body parsers of the admin app. */
  readersIn(root: Express | undefined): Readers {
    if (!root || this.#peculiarity(root) !== undefined || !this.#mounts.areAsSeen(root)) return "anybody";
    const layers = this.#others(root);
    const [first, last] = [layers.findIndex(isMount), layers.findLastIndex(isMount)];
    if (layers.filter(isMount).length > 2) return "anybody";
    const guards = authChecksOf(this.#RED);
    const between = layers.slice(first + 1, last).filter((layer) => !this.#isOwn(layer, "command"));
    if (between.some(({ handle }) => !guards.includes(handle))) return "anybody";
    return between.length > 0 || middlewareOf(this.#RED).length > 0 ? "guards" : "nobody";
  }

  /** The name of the first layer that is not the one which should be in its place. */
  #firstOther(layers: readonly Layer[], plain: readonly Owner[]): string | undefined {
    const index = plain.findIndex((owner, place) => !this.#isOwn(layers[place], owner));
    return index === -1 ? layers[plain.length]?.name : (layers[index]?.name ?? plain[index]);
  }

  #isOwn(layer: Layer | undefined, owner: Owner): boolean {
    return layer !== undefined && !layer.route && this.#own.isOf(owner, layer.handle);
  }

  /** What an app does in another way than Express's apps do by themselves. */
  #peculiarity(app: Express): string | undefined {
    const router = routerOf(app);
    if (!this.#own.isOf("app", handleOf(app)) || !this.makesRoutesAsUsual(app)) return "handle";
    if (!this.#own.isOf("router", router?.handle) || !this.#own.isOf("router", router?.process_params)) return "handle";
    if (router?.stack.some((layer) => !this.isCalledAsUsual(layer))) return "handle";
    if (app.get("query parser") !== "extended") return "query parser";
    if (router?.caseSensitive) return "case sensitive routing";
    if (router?.strict) return "strict routing";
    return Object.keys(router?.params ?? {})[0];
  }

  /** Whether Express calls what a layer stands for in its own way. */
  isCalledAsUsual(layer: Layer | undefined): boolean {
    if (!layer) return false;
    const { handle_request: handleRequest, match, route } = layer;
    return this.#isOwnRoute(route) && this.#own.isOf("layer", handleRequest) && this.#own.isOf("layer", match);
  }

  #isOwnRoute(route: Layer["route"]): boolean {
    return !route || [route.dispatch, route.post, route.all].every((method) => this.#own.isOf("route", method));
  }

  /** Whether routes are added to an app by what Express has for that. */
  makesRoutesAsUsual(app: Express): boolean {
    const isOwn = this.#own.isOf("app", app.post) && this.#own.isOf("app", app.all);
    return isOwn && this.#own.isOf("router", routerOf(app)?.route);
  }

  #others(app: Express): Layer[] {
    return layersOf(app).filter((layer) => !this.#ours.has(layer));
  }
}

/** `guards` let a request pass or not; `anybody` may as well take it for themselves. */
export type Readers = "nobody" | "guards" | "anybody";
