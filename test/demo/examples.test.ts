import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { normalisePath } from "../../src/config/rules";
import { type Box, Editor } from "../harness/browser";
import { type CurlReply, paste } from "../harness/curl";
import { github, publicOrigin, type Sender, type Sent, slashCommand, stripe, twilioCall } from "../harness/documented";
import { type Reply, send } from "../harness/http";
import { type Flow, NodeRed } from "../harness/node-red";
import { packageName, root } from "../harness/package";
import { sharedBrowser } from "../harness/stage";

interface ExampleNode extends Record<string, unknown> {
  id: string;
  type: string;
  z?: string;
  wires?: string[][];
}

type Webhook = ExampleNode & { relativePath: string };

/** Sends to an example: what its line sends, or its sender. */
type Post = (origin: string, credential: string) => Promise<CurlReply>;

/** What an example is sent, and what it makes of it. */
interface Delivery {
  webhook: Webhook;
  post: Post;
  payload: unknown;
  /** The debug node that shows it in the sidebar. */
  debug: string;
  /** What can be read there; the id of the message unless it is another one. */
  shown?: string;
  /** What else the flow tells apart, and the debug node that shows the message then. */
  others: Pick<Delivery, "post" | "debug" | "shown">[];
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

/** The squares of the canvas's grid, in px. */
const grid = 20;
/** Has the editor measure labels alike on every machine, each letter as wide as the widest fonts' are on average. */
const anyFont = ".red-ui-flow-node-label { font-size: 0 !important; letter-spacing: 8.5px !important; }";

/** What each example's lines make of a message, in their order. */
const results: Record<string, Pick<Delivery, "payload" | "debug" | "shown">[]> = {
  "API call, retried until it succeeds": [{ payload: "hello world", debug: "done" }],
  "Token in the header": [{ payload: "hello world", debug: "message" }],
  "Token in the query with query parameters returned": [
    { payload: { body: "hello world", query: { carrier: "post" } }, debug: "message" },
  ],
  "Two senders, one flow": [
    { payload: "pushed", debug: "message", shown: "GitLab" },
    { payload: "firing", debug: "message", shown: "Grafana" },
  ],
  "Work done, sender called back": [
    {
      payload: { job: "7", callback_url: "{origin}/jobs/sender" },
      debug: "what the sender hears",
      shown: "success",
    },
  ],
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

/** The examples whose senders sign: each event, and the debug node that shows it. */
const signed: Record<string, { sender: Sender; events: [event: string, debug: string][] }> = {
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
    events: [
      ["94070", "what was asked"],
      ['what "is" <this>?', "what was asked"],
    ],
  },
  "Voice call of Twilio, answered by TwiML": {
    sender: twilioCall,
    events: [
      ["+14158675309", "who calls"],
      ["sip:a&b@<example>", "who calls"],
    ],
  },
};

/** What the examples answer whose flow does, to each of their events. */
const answers: Record<string, { type: string; bodies: Record<string, string> }> = {
  "Slash command of Slack, answered": {
    type: "application/json; charset=utf-8",
    bodies: {
      "94070": '{"response_type":"ephemeral","text":"Hello steve, you have asked: 94070"}',
      'what "is" <this>?': '{"response_type":"ephemeral","text":"Hello steve, you have asked: what \\"is\\" <this>?"}',
    },
  },
  "Voice call of Twilio, answered by TwiML": {
    type: "text/xml; charset=utf-8",
    bodies: {
      "+14158675309": twiml("Hello. You are calling from +14158675309."),
      "sip:a&b@<example>": twiml("Hello. You are calling from sip:a&amp;b@&lt;example&gt;."),
    },
  },
};

const examples = readdirSync(folder).map(read);

describe("the examples", () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start({
      settings: { webhookTriggerBaseUrl: publicOrigin },
      besides: ["21-httprequest.js"],
    });
  });
  after(() => nodeRed.stop());

  it("are listed in Node-RED's import menu, by their names", async () => {
    const response = await fetch(nodeRed.admin(`/library/examples/flows/${packageName}`));
    const listed = (await response.json()) as { fn: string }[];
    listed
      .map(({ fn }) => fn)
      .sort()
      .should.deepEqual(Object.keys({ ...results, ...signed }).sort());
  });

  it("use every node type of the package", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      "node-red": { nodes: Record<string, string> };
    };
    const used = new Set(examples.flatMap(({ nodes }) => nodes.map(({ type }) => type)));
    for (const type of Object.keys(manifest["node-red"].nodes)) used.has(type).should.be.true(type);
  });

  it("can be imported together: no id and no path comes twice", () => {
    const ids = examples.flatMap(({ nodes }) => nodes.map(({ id }) => id));
    new Set(ids).size.should.equal(ids.length);
    const paths = examples.flatMap(({ nodes }) => webhooksAmong(nodes).map(({ relativePath }) => relativePath));
    for (const path of paths) normalisePath(path).toLowerCase().should.equal(path);
    new Set(paths).size.should.equal(paths.length);
  });

  for (const { name, text, nodes, deliveries } of examples) {
    describe(name, () => {
      /** The example as it stands, with a sink that lets the test see the messages. */
      const flow = (credentials?: Record<string, string>): Flow => [
        ...nodes.map((node) => {
          if (!deliveries.some(({ webhook }) => webhook === node)) return node;
          return { ...node, wires: [[...(node.wires?.[0] ?? []), "sink"]], ...(credentials && { credentials }) };
        }),
        { id: "sink", type: "sink", z: nodes[0]?.id, x: 100, y: 500, wires: [] },
      ];

      it("is what Node-RED hands to the editor", async () => {
        const path = `/library/examples/flows/${packageName}/${encodeURIComponent(name)}`;
        const response = await fetch(nodeRed.admin(path));
        should(await response.json()).deepEqual(nodes);
      });

      it("uses nodes of Node-RED itself and of this package only", async () => {
        const response = await fetch(nodeRed.admin("/nodes"), { headers: { Accept: "application/json" } });
        const sets = (await response.json()) as { module: string; types: string[] }[];
        const known = sets.filter(({ module }) => ["node-red", packageName].includes(module));
        const types = ["tab", ...known.flatMap((set) => set.types)];
        for (const { type } of nodes) types.should.containEql(type);
      });

      it("has a place for each node, and its wires lead to its own nodes", () => {
        const ids = nodes.map(({ id }) => id);
        const [tab, ...placed] = nodes;
        should(tab).have.property("type", "tab");
        for (const node of placed) {
          node.should.have.property("z", tab?.id);
          for (const axis of ["x", "y"]) node.should.have.property(axis).which.is.a.Number();
          for (const id of (node.wires ?? []).flat()) ids.should.containEql(id);
        }
        const places = placed.map(({ x, y }) => `${String(x)},${String(y)}`);
        new Set(places).size.should.equal(places.length);
      });

      it("holds no token, no secret and no path of a machine", () => {
        text.should.not.match(/credentials|[\w-]{40}|whsec_\w/);
        text.should.not.match(/[A-Z]:\\|file:|\/(?:home|Users|root|tmp|usr|var|opt|mnt)\//);
      });

      it("is sent something at each webhook trigger", () => {
        should(deliveries.map(({ webhook }) => webhook)).deepEqual(webhooksAmong(nodes));
      });

      const kind = needed(webhooksAmong(nodes));
      const title = kind === "token" ? "Token" : "Secret";

      it(`stays closed until a ${kind} is set, and says so`, async () => {
        await nodeRed.deploy(flow());
        for (const { webhook, post } of deliveries) {
          const status = await nodeRed.status(webhook.id, new RegExp(title));
          status.should.containEql({ fill: "red", text: `The ${title} is missing` });
          (await post(nodeRed.origin, credential)).status.should.equal(404);
        }
      });

      it(`accepts what it is made for, once a ${kind} is set`, async () => {
        await nodeRed.deploy(flow({ [kind]: credential }));
        for (const { webhook, post, payload } of deliveries) {
          await nodeRed.status(webhook.id, /accepted/);
          const { status, json } = await post(nodeRed.origin, credential);
          status.should.equal(200);
          const { relativePath: path } = webhook;
          const message = answers[name]
            ? await nodeRed.until(() => nodeRed.messages.find(({ req }) => req.path === path), "the message")
            : await nodeRed.message(json.id);
          should(message.payload).deepEqual(
            JSON.parse(JSON.stringify(payload).replaceAll("{origin}", nodeRed.origin)) as unknown,
          );
          message.req.should.containEql({ method: "POST", path });
        }
      });

      const { type, bodies = {} } = answers[name] ?? {};
      for (const [event, body] of Object.entries(bodies)) {
        it(`answers by its flow: ${event}`, async () => {
          await nodeRed.deploy(flow({ [kind]: credential }));
          for (const { webhook } of deliveries) {
            await nodeRed.status(webhook.id, /accepted/);
            const reply = await postTo(nodeRed.origin, webhook, signed[name]?.sender(credential, event));
            should([reply.status, reply.headers["content-type"], reply.body]).eql([200, type, body]);
          }
        });
      }

      it(`refuses the same with another ${kind}`, async () => {
        await nodeRed.deploy(flow({ [kind]: credential }));
        for (const { webhook, post } of deliveries) {
          await nodeRed.status(webhook.id, /accepted/);
          (await post(nodeRed.origin, "another")).status.should.equal(401);
        }
      });
    });
  }

  describe("in a browser, one after the other", () => {
    let editor: Editor;
    before(async () => {
      await nodeRed.deploy([]);
      editor = await Editor.open(await sharedBrowser(), nodeRed);
    });
    after(() => editor.close());

    for (const { name, nodes, deliveries } of examples) {
      it(`${name}: goes from the import menu to messages in the debug sidebar`, async () => {
        await editor.importExample(packageName, name);
        await editor.showFlow(nodes[0]?.id ?? "");
        const entered = new Map<Webhook, string>();
        for (const webhook of webhooksAmong(nodes)) {
          entered.set(webhook, await enterCredential(editor, webhook));
        }
        await editor.deploy();
        for (const { webhook } of deliveries) await nodeRed.status(webhook.id, /accepted/);
        await editor.invoke("core:show-debug-tab");
        for (const { webhook, post, debug, shown, others } of deliveries) {
          const { json } = await post(nodeRed.origin, entered.get(webhook) ?? "");
          await editor.debugMessage(debug, shown ?? String(json.id)).waitFor();
          for (const other of others) {
            const { json } = await other.post(nodeRed.origin, entered.get(webhook) ?? "");
            await editor.debugMessage(other.debug, other.shown ?? String(json.id)).waitFor();
          }
        }
      });
    }
  });

  describe("on the canvas", () => {
    let editor: Editor;
    before(async () => {
      await nodeRed.deploy(examples.flatMap(({ nodes }) => nodes));
      editor = await Editor.open(await sharedBrowser(), nodeRed, { style: anyFont });
    });
    after(() => editor.close());

    for (const { name, nodes, deliveries } of examples) {
      it(`${name}: is tidy, whatever the fonts`, async () => {
        const [tab, ...placed] = nodes;
        await editor.showFlow(tab?.id ?? "");
        const boxes = await editor.boxesOf(placed.map(({ id }) => id));
        for (const [index, { id, x, y }] of boxes.entries()) {
          should({ x, y }).eql({ x: placed[index]?.x, y: placed[index]?.y });
          // Nodes are some squares of the grid wide, and placed by their middles.
          [x % (grid / 2), y % grid].should.eql([0, 0], `${id} stands on the grid`);
        }
        for (const { id, left, right, top } of boxes) {
          left.should.be.aboveOrEqual(0, `${id} is seen without scrolling`);
          right.should.be.belowOrEqual(900, `${id} is seen without scrolling`);
          top.should.be.aboveOrEqual(0, `${id} is seen without scrolling`);
        }
        // Below a webhook trigger there is its status.
        const bottom = ({ id, bottom }: Box) =>
          bottom + (deliveries.some(({ webhook }) => webhook.id === id) ? grid : 0);
        for (const [index, one] of boxes.entries()) {
          for (const other of boxes.slice(index + 1)) {
            const beside = one.right < other.left || other.right < one.left;
            const apart = bottom(one) < other.top || bottom(other) < one.top;
            (beside || apart).should.be.true(`${one.id} is clear of ${other.id}`);
          }
        }
        for (const { id, wires = [] } of placed) {
          const source = boxes.find((box) => box.id === id);
          for (const target of boxes.filter((box) => wires.flat().includes(box.id))) {
            target.left.should.be.above(source?.right ?? 0, "wires run to the right");
          }
        }
      });
    }
  });
});

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
  const { sender, events = [] } = signed[name] ?? {};
  const [first, ...others] = events.map(([event, debug]) => ({
    event,
    debug,
    // What is answered has no id in its reply, and another text in each message.
    ...(answers[name] && { shown: event }),
    post: (origin: string, secret: string) => postTo(origin, webhook, sender?.(secret, event)),
  }));
  if (!sender || !first) return [];
  return [{ webhook, ...first, payload: payloadOf(sender("", first.event)), others }];
}

function postTo(origin: string, { relativePath }: Webhook, sent: Sent = { headers: {}, body: "" }): Promise<Reply> {
  return send(origin + relativePath, { headers: sent.headers, body: sent.body });
}

function payloadOf({ headers, body }: Sent): unknown {
  const isForm = headers["Content-Type"]?.includes("form") === true;
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : (JSON.parse(body) as unknown);
}

function twiml(said: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n  <Say>${said}</Say>\n</Response>\n`;
}

function needed([webhook]: readonly Webhook[]): "token" | "secret" {
  return webhook?.verificationMethod === "signature" ? "secret" : "token";
}

/** Gives a webhook trigger what it lacks, as its example says: the form makes it, unless the sender has it. */
async function enterCredential(editor: Editor, webhook: Webhook): Promise<string> {
  const name = needed([webhook]);
  await editor.editAsItIs(webhook.id);
  const make = editor.page.locator(`#webhook-trigger-${name}-make`);
  if (await make.isVisible()) await make.click();
  else await editor.input(name).fill("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  const value = await editor.input(name).inputValue();
  await editor.done();
  return value;
}
