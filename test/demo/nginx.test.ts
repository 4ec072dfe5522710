import should from "should";
import { Editor } from "../harness/browser";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { Nginx } from "../harness/nginx";
import { NodeRed } from "../harness/node-red";
import { codeBlock } from "../harness/readme";
import { sharedBrowser } from "../harness/stage";

const chapter = "Behind a reverse proxy";
/** What the README takes for the limit, nginx's and Node-RED's alike, in bytes. */
const limit = 5 * 1024 * 1024;

describe("behind nginx, as the README sets it up", () => {
  let nodeRed: NodeRed;
  let nginx: Nginx;
  const stops: (() => Promise<void>)[] = [];
  before(async () => {
    nodeRed = await NodeRed.start({
      flow: tab(
        webhook("hook", "/hook"),
        webhook("by-query", "/by-query", { verificationMethod: "query" }),
        webhook("watched", "/watched"),
      ),
      code: codeBlock(chapter, "js"),
    });
    stops.unshift(() => nodeRed.stop());
    nginx = await Nginx.start((port, folder) =>
      replaced(codeBlock(chapter, "nginx"), {
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
  const sendFrom = (path: string, headers: Record<string, string>, body: string | Uint8Array) =>
    send(nginx.origin + path, { headers, body, localAddress: "127.0.0.2" });

  it("a webhook arrives, and the message has the sender's address", async () => {
    const reply = await sendFrom("/hook", bearer, "hello world");
    reply.status.should.equal(200);
    const { payload, req } = await nodeRed.message(reply.json.id);
    should(payload).equal("hello world");
    should(req.ip).equal("127.0.0.2");
  });

  it("a sender cannot claim another address", async () => {
    const reply = await sendFrom("/hook", { ...bearer, "X-Forwarded-For": "192.0.2.7" }, "");
    should((await nodeRed.message(reply.json.id)).req.ip).equal("127.0.0.2");
  });

  it("a body may be as large as Node-RED allows, and not a byte larger", async () => {
    const headers = { ...bearer, "Content-Type": "application/octet-stream" };
    const reply = await sendFrom("/hook", headers, Buffer.alloc(limit, "x"));
    reply.status.should.equal(200);
    should((await nodeRed.message(reply.json.id)).payload).have.length(limit);
    (await sendFrom("/hook", headers, Buffer.alloc(limit + 1, "x"))).status.should.equal(413);
  });

  it("a wrong token is refused by the node", async () => {
    const reply = await sendFrom("/hook", { Authorization: "Bearer another" }, "");
    reply.status.should.equal(401);
    reply.json.should.have.property("status", 401);
  });

  it("a token in the query is not in the access log", async () => {
    const reply = await sendFrom(`/by-query?state=${encodeURIComponent(token)}`, {}, "");
    reply.status.should.equal(200);
    const log = await nginx.written("node-red.log", "POST /by-query");
    log.should.not.containEql("state=");
  });

  it("the editor shows what happens, and the form shows the URL that senders use", async () => {
    const editor = await Editor.open(await sharedBrowser(), { admin: (path) => nginx.origin + path });
    // A status reaches the editor by its websocket only.
    await editor.status("watched", "0 accepted").waitFor();
    (await sendFrom("/watched", bearer, "")).status.should.equal(200);
    await editor.status("watched", "1 accepted").waitFor();
    await editor.edit("watched");
    (await editor.url.innerText()).should.equal("https://nodered.example/watched");
    await editor.close();
  });

  it("a token in the query is in the error log, once nginx does not reach Node-RED", async () => {
    await nodeRed.stop();
    (await sendFrom("/by-query?state=anything", {}, "")).status.should.equal(502);
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
