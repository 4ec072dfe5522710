import "should";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { layouts } from "../harness/layouts";
import { NodeRed, nodeRedVersion, type Options } from "../harness/node-red";

const says = (where: string, why: string) => new RegExp(`webhook-trigger meets requests ${where}: .*${why}`);
const first = says("before Express", "nothing stands in front of it");
const separate = { settings: layouts["separate roots"] };
const guard = "function guard(req, res, next) { next(); }";

/** What is taken is told at debug level, with its reason. */
describe("the front door", () => {
  const cases: [string, Options, RegExp][] = [
    ["separate roots", separate, first],
    ["httpNodeCors", { settings: { ...separate.settings, httpNodeCors: {} } }, first],
    ["httpNodeAuth as a user and password", { ...separate, code: "httpNodeAuth: { user: 'u', pass: 'p' }" }, says("before the HTTP nodes", "anonymous")],
    ["httpNodeAuth as middleware", { ...separate, code: `httpNodeAuth: ${guard}` }, says("before the HTTP nodes", "guard")],
    ["httpNodeMiddleware", { code: `httpNodeMiddleware: ${guard}` }, says("among the HTTP nodes", "httpNodeMiddleware")],
    ["requireHttps with separate roots", { settings: { ...separate.settings, requireHttps: true } }, first],
    ["requireHttps with equal roots", { settings: { requireHttps: true } }, says("before the HTTP nodes", "requireHttps")],
    ["httpAdminMiddleware with equal roots", { code: `httpAdminMiddleware: ${guard}` }, says("before the HTTP nodes", "httpAdminMiddleware")],
    ["httpAdminMiddleware with separate roots", { ...separate, code: `httpAdminMiddleware: ${guard}` }, first],
  ]; // prettier-ignore

  for (const [name, options, way] of cases) {
    it(`with ${name}: ${way.source}`, async () => {
      const nodeRed = await NodeRed.start({ ...options, flow: webhookFlow({}) });
      try {
        await nodeRed.logged(way);
      } finally {
        await nodeRed.stop();
      }
    });
  }

  // 4.1 lets scripts of any page read what passes its admin app.
  const guardsItself = nodeRedVersion.startsWith("4.");
  for (const [name, code, passes] of [
    ["past the admin app when nothing in it may guard anything", "", guardsItself],
    ["through the admin app when something in it may be a guard", `httpAdminMiddleware: ${guard},`, true],
  ] as const) {
    for (const setting of ["httpNodeAuth", "httpNodeMiddleware"]) {
      it(`lets requests go ${name}, with ${setting}`, async () => {
        const nodeRed = await NodeRed.start({ code: `${code} ${setting}: ${guard}`, flow: webhookFlow({}) });
        try {
          await nodeRed.watchAdmin();
          (await send(nodeRed.node("/hook"), { headers: bearer })).status.should.equal(200);
          await send(nodeRed.admin("/settings"), { method: "GET" });
          (await nodeRed.passedAdmin("GET")).includes("POST").should.equal(passes);
        } finally {
          await nodeRed.stop();
        }
      });
    }
  }

  it("looks again when the flows start: layers may have come since", async () => {
    const nodeRed = await NodeRed.start({ settings: layouts["separate roots"] });
    try {
      await nodeRed.logged(first);
      await nodeRed.addGuard();
      await nodeRed.deploy(webhookFlow({}));
      await nodeRed.logged(says("among the HTTP nodes", "guard"));
      const reply = await send(nodeRed.node("/hook?guarded"), { headers: bearer });
      reply.status.should.equal(403);
      (await send(nodeRed.node("/hook"), { headers: bearer })).status.should.equal(200);
    } finally {
      await nodeRed.stop();
    }
  });
});
