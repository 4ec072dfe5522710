// The user of the page: Node-RED's own login, and the token that the editor at the same address keeps.

import type { ListedNode, PageChanges, PageSession, PageSetup } from "../../../src/admin/page";
import { tryParseJson } from "../../../src/config/values";
import { isListOf, isNumber, isRecord, isText, readReply } from "../deliveries/answer";
import { ApiError, type ApiMethod } from "../deliveries/host";
import { keep, recall } from "../deliveries/kept";

/** The admin root, with a slash at its end. */
const root = new URL("../", location.href);

/** As the editor names it. */
const storageKey = `auth-tokens${root.pathname.slice(0, -1).replaceAll("/", "-")}`;

/** What Node-RED asks of a user, as far as this page can do it. */
export interface LoginForm {
  /** Missing where Node-RED has no login. */
  readonly type?: string;
  readonly prompts?: readonly { readonly id?: string; readonly type: string }[];
}

function getToken(): string | undefined {
  const { access_token: token } = { ...(tryParseJson(recall(storageKey) ?? "") as { access_token?: unknown } | null) };
  return typeof token === "string" ? token : undefined;
}

export function saveToken(token: { readonly access_token: string }): void {
  keep(storageKey, JSON.stringify(token));
}

export function forgetToken(): void {
  keep(storageKey, undefined);
}

/** The code of a failure by a token that this Node-RED does not know. */
export const unknownToken = "unknownToken";

/** How long it waits for an answer, in ms: a search may take long. */
const answerMs = 60_000;

const json = { "Content-Type": "application/json" };

interface PageRequest extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
}

/**
 * @param path below the admin root
 * @returns the JSON of the answer; nothing where it has none (204)
 * @throws {ApiError}
 */
async function request(path: string, { timeoutMs = answerMs, ...options }: PageRequest = {}): Promise<unknown> {
  const token = getToken();
  const headers = { ...options.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
  const signal = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    // Node-RED redirects nothing: it would be to a login page.
    response = await fetch(new URL(path, root), { cache: "no-store", redirect: "manual", signal, ...options, headers });
    text = await response.text();
  } catch {
    throw new ApiError(0);
  }
  if (response.type === "opaqueredirect") throw new ApiError(302);
  const answer = tryParseJson(text);
  if (response.ok && (answer !== undefined || response.status === 204)) return answer;
  // Node-RED challenges only those whom it does not know, not those who are not allowed (RFC 6750 §3).
  const isUnknown = response.status === 401 && response.headers.has("WWW-Authenticate");
  const { code } = { ...(answer as { code?: unknown } | null | undefined) };
  throw new ApiError(response.status, isUnknown ? unknownToken : code);
}

/** @param path below `webhook-trigger` @throws {ApiError} */
export function call(path: string, method: ApiMethod = "GET", body?: object, timeoutMs?: number): Promise<unknown> {
  const content = body ? JSON.stringify(body) : null;
  return request(`webhook-trigger/${path}`, { method, headers: json, body: content, timeoutMs });
}

export async function askForSetup(): Promise<PageSetup> {
  return readReply(await call("page.json"), { language: isText, texts: isRecord });
}

export async function askForSession(): Promise<PageSession> {
  const isScope = (value: unknown) => isText(value) || Array.isArray(value);
  return readReply(await call("session"), { permissions: isScope, roots: isRecord, baseUrl: isText });
}

/** @param timeoutMs after which Node-RED counts as gone */
export async function askForChanges(timeoutMs?: number): Promise<PageChanges> {
  const answer = await call("changes", "GET", undefined, timeoutMs);
  return readReply(answer, { instance: isText, deliveries: isNumber, nodes: isNumber });
}

export async function askForNodes(): Promise<readonly ListedNode[]> {
  const shape = { nodes: isListOf({ id: isText, flow: isText }) };
  return readReply<{ nodes: readonly ListedNode[] }>(await call("nodes"), shape).nodes;
}

export async function askForLogin(): Promise<LoginForm> {
  const isMissingOr = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value);
  const shape = { type: isMissingOr(isText), prompts: isMissingOr(isListOf({ type: isText })) };
  return readReply(await request("auth/login"), shape);
}

/** @throws {ApiError} */
export async function logIn(values: Readonly<Record<string, string>>): Promise<void> {
  forgetToken();
  const body = new URLSearchParams({ client_id: "node-red-editor", grant_type: "password", scope: "", ...values });
  const answer = await request("auth/token", { method: "POST", body });
  saveToken(readReply<{ access_token: string }>(answer, { access_token: isText }));
}

/** Of the editor, too. */
export async function logOut(): Promise<void> {
  const body = JSON.stringify({ token: getToken() });
  await request("auth/revoke", { method: "POST", headers: json, body }).catch(() => undefined);
  forgetToken();
}

/** As Node-RED compares them. */
export function hasPermission(scope: PageSession["permissions"], permission: string): boolean {
  if (typeof scope !== "string") return scope.some((each) => hasPermission(each, permission));
  if (scope === "*" || scope === permission) return true;
  const [, kind] = /^(?:\*\.)?(read|write)$/.exec(scope) ?? [];
  return kind !== undefined && permission.endsWith(`.${kind}`);
}
