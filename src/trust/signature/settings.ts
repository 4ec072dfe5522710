// A sender's scheme, filled in by what its user has entered.

import type { Settings } from "../../config/fields";
import { rules } from "../../config/rules";
import { macAlgorithms, type Scheme, type Sender } from "../senders/record";

/** A setting that breaks its rule. */
export type SettingRule = "publicUrl" | "signatureHeader" | "timestampHeader" | "alg";

/**
 * Fills the settings into the scheme of a sender; those that it does not have are passed over.
 *
 * @returns which rule a setting breaks, if one does
 */
export function settledScheme(
  { scheme, settings = [] }: Pick<Sender, "scheme" | "settings">,
  given: Settings,
): Scheme | { rule: SettingRule } {
  const { signatureHeader = "", timestampHeader = "", alg = "" } = given;
  let settled = scheme;
  if (settings.includes("signatureHeader") && signatureHeader !== "") {
    if (rules.signatureHeader(signatureHeader)) return { rule: "signatureHeader" };
    settled = { ...settled, sig: { ...settled.sig, headers: [signatureHeader] } };
  }
  if (settings.includes("timestampHeader") && timestampHeader !== "" && settled.ts) {
    if (rules.timestampHeader(timestampHeader)) return { rule: "timestampHeader" };
    settled = { ...settled, ts: { ...settled.ts, source: `header:${timestampHeader}` } };
  }
  if (settings.includes("alg") && alg !== "") {
    const chosen = macAlgorithms.find((name) => name === `hmac-${alg}`);
    if (!chosen) return { rule: "alg" };
    settled = { ...settled, alg: chosen, sig: { ...settled.sig, pick: { prefix: `${alg}=` } } };
  }
  return signsUrl(settled) && !isPublicUrl(given.publicUrl) ? { rule: "publicUrl" } : settled;
}

/** Whether a signature covers the URL that the sender was given. */
export function signsUrl({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.some((source) => source === "url" || source === "url:hubspot");
}

/** Whether a signature covers the body; where it does not, whoever has seen one can send any event with it. */
export function coversBody({ alg, content }: Pick<Scheme, "alg" | "content">): boolean {
  return alg === "code:twilio" || content.includes("body");
}

export function isPublicUrl(url = ""): boolean {
  return url !== "" && rules.publicUrl(url) === undefined;
}
