import cookieParser from "cookie-parser";
import cors from "cors";
import type { ErrorRequestHandler, Express, RequestHandler } from "express";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeAPI } from "node-red";
import proxyAddr from "proxy-addr";
import type { Endpoints, Found } from "../../src/endpoints";
import { problems } from "../../src/problem";
import { type Endpoint, fail, serve } from "../../src/receive";
import { refuse } from "../../src/reply/reply";
import { parseTarget, type Target } from "../../src/request/target";
import { type Claimable, claim, claimBodies, claimed, nodeRootBelowAdmin } from "./claims";
import { middlewareOf, settingsOf } from "../runtime/host";
import { arrange, isRouteForAll, type Layer, layersAddedBy, layersOf, parentOf, rootOf } from "./layers";
import { wayTo } from "./way";

type PassOn = () => void;

/** Matches every path: endpoints are found by a map, never by route patterns. */
const anyPath = /^/;

/**
 * Meets requests in the runtime's own web server, for all endpoints at once.
 *
 * They pass whatever the operator or the host application put in front of Node-RED's nodes, and nothing else: the less
 * of Express a request goes through, the faster it is. Where nothing stands in front, that is nothing at all. Where
 * nothing can be seen, it is the app for HTTP nodes, ahead of the routes of other nodes, whose patterns might take an
 * endpoint's requests.
 */
export function openFrontDoor(RED: NodeAPI, endpoints: Endpoints<Endpoint>): void {
  const { httpNodeRoot, httpNodeCors } = settingsOf(RED);
  if (httpNodeRoot === false) return;
  const app = RED.httpNode;
  const handOutCors = httpNodeCors
    ? cors(httpNodeCors)
    : (_request: unknown, _response: unknown, next: (error?: unknown) => void) => next();

  const answer = (request: Claimable, target: Target, response: ServerResponse, passOn: PassOn) => {
    const ip = proxyAddr(request, app.get("trust proxy fn") as Parameters<typeof proxyAddr>[1]);
    void serve({ request, ...target, ip }, response, endpoints, () => {
      request._body = false;
      passOn();
    });
  };

  // Before Express, or between its layers.
  const meet = (request: Claimable, response: ServerResponse, next: PassOn) => {
    const target = isSettled() && request.method === "POST" ? request[claimed] : undefined;
    if (!target || request.url !== target.sent) next();
    else if (!httpNodeCors) answer(request, target, response, next);
    else {
      handOutCors(request, response, (error?: unknown) => {
        if (error === undefined) answer(request, target, response, next);
        else failFor(endpoints.find(target.path), request, response, error);
      });
    }
  };

  // In the admin app, which with equal roots comes before the app for HTTP nodes. To leave a router spares the rest.
  let pastAdmin = false;
  const nodesBelowAdmin = nodeRootBelowAdmin(RED);
  const leaveAdmin: RequestHandler = (request: Claimable, _response, next) => {
    // Behind a router, whose mount is not told, the server's listener does not know the paths.
    if (!request[claimed] && nodesBelowAdmin !== undefined) claim(request, endpoints, nodesBelowAdmin);
    next(isSettled() && pastAdmin && request.method === "POST" && request[claimed] ? "router" : undefined);
  };

  // In the app for HTTP nodes.
  const holderOf = (request: IncomingMessage) => endpoints.find(parseTarget(request.url ?? "").path);
  const onlyOurs: (method: string) => RequestHandler = (method) => (request, _response, next) => {
    next(request.method === method && holderOf(request) ? undefined : "route");
  };
  const answerInApp: RequestHandler = (request, response, next) => {
    answer(request, parseTarget(request.url), response, next);
  };
  const onError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    failFor(holderOf(request), request, response, error);
  };

  // In any case.
  const giveBack: RequestHandler = (request: Claimable, _response, next) => {
    if (request[claimed] && request.method !== "POST") request._body = false;
    next();
  };
  const refuseOtherMethods: RequestHandler = (request, response, next) => {
    const endpoint = holderOf(request);
    if (!endpoint) return next();
    refuse(request, response, problems.methodNotAllowed);
    if (typeof endpoint === "object") endpoint.refused(problems.methodNotAllowed);
  };

  claimBodies(RED, endpoints);
  const giver = layersAddedBy(app, () => app.use(giveBack));
  const first = layersAddedBy(app, () => {
    // Routes for all methods: one for POST would make Express tell every OPTIONS request that POST is allowed.
    if (httpNodeCors) app.all(anyPath, onlyOurs("OPTIONS"), handOutCors);
    app.all(anyPath, onlyOurs("POST"), cookieParser(), middlewareOf(RED), handOutCors, answerInApp, onError);
  });
  const last = layersAddedBy(app, () => app.use(refuseOtherMethods));
  const admin = parentOf(RED.httpAdmin);
  const leaver = admin ? layersAddedBy(admin, () => admin.use(leaveAdmin)) : [];
  if (admin) arrange(admin, (layers) => [...leaver, ...layers.filter((layer) => !leaver.includes(layer))]);
  let foremost: Layer[] = [];
  let told: string | undefined;
  let seen: { each: Express; layers: readonly Layer[] | undefined; count: number | undefined }[] = [];
  const takePlaces = () => {
    arrange(app, (layers) => {
      const others = layers.filter((layer) => ![...giver, ...first, ...last].includes(layer));
      const rival = others.findIndex((layer) => layer.route?.methods.post && !isRouteForAll(layer));
      const before = rival === -1 ? others.length : rival;
      return [...giver, ...others.slice(0, before), ...first, ...others.slice(before), ...last];
    });
    const root = rootOf(app);
    const ours = [...foremost, ...giver, ...first, ...last, ...leaver];
    const { place, why, ...way } = wayTo(app, RED, endpoints.paths(), ours);
    pastAdmin = way.pastAdmin ?? false;
    if (place !== undefined && foremost.length === 0) foremost = layersAddedBy(root, () => root.use(meet));
    arrange(root, (layers) => {
      const others = layers.filter((layer) => !foremost.includes(layer));
      return place === undefined ? others : others.toSpliced(place, 0, ...foremost);
    });

    const where = place === 0 ? "beforeExpress" : place === undefined ? "amongNodes" : "beforeNodes";
    const [reason, layer = ""] = why;
    const line = RED._(`way.${where}`, { why: RED._(`way.why.${reason}`, { layer }) });
    if (line !== told) RED.log.debug(line);
    told = line;
    seen = [root, app, RED.httpAdmin, ...(admin ? [admin] : [])].map((each) => {
      const layers = layersOf(each);
      return { each, layers, count: layers?.length };
    });
  };

  // While flows are being deployed, paths come that the places were not chosen for, and layers with them. Requests go
  // the ordinary way then.
  let started = false;
  const isSettled = () => {
    if (!started) return false;
    if (seen.every(({ each, layers, count }) => layersOf(each) === layers && layers?.length === count)) return true;
    // Something has added a layer since. What meets this request was in its place before.
    takePlaces();
    return false;
  };
  takePlaces();
  RED.events.on("flows:stopping", () => (started = false));
  RED.events.on("flows:started", () => {
    takePlaces();
    started = true;
  });
}

/** Answers for an endpoint whose guards have failed. */
function failFor(found: Found<Endpoint>, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (typeof found === "object") fail(request, response, found, error);
  else refuse(request, response, problems.unforeseen);
}
