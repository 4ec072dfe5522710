import should from "should";
import { bearer, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { layouts } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";

const mounts = "app.use(settings.httpAdminRoot, RED.httpAdmin); app.use(settings.httpNodeRoot, RED.httpNode);";
const guard = "function guard(req, res, next) { if ('guarded' in req.query) res.sendStatus(429); else next(); }";

/** Applications that run Node-RED inside their own web server, and where requests are met there, and why. */
const hosts: [name: string, host: string, way: RegExp, path?: string][] = [
  ["that does nothing else", mounts, /before Express: nothing/],
  ["with a guard in front", `app.use(${guard}); ${mounts}`, /before the HTTP nodes: guard/],
  ["with a guard for the nodes alone", `app.use(settings.httpNodeRoot, ${guard}); ${mounts}`, /before the HTTP nodes: guard/],
  ["with a guard elsewhere", `app.use("/elsewhere", ${guard}); ${mounts}`, /before Express: nothing/],
  ["with body parsers of its own", `app.use(express.json(), express.urlencoded({ extended: true }), express.text()); ${mounts}`, /before the HTTP nodes: textParser/],
  ["with another app", `const other = express(); other.use(${guard}); app.use("/other", other); ${mounts}`, /among the HTTP nodes: the web server has other apps/],
  ["with Node-RED in an app of its own", `const outer = express(); app.use("/hub", outer); { const app = outer; app.use(${guard}); ${mounts} }`, /among the HTTP nodes: the layers/, "/hub"],
  ["with Node-RED behind a router, whose layers cannot be seen", `const router = express.Router(); router.use(${guard}); app.use("/hub", router); { const app = router; ${mounts} }`, /among the HTTP nodes: the layers/, "/hub"],
]; // prettier-ignore

for (const [layout, settings] of Object.entries(layouts)) {
  describe(`in a host application, with ${layout}`, () => {
    for (const [name, host, way, prefix = ""] of hosts) {
      it(`${name}, serves what its guards let pass`, async () => {
        const roots = { httpAdminRoot: "/", httpNodeRoot: "/", ...settings };
        const nodeRed = await NodeRed.start({ host, settings: roots, flow: webhookFlow({}) });
        try {
          await nodeRed.logged(/webhook-trigger meets requests/);
          const url = (path: string) => nodeRed.node(path).replace(nodeRed.origin, nodeRed.origin + prefix);
          const call = { headers: { ...bearer, "Content-Type": "application/json" }, body: '"a scalar"' };
          const reply = await send(url("/hook"), call);
          reply.status.should.equal(200);
          should((await nodeRed.message(reply.json.id)).payload).equal("a scalar");
          (await send(url("/hook"), { ...call, headers: {} })).status.should.equal(401);
          const guarded = await send(url("/hook?guarded"), call);
          guarded.status.should.equal(host.includes(guard) && !name.includes("elsewhere") && !name.includes("another") ? 429 : 200);
          await nodeRed.logged(way);
        } finally {
          await nodeRed.stop();
        }
      });
    }
  });
} // prettier-ignore
