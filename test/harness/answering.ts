// Answers of flows, without Node-RED.

import type express from "express";
import type { FlowReply } from "../../src/flow/flow-reply";

/** What a flow answers by. */
export function answerTo(owed: FlowReply | undefined): express.Response {
  if (!owed) throw new Error("no reply is owed");
  return owed.response as express.Response;
}
