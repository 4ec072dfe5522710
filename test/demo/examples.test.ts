import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { normalisePath } from "../../src/config";
import { paste } from "../harness/curl";
import { send } from "../harness/http";
import { type Flow, NodeRed } from "../harness/node-red";
import { packageName, root } from "../harness/package";

interface ExampleNode extends Record<string, unknown> {
  id: string;
  type: string;
  z?: string;
  wires?: string[][];
}

interface Example {
  name: string;
  text: string;
  nodes: ExampleNode[];
  webhook: ExampleNode & { relativePath: string };
  /** The line in the comment that a reader runs, with the word TOKEN in it. */
  curl: string;
}

/** As the editor's form makes them: nothing in it means anything to a shell or in a URL. */
const token = randomBytes(30).toString("base64url");

const folder = join(root, "examples");
const examples = readdirSync(folder).map(read);

/** What each example's own line makes of a message. */
const payloads: Record<string, unknown> = {
  "Token in the header": "hello world",
  "Token in the query with query parameters returned": { body: "hello world", query: { carrier: "post" } },
};

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
      .should.deepEqual(Object.keys(payloads).sort());
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
    const paths = examples.map(({ webhook }) => normalisePath(webhook.relativePath).toLowerCase());
    new Set(paths).size.should.equal(paths.length);
  });

  for (const { name, text, nodes, webhook, curl } of examples) {
    describe(name, () => {
      /** The example as it stands, with a sink that lets the test see the messages. */
      const flow = (credentials?: { token: string }): Flow => [
        ...nodes.filter(({ id }) => id !== webhook.id),
        { ...webhook, wires: [[...(webhook.wires?.[0] ?? []), "sink"]], ...(credentials && { credentials }) },
        { id: "sink", type: "sink", z: webhook.z, x: 100, y: 200, wires: [] },
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

      it("stays closed until a token is set, and says so", async () => {
        await nodeRed.deploy(flow());
        (await nodeRed.status(webhook.id, /Token/)).should.containEql({ fill: "red", text: "The Token is missing" });
        (await send(nodeRed.node(webhook.relativePath))).status.should.equal(404);
        (await paste([at(nodeRed, curl)])).status.should.equal(404);
      });

      it("accepts what its comment says to send, once a token is set", async () => {
        await nodeRed.deploy(flow({ token }));
        await nodeRed.status(webhook.id, /0 accepted/);
        const { status, json } = await paste([at(nodeRed, curl).replace("TOKEN", token)]);
        status.should.equal(200);
        const { payload, req } = await nodeRed.message(json.id);
        should(payload).deepEqual(payloads[name]);
        req.should.containEql({ method: "POST", path: webhook.relativePath });
      });

      it("refuses what its comment says to send when the token is another", async () => {
        await nodeRed.deploy(flow({ token }));
        await nodeRed.status(webhook.id, /0 accepted/);
        (await paste([at(nodeRed, curl)])).status.should.equal(401);
      });
    });
  }
});

function read(file: string): Example {
  const text = readFileSync(join(folder, file), "utf8");
  const nodes = JSON.parse(text) as ExampleNode[];
  const webhook = nodes.find(({ type }) => type === "webhook-trigger") as Example["webhook"] | undefined;
  const comment = nodes.find(({ type }) => type === "comment");
  const curl = /^ *(curl .*)$/m.exec(String(comment?.info))?.[1];
  if (!webhook || !curl) throw new Error(`${file} needs a webhook trigger, and a comment with a curl line`);
  return { name: file.replace(/\.json$/, ""), text, nodes, webhook, curl };
}

/** The line for this Node-RED, which has another port than the usual one. */
function at(nodeRed: NodeRed, curl: string): string {
  return curl.replace("http://127.0.0.1:1880", nodeRed.origin);
}
