import should from "should";
import type { Editor, FormField } from "../harness/browser";
import { acme, github, gitlab, grafana, type Sender, type Sent, shopify, slack, stripe, telegram } from "./documented";
import { tab, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import type { NodeRed } from "../harness/node-red";
import { Page, readme } from "../harness/pages";
import { openEditor } from "../harness/stage";

const rows = [...readme.section("Recipes").matchAll(/^\| \*\*(\w+)\*\* *\| Sender _(.+?)_\./gm)];

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

describe("a recipe", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  const credentials: Record<string, string> = {};
  before(async () => {
    const names = [...Object.keys(senders), "Acme"];
    ({ nodeRed, editor } = await openEditor(
      tab(...names.map((name) => webhook(name, `/${name}`, { credentials: {} }))),
    ));
  });

  const post = (name: string, { headers, body }: Sent): Promise<Reply> =>
    send(nodeRed.node(`/${name}`), { headers, body });

  /** Fills in a form, as its user does. */
  async function fillIn(name: string, fields: [FormField, string][]): Promise<void> {
    await editor.edit(name);
    for (const [field, value] of fields) {
      if (field === "sender") await editor.chooseNamedSender(value);
      else await editor.input(field).fill(value);
    }
  }

  async function deploy(...names: string[]): Promise<void> {
    await editor.deploy();
    for (const name of names) await nodeRed.status(name, /accepted/);
  }

  it("is in the README for each sender that is tried here", () => {
    rows.map(([, name]) => name).should.eql(Object.keys(senders));
  });

  for (const [name, { shows, sendsToken }] of Object.entries(senders)) {
    it(`of the README fills in the form for ${name}, which has what that is to be given`, async () => {
      const [, , label = ""] = rows.find(([, each]) => each === name) ?? [];
      const shown: [FormField, string][] = shows === undefined ? [] : [["secret", shows]];
      await fillIn(name, [["sender", label], ...shown]);
      const item = sendsToken ? "token" : "secret";
      if (shows === undefined && (await editor.input(item).inputValue()) === "") {
        await editor.page.locator(`#webhook-trigger-${item}-make`).click();
      }
      const credential = await editor.input(item).inputValue();
      credentials[name] = credential;
      // Of what the sender does not show itself, the box has all.
      if (shows === undefined && name !== "Grafana") (await editor.copyGiven(item)).should.equal(credential);
      (await editor.copyGiven("url")).should.equal(nodeRed.node(`/${name}`));
      await editor.done();
    });
  }

  it("of docs/senders.md describes the signature of a custom sender, in the form", async () => {
    await fillIn("Acme", [
      ["sender", "Custom: another sender that signs"],
      ["secret", "a secret of Acme"],
      ["scheme", new Page("senders.md").block("json")],
    ]);
    await editor.done();
    await deploy(...Object.keys(senders), "Acme");
  });

  for (const [name, { sender, topic, sendsToken }] of Object.entries(senders)) {
    it(`of the README sets up ${name}: what it sends becomes a message, another secret is refused`, async () => {
      const credential = credentials[name] ?? "";
      const sent = sender(credential);
      (await post(name, sent)).status.should.equal(200);
      const message = await nodeRed.until(() => nodeRed.messages.find(({ req }) => req.path === `/${name}`), "the message"); // prettier-ignore
      should([message.payload, message.topic]).eql([JSON.parse(sent.body), topic]);
      JSON.stringify(message.req).should.not.containEql(credential);

      const { status, headers } = await post(name, sender("another"));
      status.should.equal(401);
      should(headers["www-authenticate"]).startWith(sendsToken ? "Bearer realm=" : 'Signature realm="webhook"');
    });
  }

  it("of the README sets up Slack: its question is answered, and starts no flow", async () => {
    const count = nodeRed.messages.length;
    const sent = slack(credentials.Slack ?? "", "url_verification");
    const { status, body } = await post("Slack", sent);
    should([status, body]).eql([200, (JSON.parse(sent.body) as { challenge: string }).challenge]);
    nodeRed.messages.length.should.equal(count);
  });

  it("of docs/recipes.md changes a secret without losing a request", async () => {
    const second = "whsec_the-new-one-of-Stripe";
    await fillIn("Stripe", [["secondSecret", second]]);
    await editor.done();
    await deploy("Stripe");
    (await post("Stripe", stripe(credentials.Stripe ?? ""))).status.should.equal(200);
    const { json } = await post("Stripe", stripe(second));
    should((await nodeRed.message(json.id)).webhook).have.property("credential", "second");
    await fillIn("Stripe", [
      ["secret", second],
      ["secondSecret", ""],
    ]);
    await editor.done();
    await deploy("Stripe");
    (await post("Stripe", stripe(second))).status.should.equal(200);
    (await post("Stripe", stripe(credentials.Stripe ?? ""))).status.should.equal(401);
  });

  it("of docs/senders.md sets up a custom sender", async () => {
    const { status, json } = await post("Acme", acme("a secret of Acme"));
    status.should.equal(200);
    should((await nodeRed.message(json.id)).payload).eql({ order: 42 });
    (await post("Acme", acme("another"))).status.should.equal(401);
  });
});
