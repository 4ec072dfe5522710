import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import should from "should";
import { maxHeld } from "../../src/flow/deploy-gate";
import { bearer, tab, token, webhook } from "../harness/flow";
import { type Reply, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import type { Flow, NodeRed } from "../harness/node-red";

const kinds = ["full", "flows", "nodes", "reload"] as const;

const options = {
  settings: { runtimeState: { enabled: true }, logging: { console: { level: "info" } } },
};

const flow: Flow = [
  ...tab(webhook("hook", "/hook"), webhook("rival", "/HOOK/", { wires: [["rival-sink"]] }), {
    id: "rival-sink",
    type: "sink",
    wires: [],
  }),
  { id: "elsewhere", type: "tab", label: "Elsewhere" },
  { id: "bystander", type: "sink", z: "elsewhere", x: 0, y: 0, wires: [] },
];
/** The same, and another webhook whose next node takes long to close. */
const slowFlow: Flow = [
  ...flow,
  { id: "slow", type: "slow", z: "elsewhere", x: 0, y: 0, wires: [] },
  { ...webhook("to-slow", "/to-slow"), z: "elsewhere", x: 0, y: 0, wires: [["slow"]] },
];

let changes = 0;
/** A flow in which the nodes with these ids have changed, and no others; to Node-RED, credentials are a change. */
function changed(flow: Flow, ...ids: unknown[]): Flow {
  changes++;
  return flow.map(({ credentials, ...node }) => (ids.includes(node.id) ? { ...node, name: `${changes}` } : node));
}

function allOf(flow: Flow): unknown[] {
  return flow.filter(({ type }) => type !== "tab").map(({ id }) => id);
}

onBothWays("a deploy", options, (nodeRed) => {
  const post = (body: string, { path = "/hook", headers = {}, agent }: Part = {}) =>
    send(nodeRed().node(path), {
      headers: { ...bearer, "X-Trace": body, "Content-Type": "text/plain", ...headers },
      body,
      ...(agent && { agent }),
    });
  /** All messages so far, those included that a duplicate would have made. */
  const payloads = async (since: number) => {
    const { json } = await post("marker");
    await nodeRed().message(json.id);
    return nodeRed()
      .messages.slice(since)
      .map(({ payload }) => payload)
      .filter((payload) => payload !== "marker");
  };

  /** Deploys over nodes that take long to close. */
  const replace = async (flow: Flow) => (await nodeRed().beginDeploy(flow))();

  describe("that takes long", () => {
    let since: number;
    let startsBefore: number;
    before(() => nodeRed().deploy(slowFlow));
    beforeEach(() => {
      since = nodeRed().messages.length;
      startsBefore = nodeRed().starts.length;
    });
    after(() => replace(flow));

    for (const kind of kinds) {
      it(`${kind}: a request waits, is served when the flows run, and is one message`, async () => {
        const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow", "sink"), kind);
        const reply = post("during");
        await nodeRed().arrived("during");
        await finish();
        const message = await served(nodeRed(), reply);
        message.should.have.properties({ payload: "during", starts: startsBefore + 1, sink: "sink" });
        (await payloads(since)).should.eql(["during"]);
      });

      it(`${kind}: a request whose body is on its way is served, and is one message`, async () => {
        const upload = await Upload.begin(nodeRed(), "on its way");
        const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow", "sink"), kind);
        upload.finish();
        await nodeRed().read("on its way");
        await finish();
        (await upload.replies(1)).should.eql([200]);
        (await payloads(since)).should.eql(["on its way"]);
      });
    }

    for (const id of ["hook", "sink"]) {
      it(`and changes the ${id}: a request waits for it`, async () => {
        const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow", id), "nodes");
        const reply = post("during");
        await nodeRed().arrived("during");
        await finish();
        (await served(nodeRed(), reply)).starts.should.equal(startsBefore + 1);
        (await payloads(since)).should.eql(["during"]);
      });
    }

    it("lets a body that comes in pieces before, during and after it become one message", async () => {
      const upload = await Upload.begin(nodeRed(), "piece by piece");
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow", "hook", "sink"), "nodes");
      upload.more();
      await finish();
      upload.finish();
      (await upload.replies(1)).should.eql([200]);
      (await payloads(since)).should.eql(["piece by piece"]);
    });

    it("makes no message of a request whose caller hangs up while it waits", async () => {
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
      const upload = await Upload.begin(nodeRed(), "hung up");
      upload.hangUp();
      await nodeRed().left("hung up");
      await finish();
      (await payloads(since)).should.eql([]);
    });

    it("refuses a wrong token afterwards, as ever", async () => {
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
      const reply = post("stranger", { headers: { Authorization: "Bearer stranger" } });
      await nodeRed().arrived("stranger");
      await finish();
      (await reply).status.should.equal(401);
      (await payloads(since)).should.eql([]);
    });

    it("does not hold up paths that are nobody's", async () => {
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
      (await post("nobody's", { path: "/nobody" })).status.should.equal(404);
      await finish();
    });

    for (const [what, after] of [
      ["removes the node", slowFlow.filter(({ id }) => id !== "hook" && id !== "rival")],
      [
        "disables the node",
        slowFlow.map((node) => (/hook|rival$/.test(String(node.id)) ? { ...node, d: true } : node)),
      ],
      ["disables its flow", slowFlow.map((node) => (node.id === "tab" ? { ...node, disabled: true } : node))],
    ] as const) {
      it(`and ${what} answers 404 when it is over, to a request that waits and to one whose body is on its way`, async () => {
        const upload = await Upload.begin(nodeRed(), "on its way");
        const finish = await nodeRed().beginDeploy(changed([...after]));
        const reply = post("during");
        await nodeRed().arrived("during");
        upload.finish();
        await finish();
        (await reply).status.should.equal(404);
        (await upload.replies(1)).should.eql([404]);
        (await post("after")).status.should.equal(404);
        await nodeRed().measure();
        should(nodeRed().statuses.get("hook")?.text ?? "").not.match(/refused/);
        await replace(slowFlow);
        (await payloads(since)).should.eql([]);
      });
    }

    it("leaves the count of a refusal to the node that has the path when it is over", async () => {
      const { text } = await nodeRed().status("hook", /accepted/);
      const refused = Number(/(\d+) refused/.exec(text)?.[1] ?? 0);
      const upload = await Upload.begin(nodeRed(), "{oops", "malformed", "application/json");
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow", "hook"));
      await finish();
      upload.finish();
      (await upload.replies(1)).should.eql([400]);
      await nodeRed().status("hook", new RegExp(`accepted, ${refused + 1} refused`));
    });

    it("lets 1,000 requests wait, and answers 503 to one more", async () => {
      const finish = await nodeRed().beginDeploy(changed(slowFlow, "slow"));
      const waiting = Array.from({ length: maxHeld }, (_, index) =>
        post(`${index}`, { headers: { "X-Trace": "many" } }),
      );
      await nodeRed().arrived("many", maxHeld);
      const refused = await post("one more");
      refused.status.should.equal(503);
      refused.headers.should.have.property("retry-after", "10");
      await finish();
      const statuses = await Promise.all(waiting.map(async (reply) => (await reply).status));
      statuses.should.matchEach(200);
      const seen = (await payloads(since)).map(Number).sort((a, b) => a - b);
      seen.should.eql(Array.from({ length: maxHeld }, (_, index) => index));
    });
  });

  describe("between the sending of a message and its delivery", () => {
    before(() => nodeRed().deploy(slowFlow));
    after(() => replace(flow));

    it("does not lose it", async () => {
      const since = nodeRed().messages.length;
      const starts = nodeRed().starts.length;
      await nodeRed().interruptNextDelivery();
      const reply = post("interrupted");
      await nodeRed().closing();
      nodeRed().letClose();
      await served(nodeRed(), reply);
      nodeRed().starts.length.should.equal(starts + 1);
      (await payloads(since)).should.eql(["interrupted"]);
    });
  });

  it("keeps the order of two nodes on one path", async () => {
    await nodeRed().deploy(flow);
    for (const ids of [["hook"], ["rival"], ["hook", "rival"], ["sink"]]) {
      await nodeRed().deploy(changed(flow, ...ids), "nodes");
      (await served(nodeRed(), post("to the first"))).sink.should.equal("sink");
    }
    await nodeRed().status("hook", /accepted/);
    await nodeRed().status("rival", /taken/);
  });

  it("costs nobody anything: 30 of all kinds under steady load", async () => {
    await nodeRed().deploy(flow);
    const since = nodeRed().messages.length;
    let deploying = true;
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ids: unknown[] = [];
      while (deploying) {
        const { status, body, json } = await send(nodeRed().node("/hook"), {
          headers: { ...bearer, "Content-Type": "application/json" },
          body: JSON.stringify({ caller, number: ids.length }),
          agent,
        });
        should(status).equal(200, body);
        ids.push(json.id);
      }
      agent.destroy();
      return ids;
    });
    const targets = [["hook"], ["sink"], ["bystander"], allOf(flow), ["hook", "sink"]];
    try {
      for (let index = 0; index < 30; index++) {
        await nodeRed().deploy(changed(flow, ...(targets[index % 5] ?? [])), kinds[index % 4]);
      }
    } finally {
      deploying = false;
    }
    const answered = await Promise.all(callers);
    await payloads(since);
    const messages = nodeRed()
      .messages.slice(since)
      .filter(({ payload }) => payload !== "marker");
    // The ids of one connection's answers, in their order, are the ids of its messages in theirs: none lost or doubled.
    for (const [caller, ids] of answered.entries()) {
      ids.length.should.be.above(30);
      const own = messages.filter(({ payload }) => (payload as { caller: number }).caller === caller);
      own.map(({ _msgid }) => _msgid).should.eql(ids);
    }
    should(messages.length).equal(answered.flat().length);
  });

  // The last ones: the clock stays wrong after them.
  describe("of flows that are stopped", () => {
    it("lets requests wait until they are started", async () => {
      await nodeRed().deploy(flow);
      const since = nodeRed().messages.length;
      await nodeRed().setState("stop");
      const reply = post("stopped");
      await nodeRed().arrived("stopped");
      await nodeRed().setState("start");
      await served(nodeRed(), reply);
      (await payloads(since)).should.eql(["stopped"]);
    });

    it("answers 503 at once when they have been stopped for long", async () => {
      await nodeRed().setState("stop");
      await nodeRed().putClockForward();
      const { status, headers } = await post("too late");
      status.should.equal(503);
      headers.should.have.property("retry-after", "10");
      await nodeRed().setState("start");
      await served(nodeRed(), post("started again"));
    });
  });
});

interface Part {
  path?: string;
  headers?: Record<string, string>;
  agent?: Agent;
}

async function served(nodeRed: NodeRed, reply: Promise<Reply>) {
  const { status, body, json } = await reply;
  should(status).equal(200, body);
  return nodeRed.message(json.id);
}

/** A connection with a request whose body comes piece by piece. */
class Upload {
  #received = "";
  #rest: string;

  /** Opens a connection and sends the head and the first character of a request; the server has met it then. */
  static async begin(nodeRed: NodeRed, body: string, trace = body, type = "text/plain"): Promise<Upload> {
    const { hostname, port, pathname } = new URL(nodeRed.node("/hook"));
    const socket = connect(Number(port), hostname);
    const upload = new Upload(socket, pathname, type, body);
    socket.write(upload.#head(body, trace) + body.slice(0, 1));
    await nodeRed.arrived(trace);
    return upload;
  }

  private constructor(
    private readonly socket: Socket,
    private readonly path: string,
    private readonly type: string,
    body: string,
  ) {
    this.#rest = body.slice(1);
    socket.setEncoding("utf8").on("data", (text: string) => (this.#received += text));
  }

  /** Sends one more character of the body. */
  more(): void {
    this.socket.write(this.#rest.slice(0, 1));
    this.#rest = this.#rest.slice(1);
  }

  /** Sends the rest of the body. */
  finish(): void {
    this.socket.write(this.#rest);
  }

  /** Sends a further request. */
  request(body: string, trace: string): void {
    this.socket.write(this.#head(body, trace) + body);
  }

  /** Waits for so many replies, and answers with their statuses. */
  async replies(count: number): Promise<number[]> {
    const statuses = () => Array.from(this.#received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));
    while (statuses().length < count) await once(this.socket, "data");
    this.hangUp();
    return statuses();
  }

  hangUp(): void {
    this.socket.destroy();
  }

  #head(body: string, trace: string): string {
    const fields = [
      `POST ${this.path} HTTP/1.1`,
      "Host: x",
      `Authorization: Bearer ${token}`,
      `X-Trace: ${trace}`,
      `Content-Type: ${this.type}`,
      `Content-Length: ${body.length}`,
    ];
    return `${fields.join("\r\n")}\r\n\r\n`;
  }
}
