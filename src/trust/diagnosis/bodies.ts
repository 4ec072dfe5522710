// How something in front may have changed a body: what it may have been before.

import { Problem } from "../../problem";
import { isDeeperThan, type Json, parseJson } from "../../request/json";

/** What was changed on the way. */
export type BodyChange = "trailingNewline" | "lineEndings" | "byteOrderMark" | "json";

/** In levels: the indents of deeper JSON may take hundreds of times its own length. */
const deepestIndented = 16;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Bodies that may have become this one, with what made them so. Latin-1 keeps bytes that are no text as they are. */
export function* originals(body: Buffer): Generator<[BodyChange, Buffer]> {
  const text = body.toString("latin1");
  const bytes = (changed: string) => Buffer.from(changed, "latin1");
  for (const end of ["\n", "\r\n"]) {
    yield ["trailingNewline", bytes(text + end)];
    if (text.endsWith(end)) yield ["trailingNewline", bytes(text.slice(0, -end.length))];
  }
  const withLineFeeds = text.replace(/\r\n/g, "\n");
  yield ["lineEndings", bytes(withLineFeeds)];
  yield ["lineEndings", bytes(withLineFeeds.replace(/\n/g, "\r\n"))];
  const hasMark = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  yield ["byteOrderMark", hasMark ? body.subarray(byteOrderMark.length) : Buffer.concat([byteOrderMark, body])];
  const value = parseJson(body.toString());
  if (!(value instanceof Problem)) for (const json of serialisations(value)) yield ["json", Buffer.from(json)];
}

/** JSON as JavaScript, PHP, Python and pretty printers write it. */
function* serialisations(value: Json): Generator<string> {
  const compact = JSON.stringify(value);
  const spaced = withSpaces(value);
  yield* [compact, inAscii(compact), inAscii(compact.replaceAll("/", "\\/"))];
  yield* [spaced, inAscii(spaced)];
  if (!isDeeperThan(deepestIndented, value))
    for (const indent of [2, 4, "\t"]) yield JSON.stringify(value, null, indent);
}

/** With a space behind each comma and colon. */
function withSpaces(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(withSpaces).join(", ")}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${withSpaces(member)}`);
  return `{${members.join(", ")}}`;
}

/** RFC 8259 §7: other characters as escapes of UTF-16 code units. */
function inAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
