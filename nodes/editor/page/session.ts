// The user of the page: Node-RED's own login, and the token that the editor at the same address keeps.

import type { PageSession } from "../../../src/admin/page";
import { ApiFailure } from "../deliveries/host";
import { parseJson } from "../text";

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

/** Where the browser keeps nothing for pages. */
let unsavedToken: string | undefined;

function getToken(): string | undefined {
  try {
    const saved = parseJson(localStorage.getItem(storageKey) ?? "")?.value;
    const { access_token: token } = { ...(saved as { access_token?: unknown } | null) };
    return typeof token === "string" ? token : unsavedToken;
  } catch {
    return unsavedToken;
  }
}

export function saveToken(token: { readonly access_token: string }): void {
  unsavedToken = token.access_token;
  try {
    localStorage.setItem(storageKey, JSON.stringify(token));
  } catch {
    // It is kept as long as the page.
  }
}

export function forgetToken(): void {
  unsavedToken = undefined;
  try {
    localStorage.removeItem(storageKey);
  } catch {
    // Nothing was kept.
  }
}

/** @param path below the admin root @throws {ApiFailure} */
async function request(path: string, options: Pick<RequestInit, "method" | "body"> = {}, type = ""): Promise<unknown> {
  const token = getToken();
  const headers = {
    ...(type !== "" && { "Content-Type": type }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, root), { cache: "no-store", ...options, headers });
    text = await response.text();
  } catch {
    throw new ApiFailure(0);
  }
  const answer = parseJson(text)?.value;
  if (!response.ok) throw new ApiFailure(response.status, (answer as { code?: unknown } | null | undefined)?.code);
  return answer;
}

function post(path: string, body: string, type: string): Promise<unknown> {
  return request(path, { method: "POST", body }, type);
}

/** @param path below `webhook-trigger` @throws {ApiFailure} */
export function call(path: string, body?: object): Promise<unknown> {
  const url = `webhook-trigger/${path}`;
  return body ? post(url, JSON.stringify(body), "application/json") : request(url);
}

export async function askForSession(): Promise<PageSession> {
  return (await call("session")) as PageSession;
}

export async function askForLogin(): Promise<LoginForm> {
  return (await request("auth/login")) as LoginForm;
}

/** @throws {ApiFailure} */
export async function logIn(values: Readonly<Record<string, string>>): Promise<void> {
  forgetToken();
  const form = new URLSearchParams({ client_id: "node-red-editor", grant_type: "password", scope: "", ...values });
  saveToken((await post("auth/token", String(form), "application/x-www-form-urlencoded")) as { access_token: string });
}

/** Of the editor, too. */
export async function logOut(): Promise<void> {
  await post("auth/revoke", JSON.stringify({ token: getToken() }), "application/json").catch(() => undefined);
  forgetToken();
}

/** As Node-RED compares them. */
export function hasPermission(scope: PageSession["permissions"], permission: string): boolean {
  if (typeof scope !== "string") return scope.some((each) => hasPermission(each, permission));
  if (scope === "*" || scope === permission) return true;
  const [, kind] = /^(?:\*\.)?(read|write)$/.exec(scope) ?? [];
  return kind !== undefined && permission.endsWith(`.${kind}`);
}
