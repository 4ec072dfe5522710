// The URL of the node, what the user gives to the sender, and the curl command.

import { joinQueries, mask, present, type Presentation, testBody, testQuery } from "../../../src/auth/present";
import { credentialNames, placementField, type SavedFields } from "../../../src/config/fields";
import { isPattern, normalisePath, parseBaseUrl } from "../../../src/config/paths";
import { isEnvironmentValue, text as textOf } from "../../../src/config/values";
import { getPatternKey } from "../../../src/request/path-patterns";
import { findJwtPreset, findRecipe, findSender } from "../../../src/auth/senders/table";
import { Button } from "../deliveries/parts";
import { text } from "../deliveries/texts";
import { docsUrl, type EditorNode, RED } from "../node-red";
import { listUrlOptions, quote, toBase64 } from "../shell";
import type { PresentedCaller } from "./callers";
import { credentialToGive, isShown } from "./credentials";
import { type FormState, input, keptPassword, type WebhookNode } from "./form-state";
import { CopyButton, DocsLink, draw, Note } from "./parts";

/** Nothing when the node cannot be reached, or an environment variable has the path. */
export function composeUrl({ values: { relativePath: path }, broken }: FormState): string | undefined {
  const { node: root } = RED.settings.webhookTriggerRoots;
  if (root === false || isEnvironmentValue(path) || broken.has("relativePath")) return undefined;
  const origin = parseBaseUrl(RED.settings.webhookTriggerBaseUrl) ?? location.origin;
  return origin + normalisePath(root) + normalisePath(path);
}

/** The URL for the sender: the entered one, where the signature covers it. */
function composeSenderUrl(state: FormState): string | undefined {
  const { values, used, broken } = state;
  const entered = textOf(values.senderSettings.publicUrl);
  const url = composeUrl(state);
  if (url === undefined || entered === "" || !used.has("publicUrl")) return url;
  return isEnvironmentValue(entered) || broken.has("publicUrl") ? url : entered;
}

/** Loopback addresses: RFC 1122 §3.2.1.3, RFC 4291 §2.5.3, RFC 6761 §6.3. */
const loopback = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost)$/;
/** Local networks: RFC 1918 §3, RFC 3927 §2.1, RFC 4193 §3.1, RFC 6762 §3. */
const local =
  /^(?:10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[f[cd].*\]|.+\.local)$/;

/** Says who cannot reach an address; empty where that is unknown. */
function describeReach(url: string): string {
  const { hostname: host } = new URL(url);
  if (loopback.test(host)) return text("url.computer", { host });
  return local.test(host) ? text("url.network", { host }) : "";
}

// The box *Give this to the sender*.

/** A credential, or what stands for it. */
type GetCredential = (name: GivenCredential) => string;
type GivenCredential = "token" | "password" | "secret" | "verifyToken";

/** Stands for a credential that the form does not know: a key under `testRequest` in the message catalog. */
const placeholders: Readonly<Record<GivenCredential, string>> = {
  token: "placeholder",
  password: "passwordPlaceholder",
  secret: "secretPlaceholder",
  verifyToken: "placeholder",
};

/** Shows the values, and what keeps senders from reaching this node. */
export function showHandover(state: FormState): void {
  draw("given", <HandoverBox {...state} />);
  draw("hint-methods", <MethodsHint {...state} />);
}

function HandoverBox(state: FormState) {
  const { node, values, broken } = state;
  const copied = composeHandover(state, (name) => getCredential(state, name));
  const shown = composeHandover(state, (name) =>
    credentialToGive(state, name) === undefined || isShown(state, name) ? getCredential(state, name) : mask,
  );
  const url = composeSenderUrl(state);
  const rival = findRival(node, values);
  return (
    <>
      {[...shown].map(([item, value]) => (
        <div class="webhook-trigger-given" key={item}>
          <span>{text(`handover.${item}`)}</span> <code id={`webhook-trigger-given-${item}`}>{value}</code>{" "}
          <CopyButton id={`given-${item}-copy`} name={text(`handover.${item}`)} copied={copied.get(item) ?? ""} />
        </div>
      ))}
      <div role="status">
        <Note id="note-yours" icon="info-circle" text={describeMissing(state, [...copied.values()])} />
        <Note id="note-path" icon="info-circle" text={broken.has("relativePath") ? text("handover.correctPath") : ""} />
        <Note id="note-seen" text={describeNew(state)} />
        <Note id="note-guarded" text={describeGuard(state)} />
        <Note id="note-closed" text={RED.settings.webhookTriggerRoots.node === false ? text("url.closed") : ""} />
        <Note id="note-taken" text={rival ? describeRival(node, rival) : ""}>
          <Button onClick={() => rival && RED.view.reveal(rival.id)}>
            {rival && text("url.reveal", { name: nameRival(node, rival) })}
          </Button>
        </Note>
        <Note id="note-reach" icon="info-circle" text={url === undefined ? "" : describeReach(url)}>
          <DocsLink href={docsUrl("reaching-node-red.md")}>{text("url.reaching")}</DocsLink>
        </Note>
      </div>
    </>
  );
}

/** What GET means for the message, and for a token in the URL. */
function MethodsHint({ values: { methods, verificationMethod } }: FormState) {
  if (!methods.includes("GET") || verificationMethod === "signature") return null;
  if (verificationMethod === "query") return <>{text("methods.tokenInUrl")}</>;
  // What calls a URL can often do nothing else.
  const putInUrl = () => {
    input("verificationMethod").val("query").trigger("change");
    // This button goes.
    input("methods").find("[value=GET]").trigger("focus");
  };
  return (
    <>
      {text("methods.get")}{" "}
      {verificationMethod === "header" && <Button onClick={putInUrl}>{text("methods.putInUrl")}</Button>}
    </>
  );
}

/** Says that `httpNodeAuth` checks the header field of the credential first; empty where it does not. */
function describeGuard({ used, values: { verificationMethod, sender, headerParameter } }: FormState): string {
  if (!RED.settings.webhookTriggerHasNodeAuth) return "";
  if (used.has("password")) return text("basic.guarded");
  const preset = verificationMethod === "jwt" ? findJwtPreset(sender)?.headerParameter : undefined;
  const name = preset ?? (used.has("headerParameter") ? headerParameter : "");
  return /^authorization$/i.test(name) ? text("jwt.guarded") : "";
}

/** The credential, or the placeholder for one that the form does not know. */
function getCredential(state: FormState, name: GivenCredential): string {
  return credentialToGive(state, name) ?? text(`testRequest.${placeholders[name]}`);
}

/** Says what to do about what texts do not have: the path, parameters and credentials that the form does not know. */
function describeMissing(state: FormState, texts: readonly string[]): string {
  const { values, credentials, used, onlyCallers } = state;
  if (isEnvironmentValue(values.relativePath)) return text("handover.pathFromEnvironment");
  const said = isPattern(values.relativePath) ? [text("handover.parameters")] : [];
  for (const name of Object.keys(placeholders) as GivenCredential[]) {
    const placeholder = text(`testRequest.${placeholders[name]}`);
    const isMissing = used.has(name) && credentialToGive(state, name) === undefined;
    if (!isMissing || !texts.some((each) => each.includes(placeholder))) continue;
    const [variable, button] = [credentials[name], text(`make.${name}`)];
    const unsaved = isEnvironmentValue(variable) ? "fromEnvironment" : "missing";
    const known = variable === keptPassword ? "replace" : unsaved;
    const own = used.has("callers") && credentials.callers !== "" ? "own" : known;
    const ofCallers = name === "password" ? "users" : "callers";
    const key = onlyCallers ? ofCallers : own;
    const missing = text(`handover.${key}`, { placeholder, variable, button });
    if (!said.includes(missing)) said.push(missing);
  }
  return said.join(" ");
}

/** Credentials that cannot be shown after the deploy. */
function describeNew(state: FormState): string {
  const { values, used } = state;
  const first = credentialNames.find((name) => {
    // A secret that the sender shows can be copied there again.
    const isOurs = name === "secret" ? isSecretChosen(values) : !["secondSecret", "user", "callers"].includes(name);
    return isOurs && used.has(name) && credentialToGive(state, name) !== undefined;
  });
  if (first === undefined) return "";
  if (first === "password" || first === "secondPassword") return text("handover.passwordSeen");
  return text(first === "secret" ? "handover.secretSeen" : "handover.tokenSeen");
}

export function presentCaller(state: FormState, name: string, token: string): PresentedCaller {
  const isBasic = state.values.verificationMethod === "basic";
  // RFC 7617 §2.1.
  const pair = toBase64(new TextEncoder().encode(`${name}:${token}`));
  const basic = { headers: { Authorization: `Basic ${pair}` }, search: "" };
  const { headers = {}, search = "" } = (isBasic ? basic : presentCredential(state, () => token)) ?? {};
  const [header = ""] = Object.entries(headers).map((field) => field.join(": "));
  const [base = "", command = ""] = [composeSenderUrl(state), composeCommand(state, name, () => token)];
  return { header, url: base && base + search, command };
}

function isSecretChosen({ sender }: Pick<SavedFields, "sender">): boolean {
  return sender === "custom" || findSender(sender)?.secretIsChosen === true;
}

/** The values by their names: keys under `handover` in the message catalog. */
function composeHandover(state: FormState, get: GetCredential): ReadonlyMap<string, string> {
  const { values, used, sender } = state;
  const url = composeSenderUrl(state);
  const { headers = {}, search = "" } = presentCredential(state, get) ?? {};
  const [header] = Object.entries(headers);
  const isTokenAlone = header && used.has("token") && sendsTokenItself(values.sender, header[0]);
  const isBasic = values.verificationMethod === "basic";
  const given: Readonly<Record<string, string | undefined>> = {
    // What hides a credential is not encoded.
    url: url && url + search.replace(encodeURIComponent(mask), mask),
    contentType: sender?.contentType,
    header: header && !isTokenAlone ? header.join(": ") : undefined,
    token: isTokenAlone ? get("token") : undefined,
    user: isBasic ? credentialToGive(state, "user") : undefined,
    password: isBasic ? get("password") : undefined,
    secret: used.has("secret") && isSecretChosen(values) && !header && search === "" ? get("secret") : undefined,
    verifyToken: used.has("verifyToken") ? get("verifyToken") : undefined,
  };
  return new Map(Object.entries(given).flatMap(([item, value]) => (value === undefined ? [] : [[item, value]])));
}

/** How a request without a signature has its token or secret; nothing for others. */
function presentCredential(state: FormState, get: GetCredential): Presentation | undefined {
  const { values, used, broken, sender } = state;
  const { verificationMethod: method } = values;
  if (method === "header" || method === "query") {
    const name = values[placementField[method]];
    const isKnown = !isEnvironmentValue(name) && !broken.has(placementField[method]);
    return isKnown ? present({ method, name }, get("token")) : undefined;
  }
  const { source, headers: [header = ""] = [] } = sender?.scheme.sig ?? {};
  const [, parameter] = /^query:(.+)$/.exec(source ?? "") ?? [];
  if (!used.has("secret")) return undefined;
  if (parameter !== undefined) return present({ method: "query", name: parameter }, get("secret"));
  if (method !== "signature" || values.sender !== "shared-secret") return undefined;
  const name = textOf(values.senderSettings.signatureHeader) || header;
  return { headers: { [name]: get("secret") }, search: "" };
}

/** Whether a sender needs the token alone, for its own header field. */
function sendsTokenItself(sender: string, field: string): boolean {
  if (findRecipe(sender)?.tokenAlone) return true;
  const scheme = findSender(sender)?.scheme;
  if (scheme?.alg !== "token" || scheme.sig.pick) return false;
  return scheme.sig.headers.some((name) => name.toLowerCase() === field.toLowerCase());
}

// Another node with the same path.

function describeRival(node: WebhookNode, rival: EditorNode): string {
  const name = text("url.rival", { name: nameRival(node, rival), flow: getFlowName(rival) });
  const method = textOf(rival.method).toUpperCase();
  return text(rival.type === node.type ? "url.takenByWebhook" : "url.takenByHttpIn", { name, method });
}

function nameRival(node: WebhookNode, { name, type }: EditorNode): string {
  return name || (type === node.type ? text("paletteLabel") : type);
}

export function getFlowName({ z }: EditorNode): string {
  return RED.nodes.workspace(z)?.label ?? RED.nodes.subflow(z)?.name ?? "";
}

function findRival(node: WebhookNode, { relativePath, methods }: SavedFields): EditorNode | undefined {
  const getKey = (path: string) => getPatternKey(normalisePath(path));
  const own = getKey(relativePath);
  const isSameMethod = ({ method }: EditorNode) => methods.some((each) => each.toLowerCase() === method);
  const isRival = (other: EditorNode, path: unknown) =>
    other.id !== node.id &&
    !other.d &&
    !RED.nodes.workspace(other.z)?.disabled &&
    typeof path === "string" &&
    path !== "" &&
    getKey(path) === own;
  return (
    RED.nodes.filterNodes({ type: node.type }).find((other) => isRival(other, other.relativePath)) ??
    RED.nodes.filterNodes({ type: "http in" }).find((other) => isSameMethod(other) && isRival(other, other.url))
  );
}

// The curl command.

/** As far as the form knows its parts. */
export function showCommand(state: FormState): void {
  draw("terminal", <Command {...state} />);
}

function Command(state: FormState) {
  const { values } = state;
  const command = composeOwnCommand(state);
  if (command === undefined) {
    const none = isSigned(values) ? "testRequest.commandSigned" : "testRequest.commandUnknown";
    return (
      <div class="webhook-trigger-hint" id="webhook-trigger-command-none">
        {text(none)}
      </div>
    );
  }
  return (
    <div class="webhook-trigger-command">
      <div id="webhook-trigger-command-hint">{text("testRequest.command")}</div>
      <div class="webhook-trigger-copyable">
        <pre
          class="webhook-trigger-code"
          id="webhook-trigger-command"
          role="textbox"
          aria-readonly="true"
          aria-multiline="true"
          tabIndex={0}
          aria-labelledby="webhook-trigger-command-hint"
          aria-describedby="webhook-trigger-command-token"
        >
          {command}
        </pre>
        <CopyButton id="command-copy" name={text("section.terminal")} copied={command} />
      </div>
      <div class="webhook-trigger-hint" id="webhook-trigger-command-token">
        {describeMissing(state, [command])}
      </div>
    </div>
  );
}

export function describeCommand(state: FormState): readonly string[] {
  if (composeOwnCommand(state) !== undefined) return [text("section.line")];
  return [text(isSigned(state.values) ? "section.noLine" : "section.lineUnknown")];
}

/** Whether each request needs a signature or a signed token. */
function isSigned({ verificationMethod, sender }: SavedFields): boolean {
  return verificationMethod === "jwt" || (verificationMethod === "signature" && sender !== "shared-secret");
}

function composeOwnCommand(state: FormState): string | undefined {
  const user = state.credentials.user || text("label.name");
  return composeCommand(state, user, (name) => getCredential(state, name));
}

function composeCommand(state: FormState, user: string, get: GetCredential): string | undefined {
  const { values } = state;
  const url = composeUrl(state);
  const presentation = presentCredential(state, get);
  const isBasic = values.verificationMethod === "basic";
  if (url === undefined || !(presentation ?? isBasic)) return undefined;
  const { headers = {}, search = "" } = presentation ?? {};
  const [method = ""] = values.methods;
  const isByUrl = method === "GET";
  const fullUrl = url + (isByUrl ? joinQueries(search, testQuery) : search);
  return [
    method === "POST" || isByUrl ? "curl" : `curl -X ${method}`,
    ...listUrlOptions(fullUrl),
    quote(fullUrl),
    ...(isBasic ? [`--user ${quote(`${user}:${get("password")}`)}`] : []),
    ...Object.entries(headers).map(([field, value]) => `-H ${quote(`${field}: ${value}`)}`),
    ...(isByUrl ? [] : [`--data ${quote(testBody)}`]),
  ].join(" ");
}
