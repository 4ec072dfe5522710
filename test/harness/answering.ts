// Answers of flows, without Node-RED.

import express from "express";
import { flowResponse } from "../../nodes/runtime/flow-response";
import type { OwedReply } from "../../src/reply/owed";

const app = express();
const summary = { method: "POST", url: "/hook", path: "/hook", query: {}, headers: {}, ip: "192.0.2.1" };

/** What a flow answers by. */
export function answerTo(owed: OwedReply | undefined): express.Response {
  if (!owed) throw new Error("no reply is owed");
  return flowResponse(app, owed, summary, () => undefined)._res as express.Response;
}
