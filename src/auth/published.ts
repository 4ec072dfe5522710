// What others publish for verification, such as key sets: fetched within bounds, and kept over restarts.

import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { isObject, tryParseJson } from "../config/values";
import { KeptFile, type ReportTrouble } from "./kept-file";
import { findNetwork, MemoryRateCounter } from "./limits";

/** Why something could not be fetched; its text is under `whyNot.fetch` in the message catalog. */
type FetchErrorKind = "unreachable" | "late" | "status" | "redirect" | "tooLarge" | "malformed" | "busy";

export class FetchError extends Error {
  constructor(
    readonly kind: FetchErrorKind,
    readonly host: string,
  ) {
    super(`${kind}: ${host}`);
  }
}

/** Some identity providers publish dozens of keys with their certificates. */
const maxBytes = 512 * 1024;
const timeoutMs = 5000;

/**
 * Fetches by https only, without following redirects, bounded in size and time. The caller bounds how often, as requests
 * of strangers are the cause.
 *
 * @returns the body
 * @throws {FetchError}
 */
export async function fetchPublished(url: URL): Promise<Buffer> {
  const { host } = url;
  if (url.protocol !== "https:") throw new FetchError("unreachable", host);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { redirect: "manual", signal });
    const { status, body } = response;
    if (status !== 200) {
      await body?.cancel();
      throw new FetchError(status >= 300 && status < 400 ? "redirect" : "status", host);
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    // Leaving the loop cancels the rest.
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxBytes) throw new FetchError("tooLarge", host);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new FetchError(signal.aborted ? "late" : "unreachable", host);
  }
}

/** The name of the file in the user directory. */
export const keptFileName = "webhook-trigger.published.json";

/** A certificate in PEM, or a key set in JSON. */
interface Publication {
  readonly text: string;
  /** In ms since the epoch. */
  readonly fetchedAt: number;
}

/** In characters, of one text and of all. Identity providers with dozens of keys publish some 30,000. */
const maxTextLength = 128 * 1024;
const maxTotalLength = 1024 * 1024;
/** In bytes. A file of ours is smaller, also where each character is escaped. */
const maxFileBytes = 4 * maxTotalLength;

/** By their URLs, the oldest first. Whoever takes one checks it: the file may be damaged, or old. */
export class KeptPublications {
  readonly #file: KeptFile | undefined;
  #publications: Map<string, Publication> | undefined;
  /** All nodes share them, over deploys. */
  readonly certificates = new Certificates(this);

  /**
   * @param folder of the file; missing: nothing survives the process
   * @param report called once when the file can be read or written no more, which changes nothing else
   */
  constructor(folder?: string, report: ReportTrouble = () => undefined) {
    if (folder !== undefined) this.#file = new KeptFile(join(folder, keptFileName), maxFileBytes, report);
  }

  get(url: string): Publication | undefined {
    return this.#all.get(url);
  }

  /** @param publication what has verified a request; a very long one is not kept */
  keep(url: string, publication: Publication): void {
    if (publication.text.length > maxTextLength) return;
    this.#all.delete(url);
    this.#all.set(url, publication);
    let total = 0;
    for (const [each, { text }] of [...this.#all].reverse()) {
      total += each.length + text.length;
      if (total > maxTotalLength) this.#all.delete(each);
    }
    void this.#file?.write(() => JSON.stringify(Object.fromEntries(this.#all)));
  }

  /** Read with the first node that needs it. */
  get #all(): Map<string, Publication> {
    return (this.#publications ??= new Map(parsePublications(this.#file?.read() ?? "")));
  }
}

/** Nothing of what is damaged. */
function parsePublications(json: string): [string, Publication][] {
  const all = tryParseJson(json);
  return Object.entries(isObject(all) ? all : {}).flatMap(([url, each]) => {
    const { text, fetchedAt } = isObject(each) ? each : {};
    return typeof text === "string" && typeof fetchedAt === "number" ? [[url, { text, fetchedAt }]] : [];
  });
}

// Certificates.

/**
 * Those that have verified a request. Senders change theirs a few times a year, and Amazon has one in each of some forty
 * regions.
 */
const maxVerified = 100;
/** Others, which strangers may have named. */
const maxFetched = 20;
/** In each minute: of one network, as strangers may name certificates that there are not. */
const maxFetchesOfNetwork = 5;
/**
 * In each minute, of all networks: of those near one that has sent a verified request, of others that ask for the first
 * time in it, and of the rest.
 */
const maxFetches = 20;
/** How many neighbourhoods of genuine senders are remembered. */
const maxNeighbourhoods = 1000;
/** Per minute. Only the sender can cause such a fetch. */
const maxConfirmations = 60;
/** How many requests may wait for certificates, and how many of one network. */
const maxWaiting = 100;
const maxWaitingOfNetwork = 25;
/** What could not be fetched is not asked for again so soon, in ms. */
const failedMs = 30_000;
/** How many confirmed subscriptions are remembered. */
const maxConfirmed = 1000;

/** The certificates of senders. Strangers may name others, so that fetches are bounded. */
class Certificates {
  readonly #kept: KeptPublications;
  readonly #verified = new Map<string, X509Certificate>();
  readonly #fetched = new Map<string, X509Certificate>();
  readonly #fetching = new Map<string, Promise<Buffer>>();
  /** What could not be fetched, and when by `performance.now()`; no more than is fetched in that time. */
  readonly #failed = new Map<string, { readonly failure: FetchError; readonly at: number }>();
  /** When certificates that had expired were fetched the last time, by `performance.now()`. */
  readonly #expired = new Map<string, number>();
  readonly #fetches = new MemoryRateCounter();
  /** Of verified requests: strangers cannot add to them. */
  readonly #neighbourhoods = new Map<string, true>();
  readonly #confirmed = new Set<string>();
  /** The networks of the requests that wait. */
  readonly #waiting: string[] = [];

  constructor(kept: KeptPublications) {
    this.#kept = kept;
  }

  get({ href }: URL): X509Certificate | undefined {
    return this.#verified.get(href) ?? this.#fetched.get(href) ?? this.#recall(href);
  }

  /** Only URLs at the hosts of senders are asked for, and expired certificates may have been renewed. */
  #recall(href: string): X509Certificate | undefined {
    const { text } = this.#kept.get(href) ?? {};
    const certificate = text === undefined ? undefined : parseCertificate(text);
    if (!certificate || hasExpired(certificate)) return undefined;
    add(this.#verified, href, certificate, maxVerified);
    return certificate;
  }

  /**
   * Keeps one that has verified a request, also over restarts.
   *
   * @param ip of the sender
   */
  keep({ href }: URL, ip: string): void {
    const neighbourhood = findNeighbourhood(findNetwork(ip));
    if (!this.#neighbourhoods.has(neighbourhood)) add(this.#neighbourhoods, neighbourhood, true, maxNeighbourhoods);
    const certificate = this.#fetched.get(href);
    if (!certificate) return;
    this.#fetched.delete(href);
    add(this.#verified, href, certificate, maxVerified);
    this.#kept.keep(href, { text: certificate.toString(), fetchedAt: Date.now() });
  }

  /**
   * @param ip of the sender
   * @throws {FetchError}
   */
  async find(url: URL, ip: string): Promise<X509Certificate> {
    const known = this.get(url);
    if (known && !this.#mayBeRenewed(url, known)) return known;
    const network = findNetwork(ip);
    const { length } = this.#waiting.filter((each) => each === network);
    if (this.#waiting.length >= maxWaiting || length >= maxWaitingOfNetwork) throw new FetchError("busy", url.host);
    this.#waiting.push(network);
    try {
      const body = await this.#fetch(url, () => this.#mayFetch(network));
      const found = this.get(url);
      // Another request may have fetched it meanwhile.
      if (found && found !== known) return found;
      const certificate = parseCertificate(body);
      if (!certificate) throw this.#fail(url, new FetchError("malformed", url.host));
      if (hasExpired(certificate)) add(this.#expired, url.href, performance.now(), maxVerified);
      this.#verified.delete(url.href);
      add(this.#fetched, url.href, certificate, maxFetched);
      return certificate;
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(network), 1);
    }
  }

  /** One that has expired is asked for again, but not too often. */
  #mayBeRenewed({ href }: URL, certificate: X509Certificate): boolean {
    const fetchedAt = this.#expired.get(href) ?? -Infinity;
    return hasExpired(certificate) && performance.now() - fetchedAt >= failedMs;
  }

  /**
   * Confirms a subscription, once.
   *
   * @throws {FetchError}
   */
  async confirm(url: URL): Promise<void> {
    if (this.#confirmed.has(url.href)) return;
    await this.#fetch(url, () => this.#fetches.count("confirmations").requests <= maxConfirmations);
    if (this.#confirmed.size >= maxConfirmed) this.#confirmed.clear();
    this.#confirmed.add(url.href);
  }

  /** Why something is not there. */
  explain({ href, host }: URL): FetchError {
    return this.#failed.get(href)?.failure ?? new FetchError("busy", host);
  }

  /** A network that has just asked for one in vain leaves fetches to others. */
  #mayFetch(network: string): boolean {
    const { requests } = this.#fetches.count(network);
    const isKnown = this.#neighbourhoods.has(findNeighbourhood(network));
    const share = isKnown ? "known" : requests === 1 ? "first" : "again";
    return requests <= maxFetchesOfNetwork && this.#fetches.count(share).requests <= maxFetches;
  }

  async #fetch(url: URL, mayFetch: () => boolean): Promise<Buffer> {
    const { href, host } = url;
    const failed = this.#failed.get(href);
    if (failed && performance.now() - failed.at < failedMs) throw failed.failure;
    let fetching = this.#fetching.get(href);
    if (!fetching) {
      if (!mayFetch()) throw new FetchError("busy", host);
      fetching = fetchPublished(url)
        .catch((error: unknown) => {
          throw error instanceof FetchError ? this.#fail(url, error) : error;
        })
        .finally(() => this.#fetching.delete(href));
      this.#fetching.set(href, fetching);
    }
    return fetching;
  }

  #fail({ href }: URL, failure: FetchError): FetchError {
    const now = performance.now();
    for (const [each, { at }] of this.#failed) if (now - at >= failedMs) this.#failed.delete(each);
    this.#failed.set(href, { failure, at: now });
    return failure;
  }
}

/** Senders have many addresses: of IPv4, a /24. */
function findNeighbourhood(network: string): string {
  return network.replace(/\.\d+$/, "");
}

/** The oldest makes place. */
function add<Value>(all: Map<string, Value>, key: string, value: Value, max: number): void {
  const [oldest] = all.size < max ? [] : all.keys();
  if (oldest !== undefined) all.delete(oldest);
  all.set(key, value);
}

function hasExpired({ validTo }: X509Certificate): boolean {
  return Date.parse(validTo) < Date.now();
}

function parseCertificate(pem: Buffer | string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
