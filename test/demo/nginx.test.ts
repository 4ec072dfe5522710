import should from "should";
import { Editor } from "../harness/browser";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { Nginx } from "../harness/nginx";
import { NodeRed } from "../harness/node-red";
import { Page } from "../harness/pages";
import { sharedBrowser } from "../harness/stage";

const page = new Page("reverse-proxy.md");
/** The limit of both nginx and Node-RED on that page, in bytes. */
const limit = 5 * 1024 * 1024;

describe("nginx and Node-RED with the settings of docs/reverse-proxy.md", () => {
  let nodeRed: NodeRed;
  let nginx: Nginx;
  const stops: (() => Promise<void>)[] = [];
  before(async () => {
    const flow = tab(webhook("hook", "/hook"), webhook("by-query", "/by-query", { verificationMethod: "query" }));
    nodeRed = await NodeRed.start({ flow, code: page.block("js") });
    stops.unshift(() => nodeRed.stop());
    nginx = await Nginx.start((port, folder) =>
      replaced(page.block("nginx"), {
        "listen 80;": `listen 127.0.0.1:${port};`,
        "http://127.0.0.1:1880": nodeRed.origin,
        "/var/log/nginx/": `${folder}/`,
      }),
    );
    stops.unshift(() => nginx.stop());
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  /** Sends a request to nginx from an address that is neither nginx's nor Node-RED's. */
  const sendFrom = (path: string, headers: Record<string, string>, body: string | Uint8Array = "") =>
    send(nginx.origin + path, { headers, body, localAddress: "127.0.0.2" });

  it("deliver a webhook with the sender's address, which it cannot choose, and have a wrong token refused by the node", async () => {
    for (const more of [{}, { "X-Forwarded-For": "192.0.2.7" }]) {
      const { status, json } = await sendFrom("/hook", { ...bearer, ...more }, "hello world");
      status.should.equal(200);
      const { payload, req } = await nodeRed.message(json.id);
      should([payload, req.ip]).eql(["hello world", "127.0.0.2"]);
    }
    const { status, json } = await sendFrom("/hook", { Authorization: "Bearer another" });
    should([status, json.status]).eql([401, 401]);
  });

  it("deliver a body as large as Node-RED allows, and refuse one more byte", async () => {
    const headers = { ...bearer, "Content-Type": "application/octet-stream" };
    const { status, json } = await sendFrom("/hook", headers, Buffer.alloc(limit, "x"));
    status.should.equal(200);
    should((await nodeRed.message(json.id)).payload).have.length(limit);
    (await sendFrom("/hook", headers, Buffer.alloc(limit + 1, "x"))).status.should.equal(413);
  });

  it("keep a token in the query out of the access log", async () => {
    (await sendFrom(`/by-query?state=${encodeURIComponent(token)}`, {})).status.should.equal(200);
    const log = await nginx.written("node-red.log", "POST /by-query");
    log.should.not.containEql("state=");
  });

  it("let the editor show the status of a node as it changes, and the URL that senders use", async () => {
    const editor = await Editor.open(await sharedBrowser(), { admin: (path) => nginx.origin + path });
    // A status reaches the editor by its websocket only.
    await editor.status("by-query", "1 accepted").waitFor();
    (await sendFrom(`/by-query?state=${encodeURIComponent(token)}`, {})).status.should.equal(200);
    await editor.status("by-query", "2 accepted").waitFor();
    await editor.edit("by-query");
    (await editor.given("url").innerText()).should.equal("https://nodered.example/by-query?state=YOUR_TOKEN");
  });

  it("write a token in the query into the error log once nginx does not reach Node-RED, as the page warns", async () => {
    await nodeRed.stop();
    (await sendFrom("/by-query?state=anything", {})).status.should.equal(502);
    await nginx.logged("POST /by-query?state=anything");
  });
});

/** Replaces texts, each of which must be there. */
function replaced(text: string, replacements: Record<string, string>): string {
  for (const [from, to] of Object.entries(replacements)) {
    text.should.containEql(from);
    text = text.replaceAll(from, to);
  }
  return text;
}
