// The page of deliveries outside the editor. It is public as the editor's own is, and has no data: those come by the API.

import type { Request, Response } from "express";
import type { NodeAPI } from "node-red";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SavedFields } from "../config/fields";
import type { Roots } from "../config/paths";
import { getSettings } from "../config/node-red";
import { addRoute } from "./routes";

// The build puts them beside the file that it makes of this one.
const pageFolder = join(__dirname, "page");
const localesFolder = join(__dirname, "locales");
const english = "en-US";

/** Nothing but files of ours; frames only where the editor's own address is around it. */
const contentPolicy = [
  "default-src 'none'",
  ...["script-src", "style-src", "connect-src"].map((kind) => `${kind} 'self'`),
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");
const pageHeaders = {
  "Content-Security-Policy": contentPolicy,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  // Of another version after an update.
  "Cache-Control": "no-cache",
};

/** Texts by their keys, as in the message catalogs. */
export interface Texts {
  readonly [key: string]: string | Texts;
}

/** What the page begins with, before its user is known. */
export interface PageSetup {
  /** BCP 47: the language of the browser, if there are texts in it. */
  readonly language: string;
  /** English where the language lacks a text. */
  readonly texts: Texts;
  readonly hasEditor: boolean;
}

/** The user of the page, and the settings that the list depends on. */
export interface PageSession {
  /** The name; `null` without a login. */
  readonly user: string | null;
  /** As in Node-RED's settings file. */
  readonly permissions: string | readonly string[];
  readonly roots: Roots;
  readonly baseUrl: string;
  /** Our settings that are given, a line each. */
  readonly given: readonly string[];
  readonly keepsNothing: boolean;
}

/** The fields of a node that a curl command depends on. */
const shownFields = ["name", "relativePath", "verificationMethod", "sender", "scheme", "senderSettings", "headerParameter", "queryParameter"] as const satisfies readonly (keyof SavedFields)[]; // prettier-ignore

/** A deployed webhook trigger, without its credentials. */
export interface ListedNode extends Partial<Pick<SavedFields, (typeof shownFields)[number]>> {
  readonly id: string;
  /** The name of its flow. */
  readonly flow: string;
}

/** Tells whether the page has to fetch again. Each number of an instance has changed when there is something new. */
export interface PageChanges {
  /** Tells this run of a Node-RED from others: behind a load balancer, and after a restart. */
  readonly instance: string;
  /** Deliveries and loads. */
  readonly deliveries: number;
  /** The nodes. */
  readonly nodes: number;
}

interface PageServices {
  readonly settings: Omit<PageSession, "user" | "permissions">;
  /** How often deliveries and loads have changed. */
  readonly getChanges: () => number;
}

export function servePage(RED: NodeAPI, { settings, getChanges }: PageServices): void {
  const { httpAdmin } = RED;
  httpAdmin.get("/webhook-trigger/", (request, response) => {
    // Its files are beside it.
    if (!/^[^?]*\/(?:\?|$)/.test(request.originalUrl)) response.redirect("webhook-trigger/");
    else sendFile(response, "page.html");
  });
  for (const file of ["page.js", "page.css", "deliveries.css"]) {
    httpAdmin.get(`/webhook-trigger/${file}`, (_request, response) => sendFile(response, file));
  }
  httpAdmin.get("/webhook-trigger/page.json", (request, response) => {
    const language = chooseLanguage(request);
    const setup: PageSetup = { language, texts: readTexts(language), hasEditor: !getSettings(RED).disableEditor };
    response.set({ ...pageHeaders, Vary: "Accept-Language" }).json(setup);
  });
  addRoute(RED, "get", "session", (request) => {
    const body: PageSession = { ...describeUser(request), ...settings };
    return { body };
  });
  addRoute(RED, "get", "nodes", () => ({ body: { nodes: listNodes(RED) } }));
  const instance = RED.util.generateId();
  let deploys = 0;
  RED.events.on("flows:started", () => (deploys += 1));
  addRoute(RED, "get", "changes", () => {
    const body: PageChanges = { instance, deliveries: getChanges(), nodes: deploys };
    return { body };
  });
}

function sendFile(response: Response, file: string): void {
  // A path may have a dot in it, as `.node-red` has: only below the root it must not.
  response.set(pageHeaders).sendFile(file, { root: pageFolder, cacheControl: false });
}

/** In characters: reading a longer header field takes time. */
const maxLanguages = 1000;

function chooseLanguage(request: Request): string {
  if ((request.get("Accept-Language") ?? "").length > maxLanguages) return english;
  const languages = findLanguages();
  const chosen = request.acceptsLanguages(...languages.keys());
  return (chosen && languages.get(chosen)) || english;
}

let knownLanguages: ReadonlyMap<string, string> | undefined;

/** The folder of texts of each language that a browser may ask for: also without its region, or with another one. */
function findLanguages(): ReadonlyMap<string, string> {
  if (knownLanguages) return knownLanguages;
  const found = new Map<string, string>([["en", english]]);
  for (const folder of readdirSync(localesFolder).sort()) {
    const [language = ""] = folder.split("-");
    if (!found.has(language)) found.set(language, folder);
    found.set(folder, folder);
  }
  // They write Chinese as Taiwan does.
  for (const region of ["zh-HK", "zh-MO", "zh-Hant", "zh-Hant-TW", "zh-Hant-HK"]) found.set(region, "zh-TW");
  knownLanguages = found;
  return found;
}

/** By language. */
const knownTexts = new Map<string, Texts>();

function readTexts(language: string): Texts {
  const known = knownTexts.get(language);
  if (known) return known;
  const own = JSON.parse(readFileSync(join(localesFolder, language, "webhook-trigger.json"), "utf8")) as Texts;
  const texts = language === english ? own : mergeTexts(readTexts(english), own);
  knownTexts.set(language, texts);
  return texts;
}

function mergeTexts(texts: Texts, better: Texts): Texts {
  const merged: Record<string, string | Texts> = { ...texts };
  for (const [key, value] of Object.entries(better)) {
    const other = merged[key];
    merged[key] = typeof value === "object" && typeof other === "object" ? mergeTexts(other, value) : value;
  }
  return merged;
}

/** Node-RED's authentication has run before. */
function describeUser(request: object): Pick<PageSession, "user" | "permissions"> {
  const { user, authInfo } = request as {
    user?: { username?: string; anonymous?: boolean };
    authInfo?: { scope?: PageSession["permissions"] };
  };
  const name = user?.anonymous ? undefined : user?.username;
  // Without `adminAuth` everything is allowed.
  return { user: name ?? null, permissions: authInfo?.scope ?? (user ? "" : "*") };
}

/** Those of flows, also of disabled ones. */
function listNodes(RED: NodeAPI): ListedNode[] {
  const flows = new Map<string, string>();
  const found: (SavedFields & { id: string; z: string })[] = [];
  RED.nodes.eachNode((node) => {
    const { id, type, label, name } = node as typeof node & { label?: string };
    if (type === "tab") flows.set(id, label ?? "");
    else if (type === "subflow") flows.set(id, name);
    else if (type === "webhook-trigger") found.push(node as unknown as (typeof found)[number]);
  });
  return found.map((node) => {
    const fields = shownFields.filter((field) => node[field] !== undefined).map((field) => [field, node[field]]);
    return { id: node.id, flow: flows.get(node.z) ?? "", ...Object.fromEntries(fields) } as ListedNode;
  });
}
