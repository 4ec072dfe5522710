import "should";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { type Flow, NodeRed } from "../harness/node-red";

/**
 * A plugin with hooks that take until the test lets the message go, or drop it. It stops those whose payload begins
 * with "held"; which hooks, and how they tell that they are done, is the test's to say.
 */
const plugin = `
module.exports = (RED) => {
  const held = [];
  const hold = (event) => {
    const { msg, destination } = Array.isArray(event) ? event[0] : event;
    if (!String(msg.payload).startsWith("held") || destination.id === "bystander") return;
    return new Promise((resolve) => {
      held.push(resolve);
      process.send({ trace: "held" });
    });
  };
  const ways = {
    "a callback": (event, done) => {
      const halted = hold(event);
      if (halted) halted.then(done);
      else done();
    },
    "a promise": (event) => hold(event),
  };
  process.on("message", ({ add, way, remove, release }) => {
    if (add) RED.hooks.add(add + ".test", ways[way]);
    if (remove) RED.hooks.remove("*.test");
    if (release) for (const go of held.splice(0)) go(release === "drop" ? false : undefined);
    if (add || remove || release) process.send({ trace: "told" });
  });
  // A node that adds hooks of its own for as long as it is there.
  RED.nodes.registerType("hooking", function (config) {
    RED.nodes.createNode(this, config);
    RED.hooks.add(config.hook + ".own", ways["a callback"]);
    this.on("close", () => RED.hooks.remove("*.own"));
  });
};`;

const kinds = ["full", "flows", "nodes", "reload"] as const;
const hooks = ["onSend", "preRoute", "preDeliver", "onReceive"] as const;
type Kind = (typeof kinds)[number];

const flow: Flow = [
  ...tab(webhook("hook", "/hook"), webhook("two", "/two", { wires: [["sink", "other"]] }), {
    id: "other",
    type: "sink",
    wires: [],
  }),
  { id: "elsewhere", type: "tab", label: "Elsewhere" },
  { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] },
];

let changes = 0;
/** The flow with nodes changed, and the one that lets a deploy take as long as the test wants. */
function changed(...ids: string[]): Flow {
  changes++;
  return flow.map(({ credentials, ...node }) =>
    [...ids, "slow"].includes(String(node.id)) ? { ...node, name: `${changes}` } : node,
  );
}

describe("a plugin with hooks that take their time", () => {
  let nodeRed: NodeRed;
  let since: number;
  before(async () => {
    nodeRed = await NodeRed.start({ flow, plugin });
  });
  after(() => nodeRed.stop());
  beforeEach(() => {
    since = nodeRed.messages.length;
  });
  afterEach(() => nodeRed.tell({ remove: true }, "told"));

  const addHook = (add: string, way = "a callback") => nodeRed.tell({ add, way }, "told");
  const release = (how = "go") => nodeRed.tell({ release: how }, "told");
  const post = async (body: string, path = "/hook") => {
    const { status } = await send(nodeRed.node(path), { headers: { ...bearer, "Content-Type": "text/plain" }, body });
    status.should.equal(200);
  };
  /** Which nodes have had a message, in this test; one that was sent later has come when this answers. */
  const receivers = async () => {
    await post("marker");
    const told = () => nodeRed.messages.slice(since);
    await nodeRed.until(() => told().find(({ payload }) => payload === "marker"), "the marker");
    const found = told().filter(({ payload }) => payload !== "marker");
    return found.map(({ sink }) => sink).sort();
  };
  const received = (count: number) =>
    nodeRed.until(() => (nodeRed.messages.length >= since + count ? true : undefined), `${count} messages`);

  const replace = async (flow: Flow, kind?: Kind) => (await nodeRed.beginDeploy(flow, kind))();
  async function deployWhileHeld(kind: Kind, flow: Flow, when: "during" | "after" | "drop") {
    const finish = await nodeRed.beginDeploy(flow, kind);
    if (when === "during") await release();
    await finish();
    if (when === "after") await release();
    if (when === "drop") await release("drop");
  }

  for (const hook of hooks) {
    for (const [index, kind] of kinds.entries()) {
      for (const when of ["during", "after"] as const) {
        // Each way with each hook, each kind of deploy and each moment, if not with all of them at once.
        const way = (index + (when === "after" ? 1 : 0)) % 2 === 0 ? "a callback" : "a promise";
        it(`${hook} by ${way}: a message let go ${when} a deploy (${kind}) comes exactly once`, async () => {
          await addHook(hook, way);
          await post("held");
          await nodeRed.told("held");
          await deployWhileHeld(kind, changed("hook", "sink"), when);
          await letOn(hook);
          await received(1);
          (await receivers()).should.eql(["sink"]);
        });
      }
    }
  }

  /** A node that a message is handed to receives it as any other: a hook on that sees it again. */
  async function letOn(hook: string) {
    if (hook !== "onReceive") return;
    await nodeRed.told("held");
    await release();
  }

  for (const ids of [["hook"], ["sink"], ["other"], []]) {
    it(`a deploy that changes ${ids.join() || "neither"}: a message on two wires comes once by each`, async () => {
      await addHook("preDeliver");
      for (const when of ["during", "after"] as const) {
        since = nodeRed.messages.length;
        await post("held", "/two");
        await nodeRed.told("held", 2);
        await deployWhileHeld("nodes", changed(...ids), when);
        await received(2);
        (await receivers()).should.eql(["other", "sink"]);
      }
    });
  }

  for (const hook of ["onSend", "preRoute", "preDeliver"]) {
    it(`${hook}: a message that it drops does not come, whatever is deployed`, async () => {
      await addHook(hook);
      await post("held");
      await nodeRed.told("held");
      await deployWhileHeld("full", changed("hook", "sink"), "drop");
      await replace(changed("hook", "sink"));
      (await receivers()).should.eql([]);
    });

    it(`${hook}: a message is lost to a node that the deployer removed, and to no other`, async () => {
      await addHook(hook);
      for (const when of ["during", "after"] as const) {
        since = nodeRed.messages.length;
        await post("held", "/two");
        await nodeRed.told("held", hook === "onSend" ? 1 : 2);
        const rest = changed("two").filter(({ id }) => id !== "other");
        await deployWhileHeld("full", rest, when);
        await received(1);
        (await receivers()).should.eql(["sink"]);
        await replace(changed("two"));
      }
    });
  }

  it("a message comes once where one deploy after another closes the node it is on its way to", async () => {
    for (const hook of ["preRoute", "preDeliver"]) await addHook(hook);
    await post("held");
    await nodeRed.told("held");
    await deployWhileHeld("full", changed("hook", "sink"), "after");
    await nodeRed.told("held");
    await deployWhileHeld("full", changed("hook", "sink"), "during");
    await received(1);
    (await receivers()).should.eql(["sink"]);
  });

  it("a message that has come is not sent again", async () => {
    await addHook("preDeliver");
    await post("held");
    await nodeRed.told("held");
    await release();
    await received(1);
    for (const kind of kinds) await replace(changed("hook", "sink"), kind);
    (await receivers()).should.eql(["sink"]);
  });

  it("a hook that a node adds and takes away with itself loses nothing", async () => {
    for (const hook of hooks) {
      since = nodeRed.messages.length;
      const node = { id: "hooking", type: "hooking", z: "elsewhere", x: 0, y: 80, wires: [], hook };
      await replace([...changed("hook", "sink"), node]);
      await post("held");
      await nodeRed.told("held");
      await deployWhileHeld("full", changed("hook", "sink"), "during");
      await received(1);
      (await receivers()).should.eql(["sink"]);
    }
  });

  it("a message whose handler is still at work is not taken for one on its way", async () => {
    await addHook("preDeliver");
    const wires = flow.map((node) => (node.id === "hook" ? { ...node, wires: [["slow"]] } : node));
    await replace(wires);
    await post("held");
    await nodeRed.told("held");
    await release();
    await received(1);
    await replace(changed("hook", "sink"));
    (await receivers()).should.eql(["slow"]);
  });
});
