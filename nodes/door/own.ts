// Which functions of the web server are Node-RED's and Express's own.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { NodeAPI } from "node-red";

/** In which files the functions stand that a plain Node-RED has in its web server. */
const files = {
  query: "express/lib/middleware/query.js",
  expressInit: "express/lib/middleware/init.js",
  /** What an app is mounted by, and what it handles requests by. */
  app: "express/lib/application.js",
  router: "express/lib/router/index.js",
  layer: "express/lib/router/layer.js",
  route: "express/lib/router/route.js",
  jsonParser: "body-parser/lib/types/json.js",
  urlencodedParser: "body-parser/lib/types/urlencoded.js",
  cors: "cors/lib/index.js",
  passport: "passport/lib/middleware/initialize.js",
  rawBodyCapture: "@node-red/nodes/core/network/21-httpin.js",
  /** The listener of the server, and what checks the user and password of `httpNodeAuth`. */
  command: "node-red/red.js",
  /** Who listens for upgrades: the runtime, the editor, and core's WebSocket nodes. */
  runtime: "@node-red/runtime/lib/index.js",
  editor: "@node-red/editor-api/lib/editor/comms.js",
  webSocket: "@node-red/nodes/core/network/22-websocket.js",
} as const;

/** Whose function it is. */
export type Owner = keyof typeof files;

/**
 * Knows functions by their source. A name is quickly taken, but the text of a function that stands in a file of Node-RED
 * or Express does what it does there; how many of them there are, and in which order, is for who asks.
 */
export class OwnFunctions {
  readonly #require: NodeJS.Require;
  readonly #sources = new Map<Owner, string>();
  readonly #known: Partial<Record<Owner, WeakMap<object, boolean>>> = {};

  constructor(RED: NodeAPI) {
    // Node-RED's own setting: the folder of its core nodes, beside which its other parts are installed.
    const { coreNodesDir = __dirname } = RED.settings as { coreNodesDir?: string };
    this.#require = createRequire(join(coreNodesDir, "package.json"));
  }

  /** Whether something is a function as it stands in the file of an owner. */
  isOf(owner: Owner, candidate: unknown): boolean {
    if (typeof candidate !== "function") return false;
    const known = (this.#known[owner] ??= new WeakMap());
    let isOwn = known.get(candidate);
    if (isOwn === undefined) {
      isOwn = this.#sourceOf(owner).includes(Function.prototype.toString.call(candidate));
      known.set(candidate, isOwn);
    }
    return isOwn;
  }

  /** Whether this process was started as Node-RED, and not by an application that Node-RED is a part of. */
  get startedByItself(): boolean {
    return require.main?.filename === this.#pathOf("command");
  }

  #sourceOf(owner: Owner): string {
    let source = this.#sources.get(owner);
    if (source === undefined) {
      source = this.#read(this.#pathOf(owner));
      this.#sources.set(owner, source);
    }
    return source;
  }

  #read(path: string | undefined): string {
    return path === undefined ? "" : readFileSync(path, "utf8");
  }

  #pathOf(owner: Owner): string | undefined {
    try {
      return this.#require.resolve(files[owner]);
    } catch {
      // Installed in a way that is not known: then nothing is.
      return undefined;
    }
  }
}
