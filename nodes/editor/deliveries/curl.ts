// A delivery as a curl command.

import { mask, present, type Presentation } from "../../../src/auth/present";
import { parseScheme, settleScheme } from "../../../src/auth/signature/scheme";
import { placementField, rules, type SavedFields, withDefaults } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/values";
import { findJwtPreset, isSenderId, senders } from "../../../src/auth/senders/table";
import { connectionFields } from "../../../src/admin/resend";
import type { Detail } from "../../../src/admin/summary";
import { listUrlOptions, quote, quoteLiteral, toBase64 } from "../shell";
import { text } from "./texts";

type CurlRequest = Pick<Detail, "method" | "query" | "headers" | "body" | "isJson">;

/** @param url without its query */
export function composeCurl(detail: CurlRequest, url: string, credential: PresentedCredential): string {
  const { method, body } = detail;
  const hasBody = body.data !== "" && method !== "HEAD";
  // Copying drops carriage returns.
  const isPiped = hasBody && (body.encoding === "base64" || /[\0\r]/.test(body.data));
  const parts = ["curl"];
  if (method === "HEAD") parts.push("--head");
  else if (method !== (hasBody ? "POST" : "GET")) parts.push(`-X ${method}`);
  const fullUrl = url + composeSearch(detail, credential.search);
  parts.push(...listUrlOptions(fullUrl), quote(fullUrl));
  if (credential.user !== undefined) parts.push(`--user ${credential.user}`);
  parts.push(...composeHeaders(detail, credential.headers).map((field) => `-H ${quote(field)}`));
  // A token may contain characters of the shell.
  for (const [name, value] of Object.entries(credential.headers)) parts.push(`-H ${quoteLiteral(`${name}: ${value}`)}`);
  if (hasBody) parts.push(isPiped ? "--data-binary @-" : `--data-raw ${quote(body.data)}`);
  const base64 = body.encoding === "base64" ? body.data : toBase64(new TextEncoder().encode(body.data));
  if (isPiped) parts.unshift(`echo ${base64} | base64 -d |`);
  return (credential.isSigned ? `# ${credential.hint}\n` : "") + parts.join(" ");
}

function composeSearch({ query }: CurlRequest, search: string): string {
  const parameters = new URLSearchParams(search);
  for (const [name, value] of Object.entries(query)) {
    if (!parameters.has(name)) for (const each of listKnown(value)) parameters.append(name, each);
  }
  return parameters.size > 0 ? `?${String(parameters)}` : "";
}

/** Without the header fields of the credential. */
function composeHeaders({ headers, body, isJson }: CurlRequest, credential: PresentedCredential["headers"]): string[] {
  const names = Object.keys(credential).map((name) => name.toLowerCase());
  // Text is decoded here.
  if (body.encoding === "utf8") names.push("content-encoding");
  // The original type does not describe JSON.
  if (isJson) names.push("content-type");
  const fields = Object.entries(headers).filter(([name]) => {
    return !connectionFields.test(name.toLowerCase()) && !names.includes(name.toLowerCase());
  });
  const sent = fields.flatMap(([name, value]) =>
    listKnown(value).map((each) => (each === "" ? `${name};` : `${name}: ${each}`)),
  );
  if (isJson) return [...sent, "Content-Type: application/json"];
  // curl would send it as a form.
  const hasType = fields.some(([name]) => name.toLowerCase() === "content-type");
  return hasType || body.data === "" ? sent : [...sent, "Content-Type:"];
}

function listKnown(value: string | string[]): string[] {
  return [value].flat().filter((each) => each !== mask);
}

// The credential in a curl command, where the editor does not know it.

interface PresentedCredential extends Presentation {
  /** What the user has to do. */
  readonly hint: string;
  /** For `--user`. */
  readonly user?: string;
  /** Whether a signature is needed. */
  readonly isSigned: boolean;
}

/** @param node as it is now, not when the delivery came; missing where it was deleted */
export function presentCredential(node: Partial<SavedFields> | undefined): PresentedCredential {
  const unknown = { headers: {}, search: "", isSigned: false };
  if (!node) return { ...unknown, hint: text("delivery.curlNoNode") };
  const saved = withDefaults(node);
  const { verificationMethod: method, sender, headerParameter } = saved;
  if (method === "jwt") {
    const placeholder = text("testRequest.placeholder");
    const name = findJwtPreset(sender)?.headerParameter ?? headerParameter;
    const hint = text("delivery.curlJwt", { placeholder });
    return { ...present({ method: "header", name }, placeholder), hint, isSigned: true };
  }
  if (method === "basic") return { ...unknown, hint: text("delivery.curlBasic"), user: "USER:PASSWORD" };
  if (method !== "header" && method !== "query") return presentSignature(saved);
  const field = placementField[method];
  const name = saved[field];
  if (isEnvironmentValue(name) || rules[field](name)) return { ...unknown, hint: text("delivery.curlPlace") };
  const placeholder = text("testRequest.placeholder");
  const hint = text("delivery.curlToken", { placeholder });
  return { ...present({ method, name }, placeholder), hint, isSigned: false };
}

function presentSignature({ sender, scheme, senderSettings }: SavedFields): PresentedCredential {
  const known = isSenderId(sender) ? senders[sender] : undefined;
  const parsed = sender === "custom" ? parseScheme(scheme) : known && settleScheme(known, senderSettings);
  const { alg, sig } = (parsed && !("rule" in parsed) ? parsed : known?.scheme) ?? {};
  const [field] = sig?.headers ?? [];
  if (field === undefined) return { headers: {}, search: "", hint: text("delivery.curlElsewhere"), isSigned: true };
  const isToken = alg === "token";
  const placeholder = text(isToken ? "testRequest.placeholder" : "delivery.signaturePlaceholder");
  const pick = sig?.pick;
  const prefix = pick ? ("prefix" in pick ? pick.prefix : `${pick.kv}=`) : "";
  const hint = text(isToken ? "delivery.curlToken" : "delivery.curlSigned", { placeholder });
  return { headers: { [field]: prefix + placeholder }, search: "", hint, isSigned: !isToken };
}
