import cookieParser from "cookie-parser";
import cors from "cors";
import type { ErrorRequestHandler, RequestHandler } from "express";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeAPI } from "node-red";
import proxyAddr from "proxy-addr";
import type { Endpoints } from "../src/endpoints";
import { problems } from "../src/problem";
import { type Endpoint, fail, serve } from "../src/receive";
import { refuse } from "../src/reply";
import { parseTarget, type Target } from "../src/target";
import { type Claimable, claim, claimBodies, claimed, nodeRootBelowAdmin } from "./claims";
import { middlewareOf, settingsOf } from "./host";
import { arrange, type Layer, layersAddedBy, parentOf, rootOf } from "./layers";
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
    : (_request: unknown, _response: unknown, next: PassOn) => next();

  const answer = (request: Claimable, target: Target, response: ServerResponse, passOn: PassOn) => {
    const ip = proxyAddr(request, app.get("trust proxy fn") as Parameters<typeof proxyAddr>[1]);
    void serve({ request, ...target, ip }, response, endpoints, () => {
      request._body = false;
      passOn();
    });
  };

  // Before Express, or between its layers.
  const meet = (request: Claimable, response: ServerResponse, next: PassOn) => {
    const target = request.method === "POST" ? request[claimed] : undefined;
    if (!target) next();
    else if (!httpNodeCors) answer(request, target, response, next);
    else handOutCors(request, response, () => answer(request, target, response, next));
  };

  // In the admin app, which with equal roots comes before the app for HTTP nodes. To leave a router spares the rest.
  let pastAdmin = false;
  const nodesBelowAdmin = nodeRootBelowAdmin(RED);
  const leaveAdmin: RequestHandler = (request: Claimable, _response, next) => {
    // Behind a router, whose mount is not told, the server's listener does not know the paths.
    if (!request[claimed] && nodesBelowAdmin !== undefined) claim(request, endpoints, nodesBelowAdmin);
    next(pastAdmin && request.method === "POST" && request[claimed] ? "router" : undefined);
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
    const endpoint = holderOf(request);
    if (typeof endpoint === "object") fail(request, response, endpoint, error);
    else refuse(request, response, problems.unforeseen);
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
  const takePlaces = () => {
    arrange(app, (layers) => {
      const others = layers.filter((layer) => ![...giver, ...first, ...last].includes(layer));
      const rival = others.findIndex(({ route }) => route?.methods.post ?? route?.methods._all);
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
  };
  takePlaces();
  // Nodes and plugins add layers when the flows start.
  RED.events.on("flows:started", takePlaces);
}
