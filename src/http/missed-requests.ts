// Requests that missed the endpoint that they were probably meant for.

import type { IncomingMessage, ServerResponse } from "node:http";
import { normaliseAddress, RateBound } from "../auth/limits";
import type { Redactor } from "../auth/redactor";
import type { Reason } from "../auth/result";
import type { Delivery } from "../deliveries/delivery";
import { countCharacters, describeShape, maxRefusedPerSecond } from "../deliveries/delivery-log";
import type { Endpoint } from "../flow/endpoint";
import type { EndpointRegistry } from "../flow/endpoints";
import type { Outcomes } from "../flow/outcomes";
import { getPathKey, parseTarget } from "../request/target";

interface MissedOptions {
  readonly registry: EndpointRegistry;
  /** Of `RED.httpNode`, without a slash at its end. */
  readonly getMountPath: () => string;
  /** The id of the saved node with a path, by its key. */
  readonly findConfigured: (key: string) => string | undefined;
  /** Whether Node-RED's admin API answers a path. */
  readonly isAdminPath: (path: string) => boolean;
  readonly getAddress: (request: IncomingMessage) => string;
  readonly newId: () => string;
  readonly report: (delivery: Delivery) => void;
  readonly outcomes: Outcomes;
}

interface Missed {
  /** As shown: with `httpNodeRoot`, if it has that. */
  readonly path: string;
  /** The id of the node that was meant; empty where none is similar. */
  readonly node: string;
  readonly problem: "noEndpoint" | "inFront";
  readonly reason: Reason;
}

const maxShownPath = 200;
/** A longer segment of a path may be a token. */
const maxShownSegment = 30;
/** A missed request is redacted with the secrets of at most so many endpoints. */
const maxRedactors = 200;

export class MissedRequests {
  readonly #options: MissedOptions;
  readonly #bound = new RateBound(maxRefusedPerSecond);
  /** Of methods other than POST: browsers request much that is no webhook. */
  readonly #otherBound = new RateBound(maxRefusedPerSecond);
  readonly #watched = new WeakSet<ServerResponse>();
  readonly #ignored = new WeakSet<ServerResponse>();

  constructor(options: MissedOptions) {
    this.#options = options;
  }

  /** Reports a request if it was meant for an endpoint and something else answers it. */
  watch(request: IncomingMessage & { originalUrl?: string }, response: ServerResponse): void {
    if (this.#watched.has(response)) return;
    this.#watched.add(response);
    response.once("finish", () => {
      if (response.statusCode >= 400 && !this.#ignored.has(response)) this.#check(request, response.statusCode);
    });
  }

  ignore(response: ServerResponse): void {
    this.#ignored.add(response);
  }

  #check(request: IncomingMessage & { originalUrl?: string }, status: number): void {
    const { registry, getMountPath, isAdminPath, outcomes } = this.#options;
    const { path, search } = parseTarget(request.originalUrl ?? request.url ?? "");
    const mountPath = getMountPath();
    const below = path.startsWith(`${mountPath}/`) ? path.slice(mountPath.length) : undefined;
    const { method = "" } = request;
    const found = below === undefined ? undefined : registry.find(below);
    const endpoint = found && takes(found, method) ? found : undefined;
    if (!endpoint && (status !== 404 || isAdminPath(path))) return;
    const isPost = method === "POST";
    // The search takes time: not for each request of a flood.
    if (!(isPost ? this.#bound : this.#otherBound).take()) {
      if (isPost || endpoint) outcomes.emit("missed", { node: endpoint?.nodeId ?? "" });
      return;
    }
    const missed = endpoint ? findLayerInFront(endpoint, path, status) : this.#explain(method, path, mountPath, below);
    if (!isPost && missed.node === "") return;
    outcomes.emit("missed", { node: missed.node });
    this.#report(missed, request, search, status);
  }

  #explain(method: string, path: string, mountPath: string, below = path): Missed {
    const { registry, findConfigured } = this.#options;
    const atRoot = registry.find(path);
    if (mountPath !== "" && atRoot && takes(atRoot, method)) {
      const reason = { key: "pathRootMissing", values: { root: mountPath, path: mountPath + path } };
      return { path, node: atRoot.nodeId, problem: "noEndpoint", reason };
    }
    const closed = findConfigured(getPathKey(below));
    if (closed !== undefined) {
      return { path, node: closed, problem: "noEndpoint", reason: { key: "pathClosed", values: {} } };
    }
    const candidates = registry.endpoints.filter((each) => takes(each, method));
    const meant = findSimilar(below, candidates);
    const reason = meant
      ? { key: "pathNear", values: { path: mountPath + getPathKey(meant.path) } }
      : { key: "pathUnknown", values: {} };
    return { path, node: meant?.nodeId ?? "", problem: "noEndpoint", reason };
  }

  #report({ path, node, problem, reason }: Missed, request: IncomingMessage, search: string, status: number): void {
    const { newId, report, getAddress } = this.#options;
    const { method = "", rawHeaders } = request;
    const redactor = this.#redactor;
    const segments = redactor.redact(path).split("/");
    const shown = segments.map((segment) => (segment.length > maxShownSegment ? "…" : segment)).join("/");
    const ip = normaliseAddress(getAddress(request)) ?? "";
    report({
      id: newId(),
      node,
      at: Date.now(),
      ...{ state: "refused", status, problem, reasons: [reason], attempt: 0 },
      head: { method, path: shown.slice(0, maxShownPath), ...describeShape({ rawHeaders, search }, redactor), ip },
      size: countCharacters({ rawHeaders }),
    });
  }

  /** A missed request may contain the secret of any endpoint. */
  get #redactor(): Pick<Redactor, "contains" | "redact"> {
    const redactors = this.#options.registry.endpoints
      .slice(0, maxRedactors)
      .map(({ authenticator }) => authenticator.redactor);
    return {
      contains: (text) => redactors.some((redactor) => redactor.contains(text)),
      redact: (text) => redactors.reduce((rest, redactor) => redactor.redact(rest), text),
    };
  }
}

/** Whether an endpoint takes a method: some handshakes use others than POST. */
function takes({ authenticator }: Endpoint, method: string): boolean {
  return method === "POST" || authenticator.methods.includes(method);
}

/** What may have answered in front of an endpoint. */
function findLayerInFront(meant: Endpoint, path: string, status: number): Missed {
  const key = status === 401 ? "frontAuth" : status === 413 ? "frontTooLarge" : "frontOther";
  return { path, node: meant.nodeId, problem: "inFront", reason: { key, values: {} } };
}

/** How many characters may be missing, added or different. */
const maxDistance = 2;
/** Shorter paths resemble too many others. */
const minLength = 4;

/** Finds the endpoint with the most similar path: a part of it, its reverse, or a few characters different. */
export function findSimilar<Candidate extends { readonly path: string }>(
  path: string,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const key = getPathKey(path);
  let nearest: Candidate | undefined;
  let least = maxDistance + 1;
  for (const candidate of candidates) {
    const other = getPathKey(candidate.path);
    const isLong = Math.min(key.length, other.length) >= minLength;
    const distance = isPart(key, other) ? 0 : isLong ? countChanges(key, other) : Infinity;
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** Whether one lacks whole segments at its beginning or end. */
function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length > 1 && (long.startsWith(`${short}/`) || long.endsWith(short));
}

/** The Levenshtein distance, up to a limit, which keeps it linear. */
function countChanges(one: string, other: string, max = maxDistance): number {
  if (Math.abs(one.length - other.length) > max) return Infinity;
  let place = 0;
  while (place < one.length && one.charCodeAt(place) === other.charCodeAt(place)) place++;
  const [rest, otherRest] = [one.slice(place), other.slice(place)];
  if (rest === otherRest) return 0;
  if (max === 0) return Infinity;
  const [next, otherNext] = [rest.slice(1), otherRest.slice(1)];
  const changed = countChanges(next, otherNext, max - 1);
  const missing = countChanges(next, otherRest, max - 1);
  const tooMany = countChanges(rest, otherNext, max - 1);
  return 1 + Math.min(changed, missing, tooMany);
}
