// Turns outcomes into alerts, the messages of webhook watches.

import type { Node, NodeAPI } from "node-red";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getRoots } from "../config/node-red";
import { normalisePath } from "../config/paths";
import type { SavedWatch, WatchEvent } from "../config/watch";
import { clientPackages } from "../config/stores";
import type { Pause } from "../deliveries/delivery";
import type { StoreTrouble } from "../deliveries/queue";
import { formatPlace } from "./place";
import { formatFix, formatReason, formatRefusal, formatSentence, type Translate } from "./summary";
import type { Endpoint } from "../flow/endpoint";
import { findTemplateId } from "../flow/node-red-internals";
import type { AcceptedEvent, Outcomes, RefusedEvent, Silence } from "../flow/outcomes";
import type { Problem } from "../request/problem";
import type { NodeHealths } from "./node-health";

/** So many refused requests within this time, in ms, are an alert. */
const manyRefusals = 10;
const refusedWithinMs = 60_000;
/** How long further refusals of a node are no alert, in ms. */
const refusalsMutedMs = 600_000;
/** Nothing is to be done. */
const good: readonly WatchEvent[] = ["heard", "resumed"];
/** How many alerts wait for the flows to run. */
const maxWaiting = 1000;

/** How many messages about callers are sent in one turn of the event loop. */
const maxInATurn = 20;

/** The payload of a watch's message. */
export interface Alert {
  readonly event: WatchEvent;
  /** Id, name and path of the webhook trigger; missing for the store. */
  readonly node?: string;
  readonly name?: string;
  readonly path?: string;
  /** The name of the caller that is silent or heard again, or whose delivery has failed. */
  readonly caller?: string;
  /** The id of the delivery that has failed. */
  readonly delivery?: string;
  /** The path of the page that shows it, or what came to the node, below the address of the editor. */
  readonly link?: string;
  /** As the admin API has them: a sentence without its full stop, and one or more with it. Without secrets. */
  readonly reason: string;
  /** Missing where nothing is to be done. */
  readonly fix?: string;
  /** In ms since the epoch. */
  readonly at: number;
}

type Description = Pick<Alert, "caller" | "delivery" | "reason" | "fix">;

type RunningNode = Node & { readonly z?: string };

interface Watch {
  readonly node: RunningNode;
  hears(event: WatchEvent): boolean;
  includes(trigger: RunningNode): boolean;
}

/** Refused requests of a node. */
interface Refusals {
  /** At most `manyRefusals`; times of `performance.now()`. */
  recent: readonly { readonly at: number; readonly problem: Problem }[];
  mutedUntil: number;
}

export class Alerts {
  readonly #RED: NodeAPI;
  readonly #nodes: NodeHealths;
  readonly #watches = new Set<Watch>();
  /** Alerts that came while no flows ran. */
  #waiting: Alert[] = [];
  #areFlowsRunning = false;
  /** How often flows were stopped. */
  #stops = 0;
  /** When the messages about silences are sent: that a caller is heard again is said after that. */
  #reported = Promise.resolve();
  readonly #refusals = new Map<string, Refusals>();
  /** Endpoints whose second credential was reported. */
  readonly #secondUsed = new WeakSet<Endpoint>();

  constructor(RED: NodeAPI, outcomes: Outcomes, nodes: NodeHealths) {
    this.#RED = RED;
    this.#nodes = nodes;
    const translate = RED._;
    RED.events.on("flows:stopping", () => {
      this.#areFlowsRunning = false;
      this.#stops++;
    });
    RED.events.on("flows:started", () => {
      this.#areFlowsRunning = true;
      for (const alert of this.#waiting.splice(0)) this.#send(alert);
    });
    outcomes.on("attempt:failed", ({ node, id, caller, error, isLast }) => {
      if (!isLast) return;
      const about = caller === undefined ? {} : { caller };
      const pause = nodes.get(node)?.load?.pause;
      this.#report("delivery-failed", node, { ...about, ...describeFailedDelivery(id, error, pause, translate) });
    });
    outcomes.on("silent", ({ node, silent }) => {
      const report = ({ caller, hours, since }: Silence) =>
        this.#reportSilence("silent", node, caller, { hours, time: format(since) });
      this.#reportInTurn(silent.map((each) => () => report(each)));
    });
    outcomes.on("heard", ({ node, caller }) => this.#reportInTurn([() => this.#reportSilence("heard", node, caller)]));
    outcomes.on("paused", ({ node, pause }) => this.#reportOn("paused", node, {}, `paused.${pause}`));
    outcomes.on("resumed", ({ node }) => this.#reportOn("resumed", node));
    outcomes.on("store:trouble", ({ trouble }) => {
      this.#send({ event: trouble ? "store-down" : "store-up", ...describeStore(trouble, translate), at: Date.now() });
    });
    outcomes.on("subscription-expiring", ({ node, expiresAt }) => this.#reportOn("subscription-expiring", node, { time: format(expiresAt) })); // prettier-ignore
    outcomes.on("refused", (event) => this.#refuse(event));
    for (const event of ["accepted", "duplicate"] as const) outcomes.on(event, (accepted) => this.#accept(accepted));
    outcomes.on("removed", ({ node }) => this.#refusals.delete(node));
  }

  /**
   * Sends alerts by a node.
   *
   * @param saved as in a flow file, which may have been written by hand
   * @returns the function to call when the node closes
   */
  watch(node: Node, { scope, events }: { readonly [Field in keyof SavedWatch]?: unknown }): () => void {
    const [chosen, wanted] = [listChosen(scope), listChosen(events)];
    const watch: Watch = {
      node,
      hears: (event) => wanted === undefined || wanted.includes(event),
      includes: (trigger) => chosen === undefined || isChosen(trigger, chosen, node),
    };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** Requests are not to wait for the messages about a thousand callers. One that fails keeps no other away. */
  #reportInTurn(reports: readonly (() => void)[]): void {
    const reportAll = async () => {
      for (const [index, report] of reports.entries()) {
        if (index > 0 && index % maxInATurn === 0) await nextTurn();
        try {
          report();
        } catch (error) {
          this.#RED.log.error(error);
        }
      }
    };
    this.#reported = this.#reported.then(reportAll);
  }

  #reportSilence(
    event: "silent" | "heard",
    node: string,
    caller: string | undefined,
    values: Readonly<Record<string, string | number>> = {},
  ): void {
    if (caller === undefined) return this.#reportOn(event, node, values);
    const key = event === "silent" ? "callerSilent" : "callerHeard";
    this.#reportOn(event, node, { ...values, caller }, key, { caller });
  }

  /** @param key of its reason in the message catalog */
  #reportOn(
    event: WatchEvent,
    node: string,
    values: Readonly<Record<string, string | number>> = {},
    key: string = event,
    about: Pick<Alert, "caller"> = {},
  ): void {
    const translate = this.#RED._;
    const reason = translate(`alert.reason.${key}`, values);
    const fix = good.includes(event) ? {} : { fix: formatSentence(translate(`alert.fix.${event}`), translate) };
    this.#report(event, node, { ...about, reason, ...fix });
  }

  #report(event: WatchEvent, node: string, description: Description): void {
    this.#send({ event, node, ...description, at: Date.now() });
  }

  #send(alert: Alert): void {
    if (!this.#areFlowsRunning) {
      if (this.#waiting.length < maxWaiting) this.#waiting.push(alert);
      return;
    }
    const triggers = this.#findTriggers(alert);
    const watches = [...this.#watches].filter(
      (watch) => watch.hears(alert.event) && triggers.some((each) => watch.includes(each)),
    );
    if (watches.length === 0) return;
    const stops = this.#stops;
    for (const { node } of watches) node.send({ topic: alert.event, payload: this.#complete(alert) });
    // Node-RED delivers in the next turn. A deploy before that may have closed the next nodes: rather twice than never.
    setImmediate(() => {
      if (stops !== this.#stops) this.#send(alert);
    });
  }

  /** The webhook triggers that an alert is about: one or, for the store, all with guaranteed delivery. */
  #findTriggers({ node }: Alert): RunningNode[] {
    if (node === undefined) {
      const running = [...this.#nodes.all.values()].flatMap(({ running }) => running ?? []);
      return running.filter(({ config }) => config.guaranteed).map((endpoint) => endpoint.node);
    }
    const found = this.#RED.nodes.getNode(node) as RunningNode | null;
    return found ? [found] : [];
  }

  /** With the trigger's name and path, in the order of the documentation. */
  #complete({ event, node, caller, delivery, reason, fix, at }: Alert): Alert {
    if (node === undefined) return { event, reason, ...(fix !== undefined && { fix }), at };
    const { running } = this.#nodes.get(node) ?? {};
    const redact = (text: string) => running?.authenticator.redactor.redact(text) ?? text;
    const { name } = running?.node ?? {};
    return {
      ...{ event, node },
      ...(name && { name: redact(name) }),
      ...(running && { path: redact(running.config.path) }),
      ...(caller !== undefined && { caller: redact(caller) }),
      ...(delivery !== undefined && { delivery }),
      ...this.#link(event, node, delivery),
      reason: redact(reason),
      ...(fix !== undefined && { fix: redact(fix) }),
      at,
    };
  }

  /** Nothing where there is no page. Nobody knows the address of the editor, which may be behind a proxy. */
  #link(event: WatchEvent, node: string, delivery: string | undefined): Pick<Alert, "link"> {
    const { admin } = getRoots(this.#RED);
    if (admin === false) return {};
    const place =
      delivery === undefined ? ({ node, state: event === "refusals" ? "refused" : "" } as const) : { delivery };
    return { link: `${normalisePath(admin)}/webhook-trigger/#${formatPlace(place)}` };
  }

  #refuse({ node, problem, request }: RefusedEvent): void {
    // Most Node-REDs have no watch.
    if (!request || (this.#areFlowsRunning && this.#watches.size === 0)) return;
    const { recent, mutedUntil } = this.#refusals.get(node) ?? { recent: [], mutedUntil: -Infinity };
    const now = performance.now();
    if (now < mutedUntil) return;
    const lately = [...recent.filter(({ at }) => at > now - refusedWithinMs), { at: now, problem }];
    const isMuted = lately.length >= manyRefusals;
    this.#refusals.set(node, isMuted ? { recent: [], mutedUntil: now + refusalsMutedMs } : { recent: lately, mutedUntil }); // prettier-ignore
    if (!isMuted) return;
    const translate = this.#RED._;
    const { name, status } = findMostFrequent(lately.map((each) => each.problem));
    this.#report("refusals", node, {
      reason: translate("alert.reason.refusals", {
        count: lately.length,
        refused: formatRefusal(name, status, translate),
      }),
      fix: formatSentence(translate(`fix.${name}`), translate),
    });
  }

  /** Once for each deploy of a node: it has another endpoint then. */
  #accept({ node, authenticated: { credential, isTest } }: AcceptedEvent): void {
    const { running } = this.#nodes.get(node) ?? {};
    if (credential !== "second" || isTest || !running || this.#secondUsed.has(running)) return;
    this.#secondUsed.add(running);
    this.#reportOn("second-credential", node);
  }
}

function format(time: number): string {
  return new Date(time).toISOString();
}

/** In a subflow, Node-RED makes a list of one node a text. @returns nothing for all */
function listChosen(saved: unknown): readonly unknown[] | undefined {
  return saved === null || saved === undefined ? undefined : [saved].flat();
}

/** Ids of a subflow's template stand for the nodes of its instances; in an instance, for those of the same one. */
function isChosen(trigger: RunningNode, chosen: readonly unknown[], watch: RunningNode): boolean {
  if (chosen.includes(trigger.id)) return true;
  const templateId = findTemplateId(trigger);
  const isSameInstance = findTemplateId(watch) === undefined || watch.z === trigger.z;
  return templateId !== undefined && isSameInstance && chosen.includes(templateId);
}

/** As the deliveries tab describes it. */
function describeFailedDelivery(
  delivery: string,
  error: string,
  pause: Pause | undefined,
  translate: Translate,
): Description {
  const cause = { problem: null, reasons: [], looksLike: null, error };
  const fix = formatFix({ cause, state: "failed", pause: pause ?? null }, translate);
  return { delivery, reason: formatReason(cause, null, translate), fix };
}

function describeStore(trouble: StoreTrouble | undefined, translate: Translate): Description {
  if (!trouble) return { reason: translate("store.restored") };
  return {
    reason: translate(`status.store.${trouble}`),
    fix: formatSentence(translate(`alert.fix.store.${trouble}`, { client: clientPackages }), translate),
  };
}

/** Of several, the first. */
function findMostFrequent(found: readonly Problem[]): Problem {
  const count = ({ name }: Problem) => found.filter((each) => each.name === name).length;
  return found.reduce((first, next) => (count(next) > count(first) ? next : first));
}
