import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { layouts } from "../harness/layouts";
import { NodeRed, type Options } from "../harness/node-red";

const before = /meets requests before Express: nothing stands in front of it/;
const behind = (why: RegExp) => new RegExp(`meets requests behind Express: .*${why.source}`);

/** The way is told once, at debug level, with its reason. */
describe("the front door", () => {
  const cases: [string, Options, RegExp][] = [
    ["separate roots", { settings: layouts["separate roots"] }, before],
    ["httpNodeCors", { settings: { ...layouts["separate roots"], httpNodeCors: {} } }, before],
    ["httpNodeAuth as a user and password", { code: "httpNodeAuth: { user: 'u', pass: 'p' }" }, behind(/httpNodeAuth/)],
    ["httpNodeAuth as middleware", { code: "httpNodeAuth: (req, res, next) => next()" }, behind(/httpNodeAuth/)],
    ["httpNodeMiddleware", { code: "httpNodeMiddleware: (req, res, next) => next()" }, behind(/httpNodeMiddleware/)],
    ["requireHttps with separate roots", { settings: { ...layouts["separate roots"], requireHttps: true } }, before],
    ["httpAdminMiddleware with equal roots", { code: "httpAdminMiddleware: function guard(req, res, next) { next(); }" }, behind(/guard/)],
    ["httpAdminMiddleware with separate roots", { settings: layouts["separate roots"], code: "httpAdminMiddleware: function guard(req, res, next) { next(); }" }, before],
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

  it("looks again when the flows start: layers may have come since", async () => {
    const nodeRed = await NodeRed.start({ settings: layouts["separate roots"] });
    try {
      await nodeRed.logged(before);
      nodeRed.addGuard();
      await nodeRed.deploy(webhookFlow({}));
      await nodeRed.logged(behind(/guard/));
      const reply = await send(nodeRed.node("/hook?guarded"), { headers: bearer });
      reply.status.should.equal(403);
      (await send(nodeRed.node("/hook"), { headers: bearer })).status.should.equal(200);
    } finally {
      await nodeRed.stop();
    }
  });
});
