import should from "should";
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";
import { root } from "../harness/package";

const secret = "It's a Secret to Everybody";
const flow = tab(
  webhook("hook", "/hook"),
  webhook("signed", "/signed", { verificationMethod: "signature", sender: "github", credentials: { secret } }),
  webhook("device", "/devices/:id"),
  { id: "slow", type: "slow", wires: [] },
);
/** A library of a sender brings it. */
const express5 = createRequire(join(root, "node_modules", "@slack", "bolt", "package.json")).resolve("express");
/** Node-RED's own apps are those of its Express 4; core's `http in` does not load there. */
const host = `
  const outer = require(${JSON.stringify(express5)})();
  server.removeAllListeners("request");
  server.on("request", outer);
  outer.use((request, response, next) => {
    response.setHeader("X-Seen", JSON.stringify([typeof request.body, request.query]));
    if (request.headers["x-evil"]) response.status(403).end();
    else next();
  });
  outer.use(settings.httpAdminRoot, RED.httpAdmin);
  outer.use(settings.httpNodeRoot, RED.httpNode);
`;

for (const layout of ["equal", "separate"] as const) {
  const settings = roots[layout];
  describe(`a host application with Express 5, with ${layout} roots`, () => {
    const nodeRed = useNodeRed({ flow, host, settings });
    const post = async (path: string, headers: Record<string, string> = bearer, body = '{"a":1}') =>
      send(nodeRed().node(path), { headers: { "Content-Type": "application/json", ...headers }, body });

    it("has a webhook trigger get its requests, behind the host's guards, which see them as ever", async () => {
      const { status, json, headers } = await post("/hook?a=1");
      should([status, headers["x-seen"]]).eql([200, '["undefined",{"a":"1"}]']);
      should((await nodeRed().message(json.id)).payload).eql({ a: 1 });
      (await post("/hook", {})).status.should.equal(401);
      (await post("/hook", { ...bearer, "X-Evil": "yes" })).status.should.equal(403);
      (await post("/nobody")).status.should.equal(404);
      (await send(nodeRed().node("/hook"), { method: "PUT", headers: bearer })).status.should.equal(405);
    });

    it("has it verify the bytes of a body, and read parameters of the path", async () => {
      const body = '{ "a": 1 }';
      const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      (await post("/signed", { "X-Hub-Signature-256": signature }, body)).status.should.equal(200);
      (await post("/signed", { "X-Hub-Signature-256": signature }, '{"a":1}')).status.should.equal(401);
      const { json } = await post("/devices/7");
      should((await nodeRed().message(json.id)).req.params).eql({ id: "7" });
    });

    it("has requests wait while flows are deployed", async () => {
      const finish = await nodeRed().beginDeploy(flow);
      const waiting = post("/hook", { ...bearer, "X-Trace": "held" });
      await nodeRed().arrived("held");
      await finish();
      (await waiting).status.should.equal(200);
      nodeRed().log.should.not.match(/\[warn\] (?:Requests|Endpoints)/);
    });
  });
}
