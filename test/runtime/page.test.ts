/** The page of deliveries, as it is sent; what it does in a browser is in `editor/page.test.ts`. */
import should from "should";
import { send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";

describe("the page of deliveries", () => {
  const nodeRed = useNodeRed({ settings: roots.separate });
  const get = (path: string, headers: Record<string, string> = {}) =>
    send(nodeRed().admin(path), { method: "GET", headers });

  it("is sent with headers that allow no other script and no frame of another address, and is not kept", async () => {
    const { headers, body } = await get("/webhook-trigger/");
    String(headers["content-security-policy"]).should.match(
      /default-src 'none'.*script-src 'self'.*frame-ancestors 'self'/,
    );
    should(headers["x-content-type-options"]).equal("nosniff");
    body.should.not.match(/<script(?! src)|\son\w+=|style=/);
    for (const path of ["", "page.js", "page.css", "deliveries.css", "page.json"]) {
      const { status, headers } = await get(`/webhook-trigger/${path}`);
      [status, headers["cache-control"], headers["content-security-policy"]].should.match([200, "no-cache", /'none'/]);
    }
    should((await get("/webhook-trigger/session")).headers["cache-control"]).equal("no-store");
    for (const search of ["", "?next=/"]) {
      const { status, headers: moved } = await get(`/webhook-trigger${search}`);
      [status, moved.location].should.eql([302, "webhook-trigger/"]);
    }
  });

  it("has the texts of the language that fits best, and of none where the browser names too many", async () => {
    for (const [asked, language] of [
      ["es", "es-ES"],
      ["es-MX", "es-ES"],
      ["is", "en-US"],
      ["en-GB,de;q=0.5", "en-US"],
      ["de-AT,en;q=0.5", "de"],
      ["zh", "zh-CN"],
      ["zh-HK", "zh-TW"],
      ["zh-Hant-TW", "zh-TW"],
      ["xx,ko;q=0.1", "ko"],
      [`${"xx,".repeat(400)}ko`, "en-US"],
    ] as const) {
      const { json } = await get("/webhook-trigger/page.json", { "Accept-Language": asked });
      should([asked, json.language]).eql([asked, language]);
    }
  });
});

describe("without the admin API, the page of deliveries", () => {
  const nodeRed = useNodeRed({ settings: { httpAdminRoot: false } });

  it("is not there", async () => {
    (await send(`${nodeRed().origin}/webhook-trigger/`, { method: "GET" })).status.should.equal(404);
  });
});
