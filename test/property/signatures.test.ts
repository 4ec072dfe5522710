import fc from "fast-check";
import { inspect } from "node:util";
import should from "should";
import { algorithms, encodings, keyFormats, timeUnits } from "../../src/auth/senders/sender";
import { parseScheme } from "../../src/auth/signature/scheme";
import { seed } from "../harness/property";
import { type Signer, signers, type SigningId, signingIds as senders } from "../harness/signers";
import { type Came, outcomeOf, schemeOf, type Setup, verdictOn } from "../harness/verification";

/** How many signatures are changed in all: `MUTATIONS=1000000 npm test -- --grep changed` takes half a minute. */
const mutations = Number(process.env.MUTATIONS ?? 10_000);
const at = 1_767_225_600;
/** How far from now the time of a request may be, in seconds, as its sender says; 300 where none says otherwise. */
const windows: Partial<Record<SigningId, number>> = {
  ...{ box: 600, calendly: 180, elevenlabs: 1800, linear: 60, paddle: 5, twitch: 600, workos: 180 },
};

interface Sent extends Came {
  fields: [string, string][];
}

/** What a sender sends for an account, with its fields as they are. */
function sent(signer: Signer, account: number, bytes: Buffer, id = "msg_1"): Sent {
  const body = signer.body?.(bytes, account, at) ?? bytes;
  const request = { body, at, id };
  const fields = signer.headers(request, account);
  const search = signer.search(request, account);
  return { fields, head: { method: "POST", rawHeaders: fields.flat(), search }, body, at };
}

function setupOf(id: SigningId, first: number, second?: number): Setup {
  const { secrets, publicUrl = "" } = signers[id];
  const scheme = schemeOf(id, publicUrl);
  return {
    scheme,
    secrets: { first: secrets[first] ?? "", second: second === undefined ? "" : (secrets[second] ?? "") },
    publicUrl,
    sender: id,
  };
}

const account = fc.integer({ min: 0, max: 2 });
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((json) => Buffer.from(`\ufeff${json}\r\n`)),
  fc.constantFrom("", "{}", '{"a":1.0,"a":1e2}', "a=1&a=2&b=%20+", "\u0000").map((text) => Buffer.from(text)),
);
/** What happens to a request on its way. */
const way = fc.record({
  first: account,
  second: fc.option(account, { nil: undefined }),
  body,
  changedBody: fc.option(body, { nil: undefined, freq: 3 }),
  late: fc.oneof(fc.constant(0), fc.integer({ min: -700, max: 700 })),
  id: fc.string({ unit: fc.constantFrom(...Array.from("aZ09_-.~")), minLength: 1, maxLength: 20 }),
  order: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
  shout: fc.nat(),
  noise: fc.array(fc.tuple(fc.constantFrom("X-Other", "Host", "User-Agent", "x-hub"), fc.string()), { maxLength: 4 }),
});

/** Header fields in any order, their names in any letter case. */
function anyOrder(fields: readonly (readonly [string, string])[], order: readonly number[], shout: number): string[] {
  const mixed = (name: string) =>
    Array.from(name, (each, place) => ((shout >> (place % 31)) & 1 ? each.toUpperCase() : each.toLowerCase())).join("");
  return fields
    .map(([name, value], place) => ({ key: order[place] ?? 0, field: [mixed(name), value] }))
    .sort((one, other) => one.key - other.key)
    .flatMap(({ field }) => field);
}

describe("a signature", () => {
  for (const id of senders) {
    const signer = signers[id];

    it(`of ${id} is accepted exactly when the sender would make the same one`, () => {
      fc.assert(
        fc.property(way, account, ({ first, second, body, changedBody, late, id: own, order, shout, noise }, from) => {
          const request = sent(signer, from, body, own);
          const changed = changedBody ?? request.body;
          const came: Came = {
            head: { ...request.head, rawHeaders: anyOrder([...request.fields, ...noise], order, shout) },
            body: changed,
            at: at + late,
          };
          const isSame = changed.equals(request.body) || (signer.ignoresBody && signer.body === undefined);
          const again = signer.headers({ body: changed, at, id: own }, from);
          // Twilio does not sign the order of a form's fields; ECDSA makes another signature each time.
          const fits = isSame || (id === "twilio" && JSON.stringify(again) === JSON.stringify(request.fields));
          const isTimely = signer.window === undefined || Math.abs(late) <= signer.window;
          const fitting = first === from ? "first" : second === from ? "second" : undefined;

          const verdict = verdictOn(setupOf(id, first, second), came);
          const expected = fits && isTimely ? fitting : undefined;
          should(typeof verdict === "string" ? undefined : verdict.credential).equal(expected, inspect(verdict));
          if (typeof verdict !== "string" && signer.window) should(verdict.sentAt).equal(at * 1000);
        }),
        { seed, numRuns: 100 },
      );
    });
  }

  it("is accepted up to the edges of its sender's window, and not a second later or earlier", () => {
    for (const id of senders) {
      const { window } = signers[id];
      if (window === undefined) continue;
      window.should.equal(windows[id] ?? 300, id);
      const request = sent(signers[id], 0, Buffer.from("{}"));
      for (const late of [-window, window]) {
        outcomeOf(setupOf(id, 0), { ...request, at: at + late }).should.equal("first", id);
        const later = outcomeOf(setupOf(id, 0), { ...request, at: at + late + Math.sign(late) });
        later.should.equal("timeOutside", id);
      }
    }
  });

  it("that was changed in any way is never accepted", () => {
    const signing = senders.filter((id) => sent(signers[id], 0, Buffer.alloc(0)).fields.length > 0);
    const random = fc.nat(1_000_000);
    for (const id of signing) {
      const setup = setupOf(id, 0);
      const request = sent(signers[id], 0, Buffer.from('{"id":1}'));
      const { place, start, end } = proofIn(request.fields, sent(signers[id], 1, Buffer.from('{"id":1}')).fields);
      const [name, value] = request.fields[place] ?? ["", ""];
      outcomeOf(setup, request).should.equal("first");
      fc.assert(
        fc.property(random, random, fc.nat(3), (where, what, how) => {
          const changed = value.slice(0, start) + mutated(value.slice(start, end), where, what, how) + value.slice(end);
          // The same signature: hexadecimal digits have no letter case, and padding may be absent.
          const isHex = setup.scheme.sig.enc === "hex" && changed.toLowerCase() === value.toLowerCase();
          if (isHex || changed === value || changed === value.replace(/=+$/, "")) return;
          const rawHeaders = request.fields.with(place, [name, changed]).flat();
          outcomeOf(setup, { ...request, head: { ...request.head, rawHeaders } }).should.not.equal("first", changed);
        }),
        { seed, numRuns: Math.ceil(mutations / signing.length) },
      );
    }
  });
});

/** Where a proof stands: it is what differs between two accounts. */
function proofIn(fields: readonly [string, string][], others: readonly [string, string][]) {
  const place = fields.findLastIndex(([, value], index) => value !== others[index]?.[1]);
  const value = fields[place]?.[1] ?? "";
  const other = others[place]?.[1] ?? "";
  const start = Array.from(value).findIndex((character, index) => character !== other[index]);
  const end = Array.from(value).findLastIndex((character, index) => character !== other[index]) + 1;
  return { place, start, end };
}

/** A character is another one, some are missing, or one is too many; or two have changed places. */
function mutated(text: string, where: number, what: number, how: number): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_!=.\u00e9";
  const place = where % text.length;
  const before = text.slice(0, place);
  const character = alphabet.charAt(what % alphabet.length);
  if (how === 0) return before + character + text.slice(place + 1);
  if (how === 1) return before + text.slice(place + 1 + (what % 3));
  if (how === 2) return before + character + text.slice(place);
  return before + text.charAt(place + 1) + text.charAt(place) + text.slice(place + 2);
}

describe("a scheme that a user writes", () => {
  const text = fc.oneof(fc.constantFrom("", "a", "v1=", ",", " ", "X-A", "X-B"), fc.string());
  const source = fc.oneof(
    fc.constantFrom("body", "ts", "method", "url", "url:hubspot", "json:a.*.b", "json:.", "form:a", "query:a"),
    fc.tuple(fc.constantFrom("header:", "sig:", "lit:", "query:", "json:"), text).map((parts) => parts.join("")),
  );
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ arbitrary, weight: 30 }, fc.jsonValue());
  const scheme = fc.record({
    alg: maybe(fc.constantFrom(...algorithms)),
    key: maybe(
      fc.record({
        format: fc.constantFrom(...keyFormats),
        strip: fc.option(fc.oneof(text, fc.constant(["v1,a", "a"]))),
        orText: fc.option(fc.boolean()),
      }),
    ),
    sig: maybe(
      fc.record({
        headers: fc.array(fc.constantFrom("X-A", "X-B"), { maxLength: 2 }),
        source: fc.option(source, { freq: 2 }),
        split: fc.option(fc.constantFrom(",", " ", ";", [", ", " "], [";", ","])),
        pick: fc.option(fc.oneof(fc.record({ prefix: text }), fc.record({ kv: text }))),
        enc: fc.option(fc.constantFrom(...encodings), { freq: 9 }),
      }),
    ),
    content: maybe(fc.array(source, { maxLength: 4 })),
    requires: fc.option(fc.dictionary(fc.constantFrom("X-A", "X-B"), text), { freq: 3 }),
    ts: maybe(
      fc.option(fc.record({ source, unit: fc.constantFrom(...timeUnits), tolerance: fc.option(fc.nat(), {}) })),
    ),
  });
  const line = fc.tuple(
    fc.constantFrom("X-A", "X-B", "Content-Type"),
    fc.oneof(text, fc.base64String(), fc.constant("a=1,b=2")),
  );

  it("is refused, or judges any request without an error, and accepts none by chance", () => {
    let kept = 0;
    fc.assert(
      fc.property(scheme, fc.array(line, { maxLength: 5 }), text, body, ({ ...written }, lines, search, bytes) => {
        const parsed = parseScheme(written, "https://example.com/");
        if ("rule" in parsed) return;
        kept++;
        const setup = { scheme: parsed, secrets: { first: "c2VjcmV0IQ==" }, publicUrl: "https://example.com/" };
        const head = { method: "POST", rawHeaders: lines.flat(), search };
        outcomeOf(setup, { head, body: bytes, at }).should.not.equal("first");
      }),
      { seed, numRuns: 5000 },
    );
    kept.should.be.above(500);
  });
});
