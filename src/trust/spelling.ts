// Finds a token in a text, however it was quoted or encoded on the way.

import type { Budget } from "../request/budget";
import { beginsEscape, escapeBegin, Readings } from "./readings";

/** What stands from `start` to before `end`. */
export interface Span {
  start: number;
  end: number;
}

type Fold = (character: string) => string;
const asItStands: Fold = (character) => character;

/** How much of a token has been read before a place, and where that began. */
type Underway = Map<number, number>;
const none: ReadonlyMap<number, number> = new Map();

/** How far a text is read. */
interface Limits {
  budget: Budget;
  /** Before which place, if not to the end. */
  stop?: number;
}

/**
 * Finds where a token stands in a text. What may be the token and what may be its surroundings overlap (a backslash
 * before a quote, a percent sign before digits), so all readings are followed at once. Of a text that is not read to its
 * end, the last span is the rest, from where the first token may begin that has not been read to its end either.
 *
 * @param fold what each character counts as
 */
export function* spellings(
  token: string,
  text: string,
  { budget, stop = text.length }: Limits,
  fold: Fold = asItStands,
): Generator<Span> {
  const readings = new Readings(text, budget);
  /** At the places ahead. */
  const ahead = new Map<number, Underway>();
  let place = fold === asItStands ? firstPlace(token, text, stop) : 0;
  for (; place < Math.min(stop, text.length); place++) {
    const underway = ahead.get(place) ?? none;
    if (underway === none && text[place] !== token[0] && !beginsEscape(text[place])) continue;
    const found = readings.at(place);
    budget.spend(found.length * (underway.size + 1));
    if (budget.isSpent) break;
    for (const { character, end } of found) {
      const read = fold(character);
      if (read === token[0]) advance(ahead, end, 1, place);
      for (const [length, start] of underway) {
        if (read !== token[length]) continue;
        if (length + 1 === token.length) yield { start, end };
        else advance(ahead, end, length + 1, start);
      }
    }
    ahead.delete(place);
    readings.forget(place);
  }
  if (place < text.length) yield { start: firstStart(ahead, place), end: text.length };
}

/** Where a token may begin at first: before what is escaped, and before the stop, it stands as it is. */
function firstPlace(token: string, text: string, stop: number): number {
  const [found, escaped] = [text.indexOf(token), text.search(escapeBegin)];
  const unread = Math.min(stop, text.length, escaped === -1 ? Infinity : escaped) - token.length + 1;
  return Math.max(0, found === -1 ? unread : Math.min(found, unread));
}

/** Where the first of all tokens began that are underway, if that is before a place. */
function firstStart(ahead: ReadonlyMap<number, Underway>, place: number): number {
  let first = place;
  for (const underway of ahead.values()) for (const start of underway.values()) first = Math.min(first, start);
  return first;
}

/** Notes that so much of the token has been read up to a place; of two beginnings, the earlier one counts. */
function advance(ahead: Map<number, Underway>, place: number, read: number, start: number): void {
  const underway = ahead.get(place) ?? new Map<number, number>();
  ahead.set(place, underway.set(read, Math.min(start, underway.get(read) ?? start)));
}

/**
 * Whether a text has the token in it. One that cannot be read to its end counts as having it.
 *
 * @param fold what each character counts as
 */
export function isSpelled(token: string, text: string, budget: Budget, fold?: Fold): boolean {
  if (text.length < token.length) return false;
  if (text.includes(token)) return true;
  return escapeBegin.test(text) && !spellings(token, text, { budget }, fold).next().done;
}

/** Puts something in the place of tokens, wherever they stand in a text, and of what is not read of it. */
export function withoutTokens(tokens: Iterable<string>, text: string, limits: Limits, replacement: string): string {
  const { stop = text.length } = limits;
  const unread = stop < text.length ? [{ start: stop, end: text.length }] : [];
  const found = [...unread, ...Array.from(tokens, (token) => [...spellings(token, text, limits)]).flat()];
  if (found.length === 0) return text;
  const spans: Span[] = [];
  for (const span of found.sort((a, b) => a.start - b.start)) {
    const before = spans.at(-1);
    // Those of two readings, of two tokens, or of one that repeats itself, lie over each other, or one behind the other.
    if (before && span.start <= before.end) before.end = Math.max(before.end, span.end);
    else spans.push(span);
  }
  const kept = [0, ...spans.map(({ end }) => end)];
  return kept.map((from, index) => text.slice(from, spans[index]?.start ?? text.length)).join(replacement);
}
