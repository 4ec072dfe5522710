// How a line for a terminal presents what lets a request in, where nobody knows the secret.

import { placementField } from "../../../src/config/fields";
import { isEnvironmentValue } from "../../../src/config/rules";
import { present, type Presentation } from "../../../src/trust/present";
import { parseScheme } from "../../../src/trust/signature/custom";
import { settledScheme } from "../../../src/trust/signature/settings";
import { brokenRule } from "../checks";
import { savedValues, senderOf, type WebhookNode } from "../fields";
import type { EditorNode } from "../host";
import { text } from "./texts";

type Scheme = Exclude<ReturnType<typeof parseScheme>, { rule: unknown }>;

export interface Presented extends Presentation {
  /** What is left for the user to do. */
  readonly hint: string;
  /** Whether that is more than to put something in another's place. */
  readonly isSigned: boolean;
}

function isWebhook(node: EditorNode | null): node is WebhookNode {
  return node?.type === "webhook-trigger";
}

/** @param node what is known of it now, and not when the delivery came */
export function presentedTo(node: EditorNode | null): Presented {
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

/** Why it is not known how requests are let in, by the key of its text under `delivery`. */
type Unknown = "curlNoNode" | "curlPlace" | "curlElsewhere";

function unknown(key: Unknown): Presented {
  return { headers: {}, search: "", hint: text(`delivery.${key}`), isSigned: false };
}

function signedFor(node: WebhookNode): Presented {
  const scheme = schemeOf(node);
  const [field] = scheme?.sig.headers ?? [];
  if (!scheme || field === undefined) return { ...unknown("curlElsewhere"), isSigned: true };
  const isToken = scheme.alg === "token";
  const placeholder = text(isToken ? "trial.placeholder" : "delivery.signaturePlaceholder");
  const hint = text(isToken ? "delivery.curlToken" : "delivery.curlSigned", { placeholder });
  return { headers: { [field]: beginningOf(scheme) + placeholder }, search: "", hint, isSigned: !isToken };
}

function schemeOf(node: WebhookNode): Scheme | undefined {
  const { sender, scheme, senderSettings } = savedValues(node);
  const known = senderOf(sender);
  if (!known) return undefined;
  const parsed = sender === "custom" ? parseScheme(scheme) : settledScheme(known, senderSettings);
  return "rule" in parsed ? known.scheme : parsed;
}

/** What stands before a signature, so that the node takes it for one. */
function beginningOf({ sig: { pick } }: Scheme): string {
  if (!pick) return "";
  return "prefix" in pick ? pick.prefix : `${pick.kv}=`;
}
