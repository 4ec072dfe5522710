import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { normalisePath } from "../../src/config/rules";
import { type Box, Editor } from "../harness/browser";
import { paste } from "../harness/curl";
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

/** What one of an example's lines brings about. */
interface Delivery {
  webhook: Webhook;
  /** The line in the comment that a reader runs, with the word TOKEN in it. */
  curl: string;
  payload: unknown;
  /** The debug node that shows it in the sidebar. */
  debug: string;
  /** What can be read there; the id of the message unless it is another one. */
  shown?: string;
}

interface Example {
  name: string;
  text: string;
  nodes: ExampleNode[];
  deliveries: Delivery[];
}

/** As the editor's form makes them: nothing in it means anything to a shell or in a URL. */
const token = randomBytes(30).toString("base64url");

const folder = join(root, "examples");

/** The squares of the canvas's grid, in px. */
const grid = 20;
/** Has the editor measure labels alike on every machine, each letter as wide as the widest fonts' are on average. */
const anyFont = ".red-ui-flow-node-label { font-size: 0 !important; letter-spacing: 8.5px !important; }";

/** What each example's lines make of a message, in their order. */
const results: Record<string, Pick<Delivery, "payload" | "debug" | "shown">[]> = {
  "Token in the header": [{ payload: "hello world", debug: "message" }],
  "Token in the query with query parameters returned": [
    { payload: { body: "hello world", query: { carrier: "post" } }, debug: "message" },
  ],
  "Two senders, one flow": [
    { payload: "pushed", debug: "message", shown: "GitLab" },
    { payload: "firing", debug: "message", shown: "Grafana" },
  ],
  "Webhooks of GitHub, by event": [{ payload: { ref: "refs/heads/main" }, debug: "a push" }],
  "Work done, sender called back": [
    {
      payload: { job: "7", callback_url: "{origin}/jobs/sender" },
      debug: "what the sender hears",
      shown: "success",
    },
  ],
};

/** What else a flow tells apart: a change to the example's line, and the debug node that shows the message then. */
const variations: Record<string, { change: [from: string, to: string]; debug: string }[]> = {
  "Webhooks of GitHub, by event": [
    { change: ["push", "issues"], debug: "an issue" },
    { change: ["push", "ping"], debug: "any other event" },
  ],
  "Work done, sender called back": [
    { change: ["callback_url=", "other="], debug: "nobody to call back" },
    { change: ["url=http://127.0.0.1:1880", "url=http://192.0.2.1"], debug: "nobody to call back" },
    // The host is what follows the @.
    { change: ["url=http://127.0.0.1:1880", "url=http://127.0.0.1:1880@192.0.2.1"], debug: "nobody to call back" },
  ],
};

const examples = readdirSync(folder).map(read);

describe("the examples", () => {
  let nodeRed: NodeRed;
  before(async () => (nodeRed = await NodeRed.start()));
  after(() => nodeRed.stop());

  it("are listed in Node-RED's import menu, by their names", async () => {
    const response = await fetch(nodeRed.admin(`/library/examples/flows/${packageName}`));
    const listed = (await response.json()) as { fn: string }[];
    listed
      .map(({ fn }) => fn)
      .sort()
      .should.deepEqual(Object.keys(results).sort());
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
      const flow = (credentials?: { token: string }): Flow => [
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

      it("holds no token and no path of a machine", () => {
        text.should.not.match(/credentials|[\w-]{40}/);
        text.should.not.match(/[A-Z]:\\|file:|\/(?:home|Users|root|tmp|usr|var|opt|mnt)\//);
      });

      it("has a line to send for each webhook trigger", () => {
        should(deliveries.map(({ webhook }) => webhook)).deepEqual(webhooksAmong(nodes));
      });

      it("stays closed until a token is set, and says so", async () => {
        await nodeRed.deploy(flow());
        for (const { webhook, curl } of deliveries) {
          const status = await nodeRed.status(webhook.id, /Token/);
          status.should.containEql({ fill: "red", text: "The Token is missing" });
          (await paste([at(nodeRed, curl)])).status.should.equal(404);
        }
      });

      it("accepts what its comment says to send, once a token is set", async () => {
        await nodeRed.deploy(flow({ token }));
        for (const { webhook, curl, payload } of deliveries) {
          await nodeRed.status(webhook.id, /0 accepted/);
          const { status, json } = await paste([at(nodeRed, curl).replace("TOKEN", token)]);
          status.should.equal(200);
          const message = await nodeRed.message(json.id);
          should(message.payload).deepEqual(
            JSON.parse(JSON.stringify(payload).replaceAll("{origin}", nodeRed.origin)) as unknown,
          );
          message.req.should.containEql({ method: "POST", path: webhook.relativePath });
        }
      });

      it("refuses what its comment says to send when the token is another", async () => {
        await nodeRed.deploy(flow({ token }));
        for (const { webhook, curl } of deliveries) {
          await nodeRed.status(webhook.id, /0 accepted/);
          (await paste([at(nodeRed, curl)])).status.should.equal(401);
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
        const tokens = new Map<Webhook, string>();
        for (const webhook of webhooksAmong(nodes)) {
          await editor.edit(webhook.id);
          await editor.tokenButton("make").click();
          tokens.set(webhook, await editor.input("token").inputValue());
          await editor.done();
        }
        await editor.deploy();
        for (const { webhook } of deliveries) await nodeRed.status(webhook.id, /0 accepted/);
        await editor.invoke("core:show-debug-tab");
        for (const { webhook, curl, debug, shown } of deliveries) {
          const line = at(nodeRed, curl).replace("TOKEN", tokens.get(webhook) ?? "");
          const { json } = await paste([line]);
          await editor.debugMessage(debug, shown ?? String(json.id)).waitFor();
          for (const variation of variations[name] ?? []) {
            const other = at(nodeRed, curl.replace(...variation.change)).replace("TOKEN", tokens.get(webhook) ?? "");
            const { json } = await paste([other]);
            await editor.debugMessage(variation.debug, String(json.id)).waitFor();
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
  const deliveries = lines.map((curl, index) => {
    const path = /127\.0\.0\.1:1880([^"? ]*)/.exec(curl)?.[1];
    const webhook = webhooksAmong(nodes).find(({ relativePath }) => relativePath === path);
    const result = results[name]?.[index];
    if (!webhook || !result) throw new Error(`${file} has a line that is not known here: ${curl}`);
    return { webhook, curl, ...result };
  });
  return { name, text, nodes, deliveries };
}

/** The line for this Node-RED, which has another port than the usual one. */
function at(nodeRed: NodeRed, curl: string): string {
  return curl.replaceAll("http://127.0.0.1:1880", nodeRed.origin);
}
