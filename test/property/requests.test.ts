import fc from "fast-check";
import should from "should";
import { gzipSync } from "node:zlib";
import { callers, callerToken } from "../harness/callers";
import { tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { behindGuards, useNodeRed } from "../harness/layouts";
import { seed } from "../harness/property";
import type { Options } from "../harness/node-red";

/** A body and what the contract makes of it: a payload, or the status of its refusal. */
interface Content {
  headers: string[];
  body: Buffer;
  payload?: unknown;
  refusal?: number;
}

/** What is presented as a token in one place, and which tokens the contract sees in it: none, or this one. */
interface Presented {
  value: string;
  bearer: string | undefined;
}

const text = fc.string({ unit: "grapheme", maxLength: 200 });
const withoutMark = (value: string) => value.replace(/^\ufeff/, "");

function content(type: string | undefined, body: string | Buffer, outcome: { payload?: unknown; refusal?: number }) {
  const bytes = Buffer.from(body);
  // An empty body is "" whatever its type says.
  const made = bytes.length === 0 ? { payload: "" } : outcome;
  return { headers: type === undefined ? [] : ["Content-Type", type], body: bytes, ...made };
}

const plainContent: fc.Arbitrary<Content> = fc.oneof(
  fc.json().map((json) => {
    const payload: unknown = JSON.parse(json, (key, value: unknown) => (key === "__proto__" ? undefined : value));
    return content("application/json", json, { payload });
  }),
  text.map((body) => content("application/json", `{${body.replaceAll('"', "")}:`, { refusal: 400 })),
  fc.integer({ min: 257, max: 2000 }).map((depth) => {
    const json = "[".repeat(depth) + "]".repeat(depth);
    return content("application/vnd.deep+json", json, { refusal: 400 });
  }),
  text.map((body) => content("text/plain; charset=utf-8", body, { payload: withoutMark(body) })),
  text.map((body) => content("text/plain; charset=klingon", body, { refusal: 415 })),
  fc.array(fc.tuple(text, text), { maxLength: 6 }).map((pairs) => {
    const names = [...new Set(pairs.map(([name]) => name))].filter((name) => name !== "__proto__");
    const valuesOf = (name: string) => pairs.filter(([other]) => other === name).map(([, value]) => value);
    const payload = Object.fromEntries(
      names.map((name) => [name, valuesOf(name).length === 1 ? valuesOf(name)[0] : valuesOf(name)]),
    );
    return content("application/x-www-form-urlencoded", new URLSearchParams(pairs).toString(), { payload });
  }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => {
    return content("application/octet-stream", Buffer.from(bytes), { payload: Buffer.from(bytes) });
  }),
  text.map((body) => content(undefined, body, { payload: withoutMark(body) })),
);

const anyContent: fc.Arbitrary<Content> = fc
  .tuple(plainContent, fc.constantFrom("plain", "gzip", "unknown", "broken"))
  .map(([plain, coding]) => {
    const coded = (name: string, rest: Partial<Content>) => {
      return { ...plain, ...rest, headers: [...plain.headers, "Content-Encoding", name] };
    };
    if (coding === "gzip") return coded("gzip", { body: gzipSync(plain.body) });
    if (coding === "unknown") return coded("zstd", { refusal: 415 });
    if (coding === "broken") return coded("gzip", { body: Buffer.from("not gzip"), refusal: 400 });
    return plain;
  });

/** Visible ASCII; an accident that makes the token would be a wonder. */
const word = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1, maxLength: 60 }); // prettier-ignore
/** The node's own, and a caller's. */
const right = [token, callerToken("door")];
const rightToken = fc.constantFrom(...right);
const almostToken = fc
  .tuple(rightToken, fc.integer({ min: 0, max: 39 }))
  .map(([each, at]) => `${each.slice(0, at)}#${each.slice(at + 1)}`);
const someToken = fc.oneof(
  { arbitrary: rightToken, weight: 6 },
  word,
  almostToken,
  rightToken.map((each) => each + each),
);
const scheme = fc.constantFrom("Bearer ", "bearer ", "BEARER   ");

const inHeader: fc.Arbitrary<Presented> = fc.oneof(
  fc.tuple(scheme, someToken).map(([name, value]) => ({ value: name + value, bearer: value })),
  someToken.map((value) => ({ value, bearer: undefined })),
  someToken.map((value) => ({ value: `Basic ${value}`, bearer: undefined })),
);
/** Mostly one, sometimes none or two. */
const few = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.tuple(one), weight: 4 }, fc.array(one, { maxLength: 2 }));

/** A path as it is configured, as callers may write it, and as they must not. */
const written = (path: string) =>
  fc.record({
    // Mostly letters: with an encoded one, it is another path.
    letters: fc.array(fc.oneof({ arbitrary: fc.constantFrom("lower", "upper"), weight: 40 }, fc.constant("encoded")), { minLength: path.length, maxLength: path.length }),
    end: fc.constantFrom("", "", "", "/", "//", "/more", "%2F"),
  }).map(({ letters, end }) => {
    const letter = (character: string, index: number) => {
      if (index === 0 || letters[index] === "lower") return character;
      if (letters[index] === "upper") return character.toUpperCase();
      return `%${character.charCodeAt(0).toString(16)}`;
    };
    const sent = Array.from(path, letter).join("") + end;
    return { sent, reaches: (end === "" || end === "/") && !sent.includes("%") };
  }); // prettier-ignore

const places = { "/header": "Authorization", "/custom": "X-Token", "/query": "state" } as const;

/** A request, and what the contract says of it. */
const anyRequest = fc
  .constantFrom(...(Object.keys(places) as (keyof typeof places)[]))
  .chain((path) =>
    fc.record({
      place: fc.constant(places[path]),
      path: written(path),
      authorization: few(inHeader),
      custom: few(inHeader),
      parameters: few(fc.tuple(fc.constantFrom("state", "state", "State", "other"), someToken)),
      content: anyContent,
    }),
  )
  .map(({ place, path, authorization, custom, parameters, content: { headers, body, payload, refusal } }) => {
    const tokens = {
      Authorization: authorization.flatMap(({ bearer }) => (bearer === undefined ? [] : [bearer])),
      "X-Token": custom.map(({ value, bearer }) => bearer ?? value),
      state: parameters.filter(([name]) => name === "state").map(([, value]) => value),
    }[place];
    const search = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    // How often the place itself is filled: a header that comes twice is refused, whatever the other one says.
    const filled = { Authorization: authorization.length, "X-Token": custom.length, state: tokens.length }[place];
    const unauthorised = filled === 1 && right.includes(tokens[0] ?? "") ? undefined : 401;
    return {
      target: search === "" ? path.sent : `${path.sent}?${search}`,
      headers: [
        ...["Host", "x", ...headers],
        ...authorization.flatMap(({ value }) => ["Authorization", value]),
        ...custom.flatMap(({ value }) => ["X-Token", value]),
      ],
      body,
      reaches: path.reaches,
      status: unauthorised ?? refusal ?? 200,
      challenge: tokens.length === 0 ? 'Bearer realm="webhook"' : 'Bearer realm="webhook", error="invalid_token"',
      payload,
    };
  });

const credentials = { token, ...callers("another door", "door") };
const flow = tab(
  webhook("header", "/header", { credentials }),
  webhook("custom", "/custom", { credentials, headerParameter: "X-Token" }),
  webhook("query", "/query", { credentials, verificationMethod: "query" }),
);

for (const [way, options] of [
  ["on the fast way", {}],
  ["on the ordinary way", behindGuards],
] as [string, Options][]) {
  describe(`whatever is sent ${way}`, () => {
    const nodeRed = useNodeRed({ ...options, flow, settings: { logging: { console: { level: "warn" } } } });

    it("becomes a message just when the right token is in its place and the body decodes; else the table answers", async () => {
      const accepted: unknown[] = [];
      const property = fc.asyncProperty(anyRequest, async (request) => {
        const reply = await send(nodeRed().node(request.target), { headers: request.headers, body: request.body });
        if (reply.status === 200) accepted.push(reply.json.id);
        if (!request.reaches) return void should(reply.status).not.equal(200);
        should(reply.status).equal(request.status, reply.body);
        should(reply.headers["www-authenticate"]).equal(request.status === 401 ? request.challenge : undefined);
        should(reply.headers["cache-control"]).equal("no-store");
        if (reply.status !== 200) return;
        const message = await nodeRed().message(reply.json.id);
        should(message.payload).eql(request.payload);
        for (const each of right) should(JSON.stringify(message.req)).not.containEql(each);
      });
      await fc.assert(property, { seed, numRuns: 400 });

      const marker = await send(nodeRed().node("/custom"), { headers: { "X-Token": token } });
      await nodeRed().message(marker.json.id);
      nodeRed()
        .messages.map(({ _msgid }) => _msgid as unknown)
        .should.eql([...accepted, marker.json.id]);
      for (const each of right) should(nodeRed().log).not.containEql(each);
    });
  });
}
