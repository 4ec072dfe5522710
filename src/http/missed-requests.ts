// Requests that missed the endpoint that they were probably meant for.

import type { NodeAPI } from "node-red";
import type { Reason } from "../request/problem";
import type { IncomingMessage, ServerResponse } from "node:http";
import { normaliseAddress, RateBound } from "../auth/limits";
import { recognise } from "../auth/diagnosis";
import { findEventField } from "../auth/senders/table";
import { fieldValues, parseTarget } from "../request/head";
import { getPathKey } from "../request/path-patterns";
import { defaults } from "../config/fields";
import { isAdminPath, normalisePath } from "../config/paths";
import { text } from "../config/values";
import { getRoots } from "../config/node-red";
import type { Delivery } from "../deliveries/delivery";
import { describeShape, maxRefusedPerSecond, readContentLength } from "../deliveries/recorder";
import { maxShownPath } from "../deliveries/states";
import { acceptsMethod, type Endpoint, type EndpointRegistry, mayGreetBy } from "../flow/endpoint";
import { listSavedNodes } from "../flow/node-red-internals";
import { clientAddress, findOwnMountPath } from "./host-internals";

interface MissedOptions {
  readonly registry: EndpointRegistry;
  readonly report: (delivery: Delivery) => void;
}

/** A longer segment of a path may be a token. */
const maxShownSegment = 30;
/** A missed request is redacted with the secrets of at most so many endpoints. */
const maxRedactors = 200;

type Incoming = IncomingMessage & { originalUrl?: string };

export class MissedRequests {
  readonly #RED: NodeAPI;
  readonly #options: MissedOptions;
  readonly #bound = new RateBound(maxRefusedPerSecond);
  /** Of methods other than POST: browsers request much that is no webhook. */
  readonly #otherBound = new RateBound(maxRefusedPerSecond);
  /** Responses that are watched, and whether to ignore them. */
  readonly #watched = new WeakMap<ServerResponse, boolean>();

  constructor(RED: NodeAPI, options: MissedOptions) {
    this.#RED = RED;
    this.#options = options;
  }

  /** Reports a request if it was meant for an endpoint and something else answers it. */
  watch(request: Incoming, response: ServerResponse): void {
    if (this.#watched.has(response)) return;
    this.#watched.set(response, false);
    response.once("finish", () => {
      if (response.statusCode >= 400 && !this.#watched.get(response)) this.#check(request, response.statusCode);
    });
  }

  ignore(response: ServerResponse): void {
    this.#watched.set(response, true);
  }

  #check(request: Incoming, status: number): void {
    const { registry } = this.#options;
    const { path, search } = parseTarget(request.originalUrl ?? request.url ?? "");
    const mountPath = findOwnMountPath(this.#RED.httpNode) ?? "";
    const below = path.startsWith(`${mountPath}/`) ? path.slice(mountPath.length) : undefined;
    const { method = "" } = request;
    const found = below === undefined ? undefined : registry.find(below);
    const endpoint = found && takes(found, method) ? found : undefined;
    const isOfAdmin = isAdminPath(path, { ...getRoots(this.#RED), node: "/" });
    if (!endpoint && (status !== 404 || isOfAdmin)) return;
    const isPost = method === "POST";
    // The search takes time: not for each request of a flood.
    if (!(isPost ? this.#bound : this.#otherBound).take()) return;
    const inFront = status === 401 ? "frontAuth" : status === 413 ? "frontTooLarge" : "frontOther";
    const [node, key, values = {}] = endpoint
      ? [endpoint.node.id, inFront]
      : this.#explain(method, path, mountPath, below);
    if (!isPost && node === "") return;
    const outcome = { status, problem: endpoint ? "inFront" : "noEndpoint", reasons: [{ key, values }] } as const;
    // Somebody may make a node for it.
    const looksLike = node === "" ? recognise(request.rawHeaders) : undefined;
    this.#report({ node, ...outcome, ...(looksLike && { looksLike }) }, request, path, search);
  }

  /** The id of the node that was meant (empty where none is similar), and the reason. */
  #explain(method: string, path: string, mountPath: string, below = path): [string, string, Reason["values"]?] {
    const { registry } = this.#options;
    const atRoot = registry.find(path);
    if (mountPath !== "" && atRoot && takes(atRoot, method)) {
      return [atRoot.node.id, "pathRootMissing", { root: mountPath, path: mountPath + path }];
    }
    const unopened = this.#findUnopened(getPathKey(below));
    if (unopened) return unopened;
    const paths = registry.endpoints.filter((each) => takes(each, method)).map(({ config }) => config.path);
    const near = findSimilar(below, paths);
    const meant = near === undefined ? undefined : registry.find(near);
    if (!meant) return ["", "pathUnknown"];
    const found = getPathKey(meant.config.path);
    const key = hasParameters(getPathKey(below), found) ? "pathMarkMissing" : "pathNear";
    return [meant.node.id, key, { path: mountPath + found }];
  }

  /** Whether a saved node is for a request. */
  isSaved(path: string, method: string): boolean {
    return this.#findSaved(getPathKey(path)).some(({ isOn, methods }) => isOn && acceptsMethod({ methods }, method));
  }

  /** Finds a saved node with a path that it has not opened. */
  #findUnopened(key: string): [id: string, reason: "pathClosed" | "pathDisabled"] | undefined {
    const found = this.#findSaved(key);
    const closed = found.find(({ isOn }) => isOn) ?? found[0];
    return closed && [closed.id, closed.isOn ? "pathClosed" : "pathDisabled"];
  }

  /** Finds the saved nodes with a path. An environment variable in its place is not looked up. */
  #findSaved(key: string): { id: string; methods: readonly string[]; isOn: boolean }[] {
    const saved = listSavedNodes(this.#RED) ?? [];
    const disabledTabs = new Set(saved.filter(({ disabled }) => disabled).map(({ id }) => id));
    return saved
      .filter((node) => node.type === "webhook-trigger" && getPathKey(normalisePath(text(node.relativePath))) === key)
      .map(({ id, d, z = "", methods }) => ({
        id,
        methods: Array.isArray(methods) ? (methods as string[]) : defaults.methods,
        isOn: !d && !disabledTabs.has(z),
      }));
  }

  #report(
    refused: Pick<Delivery, "node" | "status" | "problem" | "reasons" | "looksLike">,
    request: Incoming,
    path: string,
    search: string,
  ): void {
    const { report, registry } = this.#options;
    const { method = "", rawHeaders } = request;
    const { looksLike } = refused;
    const known = looksLike && findEventField(looksLike, (field) => fieldValues(rawHeaders, field).join());
    // The request may contain the secret of any endpoint.
    const redactors = registry.endpoints.slice(0, maxRedactors).map(({ authenticator }) => authenticator.redactor);
    const redactor = {
      contains: (text: string) => redactors.some((each) => each.contains(text)),
      redact: (text: string) => redactors.reduce((rest, each) => each.redact(rest), text),
    };
    const shown = shortenPath(redactor.redact(path));
    const ip = normaliseAddress(clientAddress(this.#RED.httpNode, request)) ?? "";
    const shape = describeShape({ rawHeaders, search }, redactor);
    const headers = { ...shape.headers, ...(known && { [known.field]: known.event }) };
    const head = { method, path: shown, search: shape.search, headers, ip };
    const size = readContentLength({ rawHeaders });
    report({ ...refused, id: this.#RED.util.generateId(), at: Date.now(), state: "refused", attempt: 0, head, size });
  }
}

/**
 * A path as shown. What looks like a parameter may be a password, which may have slashes in it: nothing behind it is
 * shown.
 */
export function shortenPath(path: string): string {
  const segments = path.split("/");
  const end = segments.findIndex((segment) => /=|%3d/i.test(segment));
  const shown = segments.map((segment, index) =>
    segment.length > maxShownSegment || (end !== -1 && index >= end) ? "…" : segment,
  );
  return shown.join("/").slice(0, maxShownPath);
}

/** Also the methods of handshakes. */
function takes(endpoint: Endpoint, method: string): boolean {
  return acceptsMethod(endpoint.config, method) || mayGreetBy(endpoint, method);
}

/** How many characters in one place may be missing, added or different. */
const maxDifferent = 2;
/** Shorter paths resemble too many others. */
const minLength = 4;

/**
 * Finds the most similar path: one with parameters behind it that lack their question mark, a part of it, the whole of
 * which it is a part, or a typing error.
 */
export function findSimilar(path: string, candidates: readonly string[]): string | undefined {
  const key = getPathKey(path);
  const whole = candidates.filter((candidate) => hasParameters(key, getPathKey(candidate)));
  if (whole.length > 0) return whole.reduce((one, other) => (other.length > one.length ? other : one));
  let nearest: string | undefined;
  let least = maxDifferent + 1;
  for (const candidate of candidates) {
    const different = countDifferent(key, getPathKey(candidate));
    if (different < least) [nearest, least] = [candidate, different];
  }
  return nearest;
}

/** Whether parameters follow a path without a question mark, or behind one that is escaped. */
function hasParameters(key: string, path: string): boolean {
  return path.length > 1 && key.startsWith(path) && /^(?:&|\/|%3f)?[\w.~%-]+=/.test(key.slice(path.length));
}

/** The characters between the same beginning and the same end; none where whole segments are missing. */
function countDifferent(one: string, other: string): number {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length > 1 && (long.startsWith(`${short}/`) || long.endsWith(short))) return 0;
  if (short.length < minLength || long.length - short.length > maxDifferent) return Infinity;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++;
  return long.length - start - end;
}
