import type { Request } from "playwright-core";
import should from "should";
import { catalogText, type Entered, refusalText } from "../harness/browser";
import { paste } from "../harness/curl";
import { token, webhookFlow } from "../harness/flow";
import { useEditor } from "../harness/stage";

/** Nodes for lines to paste, by what is entered of where the token goes. */
const lines: Record<string, Entered> = {
  line0: { verificationMethod: "header" },
  line1: { headerParameter: "X-Token" },
  line2: { verificationMethod: "query" },
  line3: { verificationMethod: "query", queryParameter: "a key & more" },
};
/** Of every kind of character that a token may have. */
const typed = `'"$(x)\`y\`!%&<>|;#?*[]{}~^\\${"z".repeat(14)}`;

const flow = [
  ...webhookFlow(
    { id: "orders", relativePath: "/orders" },
    { id: "tokenless", relativePath: "/tokenless", credentials: {} },
    { id: "late", relativePath: "/orders" },
    { id: "by-environment", relativePath: "/by-environment", verificationMethod: "${METHOD}" },
    { id: "open", relativePath: "/open", returnQueryParams: "${RETURN}" },
    { id: "answering", relativePath: "/answering", reply: "flow", allowFrom: "192.0.2.0/24" },
    {
      id: "signed",
      relativePath: "/signed",
      verificationMethod: "signature",
      sender: "github",
      credentials: { secret: "a secret" },
    },
    ...Object.keys(lines).map((id) => ({ id, relativePath: `/${id}` })),
  ),
  { id: "subflow", type: "subflow", name: "Subflow", in: [], out: [], env: [] },
  { ...webhookFlow({ id: "inner", relativePath: "${WHERE}" })[1], z: "subflow", wires: [[]] },
];

describe("a test request from the form", () => {
  const { editor, nodeRed } = useEditor(flow);
  afterEach(() => editor().page.unrouteAll());

  const line = () => editor().part("command").innerText();
  const hint = () => editor().part("command-token").innerText();

  it("works by the line for a terminal as it stands, wherever the token goes and whatever is in it", async () => {
    const copied: string[] = [];
    for (const [id, entered] of Object.entries(lines)) {
      await editor().edit(id);
      await editor().enter({ ...entered, token: typed });
      (await editor().part("command-hint").innerText()).should.equal(catalogText("testRequest.command"));
      await editor().part("command-copy").click();
      copied.push(await editor().clipboard());
      (await line()).should.equal(copied.at(-1));
      (await hint()).should.equal("");
      await editor().done();
    }
    await editor().deploy();
    for (const each of copied) {
      const { status, json } = await paste([each]);
      status.should.equal(200, each);
      should((await nodeRed().message(json.id)).payload).equal("hello world");
    }
  });

  it("starts the flow, without the browser knowing the token, and leaves the focus on its button", async () => {
    const seen: string[] = [];
    const see = (request: Request) => seen.push(request.url(), request.postData() ?? "");
    editor().page.on("request", see);
    await editor().edit("orders");
    const answer = editor().page.waitForResponse("**/test");
    (await editor().sendTest()).should.equal(catalogText("testRequest.accepted"));
    const { id } = (await (await answer).json()) as { id: string };
    editor().page.off("request", see);
    should((await nodeRed().message(id)).payload).equal("hello world");
    seen.join("\n").should.not.containEql(token);
    (await editor().focus()).should.equal("webhook-trigger-send");
    (await editor().part("changed").isVisible()).should.be.false();
    await editor().input("relativePath").fill("/elsewhere");
    (await editor().part("result").isVisible()).should.be.false();
  });

  it("says what to do where the node has no token, and where another node has the path", async () => {
    const said = async (id: string) => {
      await editor().editAsItIs(id);
      const result = await editor().sendTest();
      await editor().cancel();
      return result.trim();
    };
    const closed = catalogText("testRequest.closed", { reason: catalogText("rules.token.required") });
    (await said("tokenless")).should.equal(closed);
    (await said("late")).should.equal(catalogText("testRequest.taken"));
  });

  it("says where to look when the flow was to answer, what to do where something in front did, and that Node-RED cannot be reached", async () => {
    await editor().editAsItIs("answering");
    for (const [outcome, status, verdict] of [
      ["answered", 201, "good"],
      ["unanswered", 504, "bad"],
      ["blocked", 401, "bad"],
      ["otherwise", 403, "bad"],
    ] as const) {
      await editor().page.route("**/test", (route) => route.fulfill({ json: { outcome, status } }));
      const expected = catalogText(`testRequest.${outcome}`, { status: String(status) });
      const isFlows = outcome === "answered" || outcome === "unanswered";
      // The node has a list of addresses.
      const unlimited = isFlows ? ` ${catalogText("testRequest.unlimited")}` : "";
      (await editor().sendTest()).trim().should.equal(expected + unlimited);
      await editor().page.locator(`.webhook-trigger-result.${verdict}`).waitFor();
      (await editor().part("debug").isVisible()).should.equal(isFlows);
    }
    const paused = { outcome: "refused", status: 503, problem: "paused" };
    await editor().page.route("**/test", (route) => route.fulfill({ json: paused }));
    const why = [refusalText("paused", 503), catalogText("fix.paused")].map((text) => `${text}.`).join(" ");
    (await editor().sendTest()).trim().should.equal(why);
    await editor().page.route("**/test", (route) => route.fulfill({ status: 403 }));
    (await editor().sendTest()).trim().should.equal(catalogText("testRequest.forbidden"));
    await editor().page.route("**/test", (route) => route.abort());
    await editor().part("send").click();
    await editor().page.getByText(catalogText("testRequest.failed")).waitFor();
  });

  it("says that it does not test what was changed before that is deployed", async () => {
    for (const entered of [
      { relativePath: "/changed" },
      { token: "x".repeat(40) },
      { token: "" },
      { verificationMethod: "query" },
      { returnQueryParams: true },
    ]) {
      await editor().edit("orders");
      await editor().enter(entered);
      await editor().sendTest();
      (await editor().part("changed").innerText()).trim().should.equal(catalogText("testRequest.changed"));
      await editor().cancel();
    }
  });

  it("is not possible inside a subflow, and the form says why", async () => {
    await editor().edit("inner");
    (await editor().part("send").isDisabled()).should.be.true();
    (await editor().part("send-hint").innerText()).should.equal(catalogText("testRequest.subflow"));
  });

  it("becomes the message that the form shows, which follows Return Query Params and the raw body", async () => {
    const picture = () => editor().part("picture").innerText();
    await editor().edit("orders");
    (await picture()).should.equal('msg.payload = "hello world"');
    await editor().input("returnQueryParams").check();
    (await picture()).should.equal('msg.payload = { "body": "hello world", "query": {} }');
    await editor().input("returnQueryParams").uncheck();
    await editor().input("rawBody").check();
    (await picture()).should.equal('msg.payload = "hello world"\nmsg.rawBody = Buffer.from("hello world")');
    await editor().input("rawBody").uncheck();
    await editor().enter({ sender: "stripe" });
    (await picture()).should.equal('msg.payload = { "text": "hello world", "type": "test", "id": "test" }');
    await editor().cancel();
    await editor().edit("open");
    (await editor().part("picture").isVisible()).should.be.false();
  });

  it("has a placeholder in the line for a terminal where the token is not known, and says so", async () => {
    const placeholder = catalogText("testRequest.placeholder");
    const replace = catalogText("handover.replace", { placeholder, button: catalogText("make.token") });
    const missing = catalogText("handover.missing", { placeholder, button: catalogText("make.token") });
    const take = catalogText("handover.fromEnvironment", { placeholder, variable: "${TOKEN}" });
    for (const [id, entered, expected] of [
      ["tokenless", {}, missing],
      ["orders", {}, replace],
      ["orders", { token: "${TOKEN}" }, take],
      ["orders", { token: "short" }, missing],
    ] as const) {
      await editor().edit(id);
      await editor().enter(entered);
      (await line()).should.containEql(`Bearer ${placeholder}"`);
      (await hint()).should.equal(expected);
      (await editor().note("seen").isVisible()).should.be.false();
      await editor().cancel();
    }
  });

  it("has no line for a terminal while the form does not know its parts, and where requests are signed", async () => {
    for (const [id, entered, key] of [
      ["orders", { relativePath: "${HOOK}" }, "testRequest.commandUnknown"],
      ["orders", { headerParameter: "X Token" }, "testRequest.commandUnknown"],
      ["by-environment", {}, "testRequest.commandUnknown"],
      ["signed", {}, "testRequest.commandSigned"],
    ] as const) {
      await editor().edit(id);
      await editor().enter(entered);
      await editor().page.locator(".webhook-trigger-command").waitFor({ state: "hidden" });
      (await editor().part("command-none").innerText()).should.equal(catalogText(key));
      await editor().cancel();
    }
  });

  // Their nodes and wires stay in the editor().
  it("says that a new node has to be deployed first, and that new wires are not tested before", async () => {
    const id = await editor().drop("webhook-trigger", 500, 300);
    await editor().edit(id);
    (await editor().sendTest()).should.containEql(catalogText("testRequest.notDeployed"));
    await editor().cancel();
    const debug = await editor().drop("debug", 600, 350);
    await editor().wire("tokenless", debug);
    await editor().edit("orders");
    await editor().sendTest();
    (await editor().part("changed").isVisible()).should.be.true();
  });
});
