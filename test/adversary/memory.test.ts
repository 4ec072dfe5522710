import should from "should";
import { createHmac } from "node:crypto";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { bearer, tab, webhook } from "../harness/flow";
import { dial, repliesIn, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { until } from "../harness/until";

const secret = "It's a Secret to Everybody";
const byGithub = { verificationMethod: "signature", sender: "github", credentials: { secret } };
const flow = tab(webhook("signed", "/signed", byGithub), webhook("by-token", "/by-token"));

const stranger = "127.0.0.1";
const sender = "127.0.0.2";
const megabyte = 1024 * 1024;
const signatureOf = (body: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const isRefused = (received: string) => /^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/s.test(received);

onBothWays("while one stranger holds as much memory as it can get", { flow }, (nodeRed) => {
  const strangers: { socket: Socket; received: string }[] = [];
  let traces = 0;
  afterEach(async () => {
    for (const { socket } of strangers.splice(0)) socket.destroy();
    await nodeRed().connections(0);
  });

  function headOf(signature: string, length: number, trace = ""): string {
    const { pathname } = new URL(nodeRed().node("/signed"));
    const fields = ["Host: x", "Content-Type: text/plain", `X-Trace: ${trace}`, `X-Hub-Signature-256: ${signature}`];
    return [`POST ${pathname} HTTP/1.1`, ...fields, `Content-Length: ${length}`, "Connection: close", "", ""].join("\r\n"); // prettier-ignore
  }

  /** Uploads all but the end of so many bodies, until one is refused: what there is for it is taken. */
  async function flood(count: number, length: number, sent: number): Promise<void> {
    const upload = Buffer.concat([Buffer.from(headOf(`sha256=${"0".repeat(64)}`, length)), Buffer.alloc(sent, "x")]);
    const more = Array.from({ length: count }, () => ({ socket: dial(nodeRed().origin, stranger), received: "" }));
    strangers.push(...more);
    for (const each of more) {
      each.socket.setEncoding("latin1").on("data", (text: string) => (each.received += text));
      each.socket.on("error", () => undefined).write(upload);
    }
    await until(() => more.some(({ received }) => isRefused(received)), "a refusal");
  }

  /** Sends a signed request whose body comes after its head. */
  async function sendLate(body: string, localAddress: string): Promise<number | undefined> {
    const socket = dial(nodeRed().origin, localAddress).setEncoding("latin1");
    let received = "";
    const closed = new Promise((resolve) => socket.on("error", () => undefined).once("close", resolve));
    socket.on("data", (text: string) => (received += text));
    const trace = `late${traces++}`;
    socket.write(headOf(signatureOf(body), body.length, trace));
    await nodeRed().arrived(trace);
    socket.write(body);
    await closed;
    return repliesIn(received)[0]?.status;
  }

  const sendWhole = async (body: string, localAddress: string) =>
    (await send(nodeRed().node("/signed"), { headers: { "Content-Type": "text/plain", "X-Hub-Signature-256": signatureOf(body) }, body, localAddress })).status; // prettier-ignore
  const sendPacked = async (localAddress: string) =>
    (await send(nodeRed().node("/by-token"), { headers: { ...bearer, "Content-Type": "text/plain", "Content-Encoding": "gzip" }, body: gzipSync("x".repeat(100_000)), localAddress })).status; // prettier-ignore

  it("by large bodies, signed and packed requests of others are served, and its own small ones", async () => {
    await flood(16, 5 * megabyte, 5 * megabyte - 1);
    await flood(80, 100_000, 99_999);
    for (let turn = 0; turn < 3; turn++) {
      should({
        whole: await sendWhole("x".repeat(1000), sender),
        late: await sendLate("x".repeat(1000), sender),
        "late and large": await sendLate("x".repeat(200_000), sender),
        packed: await sendPacked(sender),
        "packed, of the same address": await sendPacked(stranger),
        "late and small, of the same address": await sendLate("x".repeat(1000), stranger),
      }).matchEach((status) => should(status).equal(200));
    }
  });

  it("by small bodies, requests of others are served, and those of its own that come at once", async () => {
    await flood(300, 65_536, 65_535);
    should({
      whole: await sendWhole("x".repeat(1000), stranger),
      late: await sendLate("x".repeat(1000), sender),
      "late and large": await sendLate("x".repeat(200_000), sender),
      packed: await sendPacked(sender),
      "packed, of the same address": await sendPacked(stranger),
    }).matchEach((status) => should(status).equal(200));
  });
});
