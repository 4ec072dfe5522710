import fc from "fast-check";
import { mock } from "node:test";
import should from "should";
import type { Scheme } from "../../src/auth/senders/sender";
import { character, seed } from "../harness/property";
import { signers } from "../harness/signers";
import { authenticatorFor, outcomeOf, schemeOf, type Setup } from "../harness/verification";
import { libraries, type Library, type Sent } from "./libraries";

/** When all requests come, in seconds since the epoch. */
const now = 1_767_225_600;
const runs = { seed, numRuns: 30 };

/** A library beside the node, which both verify the same requests. */
class Comparison {
  readonly bodies: fc.Arbitrary<Buffer>;
  readonly scheme: Scheme;
  readonly #library: Library;
  readonly #setup: Setup;
  readonly #secret: string;

  constructor(library: Library) {
    this.#library = library;
    const { secrets, publicUrl = "" } = signers[library.sender];
    this.#secret = secrets[0] ?? "";
    const scheme = schemeOf(library.sender, publicUrl);
    this.scheme = scheme;
    this.#setup = { scheme, secrets: { first: this.#secret }, publicUrl, sender: library.sender };
    this.bodies = library.takesBytes
      ? fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes))
      : fc.json({ stringUnit: character }).map((text) => Buffer.from(text));
  }

  /** What our own signer sends for the sender. */
  sent(bytes: Buffer, at = now, account = 0): Sent {
    const signer = signers[this.#library.sender];
    const { event } = this.#library;
    const payload = event ? Buffer.from(event(bytes.toString())) : bytes;
    const request = { body: signer.body?.(payload, 0, at) ?? payload, at, id: "msg_1" };
    return {
      fields: signer.headers(request, account),
      search: signer.search(request, account),
      body: request.body,
    };
  }

  /** The same, signed by the library. */
  async signed(bytes: Buffer, sign: NonNullable<Library["sign"]>): Promise<Sent> {
    const { search, body } = this.sent(bytes);
    return { fields: await sign({ body, at: now, id: "msg_1" }, this.#secret), search, body };
  }

  /** The same, signed by the node for the sender. */
  async signedByNode(bytes: Buffer): Promise<Sent> {
    const { search, body, fields } = this.sent(bytes, now - 1);
    const [type] = fields.filter(([name]) => name === "Content-Type");
    const { publicUrl = "" } = this.#setup;
    const authenticator = authenticatorFor(this.#library.sender, { first: this.#secret, settings: { publicUrl } });
    const request = { method: "POST", search, headers: type ? Object.fromEntries([type]) : {}, body };
    const signed = await authenticator.sign(request, now * 1000);
    if (!signed || "kind" in signed) throw new Error(signed?.kind);
    return { ...signed, fields: Object.entries(signed.headers) };
  }

  /** Copies of a request with one character of its signature, its body or its time replaced. */
  changed(sent: Sent, place: number): Sent[] {
    const inFields = (replace: (value: string, name: string) => string): Sent => ({
      ...sent,
      fields: sent.fields.map(([name, value]) => [name, replace(value, name)]),
    });
    const { headers } = this.#setup.scheme.sig;
    // A signature is a long stretch of its field. Its first characters may say how long it is, its last ones have bits
    // that do not count.
    const signature = inFields((value, name) =>
      headers.includes(name) ? value.replace(/[\w+/-]{27,}/g, (text) => replaceAt(text, 8 + (place % (text.length - 12)))) : value,
    ); // prettier-ignore
    const later = (text: string) => text.replace(String(now), String(now + 1));
    const time = { ...inFields(later), body: Buffer.from(later(sent.body.toString("latin1")), "latin1") };
    const body = { ...sent, body: Buffer.concat([sent.body, Buffer.from(" ")]) };
    return [signature, body, ...(JSON.stringify(time) === JSON.stringify(sent) ? [] : [time])];
  }

  async verdicts(sent: Sent): Promise<{ library: boolean; node: boolean }> {
    const head = { method: "POST", rawHeaders: sent.fields.flat(), search: sent.search };
    const node = outcomeOf(this.#setup, { head, body: sent.body, at: now }) === "first";
    try {
      return { library: (await this.#library.verify(sent, this.#secret)) !== false, node };
    } catch {
      return { library: false, node };
    }
  }
}

function replaceAt(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === "0" ? "1" : "0") + text.slice(index + 1);
}

/** A clock that stands still, as most libraries have no other way to be told the time. */
function stopped(clock: DateConstructor): DateConstructor {
  const at = now * 1000;
  return new Proxy(clock, {
    construct: (target, [time = at]: number[]) => new target(time),
    get: (target, name): unknown => (name === "now" ? () => at : Reflect.get(target, name)),
  });
}

const both = { library: true, node: true };
const neither = { library: false, node: false };

describe("signatures beside the senders' own libraries", () => {
  const clock = Date;
  before(() => {
    globalThis.Date = stopped(clock);
    // Zoom's library prints each request.
    mock.method(console, "debug", () => undefined);
  });
  after(() => {
    globalThis.Date = clock;
    mock.restoreAll();
  });

  for (const library of libraries) {
    const { name, sender, sign, isLenient = false, ignores = [] } = library;
    const comparison = new Comparison(library);

    it(`${name} and the node accept what ${sender} signs, and refuse it once it was changed`, async () => {
      const holds = async (bytes: Buffer, place: number) => {
        const sent = comparison.sent(bytes);
        should(await comparison.verdicts(sent)).eql(both);
        for (const each of comparison.changed(sent, place)) {
          should(each).not.eql(sent);
          const { library: accepts, node } = await comparison.verdicts(each);
          should({ library: accepts && !isLenient, node }).eql(neither);
        }
      };
      await fc.assert(fc.asyncProperty(comparison.bodies, fc.nat(10_000), holds), runs);
    });

    // Of the others, only the sender has the key.
    if (/^hmac|^code/.test(comparison.scheme.alg)) {
      it(`${name} accepts what the node signs as ${sender}`, async () => {
        const holds = async (bytes: Buffer) => {
          should(await comparison.verdicts(await comparison.signedByNode(bytes))).eql(both);
        };
        await fc.assert(fc.asyncProperty(comparison.bodies, holds), runs);
      });
    }

    it(`${name} and the node refuse what another account of ${sender} signs`, async () => {
      should(await comparison.verdicts(comparison.sent(Buffer.from("{}"), now, 1))).eql(neither);
    });

    if (sign) {
      it(`the node accepts what ${name} signs`, async () => {
        const holds = async (bytes: Buffer) => {
          should(await comparison.verdicts(await comparison.signed(bytes, sign))).eql(both);
        };
        await fc.assert(fc.asyncProperty(comparison.bodies, holds), runs);
      });
    }

    const { window } = signers[sender];
    if (window === undefined) continue;
    for (const [when, age] of [
      ["past", window],
      ["future", -window],
    ] as const) {
      it(`${name} and the node have the same limit of time in the ${when}${ignores.includes(when) ? ", other than the library, which has none" : ""}`, async () => {
        const body = Buffer.from("{}");
        should(await comparison.verdicts(comparison.sent(body, now - age))).eql(both);
        const tooFar = comparison.sent(body, now - age - Math.sign(age));
        should(await comparison.verdicts(tooFar)).eql({ library: ignores.includes(when), node: false });
      });
    }
  }
});
