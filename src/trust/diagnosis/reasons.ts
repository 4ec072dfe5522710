// From what was found out about a refused request to sentences that an operator understands.

import { recognise } from "../recognise";
import type { Source } from "../senders/record";
import { shortName } from "../senders/table";
import type { Head } from "../signature/fields";
import type { Why } from "../signature/why";
import type { Explanation, Reason } from "./explanation";
import type { Finding } from "./why-not";

export function explainedBy(findings: readonly Finding[], { rawHeaders }: Head): Explanation {
  const looksLike = recognise(rawHeaders);
  return { reasons: findings.map(reasonOf), ...(looksLike && { looksLike }) };
}

/** By the check that has failed, where nothing more was found. */
export function explainedByWhy(why: Why, head: Head): Explanation {
  return { ...explainedBy([], head), reasons: [reasonOfWhy(why)] };
}

function reasonOf(finding: Finding): Reason {
  switch (finding.kind) {
    case "tokenElsewhere":
      return { key: "tokenElsewhere", values: { place: placeText(finding.source) } };
    case "tokenLength":
      return { key: "tokenLength", values: { length: finding.length, expected: finding.expected } };
    case "secretPrefixTooMuch":
    case "secretPrefixMissing":
      return { key: finding.kind, values: { prefix: finding.prefix } };
    case "otherSender":
      return { key: "otherSender", values: { sender: shortName(finding.sender) } };
    case "clock":
      return clockReason(finding.seconds, finding.tolerance);
    case "bodyChanged":
      return { key: `bodyChanged.${finding.change}`, values: {} };
    case "publicUrl":
      return { key: "publicUrl", values: { url: shownUrl(finding.url) } };
    case "signedUrl":
    case "tokenBlank":
    case "tokenScheme":
    case "secretBlank":
      return { key: finding.kind, values: {} };
  }
}

function reasonOfWhy(why: Why): Reason {
  switch (why.kind) {
    case "timeOutside":
      return clockReason(why.seconds, why.tolerance);
    case "signatureLength":
      return { key: why.kind, values: { place: placeText(why.source), bytes: why.bytes, expected: why.expected } };
    case "tooManySignatures":
      return { key: why.kind, values: { count: why.count, most: why.most } };
    case "missing":
    case "repeated":
    case "timeMalformed":
    case "signatureMalformed":
      return { key: why.kind, values: { place: placeText(why.source) } };
    case "signatureWrong":
    case "tokenWrong":
    case "bodyDigestWrong":
      return { key: why.kind, values: {} };
  }
}

function clockReason(seconds: number, tolerance: number): Reason {
  const values = { distance: duration(Math.abs(seconds)), tolerance: duration(tolerance) };
  return { key: seconds < 0 ? "clockAhead" : "clockBehind", values };
}

/** In the symbols of the International System of Units, which need no translation. */
export function duration(seconds: number): string {
  const [size, symbol] = units.find(([most]) => seconds >= 2 * most) ?? [1, "s"];
  return `${Math.round(seconds / size)} ${symbol}`;
}

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** A place as it is written in a request, or in JSON. */
function placeText(source: Source): string {
  const colon = source.indexOf(":");
  const from = source.slice(0, Math.max(colon, 0));
  const name = source.slice(colon + 1);
  return from === "query" ? `?${name}=` : name;
}

/** What stands before the host and behind the path may be secret. */
function shownUrl(url: string): string {
  return url.replace(/^(https?:\/\/)(?:[^/?#]*@)?([^?#]*)[^]*$/i, "$1$2");
}
