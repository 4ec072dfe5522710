// What is kept of a body for the flow alone: whoever looks is shown a mask in its place.

import type { Span } from "../trust/signature/spans";
import { mask } from "./masks";

/** More of them than this are one, to the end of the body. */
const mostSpans = 1000;
const masked = Buffer.from(mask);

/** @param spans in any order; they may lie over each other */
export function hiddenOf(spans: readonly Span[], length: number): readonly Span[] {
  const sorted = spans.toSorted(([one], [other]) => one - other);
  const last = sorted[mostSpans - 1];
  return sorted.length <= mostSpans || !last ? sorted : [...sorted.slice(0, mostSpans - 1), [last[0], length]];
}

/**
 * A body as it is shown and searched.
 *
 * @param body as it is kept, or its beginning
 * @param hidden in the order in which they stand there
 */
export function withoutHidden(body: Buffer, hidden: readonly Span[] = []): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const [start, after] of hidden) {
    if (start >= body.length) break;
    if (start >= end) parts.push(body.subarray(end, start), masked);
    end = Math.max(end, after);
  }
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(end)]);
}
