// A delivery as it is read from the fields of its hash.

import type { Delivery, Kept, Attempt, State } from "../delivery";
import { read } from "../written";
import { columns } from "./scripts";

/** What the name of a field with a run begins with; the number of the attempt follows. */
const ofRun = "run:";
const nothing = Buffer.alloc(0);

/** @param hash its fields and their values, one after the other; nothing where it is gone, or cannot be read */
export function keptOf(hash: Buffer[]): Kept | undefined {
  if (hash.length === 0) return undefined;
  const texts: Record<string, string> = {};
  const attempts: [attempt: number, run: Attempt][] = [];
  let body: Buffer = nothing;
  for (let index = 0; index + 1 < hash.length; index += 2) {
    const [name, value] = [String(hash[index]), hash[index + 1] ?? nothing];
    if (name === "body") body = value;
    else if (name.startsWith(ofRun))
      attempts.push([Number(name.slice(ofRun.length)), JSON.parse(String(value)) as Attempt]);
    else texts[name] = String(value);
  }
  attempts.sort(([one], [other]) => one - other);
  const delivery = deliveryOf(texts, attempts.at(-1)?.[1]);
  return delivery && { delivery, body, attempts: attempts.map(([, run]) => run) };
}

/** @param row the values of `columns`, and the last run */
export function deliveryOfRow(row: (string | null)[]): Delivery | undefined {
  const last = row[columns.length];
  const texts = Object.fromEntries(columns.map((column, index) => [column, row[index] ?? undefined]));
  return deliveryOf(texts, last ? (JSON.parse(last) as Attempt) : undefined);
}

function deliveryOf(texts: Record<string, string | undefined>, last: Attempt | undefined): Delivery | undefined {
  const { id = "", node = "", at, state, attempt, status, milliseconds, answer, rest = "{}" } = texts;
  return read({
    ...{ id, node, rest },
    at: Number(at),
    // Nobody else writes them.
    state: state as State,
    attempt: Number(attempt),
    status: status === undefined ? null : Number(status),
    milliseconds: milliseconds === undefined ? null : Number(milliseconds),
    error: last?.error ?? null,
    answer: answer ?? null,
  });
}
