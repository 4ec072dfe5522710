import { type Signer, signers } from "../harness/signers";
import { outcomeOf, schemeOf, type Setup } from "../harness/verification";
import { proofOf } from "./changes";
import type { Library, Sent } from "./library";

/** When all requests come, in seconds since the epoch. */
export const now = 1_767_225_600;

/** Who accepts a request. */
export interface Verdicts {
  library: boolean;
  ours: boolean;
}

/** A library beside what we make of the same requests. */
export class Comparison {
  readonly setup: Setup;
  readonly signer: Signer;
  readonly #library: Library;
  readonly #secret: string;

  constructor(library: Library) {
    this.#library = library;
    this.signer = library.signer ?? signers[library.sender];
    const { secrets, publicUrl = "" } = this.signer;
    this.#secret = secrets[0] ?? "";
    const scheme = schemeOf(library.sender, publicUrl);
    this.setup = { scheme, secrets: { first: this.#secret }, publicUrl, sender: library.sender };
  }

  /** The body that the sender makes of any bytes. */
  bodyOf(bytes: Buffer, at = now): Buffer {
    return this.signer.body?.(bytes, 0, at) ?? bytes;
  }

  /** What our own signer sends for the sender. */
  sent(bytes: Buffer, at = now, account = 0): Sent {
    const request = { body: this.bodyOf(bytes, at), at, id: "msg_1" };
    const search = this.signer.search?.(request) ?? "";
    return { fields: this.signer.headers(request, account), search, body: request.body };
  }

  /** The same, with a signature that can be written in each of the ways that there are. */
  example(at = now): Sent {
    const { scheme } = this.setup;
    const telling = scheme.sig.enc === "base64" ? /[+/].*=$/ : /[a-f]/;
    for (let id = 0; id < 1000; id++) {
      const sent = this.sent(Buffer.from(`{"id":"§${id}"}`), at);
      if (telling.test(proofOf(sent, scheme))) return sent;
    }
    throw new Error(this.#library.name);
  }

  /** What the library says that the sender sends; where it says nothing, what our own signer does. */
  async signed(bytes: Buffer): Promise<Sent> {
    const request = { body: this.bodyOf(bytes), at: now, id: "msg_1" };
    const signed = await this.#library.sign?.(request, this.#secret);
    return signed ? { search: "", body: request.body, ...signed } : this.sent(bytes);
  }

  async verdicts(sent: Sent): Promise<Verdicts> {
    const head = { method: "POST", rawHeaders: sent.fields.flat(), search: sent.search };
    const ours = outcomeOf(this.setup, { head, body: sent.body, at: now }) === "first";
    try {
      return { library: (await this.#library.verify(sent, this.#secret)) !== false, ours };
    } catch {
      return { library: false, ours };
    }
  }
}
