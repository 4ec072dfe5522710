import fc from "fast-check";
import should from "should";
import { Redactor } from "../../src/auth/redactor";
import type { Sender, Source } from "../../src/auth/senders/sender";
import { senderIds, senders } from "../../src/auth/senders/table";
import { readSenderDelivery, RequestValues } from "../../src/auth/request-values";
import { composeDuplicateKey } from "../../src/deliveries/duplicates";
import { filterRequest } from "../../src/flow/filter";
import { DecodedBody } from "../../src/request/decode";
import { seed } from "../harness/property";

interface Element {
  readonly event: string;
  readonly id: string;
  readonly scope: string;
}

/** A part of a body: the value of each place inside an element of a batch, and the rest around it. */
function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner: unknown, name) => ({ [name]: inner }), value);
}

function merge(one: unknown, other: unknown): unknown {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const members = one as Readonly<Record<string, unknown>>;
  const others = other as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, name in others ? merge(members[name], others[name]) : members[name]]));
} // prettier-ignore

/** Where a sender of batches has its list, and inside an element its event, its id and what that is unique within. */
function describeBatch({ events = [], id }: Sender) {
  const inBatch = (sources: readonly Source[]) => sources.find((source) => /^json:(?:.*\.)?\*\./.test(source));
  const split = (source: Source | undefined) => {
    const [, before = "", inside = ""] = /^json:(?:(.+)\.)?\*\.(.+)$/.exec(source ?? "") ?? [];
    return source && { before: before.split(".").filter((name) => name !== ""), inside: inside.split(".") };
  };
  const [event, own, scope] = [events, id?.from ?? [], id?.scope ?? []].map((places) => split(inBatch(places)));
  return event && { list: event.before, event: event.inside, id: own?.inside, scope: scope?.inside };
}

type Batch = NonNullable<ReturnType<typeof describeBatch>>;

function write({ list, event, id, scope }: Batch, elements: readonly Element[]): string {
  const all = elements.map((element) => {
    const named = nest(event, element.event);
    const known = id ? merge(named, nest(id, element.id)) : named;
    return scope ? merge(known, nest(scope, element.scope)) : known;
  });
  return JSON.stringify(nest(list, all));
}

function read(row: Sender, body: string, contentType = "application/json") {
  const head = { method: "POST", rawHeaders: ["Content-Type", contentType], search: "" };
  const decoded = DecodedBody.of(head, Buffer.from(body));
  const told = readSenderDelivery(row, new RequestValues(head, decoded));
  const key = composeDuplicateKey("", { head, body: decoded, id: told.key, isIdLoose: false });
  return { ...told, head, key };
}

/** The topic, or nothing where the flow is not started. */
function pass(events: readonly string[], row: Sender, body: string, contentType?: string): string | undefined {
  const { events: given, head } = read(row, body, contentType);
  const request = { events: given, head, text: () => body, payload: () => body };
  const passed = filterRequest({ events, conditions: [] }, request, new Redactor([]));
  return "event" in passed ? passed.event : undefined;
}

const names = ["a", "b", "c", "d", "e"];
const element = fc.record({
  event: fc.constantFrom(...names),
  id: fc.constantFrom("1", "2", "3", '1","2', "1,2"),
  scope: fc.constantFrom("/x", "/y"),
});
const batch = fc.array(element, { minLength: 1, maxLength: 5 });
const list = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 });

const cloudEvents: Batch = { list: [], event: ["type"], id: ["id"], scope: ["source"] };
const kinds = [
  ...senderIds.flatMap((id) => {
    const found = describeBatch(senders[id]);
    // Where a value of the element is signed, as by Adyen, there is one and no more.
    const isAlone = senders[id].scheme.content.some((source) => source.includes(".*."));
    return found && !isAlone ? [{ name: id, row: senders[id], batch: found, contentType: "application/json" }] : [];
  }),
  ...(["cloudevents", "azure-eventgrid"] as const).map((id) => ({
    name: `${id}, as CloudEvents`,
    ...{ row: senders[id], batch: cloudEvents, contentType: "application/cloudevents-batch+json" },
  })),
];

describe("a batch of events", () => {
  it("is sent by the senders that document it", () => {
    should(kinds.map(({ name }) => name)).containDeep(["sendgrid", "hubspot", "line", "azure-eventgrid", "tailscale"]);
  });

  for (const { name, row, batch: shape, contentType } of kinds) {
    it(`passes a list of events where one of its events does, which is the topic: ${name}`, () => {
      const check = (elements: readonly Element[], wanted: readonly string[]) => {
        const first = elements.find(({ event }) => wanted.includes(event))?.event;
        should(pass(wanted, row, write(shape, elements), contentType)).equal(first);
        should(pass([], row, write(shape, elements), contentType)).equal(elements[0]?.event);
      };
      fc.assert(fc.property(batch, list, check), { seed });
    });

    if (shape.id) {
      it(`is a duplicate of one with the same events, in any order, and never of one without one of them: ${name}`, () => {
        const toSet = (elements: readonly Element[]) =>
          new Set(elements.map(({ id, scope }) => JSON.stringify(shape.scope ? [id, scope] : [id])));
        const check = (one: readonly Element[], other: readonly Element[]) => {
          const [mine, theirs] = [toSet(one), toSet(other)];
          const isSame = mine.size === theirs.size && [...mine].every((each) => theirs.has(each));
          const keys = [one, other].map((elements) => read(row, write(shape, elements), contentType).key);
          should(keys[0]).be.a.String();
          should(keys[0] === keys[1]).equal(isSame);
        };
        const shuffled = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });
        fc.assert(fc.property(batch, batch, check), { seed });
        fc.assert(
          fc.property(batch, shuffled, (elements, order) => {
            check(
              elements,
              order.flatMap((index) => elements[index] ?? []),
            );
          }),
          { seed },
        );
      });
    }
  }
});

describe("a CloudEvent", () => {
  /** As a sender has to write it (HTTP protocol binding §3.1.3.2): blank, quote, percent, and all but ASCII as UTF-8. */
  const escape = (text: string) =>
    Array.from(Buffer.from(text), (byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`,
    ).join("");
  const attribute = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => !text.includes("\0"));

  it("has the same event, id and key in each mode, whatever its attributes are", () => {
    const check = (type: string, source: string, id: string) => {
      const event = { specversion: "1.0", type, source, id };
      const told = (rawHeaders: string[], body: unknown) => {
        const head = { method: "POST", rawHeaders, search: "" };
        const fields = new RequestValues(head, DecodedBody.of(head, Buffer.from(JSON.stringify(body))));
        return readSenderDelivery(senders.cloudevents, fields);
      };
      const headers = Object.entries(event).flatMap(([name, value]) => [`ce-${name}`, escape(value)]);
      const binary = told(["Content-Type", "application/json", ...headers], { type: "x", source: "x", id: "x" });
      should(binary).match({ events: [type], id });
      should(told(["Content-Type", "application/cloudevents+json"], event)).eql(binary);
      should(told(["Content-Type", "application/cloudevents-batch+json"], [event])).eql(binary);
    };
    fc.assert(fc.property(attribute, attribute, attribute, check), { seed });
  });
});
