// What is kept of a request that came in.

import type { Delivery as KeptDelivery, Kept, Webhook } from "./deliveries/delivery";
import { Secrets } from "./deliveries/gaps";
import type { Delivery } from "./endpoint";
import type { Content } from "./request/content";
import type { Secrecy } from "./trust/secrecy";

/** What there is of a body. */
export interface Sent {
  readonly content: Content;
  /** As it was sent; nothing where a parser in front has made something of it, which then is what counts. */
  readonly bytes: Buffer | undefined;
}

/** What became of it so far. */
export type Outcome = Pick<KeptDelivery, "state" | "status" | "milliseconds">;

/** A body as it is kept. */
interface Body extends Pick<Kept, "body"> {
  /** What has become of it. */
  readonly how?: Pick<KeptDelivery, "isJson" | "gaps">;
  readonly isUnpacked?: boolean;
}

const codings = "content-encoding";
/** What lets somebody in elsewhere, such as the password of `httpNodeAuth` (RFC 9110 §11.6.2, §11.7.2, RFC 6265 §4.2). */
const neverKept = ["authorization", "proxy-authorization", "cookie"];

/** Describes the deliveries of one endpoint, without what lets them in. */
export class Recorder {
  /** What is not kept of a body. */
  readonly secrets: Secrets;
  readonly #node: string;

  constructor(node: string, { inBodies }: Pick<Secrecy, "inBodies">) {
    this.#node = node;
    this.secrets = new Secrets(inBodies);
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
    return { delivery: how ? { ...delivery, ...how } : delivery, body, runs: [{ at }] };
  }

  /** As it was sent, but without secrets: they are looked for in what is packed, too, which then is kept unpacked. */
  #bodyOf({ content, bytes }: Sent, isPacked: boolean): Body {
    const isAsItCame = bytes !== undefined && !isPacked;
    const { body, gaps } = this.secrets.takenFrom(isAsItCame ? bytes : content.bytes());
    const hasGaps = gaps.length > 0;
    if (bytes === undefined) {
      return { body, how: { isJson: !Buffer.isBuffer(content.value), ...(hasGaps && { gaps }) } };
    }
    return hasGaps ? { body, how: { gaps }, isUnpacked: isPacked } : { body: bytes };
  }
}

/** It counts for each start anew. */
function withoutAttempt(webhook: Webhook): Webhook {
  if (webhook.attempt === undefined) return webhook;
  const { attempt: _, ...rest } = webhook;
  return rest;
}
