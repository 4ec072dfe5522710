import type { IncomingMessage } from "node:http";
import type { NodeAPI } from "node-red";
import type { Endpoints } from "../../src/endpoints";
import type { Endpoint } from "../../src/receive";
import { decodeUnreserved, parseTarget, type Target } from "../../src/request/target";
import { rootsOf } from "../runtime/host";
import { ignoreUpgrades } from "./upgrades";

/** Where the target of a request that is an endpoint's is kept, from when it was claimed until it is met. */
export const claimed = Symbol("claimed");

/** A request, perhaps with body-parser's mark for one whose body is taken care of. */
export type Claimable = IncomingMessage & { _body?: boolean; [claimed]?: Claim };

interface Claim extends Target {
  /** The URL of the request when it was claimed: what stands in front may change it, and then it is another's. */
  sent: string | undefined;
}

/**
 * With equal roots the admin app's body parsers come before any node, and in a host application its own may.
 * They pass over a request marked as parsed, which leaves its bytes, and all checks before them, to us. Another method
 * on an endpoint's path is for the routes of other nodes, which parse for themselves, or refused without a look.
 */
export function claimBodies(RED: NodeAPI, endpoints: Endpoints<Endpoint>): void {
  // A host application that runs Node-RED without an editor need not tell its server.
  const server = RED.server as NodeAPI["server"] | null | undefined;
  if (!server) return;
  server.prependListener("request", (request: Claimable) => claim(request, endpoints, RED.httpNode.path()));
  ignoreUpgrades(server, (request) => {
    return request.method === "POST" && targetOfOurs(request, endpoints, RED.httpNode.path()) !== undefined;
  });
}

/** Claims a request if it is for one of the endpoints, which are below a mount. */
export function claim(request: Claimable, endpoints: Endpoints<Endpoint>, mount: string): void {
  const target = targetOfOurs(request, endpoints, mount);
  if (!target) return;
  request._body = true;
  // A layer for a path is to see the path that the endpoint is found by, in whatever way it was written.
  request.url = request.url?.replace(/^[^?#]*/, decodeUnreserved);
  request[claimed] = { ...target, sent: request.url };
}

function targetOfOurs(request: IncomingMessage, endpoints: Endpoints<Endpoint>, mount: string): Target | undefined {
  const target = targetBelow(mount, request);
  return target && endpoints.find(target.path) ? target : undefined;
}

/** Where requests for HTTP nodes are below the admin app, if they pass it. */
export function nodeRootBelowAdmin(RED: NodeAPI): string | undefined {
  const { admin, node } = rootsOf(RED);
  if (admin === false || node === false) return undefined;
  const [prefix, path] = [`${admin}/`.replace(/\/+/g, "/"), `/${node}/`.replace(/\/+/g, "/")];
  return path.startsWith(prefix) ? path.slice(prefix.length - 1) : undefined;
}

/** The target that an app sees below its mount: Express takes one slash more away than the mount has. */
function targetBelow(mount: string, request: IncomingMessage): Target | undefined {
  const target = parseTarget(request.url ?? "");
  if (mount === "/") return target;
  const { path, search } = target;
  const prefix = mount.replace(/\/+/g, "/").replace(/\/$/, "");
  if (!path.toLowerCase().startsWith(prefix.toLowerCase())) return undefined;
  return { path: path.slice(prefix.length).replace(/^\/\//, "/"), search };
}
