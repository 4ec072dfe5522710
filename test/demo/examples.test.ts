import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { normalisePath } from "../../src/config/paths";
import { type CurlReply, paste } from "../harness/curl";
import { DebugSidebar } from "../harness/debug-sidebar";
import { github, graph, publicOrigin, type Sender, type Sent, slashCommand, stripe, telegram, twilioCall } from "./documented"; // prettier-ignore
import { type Reply, send } from "../harness/http";
import { coreNodesOf, NodeRed } from "../harness/node-red";
import { packageName, root } from "../harness/package";
import { readme } from "../harness/pages";

interface ExampleNode extends Record<string, unknown> {
  id: string;
  type: string;
  z?: string;
  wires?: string[][];
}

type Webhook = ExampleNode & { relativePath: string };

interface Variable {
  name: string;
  value: string;
  type: string;
}

/** Sends to an example: what its line sends, or its sender. */
type Post = (origin: string, credential: string) => Promise<CurlReply & Partial<Reply>>;

/** What an example is sent, and what it makes of it. */
interface Delivery {
  webhook: Webhook;
  post: Post;
  /** The debug node that shows it in the sidebar. */
  debug: string;
  /** What it shows; the id of the message unless the reply has none. */
  shown?: string;
  /** What its flow answers, if it does. */
  answer?: { type: string; body: string };
  /** What else the flow tells apart, and the debug node that shows the message then. */
  others: Omit<Delivery, "webhook" | "others">[];
}

interface Example {
  name: string;
  text: string;
  nodes: ExampleNode[];
  deliveries: Delivery[];
}

/** As the editor's form makes tokens and secrets: nothing in it means anything to a shell or in a URL. */
const credential = randomBytes(30).toString("base64url");

const folder = join(root, "examples");

/** What each example's lines bring about, in their order. */
const results: Record<string, Pick<Delivery, "debug" | "shown">[]> = {
  "API call, retried until it succeeds": [{ debug: "done" }],
  "Message when a webhook fails": [
    { debug: "send this to me", shown: "Shop: handle the order: the order has no number. " },
  ],
  "Token in the header": [{ debug: "message" }],
  "Token in the query with query parameters returned": [{ debug: "message", shown: '"query":{"carrier":"post"}' }],
  "Two senders, one flow": [
    { debug: "message", shown: "GitLab" },
    { debug: "message", shown: "Grafana" },
  ],
  "Work done, sender called back": [{ debug: "what the sender hears", shown: "success" }],
};

/** What else a flow tells apart, by a change to the example's line. */
const variations: Record<string, { change: [from: string, to: string]; debug: string }[]> = {
  "Work done, sender called back": [
    { change: ["callback_url=", "other="], debug: "nobody to call back" },
    { change: ["url=http://127.0.0.1:1880", "url=http://192.0.2.1"], debug: "nobody to call back" },
    // The host is what follows the @.
    { change: ["url=http://127.0.0.1:1880", "url=http://127.0.0.1:1880@192.0.2.1"], debug: "nobody to call back" },
  ],
};

/** The examples whose senders sign: each event, the debug node that shows it, and what the flow answers if it does. */
const signed: Record<
  string,
  { sender: Sender; type?: string; events: [event: string, debug: string, body?: string][] }
> = {
  "Webhooks of GitHub, by event": {
    sender: github,
    events: [
      ["push", "a push"],
      ["issues", "an issue"],
      ["ping", "any other event"],
    ],
  },
  "Payments by Stripe, by event": {
    sender: stripe,
    events: [
      ["checkout.session.completed", "paid"],
      ["payment_intent.payment_failed", "not paid"],
      ["charge.refunded", "any other event"],
    ],
  },
  "Slash command of Slack, answered": {
    sender: slashCommand,
    type: "application/json; charset=utf-8",
    events: [
      ["94070", "what was asked", toSlack("94070")],
      ['what "is" <this>?', "what was asked", toSlack('what \\"is\\" <this>?')],
    ],
  },
  "Telegram bot that answers": {
    sender: telegram,
    type: "application/json; charset=utf-8",
    events: [
      ["Grüße 👋", "what was written", toTelegram("Grüße 👋")],
      ['"/start"', "what was written", toTelegram('\\"/start\\"')],
    ],
  },
  "Subscription at Microsoft Graph, renewed": {
    sender: graph,
    events: [
      ["created", "a change"],
      ["updated", "a change"],
    ],
  },
  "Voice call of Twilio, answered by TwiML": {
    sender: twilioCall,
    type: "text/xml; charset=utf-8",
    events: [
      ["+14158675309", "who calls", twiml("Hello. You are calling from +14158675309.")],
      ["sip:a&b@<example>", "who calls", twiml("Hello. You are calling from sip:a&amp;b@&lt;example&gt;.")],
    ],
  },
};

/** What a press on the button of an example brings about, press by press, with the API that it plays itself. */
const pressed: Record<string, (readonly [debug: string, shown: string])[][]> = {
  "Telegram bot that answers": [
    [
      ["what Telegram hears", `"url":"http://127.0.0.1:1880/telegram","secret_token":"${credential}"`],
      ["what Telegram says", "Webhook was set"],
    ],
  ],
  "Subscription at Microsoft Graph, renewed": [
    [
      ["what Graph hears", `"notificationUrl":"http://127.0.0.1:1880/graph"`],
      ["what Graph hears", `"clientState":"${credential}"`],
      ["subscribed", "expirationDateTime"],
    ],
    [["what is renewed", "7f105c7d"]],
  ],
};

const examples = readdirSync(folder).map(read);
const all = examples.flatMap(({ nodes }) => nodes);

describe("the examples", () => {
  let nodeRed: NodeRed;
  let sidebar: DebugSidebar;
  before(async () => {
    nodeRed = await NodeRed.start({
      settings: { webhookTriggerBaseUrl: publicOrigin },
      only: [...coreNodesOf(all), "21-httprequest.js"],
    });
    await nodeRed.deploy(all);
    sidebar = await DebugSidebar.open(nodeRed.admin("/"));
  });
  after(async () => {
    sidebar.close();
    await nodeRed.stop();
  });

  it("are in Node-RED's import menu, as they are in the package and in the README", async () => {
    const response = await fetch(nodeRed.admin(`/library/examples/flows/${packageName}`));
    const listed = ((await response.json()) as { fn: string }[]).map(({ fn }) => fn).sort();
    listed.should.deepEqual(Object.keys({ ...results, ...signed }).sort());
    for (const { name, nodes } of examples) {
      const path = `/library/examples/flows/${packageName}/${encodeURIComponent(name)}`;
      should(await (await fetch(nodeRed.admin(path))).json()).deepEqual(nodes);
      readme.source.should.match(new RegExp(`^\\| ${name} +\\|`, "m"));
    }
  });

  it("can be imported together: no id and no path comes twice, and wires lead to nodes of the same tab", () => {
    const ids = examples.flatMap(({ nodes }) => nodes.map(({ id }) => id));
    new Set(ids).size.should.equal(ids.length);
    const paths = examples.flatMap(({ nodes }) => webhooksAmong(nodes).map(({ relativePath }) => relativePath));
    for (const path of paths) normalisePath(path).toLowerCase().should.equal(path);
    new Set(paths).size.should.equal(paths.length);
    for (const { nodes } of examples) {
      const [tab, ...placed] = nodes;
      for (const { z, wires = [] } of placed) {
        should(z).equal(tab?.id);
        for (const id of wires.flat()) nodes.map((node) => node.id).should.containEql(id);
      }
    }
  });

  it("use nodes of Node-RED itself and of this package only, and hold no token, secret or path of a machine", async () => {
    const response = await fetch(nodeRed.admin("/nodes"), { headers: { Accept: "application/json" } });
    const sets = (await response.json()) as { module: string; types: string[] }[];
    const known = sets.filter(({ module }) => ["node-red", packageName].includes(module)).flatMap(({ types }) => types);
    for (const { text, nodes } of examples) {
      for (const { type } of nodes) ["tab", ...known].should.containEql(type);
      text.should.not.match(/"credentials"|[\w-]{40}|whsec_\w/);
      text.should.not.match(/[A-Z]:\\|file:|\/(?:home|Users|root|tmp|usr|var|opt|mnt)\//);
    }
  });

  for (const [name, presses] of Object.entries(pressed)) {
    it(`"${name}" calls the API when its button is pressed, with the secret of the tab, which its node accepts`, async () => {
      const played = (examples.find((example) => example.name === name)?.nodes ?? []).map((node) => {
        if (node.type === "webhook-trigger") return { ...node, credentials: { secret: "${SECRET}" } };
        return node.type === "tab" ? { ...node, env: fillIn(node.env as Variable[], nodeRed.origin) } : node;
      });
      await nodeRed.deploy(played);
      const button = played.find(({ type }) => type === "inject");
      for (const shown of presses) {
        await send(nodeRed.admin(`/inject/${String(button?.id)}`), { headers: {}, body: "" });
        for (const each of shown) await sidebar.shown(...each);
      }
      const [webhook] = webhooksAmong(played);
      const { sender } = signed[name] ?? {};
      if (webhook) (await postTo(nodeRed.origin, webhook, sender?.(credential))).status.should.equal(200);
    });
  }

  for (const { name, nodes, deliveries } of examples) {
    const kind = needed(webhooksAmong(nodes));
    const missing = catalog.rules[kind].required;

    it(`"${name}" stays closed until a ${kind} is set, then shows what it is made for in the debug sidebar`, async () => {
      should(deliveries.map(({ webhook }) => webhook)).deepEqual(webhooksAmong(nodes));
      await nodeRed.deploy(nodes);
      for (const { webhook, post } of deliveries) {
        const status = await nodeRed.status(webhook.id, new RegExp(missing));
        status.should.containEql({ fill: "red", text: missing });
        (await post(nodeRed.origin, credential)).status.should.equal(404);
      }

      const isOurs = (node: ExampleNode) => deliveries.some(({ webhook }) => webhook === node);
      await nodeRed.deploy(nodes.map((node) => (isOurs(node) ? { ...node, credentials: { [kind]: credential } } : node))); // prettier-ignore
      for (const { webhook, post, debug, shown, answer, others } of deliveries) {
        await nodeRed.status(webhook.id, /accepted/);
        (await post(nodeRed.origin, "another")).status.should.equal(401);
        for (const each of [{ post, debug, shown, answer }, ...others]) {
          const { status, json, headers, body } = await each.post(nodeRed.origin, credential);
          status.should.equal(200);
          if (each.answer) should({ type: headers?.["content-type"], body }).eql(each.answer);
          await sidebar.shown(each.debug, each.shown ?? String(json.id));
        }
      }
    });
  }
});

/** As its user does it, but for the example's own API, which is at another address. */
function fillIn(env: readonly Variable[], origin: string): Variable[] {
  return env.map((each) => {
    if (each.name === "SECRET") return { ...each, type: "str", value: credential };
    return each.name === "URL" ? each : { ...each, value: each.value.replace("http://127.0.0.1:1880", origin) };
  });
}

function webhooksAmong(nodes: ExampleNode[]): Webhook[] {
  return nodes.filter(({ type }) => type === "webhook-trigger") as Webhook[];
}

function read(file: string): Example {
  const name = file.replace(/\.json$/, "");
  const text = readFileSync(join(folder, file), "utf8");
  const nodes = JSON.parse(text) as ExampleNode[];
  const comment = nodes.find(({ type }) => type === "comment");
  const lines = [...String(comment?.info).matchAll(/^ *(curl .*)$/gm)].map(([, line = ""]) => line);
  const deliveries = [
    ...lines.map((curl, index) => byLine(name, curl, index, webhooksAmong(nodes))),
    ...webhooksAmong(nodes).flatMap((webhook) => bySender(name, webhook)),
  ];
  return { name, text, nodes, deliveries };
}

/** What the line in the comment brings about that a reader runs, with the word TOKEN in it. */
function byLine(name: string, curl: string, index: number, webhooks: readonly Webhook[]): Delivery {
  const path = /127\.0\.0\.1:1880([^"? ]*)/.exec(curl)?.[1];
  const webhook = webhooks.find(({ relativePath }) => relativePath === path);
  const result = results[name]?.[index];
  if (!webhook || !result) throw new Error(`${name} has a line that is not known here: ${curl}`);
  const posting =
    (line: string): Post =>
    (origin, token) =>
      paste([line.replaceAll("http://127.0.0.1:1880", origin).replace("TOKEN", token)]);
  const others = (variations[name] ?? []).map(({ change, debug }) => ({
    post: posting(curl.replace(...change)),
    debug,
  }));
  return { webhook, post: posting(curl), others, ...result };
}

/** What a sender brings about that signs: no line can be made for it. */
function bySender(name: string, webhook: Webhook): Delivery[] {
  const { sender, type, events = [] } = signed[name] ?? {};
  const [first, ...others] = events.map(([event, debug, body]) => ({
    debug,
    // What is answered has no id in its reply, and another text in each message.
    ...(type !== undefined && body !== undefined && { shown: event, answer: { type, body } }),
    post: (origin: string, secret: string) => postTo(origin, webhook, sender?.(secret, event)),
  }));
  if (!sender || !first) return [];
  return [{ webhook, ...first, others }];
}

function postTo(origin: string, { relativePath }: Webhook, sent: Sent = { headers: {}, body: "" }): Promise<Reply> {
  return send(origin + relativePath, { headers: sent.headers, body: sent.body });
}

function toSlack(asked: string): string {
  return `{"response_type":"ephemeral","text":"Hello steve, you have asked: ${asked}"}`;
}

function toTelegram(written: string): string {
  return `{"method":"sendMessage","chat_id":1,"text":"You have written: ${written}"}`;
}

function twiml(said: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n  <Say>${said}</Say>\n</Response>\n`;
}

function needed([webhook]: readonly Webhook[]): "token" | "secret" {
  return webhook?.verificationMethod === "signature" ? "secret" : "token";
}
