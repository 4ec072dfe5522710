// What is kept of a request that came in, and what a message is made of again.

import type { Delivery as KeptDelivery, Kept, Webhook } from "./deliveries/delivery";
import { Secrets } from "./deliveries/gaps";
import { hiddenOf, withoutHidden } from "./deliveries/hidden";
import { isMasked, maskQuery } from "./deliveries/masks";
import type { Delivery } from "./endpoint";
import { Problem } from "./problem";
import { type Content, contentOf } from "./request/content";
import { toObject } from "./request/parameters";
import type { RequestSummary } from "./request/summary";
import type { Secrecy } from "./trust/secrecy";
import type { Scheme, Sender } from "./trust/senders/record";
import { isInBody, type Place, placeOf } from "./trust/signature/fields";
import { spansAt } from "./trust/signature/spans";

/** What came, besides what the message has of it. */
export interface Sent {
  readonly content: Content;
  /** As it was sent; nothing where a parser in front has made something of it, which then is what counts. */
  readonly bytes: Buffer | undefined;
  /** Whether the editor has sent it, to try the endpoint. */
  readonly isTrial: boolean;
}

/** What became of it so far. */
export type Outcome = Pick<KeptDelivery, "state" | "status" | "milliseconds" | "answer">;

/** A body as it is kept. */
interface Body extends Pick<Kept, "body"> {
  /** What has become of it. */
  readonly how?: Pick<KeptDelivery, "isJson" | "gaps" | "hidden">;
  readonly isUnpacked?: boolean;
}

const codings = "content-encoding";
const type = "content-type";
/** So a delivery begins that the flow is started with for the first time. */
const begun = { state: "running", attempt: 1 } as const;
/** What lets somebody in elsewhere, such as the password of `httpNodeAuth` (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). */
const neverKept = ["authorization", "proxy-authorization", "cookie"];

/** Describes the deliveries of one endpoint, without what lets them in. */
export class Recorder {
  /** What is not kept of a body. */
  readonly secrets: Secrets;
  readonly secrecy: Secrecy;
  readonly #node: string;
  /** The header fields, and the parameter, that nobody would know to hold signatures; in lower case. */
  readonly #signedIn: readonly string[];
  /** The places in bodies that hold signatures; and the sender's own id, where that is what is signed. */
  readonly #proving: readonly Place[];
  /** Whether that is so. */
  readonly #isIdHidden: boolean;

  /**
   * @param scheme how its sender signs, if it does
   * @param id where the sender has its own id of a delivery
   */
  constructor(node: string, secrecy: Secrecy, scheme?: Pick<Scheme, "sig" | "content">, id?: Sender["id"]) {
    const { headers = [], source } = scheme?.sig ?? {};
    const inQuery = source?.startsWith("query:") ? [source.slice("query:".length)] : [];
    this.#node = node;
    this.secrecy = secrecy;
    this.secrets = new Secrets(secrecy.inBodies);
    const signature = source ? [placeOf(source)].filter(isInBody) : [];
    const ids = signature.length > 0 ? (id?.from ?? []).filter((each) => scheme?.content.includes(each)) : [];
    this.#proving = [...signature, ...ids.map(placeOf)];
    this.#isIdHidden = ids.length > 0;
    this.#signedIn = [...headers, ...inQuery].map((name) => name.toLowerCase()).filter((name) => !isMasked(name));
  }

  /** What any delivery begins with. */
  base(id: string): Pick<KeptDelivery, "id" | "node"> {
    return { id, node: this.#node };
  }

  /** As it is kept when the flow is started with it for the first time. */
  record({ id, req, webhook }: Delivery, sent: Sent, outcome: Outcome): Kept {
    const at = Date.now();
    const { body, isUnpacked, how } = this.#bodyOf(sent, req.headers[codings] !== undefined);
    const { method, path, url, ip } = req;
    const headers = { ...req.headers };
    for (const name of neverKept) if (headers[name] !== undefined) Reflect.deleteProperty(headers, name);
    if (isUnpacked) Reflect.deleteProperty(headers, codings);
    const head = { method, path, search: url.slice(path.length + 1), headers, ip };
    const size = sent.bytes?.length ?? body.length;
    const delivery = { ...outcome, id, node: this.#node, at, head, webhook: withoutAttempt(webhook), size, attempt: 1 };
    const signedIn = this.#signedIn.length > 0 ? { signedIn: this.#signedIn } : undefined;
    const trial = sent.isTrial ? { isTrial: true } : undefined;
    const idless = this.#isIdHidden ? { isIdHidden: true } : undefined;
    const more = how ?? signedIn ?? trial ?? idless;
    // Of most there is no more to say.
    const whole = more ? { ...delivery, ...how, ...signedIn, ...trial, ...idless } : delivery;
    return { delivery: whole, body, runs: [{ at }] };
  }

  /**
   * What a message is made of once more.
   *
   * @param limit the most bytes that its body may have without its content codings
   * @param rawBody whether messages have the bytes of the body as they were sent
   */
  async restore(kept: Kept, limit: number, rawBody: boolean): Promise<Delivery | Problem> {
    const bytes = this.bytesOf(kept);
    const delivery = await remade(kept.delivery, bytes, limit);
    return rawBody && !(delivery instanceof Problem) ? { ...delivery, rawBody: bytes } : delivery;
  }

  /** The same for whoever looks: in the place of what let it in is what is kept or shown there. */
  async restoreToShow({ delivery: kept, body }: Kept, limit: number): Promise<Delivery | Problem> {
    const delivery = await remade(kept, withoutHidden(body, kept.hidden), limit);
    if (delivery instanceof Problem) return delivery;
    const { req } = delivery;
    return { ...delivery, req: { ...req, query: maskQuery(req.query, kept.signedIn) } };
  }

  /** The body as it was sent, with the secrets of today in the place of those that it had. */
  bytesOf({ delivery: { gaps = [] }, body }: Kept): Buffer {
    return this.secrets.putBack(body, gaps);
  }

  /**
   * What was kept as a delivery of its own, which the flow is about to be started with.
   *
   * @param id of its message
   * @param changed what is to be its payload; nothing for the one that it had
   */
  replay({ delivery, body }: Kept, id: string, changed: { payload: unknown } | undefined): Kept {
    const { node, head, size } = delivery;
    const at = Date.now();
    const webhook = { credential: "first" as const, ...delivery.webhook, replay: true as const };
    const masks = membersOf(delivery, ["signedIn", "isIdHidden"]);
    const own = { ...begun, id, node, at, head, webhook, replayOf: delivery.id, ...masks };
    const runs = [{ at }];
    if (!changed) {
      const how = membersOf(delivery, ["isJson", "isPayload", "gaps", "hidden"]);
      return { delivery: { ...own, size, ...how }, body, runs };
    }
    const written = Buffer.from(JSON.stringify(changed.payload));
    const taken = this.#taken(written);
    const how = { isJson: true, isPayload: true, ...taken.how };
    return { delivery: { ...own, size: written.length, ...how }, body: taken.body, runs };
  }

  /** As it was sent, but without secrets: in what is packed, all is looked for, too, and it is kept unpacked then. */
  #bodyOf({ content, bytes }: Sent, isPacked: boolean): Body {
    const isAsItCame = bytes !== undefined && !isPacked;
    const { body, how } = this.#taken(isAsItCame ? bytes : content.bytes());
    if (bytes === undefined) return { body, how: { isJson: !Buffer.isBuffer(content.value), ...how } };
    return how ? { body, how, isUnpacked: isPacked } : { body: bytes };
  }

  /** Without secrets; nothing in it moves by that. */
  #taken(bytes: Buffer): Pick<Body, "body" | "how"> {
    const { body, gaps } = this.secrets.takenFrom(bytes);
    const spans = this.#proving.flatMap((place) => spansAt(place, bytes));
    if (gaps.length === 0 && spans.length === 0) return { body };
    const hidden = spans.length > 0 ? { hidden: hiddenOf(spans, bytes.length) } : undefined;
    return { body, how: { ...(gaps.length > 0 && { gaps }), ...hidden } };
  }
}

/** Those of its members that are there. */
function membersOf<Name extends keyof KeptDelivery>(
  delivery: KeptDelivery,
  names: readonly Name[],
): Partial<Pick<KeptDelivery, Name>> {
  const known: Partial<Pick<KeptDelivery, Name>> = {};
  for (const name of names) if (delivery[name] !== undefined) known[name] = delivery[name];
  return known;
}

/** @param bytes its body */
async function remade(kept: KeptDelivery, bytes: Buffer, limit: number): Promise<Delivery | Problem> {
  const { id, head, webhook, attempt, isJson = false, isPayload = false } = kept;
  const parsed = isJson ? { value: JSON.parse(bytes.toString()) as unknown } : undefined;
  const request = { headers: { [type]: textOf(head.headers[type]), [codings]: textOf(head.headers[codings]) } };
  const content = await contentOf({ request, parsed }, bytes, limit);
  if (content instanceof Problem) return content;
  const { method, path, search, headers, ip } = head;
  const req: RequestSummary = {
    method,
    url: search === "" ? path : `${path}?${search}`,
    path,
    query: search === "" ? {} : toObject(new URLSearchParams(search)),
    headers: { ...headers },
    ip,
    ...(content.files && { files: content.files }),
  };
  // What is kept outlives a change of who sends.
  const known = { credential: "first" as const, ...webhook, attempt };
  return { id, body: content.value, ...(isPayload && { isPayload }), req, webhook: known };
}

/** It counts for each start anew. */
function withoutAttempt(webhook: Webhook): Webhook {
  if (webhook.attempt === undefined) return webhook;
  const { attempt: _, ...rest } = webhook;
  return rest;
}

function textOf(field: string | string[] | undefined): string | undefined {
  return field === undefined ? undefined : String(field);
}
