import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { runInNewContext } from "node:vm";
import type { Page as BrowserPage } from "playwright-core";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { composePages } from "../../scripts/docs";
import { metrics } from "../../src/admin/metrics";
import { isSenderId, recipeIds, recipes as recipeRows, senderIds, senders } from "../../src/auth/senders/table";
import { credentialNames, defaults } from "../../src/config/fields";
import { clientPackages, parseDeliverySettings, parseStoreSettings, type StoreSettings } from "../../src/config/stores";
import { problems } from "../../src/request/problem";
import { patience } from "../harness/browser";
import { paste } from "../harness/curl";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import type { Flow } from "../harness/node-red";
import { root } from "../harness/package";
import { Page, readme } from "../harness/pages";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { sharedBrowser } from "../harness/stage";

const deliveries = new Page("deliveries.md");
const guaranteed = new Page("guaranteed-delivery.md");
const recipes = new Page("recipes.md");
const reference = new Page("reference.md");
const replies = new Page("replies.md");

/** As the form makes them: nothing in it means anything to a shell or in a URL. */
const token = "abcdefghijklmnopqrstuvwxyz-ABCDEFG_01234";
const credentials = { token };
const [statusCheck = ""] = guaranteed.blocks("js").filter((code) => code.includes("statusCode"));
/** The object that lines of a settings file make, in a context of its own. */
const settingsIn = (code: string, globals = {}): Record<string, unknown> => {
  const settings = runInNewContext(`({ ${code} })`, globals) as Record<string, unknown>;
  return { ...settings };
};
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the documentation of settings, commands and flows", () => {
  const code = (id: string, func: string, wires: string[] = ["sink"]) => ({ id, type: "function", func, outputs: 1, wires: [wires] }); // prettier-ignore
  const busyOnce = `const isBusy = msg.webhook.attempt === 1;
    msg.statusCode = isBusy ? 503 : 200;
    msg.headers = isBusy ? { "retry-after": "0" } : {};
    return msg;`;
  const nodeRed = useNodeRed({
    flow: tab(
      webhook("calls", "/calls", { guaranteed: true, wires: [["api"]] }),
      code("api", busyOnce, ["check"]),
      code("check", statusCheck),
      webhook("failing", "/failing", { wires: [["throw"]] }),
      code("throw", "throw new Error('no');", []),
      webhook("backup", "/backup", { credentials }),
      webhook("contact", "/contact", { credentials, verificationMethod: "query" }),
      webhook("upload", "/upload", { credentials, verificationMethod: "query", wires: [["picture"]] }),
      code("picture", replies.block("js", "const")),
      webhook("allowed", "/allowed", { allowFrom: "192.0.2.0/25" }),
    ),
    code: replies.block("js", "httpServer"),
  });

  /** Opens a page of another site with a form that is to be sent to Node-RED. */
  async function openForm(form: string, fillIn: (page: BrowserPage) => Promise<void>): Promise<unknown> {
    const html = form.replace("https://nodered.example", nodeRed().origin).replace("TOKEN", token);
    const site = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    const page = await (await sharedBrowser()).newPage();
    page.setDefaultTimeout(patience);
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await fillIn(page);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(new RegExp(nodeRed().origin));
    const { status, id } = JSON.parse(await page.locator("body").innerText()) as { status: string; id: string };
    status.should.equal("accepted");
    await page.close();
    site.closeAllConnections();
    site.close();
    return (await nodeRed().message(id)).payload;
  }

  it("has a line in docs/recipes.md that sends a webhook from cron, and fails with a wrong token", async () => {
    const [, command = ""] = /^(?:\S+ ){5}(.*)\n$/.exec(recipes.block("crontab")) ?? [];
    // The shell gets what is before the first % only, and the rest is the input of the command.
    command.should.startWith("curl ").and.not.containEql("%");
    const line = command.replace("http://127.0.0.1:1880", nodeRed().origin).replace(" >/dev/null", "");
    const { status, json } = await paste([line.replace("TOKEN", token)]);
    status.should.equal(200);
    should((await nodeRed().message(json.id)).payload).equal("done");
    await paste([line.replace("TOKEN", "another")]).should.be.rejectedWith(/401/);
  });

  it("has a form in docs/recipes.md that sends its fields from another site", async () => {
    const payload = await openForm(recipes.block("html"), async (page) => {
      await page.getByLabel("Name").fill("Shop & Co");
      await page.getByLabel("Message").fill("Two lines,\nin UTF-8: ½ ☕");
    });
    // HTML, "multipart and form submission": line breaks travel as CR LF.
    should(payload).eql({ name: "Shop & Co", message: "Two lines,\r\nin UTF-8: ½ ☕" });
  });

  it("has a form in docs/replies.md whose file becomes the payload by the function node there", async () => {
    const picture = { name: "Bild ½.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 0, 255]) };
    const payload = await openForm(replies.block("html"), (page) => page.getByLabel("Picture").setInputFiles(picture));
    should(payload).eql(picture.buffer);
  });

  it("has a setting in docs/replies.md with which the addresses behind a proxy are the senders'", async () => {
    for (const [address, expected] of [
      ["192.0.2.7", 200],
      ["192.0.2.200", 403],
      ["192.0.2.7, 198.51.100.1", 403],
    ] as const) {
      const headers = { ...bearer, "X-Forwarded-For": address };
      (await send(nodeRed().node("/allowed"), { headers })).status.should.equal(expected, address);
    }
  });

  it("has replies in docs/replies.md that are those of the examples", () => {
    const nodesOf = (name: string) => JSON.parse(readFileSync(join(root, "examples", `${name}.json`), "utf8")) as Flow;
    const slack = nodesOf("Slash command of Slack, answered").find(({ type }) => type === "change");
    const [rule] = slack?.rules as { to: string }[];
    should(rule?.to.replace(/\s/g, "")).equal(replies.block("jsonata").replace(/\s/g, ""));
    const twilio = nodesOf("Voice call of Twilio, answered by TwiML").find(({ type }) => type === "template");
    should(twilio?.template).equal(replies.block("xml"));
  });

  it("has a check in docs/guaranteed-delivery.md that delays the next attempt as the API asks for", async () => {
    const { json } = await send(nodeRed().node("/calls"), { headers: bearer });
    should((await nodeRed().message(json.id)).webhook).containEql({ attempt: 2 });
    const delivery = await new ShownDeliveries(nodeRed()).find(({ state }) => state === "succeeded");
    delivery.should.have.property("attempt", 2);
  });

  it("has a line in docs/deliveries.md that lists what has failed", async () => {
    await send(nodeRed().node("/failing"), { headers: bearer });
    await new ShownDeliveries(nodeRed()).find(({ state }) => state === "failed");
    const line = deliveries.block("sh").replace("http://127.0.0.1:1880", nodeRed().origin);
    const { status, json } = await paste(["ADMIN_TOKEN=any", line]);
    status.should.equal(200);
    should(json.deliveries).match([{ node: "failing", state: "failed" }]);
  });

  it("has a line in docs/guaranteed-delivery.md that has another instance read its flows anew", async () => {
    const line = guaranteed.block("sh", "curl").replace("http://10.0.0.12:1880", nodeRed().origin);
    (await paste([line.trim()])).status.should.equal(204);
  });

  it("has settings of stores in docs/guaranteed-delivery.md that the node understands", () => {
    const env = { WEBHOOK_STORE_URL: "redis://:secret@127.0.0.1:6379", WEBHOOK_STORE_PASSWORD: "secret" };
    const lines = guaranteed.blocks("js").filter((code) => code.startsWith("webhookTriggerStore"));
    const parsed = lines.map((code) => parseStoreSettings(plain(settingsIn(code, { process: { env } }).webhookTriggerStore))); // prettier-ignore
    const password = env.WEBHOOK_STORE_PASSWORD;
    const host = (address: string, port: number) => ({ host: address, port });
    const sentinels = [host("10.0.0.21", 26379), host("10.0.0.22", 26379)];
    const cluster = [host("10.0.0.31", 6379), host("10.0.0.32", 6379)];
    const expected: StoreSettings[] = [
      { type: "sqlite", folder: "/var/lib/node-red" },
      { type: "bullmq", url: env.WEBHOOK_STORE_URL },
      { type: "bullmq", connection: { sentinels, name: "primary", password }, namespace: "orders" },
      { type: "bullmq", cluster, connection: { password, tls: {} } },
    ];
    should(parsed).eql(expected);
    guaranteed.block("sh", "npm").trim().should.equal(`npm install ${clientPackages}`);
  });

  it("has settings in docs/deliveries.md and docs/reference.md that the node and Node-RED understand", async () => {
    const { webhookTriggerDeliveries } = settingsIn(deliveries.block("js"));
    const expected = { keep: 1000, bytes: 50_000_000, bodies: false };
    should(parseDeliverySettings(plain(webhookTriggerDeliveries))).eql(expected);
    const { adminAuth } = settingsIn(reference.block("js"), { process: { env: { METRICS_TOKEN: "a token" } } });
    const { tokens } = adminAuth as { tokens: (token: string) => Promise<unknown> };
    should(plain(await tokens("a token"))).eql({ username: "prometheus", permissions: ["webhook-trigger.read"] });
    should(await tokens("another")).be.null();
  });

  it("has each field, metric and status of a reply in docs/reference.md", () => {
    // The settings of senders are saved as one field, and have a label each; that of outputs is for the editor alone.
    const { senderSettings: _settings, outputs: _outputs, ...others } = defaults;
    const settings = Object.values(senders).flatMap((sender) => sender.settings ?? []);
    // Callers have a section of their own, and no row.
    const labels = { ...catalog.label, callers: catalog.section.callers };
    const names = [...Object.keys(others), ...credentialNames, ...settings] as (keyof typeof labels)[];
    const fields = [...reference.section("Fields").matchAll(/^\| (\*\*.+?) +\|/gm)].flatMap(([, cell = ""]) => cell.split(", ")); // prettier-ignore
    for (const name of names) fields.should.containEql(`**${labels[name]}**`);
    const listed = [...reference.section("Metrics").matchAll(/^\| `webhook_trigger_(\w+)` /gm)];
    listed.map(([, name]) => name).should.eql(Object.keys(metrics));
    const statuses = [...reference.section("Replies and errors").matchAll(/^\| (\d{3}) /gm)];
    const sent = [...new Set([200, ...Object.values(problems).map(({ status }) => status)])];
    statuses.map(([, status]) => Number(status)).should.eql(sent.sort());
  });

  it("has tables as `npm run docs` writes them", () => {
    for (const [path, text] of Object.entries(composePages())) {
      readFileSync(join(root, path), "utf8").should.equal(text, path);
    }
  });

  it("has figures in the README that bench/README.md has, which `npm run bench` writes into both", () => {
    const measured = readFileSync(join(root, "bench", "README.md"), "utf8");
    const [, median = ""] = /^\| the same vs the `http in` flow .*\*\*([\d.]+)\*\*/m.exec(measured) ?? [];
    median.should.not.be.empty();
    readme.source.should.containEql(`\n| \`http in\`, token check, \`http response\` | ${median} |\n`);
  });

  it("lists each sender in these tables", () => {
    const { "docs/senders.md": ofSenders = "", "docs/recipes.md": ofRecipes = "" } = composePages();
    should(ofSenders.match(/^\| \[/gm)).have.length(senderIds.length - 1);
    should(ofRecipes.match(/^\| \[/gm)).have.length(recipeIds.length);
  });

  it("tells in these tables what a row of a sender has", () => {
    const { "docs/senders.md": ofSenders = "", "docs/recipes.md": ofRecipes = "" } = composePages();
    ofSenders.should.containEql(
      "| [Typeform](https://www.typeform.com/developers/webhooks/secure-your-webhooks/) | **Secret**: enter the same one as _Secret_ of the form's webhook. | `event_type` in the JSON | signed | – | – |\n",
    );
    ofSenders.should.match(
      /^\| \[Svix \(Clerk, Resend.*\| `type` or `event_type` in the JSON \| signed \| 5 min \| – \|$/m,
    );
    ofSenders.should.match(
      /^\| \[Amazon SNS \(Amazon SES, Amazon CloudWatch\)\].*\| – \| signed \| 2 days \| yes \|$/m,
    );
    ofRecipes.should.match(/^\| \[Tasmota\].*\| Header `X-Token` \| Console → WebQuery URL POST \[Header\] body \|$/m);
    ofRecipes.should.match(/^\| \[UniFi Alarm Manager\].*\| Query parameter, POST or GET \| Alarm Manager → /m);
  });

  it("has a line for each sender in docs/what-senders-send.md, with its source", () => {
    const lines = readFileSync(join(root, "docs", "what-senders-send.md"), "utf8").split("\n");
    const named = lines.flatMap(
      (line) => /^\| (.+?) \| .*\]\(https:[^)]+\)(?: \(from memory\))? \|$/.exec(line)?.slice(1) ?? [],
    );
    const known = [...senderIds, ...recipeIds].filter((id) => id !== "custom" && id !== "shared-secret");
    const names = known.map((id) => (isSenderId(id) ? senders[id].name : recipeRows[id].name));
    named.sort().should.eql(names.sort());
  });

  it("leads to files and sections that are there", () => {
    const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
    for (const page of ["README.md", "SECURITY.md", "CONTRIBUTING.md", ...pages.map((name) => `docs/${name}`)]) {
      const text = readFileSync(join(root, page), "utf8");
      for (const [, path = "", anchor] of text.matchAll(/[^!]\[[^\]]+\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)) {
        const file = path === "" ? join(root, page) : join(root, dirname(page), path);
        existsSync(file).should.be.true(`${page}: ${path}`);
        if (anchor !== undefined) anchorsOf(readFileSync(file, "utf8")).should.containEql(anchor);
      }
    }
    for (const [, path = ""] of readme.source.matchAll(/^!\[.+\]\(https:\/\/raw\S+?\/main\/(.+)\)$/gm)) {
      existsSync(join(root, path)).should.be.true(path);
    }
  });
});

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^##+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}
