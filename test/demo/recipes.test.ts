import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import should from "should";
import { Editor, type FormField } from "../harness/browser";
import { paste } from "../harness/curl";
import { acme, github, gitlab, grafana, type Sender, shopify, slack, stripe, telegram } from "../harness/documented";
import { tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { root } from "../harness/package";
import { codeBlock, section } from "../harness/readme";
import { sharedBrowser } from "../harness/stage";

/** As the form makes them. */
const token = "abcdefghijklmnopqrstuvwxyz-ABCDEFG_01234";
const recipes = section("Recipes");

/** What a sender shows to its user, or what the form is to make. */
interface Recipe {
  sender: Sender;
  shows?: string;
  topic?: string;
  /** What it sends carries the token itself. */
  sendsToken?: true;
}

const senders: Record<string, Recipe> = {
  GitHub: { sender: github, topic: "ping" },
  Stripe: { sender: stripe, shows: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", topic: "checkout.session.completed" },
  Shopify: { sender: shopify, shows: "4d0c0f1f6b5b2a7f3c2b1a0e9d8c7b6a", topic: "orders/create" },
  Slack: { sender: slack, shows: "8f742231b10e8888abcd99yyyzzz85a5", topic: "app_mention" },
  GitLab: { sender: gitlab, topic: "Push Hook", sendsToken: true },
  Telegram: { sender: telegram, sendsToken: true },
  Grafana: { sender: grafana, sendsToken: true },
};

describe("the README's recipes", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  /** What lets each sender in, once its recipe was followed. */
  const credentials: Record<string, string> = {};
  before(async () => {
    const credentials = { token };
    nodeRed = await NodeRed.start({
      flow: tab(
        ...Object.keys(senders).map((name) => webhook(name, `/${name}`, { credentials: {} })),
        webhook("Acme", "/Acme", { credentials: {} }),
        webhook("backup", "/backup", { credentials }),
        webhook("contact", "/contact", { credentials, verificationMethod: "query" }),
      ),
    });
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  afterEach(async () => {
    if (await editor.input("name").isVisible()) await editor.cancel();
  });
  after(async () => {
    await nodeRed.stop();
  });

  const post = (name: string, { search = "", headers, body }: ReturnType<Sender>): Promise<Reply> =>
    send(nodeRed.node(`/${name}${search}`), { headers, body });

  /** Fills in a form, as its user does, and deploys it. */
  async function setUp(name: string, fields: [FormField, string][]): Promise<void> {
    await editor.edit(name);
    for (const [field, value] of fields) {
      if (field === "sender") await editor.input(field).selectOption({ label: value });
      else await editor.input(field).fill(value);
    }
  }

  async function deploy(name: string): Promise<void> {
    await editor.done();
    await editor.deploy();
    await nodeRed.status(name, /accepted/);
  }

  it("are all tried", () => {
    const rows = [...recipes.matchAll(/^\| \*\*(\w+)\*\*/gm)].map(([, name]) => name);
    rows.should.eql(Object.keys(senders));
  });

  for (const [name, { sender, shows, topic, sendsToken }] of Object.entries(senders)) {
    it(`${name}: is set up as the recipe says`, async () => {
      const label = senderIn(name);
      const given = shows === undefined ? [] : ([["secret", shows]] as [FormField, string][]);
      await setUp(name, [["sender", label], ...given]);
      const item = sendsToken ? "token" : "secret";
      if (shows === undefined && (await editor.input(item).inputValue()) === "") {
        await editor.page.locator(`#webhook-trigger-${item}-make`).click();
      }
      credentials[name] = await editor.input(item).inputValue();
      // Of what the sender does not show itself, the box has all.
      if (shows === undefined && name !== "Grafana") (await editor.copyGiven(item)).should.equal(credentials[name]);
      (await editor.copyGiven("url")).should.equal(nodeRed.node(`/${name}`));
      await deploy(name);
    });

    it(`${name}: what it sends becomes a message`, async () => {
      const sent = sender(credentials[name] ?? "");
      const reply = await post(name, sent);
      reply.status.should.equal(200);
      const message = await nodeRed.until(
        () => nodeRed.messages.find(({ req }) => req.path === `/${name}`),
        "the message",
      );
      should(message.payload).eql(JSON.parse(sent.body));
      should(message.topic).equal(topic);
      for (const [field, value] of Object.entries(sent.headers)) {
        if (!value.includes(credentials[name] ?? "")) {
          should(message.req.headers).have.property(field.toLowerCase(), value);
        }
      }
      JSON.stringify(message.req).should.not.containEql(credentials[name]);
    });

    it(`${name}: with another token or secret it is refused, with the challenge`, async () => {
      const reply = await post(name, sender("another"));
      reply.status.should.equal(401);
      should(reply.headers["www-authenticate"]).startWith(sendsToken ? "Bearer realm=" : 'Signature realm="webhook"');
    });
  }

  it("Slack: its question is answered, and starts no flow", async () => {
    const count = nodeRed.messages.length;
    const sent = slack(credentials.Slack ?? "", "url_verification");
    const reply = await post("Slack", sent);
    reply.status.should.equal(200);
    reply.body.should.equal((JSON.parse(sent.body) as { challenge: string }).challenge);
    nodeRed.messages.length.should.equal(count);
  });

  it("a secret is changed without losing a request", async () => {
    const second = "whsec_the-new-one-of-Stripe";
    await setUp("Stripe", [["secondSecret", second]]);
    await deploy("Stripe");
    (await post("Stripe", stripe(credentials.Stripe ?? ""))).status.should.equal(200);
    const { json } = await post("Stripe", stripe(second));
    should((await nodeRed.message(json.id)).webhook).have.property("credential", "second");
    await setUp("Stripe", [
      ["secret", second],
      ["secondSecret", ""],
    ]);
    await deploy("Stripe");
    (await post("Stripe", stripe(second))).status.should.equal(200);
    (await post("Stripe", stripe(credentials.Stripe ?? ""))).status.should.equal(401);
  });

  it("a custom sender: the signature that the page of senders describes", async () => {
    const page = readFileSync(join(root, "docs", "senders.md"), "utf8");
    const [, scheme = ""] = /^```json\n([^]*?)^```$/m.exec(page) ?? [];
    await setUp("Acme", [
      ["sender", "Custom: another sender that signs"],
      ["secret", "a secret of Acme"],
      ["scheme", scheme],
    ]);
    await deploy("Acme");
    const { status, json } = await post("Acme", acme("a secret of Acme"));
    status.should.equal(200);
    should((await nodeRed.message(json.id)).payload).eql({ order: 42 });
    (await post("Acme", acme("another"))).status.should.equal(401);
  });

  it("cron: the command of its line, as cron hands it to a shell", async () => {
    const [, command = ""] = /^(?:\S+ ){5}(.*)\n$/.exec(codeBlock("Recipes", "crontab")) ?? [];
    // The shell gets what is before the first % only, and the rest is the input of the command.
    command.should.startWith("curl ").and.not.containEql("%");
    const line = command.replace("http://127.0.0.1:1880", nodeRed.origin).replace("TOKEN", token);
    const { status } = await paste([line.replace(" >/dev/null", "")]);
    status.should.equal(200);
    const { payload } = await nodeRed.until(
      () => nodeRed.messages.find(({ req }) => req.path === "/backup"),
      "the message",
    );
    should(payload).equal("done");
    await paste([line.replace(token, "another")]).should.be.rejectedWith(/401/);
  });

  describe("a form on a web page", () => {
    it("sends its fields from another site, and shows the reply to the visitor", async () => {
      const form = codeBlock("Recipes", "html").replace("https://nodered.example", nodeRed.origin);
      const site = createServer((_request, response) => {
        response.setHeader("Content-Type", "text/html; charset=utf-8").end(form.replace("TOKEN", token));
      }).listen(0, "127.0.0.1");
      await once(site, "listening");
      const page = await (await sharedBrowser()).newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      await page.getByLabel("Name").fill("Shop & Co");
      await page.getByLabel("Message").fill("Two lines,\nin UTF-8: ½ ☕");
      await page.getByRole("button", { name: "Send" }).click();
      await page.waitForURL(/contact/);
      const seen = JSON.parse(await page.locator("body").innerText()) as Record<string, unknown>;
      seen.should.have.property("status", "accepted");
      const { payload } = await nodeRed.message(seen.id);
      // HTML, "multipart and form submission": line breaks travel as CR LF.
      should(payload).eql({ name: "Shop & Co", message: "Two lines,\r\nin UTF-8: ½ ☕" });
      await page.close();
      site.closeAllConnections();
      site.close();
    });
  });
});

/** The sender that a recipe tells to choose. */
function senderIn(name: string): string {
  const [, label = ""] = new RegExp(`^\\| \\*\\*${name}\\*\\* *\\| Sender _(.+?)_\\.`, "m").exec(recipes) ?? [];
  return label;
}
