// A delivery as a curl command.

import { mask, present, type Presentation } from "../../../src/auth/present";
import { parseScheme, settledScheme } from "../../../src/auth/signature/scheme";
import { placementField } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/rules";
import type { Detail } from "../../../src/deliveries/summary";
import { brokenRule } from "../form/checks";
import { savedValues, findSender, type WebhookNode } from "../form/fields";
import { type EditorNode, quoted, quotedAsItIs } from "../host";
import { text } from "./texts";

/** RFC 9110 §7.6.1, and other fields of the connection, the client or a proxy. */
const ofTheWay =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|user-agent|accept|accept-.*|via|forwarded|x-forwarded-.*|x-real-ip|cf-.*)$/;

/**
 * @param url without its query
 * @param presented the credential
 */
export function composeCurl(
  detail: Detail,
  url: string,
  { headers, search, hint, isSigned }: PresentedCredential,
): string {
  const { method, body } = detail;
  // Copying drops carriage returns.
  const isPiped = body.encoding === "base64" || /[\0\r]/.test(body.data);
  const parts = [
    "curl",
    ...composeMethod(detail),
    quoted(url + composeSearch(detail, search)),
    ...composeHeaders(detail, headers).map((field) => `-H ${quoted(field)}`),
    // A token may contain characters of the shell.
    ...Object.entries(headers).map(([name, value]) => `-H ${quotedAsItIs(`${name}: ${value}`)}`),
    ...(method === "HEAD" ? [] : composeData(body.data, isPiped)),
  ];
  const line = isPiped ? `echo ${composeBase64(detail)} | base64 -d | ${parts.join(" ")}` : parts.join(" ");
  return isSigned ? `# ${hint}\n${line}` : line;
}

function composeMethod({ method, body }: Detail): string[] {
  if (method === "HEAD") return ["--head"];
  return method === (body.data === "" ? "GET" : "POST") ? [] : ["-X", method];
}

function composeSearch({ query }: Detail, search: string): string {
  const parameters = new URLSearchParams(search);
  for (const [name, value] of Object.entries(query)) {
    if (!parameters.has(name)) for (const each of known(value)) parameters.append(name, each);
  }
  return parameters.size > 0 ? `?${String(parameters)}` : "";
}

/** Without the header fields of the credential. */
function composeHeaders({ headers, body, isJson }: Detail, presented: PresentedCredential["headers"]): string[] {
  const names = Object.keys(presented).map((name) => name.toLowerCase());
  const isType = (name: string) => name.toLowerCase() === "content-type";
  const fields = Object.entries(headers).filter(([name]) => {
    const field = name.toLowerCase();
    // Text is decoded here.
    if (field === "content-encoding" && body.encoding === "utf8") return false;
    // The original type does not describe JSON.
    if (isJson && isType(name)) return false;
    return !ofTheWay.test(field) && !names.includes(field);
  });
  const sent = fields.flatMap(([name, value]) =>
    known(value).map((each) => (each === "" ? `${name};` : `${name}: ${each}`)),
  );
  if (isJson) return [...sent, "Content-Type: application/json"];
  // curl would send it as a form.
  return fields.some(([name]) => isType(name)) || body.data === "" ? sent : [...sent, "Content-Type:"];
}

function known(value: string | string[]): string[] {
  return [value].flat().filter((each) => each !== mask);
}

function composeData(data: string, isPiped: boolean): string[] {
  if (isPiped) return ["--data-binary @-"];
  return data === "" ? [] : [`--data-raw ${quoted(data)}`];
}

function composeBase64({ body: { encoding, data } }: Detail): string {
  if (encoding === "base64") return data;
  return btoa(String.fromCharCode(...new TextEncoder().encode(data)));
}

// The credential in a curl command, where the editor does not know it.

type AuthScheme = Exclude<ReturnType<typeof parseScheme>, { rule: unknown }>;

interface PresentedCredential extends Presentation {
  /** What the user has to do. */
  readonly hint: string;
  /** Whether a signature is needed. */
  readonly isSigned: boolean;
}

function isWebhook(node: EditorNode | null): node is WebhookNode {
  return node?.type === "webhook-trigger";
}

/** @param node as it is now, not when the delivery came */
export function getPresentedCredential(node: EditorNode | null): PresentedCredential {
  if (!isWebhook(node)) return unknown("curlNoNode");
  const { verificationMethod: method, ...saved } = savedValues(node);
  if (method !== "header" && method !== "query") return signedFor(node);
  const name = saved[placementField[method]];
  if (isEnvironmentValue(name) || brokenRule(node, placementField[method], name)) return unknown("curlPlace");
  const placeholder = text("trial.placeholder");
  return {
    ...present({ method, name }, placeholder),
    hint: text("delivery.curlToken", { placeholder }),
    isSigned: false,
  };
}

/** A key under `delivery` in the message catalog. */
type Unknown = "curlNoNode" | "curlPlace" | "curlElsewhere";

function unknown(key: Unknown): PresentedCredential {
  return { headers: {}, search: "", hint: text(`delivery.${key}`), isSigned: false };
}

function signedFor(node: WebhookNode): PresentedCredential {
  const scheme = getScheme(node);
  const [field] = scheme?.sig.headers ?? [];
  if (!scheme || field === undefined) return { ...unknown("curlElsewhere"), isSigned: true };
  const isToken = scheme.alg === "token";
  const placeholder = text(isToken ? "trial.placeholder" : "delivery.signaturePlaceholder");
  const hint = text(isToken ? "delivery.curlToken" : "delivery.curlSigned", { placeholder });
  return { headers: { [field]: getPrefix(scheme) + placeholder }, search: "", hint, isSigned: !isToken };
}

function getScheme(node: WebhookNode): AuthScheme | undefined {
  const { sender, scheme, senderSettings } = savedValues(node);
  const known = findSender(sender);
  if (!known) return undefined;
  const parsed = sender === "custom" ? parseScheme(scheme) : settledScheme(known, senderSettings);
  return "rule" in parsed ? known.scheme : parsed;
}

/** The prefix of a signature. */
function getPrefix({ sig: { pick } }: AuthScheme): string {
  if (!pick) return "";
  return "prefix" in pick ? pick.prefix : `${pick.kv}=`;
}
