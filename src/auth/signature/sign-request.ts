// Signs requests as their sender does: the other side of the verifier, by the same rows.

import { createHash } from "node:crypto";
import { DecodedBody } from "../../request/decode";
import type { RefusalReason } from "../authenticator";
import { type OutgoingRequest, readOutgoing, setValue, toHead } from "../outgoing";
import type { Scheme, Source } from "../senders/sender";
import { formatTime } from "./time";
import type { Verifier } from "./verifier";

/** What each request has of its own. */
interface Fresh {
  /** In ms since the epoch. */
  readonly at: number;
  readonly id: string;
}

/**
 * Signs a request by the first secret, with a time of its own, and with an id where it has none.
 *
 * @returns nothing where only the sender has the key; the reason where the request lacks what the sender signs
 */
export function signRequest(
  verifier: Verifier,
  request: OutgoingRequest,
  fresh: Fresh,
): OutgoingRequest | RefusalReason | undefined {
  const { scheme, sources } = verifier;
  const { alg, sig, ts } = scheme;
  const [place = "header:"] = sources;
  const prepared = prepare(verifier, request, fresh);
  const timeKey = ts?.source.startsWith("sig:") ? ts.source.slice("sig:".length) : undefined;
  const time = ts && timeKey !== undefined ? [`${timeKey}=${formatTime(fresh.at, ts.unit)}`] : [];
  // The time is signed as it stands there.
  const timed = time.length > 0 ? setValue(prepared, place, time.join("")) : prepared;
  const head = toHead(timed);
  const signature = verifier.makeSignature(head, DecodedBody.of(head, timed.body));
  if (signature === undefined || "kind" in signature) return signature;
  // Node.js writes header fields as Latin-1.
  const text = signature.toString(
    alg !== "token" ? (sig.enc ?? "hex") : place.startsWith("header:") ? "latin1" : "utf8",
  );
  const signed = setValue(prepared, place, [...time, toItem(sig, text)].join([sig.split ?? ""].flat()[0]));
  return signed === prepared ? { kind: place.startsWith("form:") ? "bodyNoForm" : "bodyNoJson" } : signed;
}

/** With everything but the signature. */
function prepare({ scheme, content, ids }: Verifier, request: OutgoingRequest, { at, id }: Fresh): OutgoingRequest {
  const { alg, ts, requires = {} } = scheme;
  let prepared = request;
  for (const [name, value] of Object.entries(requires)) prepared = setValue(prepared, `header:${name}`, value);
  if (ts) prepared = setValue(prepared, ts.source, formatTime(at, ts.unit));
  const isMissing = (source: Source) => readOutgoing(prepared).values(source).length === 0;
  const [idField] = ids.every(isMissing) ? ids.filter((each) => each.startsWith("header:")) : [];
  for (const source of idField === undefined ? content : [...content, idField]) {
    // What stands in a list is of its events.
    const isOwn = /^(?:header|query|form|json):/.test(source) && !source.includes("*");
    if (isOwn && isMissing(source)) {
      prepared = setValue(prepared, source, /time/i.test(source) ? formatTime(at, "s") : id);
    }
  }
  return alg === "code:twilio" ? addTwilioDigest(prepared) : prepared;
}

/** Of a body that is no form, Twilio signs the SHA-256 in the URL. */
function addTwilioDigest(request: OutgoingRequest): OutgoingRequest {
  if (request.body.length === 0 || readOutgoing(request).isForm) return request;
  return setValue(
    request,
    "query:bodySHA256" satisfies Source,
    createHash("sha256").update(request.body).digest("hex"),
  );
}

function toItem({ pick }: Scheme["sig"], text: string): string {
  if (!pick) return text;
  return "kv" in pick ? `${pick.kv}=${text}` : pick.prefix + text;
}
