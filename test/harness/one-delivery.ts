// Deliveries with all that the runtime has of them.

import type { Detail } from "../../src/admin/summary";
import { summary } from "./deliveries-tab";

/** When they came. */
export const at = Date.UTC(2026, 0, 5, 12, 53, 7);

/** One that its flow is done with. */
export const done: Detail = {
  ...summary({ id: "0f3c1b2a", node: "plain", path: "/plain", at, size: 62, senderId: "72d3162e-cc78-11e3" }),
  sender: "github",
  event: "push",
  headers: {
    authorization: "••••••••",
    "content-type": "application/json",
    "content-length": "62",
    host: "127.0.0.1:1880",
    "x-github-event": "push",
    "x-tag": ["it's", "two"],
  },
  query: { page: "2" },
  body: { encoding: "utf8", data: '{"order":{"id":17,"lines":["a","b"]},"note":"it\'s late"}', truncated: false },
  isJson: false,
  payload: { order: { id: 17, lines: ["a", "b"] }, note: "it's late" },
  answer: { status: 200, milliseconds: 12, body: '{"id":"0f3c1b2a"}' },
  attempts: [{ at: at + 2, ended: at + 14 }],
};

/** One that was refused: nothing of its body is kept. */
export const refused: Detail = {
  ...done,
  id: "refused1",
  state: "refused",
  status: 401,
  sender: null,
  senderId: null,
  cause: {
    problem: "tokenInvalid",
    reasons: [{ key: "tokenLength", values: { length: 39, expected: 40 } }],
    looksLike: null,
    error: null,
  },
  reason: "a reason in another language",
  fix: "a fix in another language",
  body: { encoding: "utf8", data: "", truncated: true },
  payload: undefined,
  answer: { status: 401, milliseconds: 1, body: null },
  attempts: [],
};

/** One whose flow has failed, with a body that is no text. */
export const failed: Detail = {
  ...done,
  id: "failed1",
  state: "failed",
  cause: { problem: null, reasons: [], looksLike: null, error: "TypeError: no id" },
  body: {
    encoding: "base64",
    data: Buffer.from(Array.from({ length: 9000 }, (_, index) => index % 256)).toString("base64"),
    truncated: false,
  },
  attempts: [{ at, ended: at + 1500, error: "TypeError: no <i>id</i>" }],
};
