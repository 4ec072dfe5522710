// What a caller is told whose delivery is known.

import { isWithoutContent, type ReplyNow } from "../config/handling";
import type { Delivery } from "../deliveries/delivery";
import type { FirstAnswer } from "../deliveries/repeats";
import { beginningOf, ellipsis } from "../request/text";
import type { Answer } from "../trust/answer";
import type { Secrecy } from "../trust/secrecy";

/** What is said: a status, header fields, and a body that the status may forbid. */
export interface Said extends Pick<Answer, "status" | "headers"> {
  body: string | Buffer;
}

/** How much of a reply's body is noted for whoever looks, in bytes. */
export const mostShown = 1024;
/** How much of it is read for that: where it is cut, an escape may stand that says where a secret has begun. */
export const mostRead = 2 * mostShown;

/** What the editor asks of a reply, whatever the sender wants. */
const forTheEditor: ReplyNow = { by: "now", status: 200, body: "", type: "" };

/** What the reply to an endpoint's deliveries is, where the node itself replies. */
export class Acceptance {
  readonly #reply: ReplyNow;
  readonly #emptyStatus: number | undefined;

  /** @param emptyStatus the status for a sender to which a body would do harm */
  constructor(reply: ReplyNow, emptyStatus: number | undefined) {
    this.#reply = reply;
    this.#emptyStatus = emptyStatus;
  }

  /** For the editor's test requests. */
  static readonly ofTrials = new Acceptance(forTheEditor, undefined);

  /** To a delivery that has started the flow. */
  first(id: string): Said {
    return this.#say({ status: "accepted", id });
  }

  /** To one that has come before, as a message with this id. */
  repeated(id: string): Said {
    return this.#say({ status: "duplicate", id });
  }

  /** A body and a status that a user has set go before what the sender wants; and that before ours. */
  #say(ours: { status: string; id: string }): Said {
    const { status, body, type } = this.#reply;
    if (isWithoutContent(status)) return { status, headers: {}, body: "" };
    if (body !== "") return { status, headers: { "Content-Type": type }, body };
    if (this.#emptyStatus !== undefined) {
      return { status: status === 200 ? this.#emptyStatus : status, headers: {}, body: "" };
    }
    return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(ours) };
  }
}

/**
 * How a body begins, as it is noted for whoever looks; nothing where it is empty, or is no text.
 *
 * @param secrecy takes out of what a flow has said what nobody is to know
 */
export function notedOf(body: string | Buffer, secrecy?: Pick<Secrecy, "conceal">): Pick<Delivery, "answer"> {
  const shown = beginningOf(body, mostShown);
  if (!shown) return {};
  if (!secrecy) return { answer: shown };
  if (body.length <= mostShown) return { answer: secrecy.conceal(shown) };
  const read = beginningOf(body, mostRead);
  return read === undefined ? {} : { answer: secrecy.conceal(read, shown.length - ellipsis.length) };
}

/** What the flow has answered to the delivery that came first; of what is not kept, nothing is told but where it is. */
export function saidBefore({ status, fields: { Location, ...content }, body }: FirstAnswer): Said {
  const headers = { ...(body && content), ...(Location !== undefined && { Location }) };
  return { status, headers, body: body ?? Buffer.alloc(0) };
}
