// Where Node-RED's two apps are, and what of a path is below them.

import type { Express, Request } from "express";
import type { NodeAPI } from "node-red";
import { inLowerCase } from "../../src/request/target";
import { rootsOf } from "../runtime/host";
import { type Layer, layersOf } from "./stack";

/**
 * How apps are mounted in the app that the server calls, as it was when Node-RED loaded its nodes. Express mounts all
 * apps by the same function: of a mount that has come since, or was changed, nobody can tell where it leads.
 */
export class Mounts {
  readonly #seen: ReadonlyMap<Layer, Pick<Layer, "handle" | "regexp">>;

  constructor(root: Express | undefined) {
    this.#seen = new Map(this.#mountsIn(root).map((layer) => [layer, { ...layer }]));
  }

  areAsSeen(root: Express): boolean {
    return this.#mountsIn(root).every((layer) => {
      const seen = this.#seen.get(layer);
      return seen?.handle === layer.handle && seen?.regexp === layer.regexp;
    });
  }

  #mountsIn(root: Express | undefined): Layer[] {
    return root ? layersOf(root).filter(isMount) : [];
  }
}

/** Whether a layer is where an app is mounted. */
export function isMount({ name }: Layer): boolean {
  return name === "mounted_app";
}

/** A mount without the slash at its end. */
export function withoutSlash(mount: string): string {
  return mount.replace(/\/+$/, "");
}

/** What of a path is below a mount, as Express sees it: it takes one slash more away than the mount has. */
export function pathBelow(mount: string, path: string): string | undefined {
  const prefix = withoutSlash(mount);
  if (!inLowerCase(`${path}/`).startsWith(inLowerCase(`${prefix}/`))) return undefined;
  const rest = path.slice(prefix.length);
  return prefix === "" ? rest : rest.replace(/^\/\//, "/");
}

/**
 * The path that the app for HTTP nodes will see of a request which the admin app sees now.
 *
 * @param mount of the app for HTTP nodes; nothing where it is not told, as behind a router
 */
export function pathBelowNodes(RED: NodeAPI, mount: string | undefined, request: Request): string | undefined {
  if (mount !== undefined) return pathBelow(mount, request.baseUrl + request.path);
  const { admin, node } = rootsOf(RED);
  if (admin === false || node === false) return undefined;
  const below = pathBelow(`/${admin}`.replace(/\/+/g, "/"), `/${node}`.replace(/\/+/g, "/"));
  return below === undefined ? undefined : pathBelow(below, request.path);
}
