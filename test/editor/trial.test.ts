import type { Request } from "playwright-core";
import should from "should";
import { catalogText, Editor } from "../harness/browser";
import { paste } from "../harness/curl";
import { token, webhookFlow } from "../harness/flow";
import { NodeRed } from "../harness/node-red";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";

/** Lines to paste: where the token is, and which one; each is of a node of its own. */
const lines = [
  { what: "in Authorization", method: "header" },
  { what: "in another header", method: "header", headerParameter: "X-Token" },
  { what: "in the query", method: "query" },
  { what: "in a parameter that has to be encoded", method: "query", queryParameter: "a key & more" },
].flatMap((fields, index) => [
  { ...fields, id: `made${index}`, kind: "made here", typed: undefined },
  {
    ...fields,
    id: `typed${index}`,
    kind: "of every kind of character",
    typed: `'"$(x)\`y\`!%&<>|;#?*[]{}~^\\${"z".repeat(14)}`,
  },
]);

const flow = [
  ...webhookFlow(
    { id: "orders", relativePath: "/orders" },
    { id: "tokenless", relativePath: "/tokenless", credentials: {} },
    { id: "late", relativePath: "/orders" },
    { id: "by-environment", relativePath: "/by-environment", verificationMethod: "${METHOD}" },
    { id: "open", relativePath: "/open", returnQueryParams: "${RETURN}" },
    ...lines.map(({ id }) => ({ id, relativePath: `/${id}` })),
  ),
  { id: "subflow", type: "subflow", name: "Subflow", in: [], out: [], env: [] },
  { ...webhookFlow({ id: "inner", relativePath: "${WHERE}" })[1], z: "subflow", wires: [[]] },
]; // prettier-ignore

/** What the form says of changes that a test request did not meet. */
const changedOf = ({ page }: Editor) => page.locator("#webhook-trigger-changed");

describe("the panel to try an endpoint", () => {
  let nodeRed: NodeRed;
  let editor: Editor;
  before(async () => {
    nodeRed = await sharedNodeRed(flow);
    editor = await Editor.open(await sharedBrowser(), nodeRed);
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const hint = () => editor.page.locator("#webhook-trigger-command-token").innerText();

  for (const { id, what, kind, method, headerParameter, queryParameter, typed } of lines) {
    it(`has a line that works as it stands, with a token ${kind} ${what}`, async () => {
      await editor.edit(id);
      await editor.input("verificationMethod").selectOption(method);
      if (headerParameter) await editor.input("headerParameter").fill(headerParameter);
      if (queryParameter) await editor.input("queryParameter").fill(queryParameter);
      if (typed === undefined) await editor.tokenButton("make").click();
      else await editor.input("token").fill(typed);
      (await editor.message("token").isVisible()).should.be.false();
      await editor.page.locator("#webhook-trigger-command-copy").click();
      const line = await editor.page.evaluate(() => navigator.clipboard.readText());
      should(await editor.command.innerText()).equal(line);
      (await hint()).should.equal("");
      await editor.done();
      await editor.deploy();
      const { status, json } = await paste([line]);
      status.should.equal(200);
      should((await nodeRed.message(json.id)).payload).equal("hello world");
    });
  }

  it("has a placeholder in the line for a token that is saved or missing, and says so", async () => {
    for (const [id, key] of [
      ["orders", "trial.tokenHidden"],
      ["tokenless", "trial.tokenMissing"],
    ] as const) {
      await editor.edit(id);
      (await editor.command.innerText()).should.containEql(`Bearer ${catalogText("trial.placeholder")}"`);
      (await hint()).should.equal(catalogText(key));
      await editor.cancel();
    }
  });

  for (const value of ["${TOKEN}", "short"]) {
    it(`never puts ${value} in the place of the token, nor says to copy it`, async () => {
      await editor.edit("orders");
      await editor.input("token").fill(value);
      (await editor.command.innerText()).should.containEql(`Bearer ${catalogText("trial.placeholder")}"`);
      (await editor.note("seen").isVisible()).should.be.false();
    });
  }

  for (const [what, field, value] of [
    ["there is no URL", "relativePath", ""],
    ["an environment variable has the path", "relativePath", "${HOOK}"],
    ["an environment variable has the name of the header", "headerParameter", "${HEADER}"],
    ["the name of the header is none", "headerParameter", "X Token"],
  ] as const) {
    it(`has no line while ${what}`, async () => {
      await editor.edit("orders");
      await editor.command.waitFor();
      await editor.input(field).fill(value);
      await editor.page.locator(".webhook-trigger-command").waitFor({ state: "hidden" });
    });
  }

  it("has no line while an environment variable has the method", async () => {
    await editor.edit("by-environment");
    (await editor.page.locator(".webhook-trigger-command").isVisible()).should.be.false();
  });

  it("keeps the keyboard on its button while it sends", async () => {
    await editor.edit("orders");
    await editor.page.locator("#webhook-trigger-send").focus();
    await editor.page.keyboard.press("Enter");
    await editor.page.locator(".webhook-trigger-result.good").waitFor();
    should(await editor.page.evaluate(() => document.activeElement?.id)).equal("webhook-trigger-send");
  });

  it("sends a test request that starts the flow, without the browser knowing the token", async () => {
    const seen: string[] = [];
    const see = (request: Request) => seen.push(request.url(), request.postData() ?? "");
    editor.page.on("request", see);
    await editor.edit("orders");
    const answer = editor.page.waitForResponse("**/test");
    (await editor.sendTest()).should.equal(catalogText("trial.accepted"));
    const { id } = (await (await answer).json()) as { id: string };
    editor.page.off("request", see);
    should((await nodeRed.message(id)).payload).equal("hello world");
    seen.join("\n").should.not.containEql(token);
  });

  for (const [what, id, key, values] of [
    ["the node has no token", "tokenless", "trial.closed", { reason: catalogText("rules.token.required") }],
    ["another node has the path", "late", "trial.taken", {}],
  ] as const) {
    it(`tells what to do when ${what}`, async () => {
      await editor.edit(id);
      (await editor.sendTest()).trim().should.equal(catalogText(key, values));
    });
  }

  for (const [what, change] of [
    ["a new path", () => editor.input("relativePath").fill("/changed")],
    ["a new token", () => editor.tokenButton("make").click()],
    ["another method", () => editor.input("verificationMethod").selectOption("query")],
    ["another message", () => editor.input("returnQueryParams").check()],
    ["an emptied token", () => editor.input("token").fill("")],
  ] as const) {
    it(`tells that ${what} was not tested before it is deployed`, async () => {
      await editor.edit("orders");
      await editor.sendTest();
      (await changedOf(editor).isVisible()).should.be.false();
      await change();
      await editor.sendTest();
      (await changedOf(editor).innerText()).trim().should.equal(catalogText("trial.changed"));
    });
  }

  it("offers no test inside a subflow, and says why", async () => {
    await editor.edit("inner");
    (await editor.page.locator("#webhook-trigger-send").isDisabled()).should.be.true();
    (await editor.page.locator("#webhook-trigger-send-hint").innerText()).should.equal(catalogText("trial.subflow"));
  });

  it("has a picture of what a test request becomes, which follows Return Query Params", async () => {
    await editor.edit("orders");
    (await editor.picture.innerText()).should.equal('msg.payload = "hello world"');
    await editor.input("returnQueryParams").check();
    (await editor.picture.innerText()).should.equal('msg.payload = { "body": "hello world", "query": {} }');
    await editor.input("returnQueryParams").uncheck();
    (await editor.picture.innerText()).should.equal('msg.payload = "hello world"');
    await editor.cancel();
    await editor.edit("open");
    (await editor.picture.isVisible()).should.be.false();
  });
}); // prettier-ignore

describe("the panel to try an endpoint, where the editor is changed as well", () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await Editor.open(await sharedBrowser(), await sharedNodeRed(flow));
  });
  afterEach(() => editor.close());

  it("tells that a new node has to be deployed first", async () => {
    const id = await editor.drop("webhook-trigger", 500, 300);
    await editor.edit(id);
    (await editor.sendTest()).should.containEql(catalogText("trial.notDeployed"));
  });

  it("tells that a new wire was not tested before it is deployed", async () => {
    const debug = await editor.drop("debug", 600, 300);
    await editor.wire("tokenless", debug);
    await editor.edit("orders");
    await editor.sendTest();
    (await changedOf(editor).isVisible()).should.be.true();
  });

  it("tells when Node-RED cannot be reached", async () => {
    await editor.edit("orders");
    await editor.page.route("**/test", (route) => route.abort());
    await editor.page.locator("#webhook-trigger-send").click();
    await editor.page.getByText(catalogText("trial.failed")).waitFor();
  });
});

describe("the panel to try an endpoint, where a request does not come through", () => {
  const guards = `
    httpNodeAuth: (request, response, next) => request.path.endsWith("/guarded") ? response.sendStatus(401) : next(),
    httpNodeMiddleware: (request, response, next) => request.path.endsWith("/answered") ? response.sendStatus(403) : next()`;
  const openIn = async (nodeRed: NodeRed, id: string) => {
    const editor = await Editor.open(await sharedBrowser(), nodeRed);
    await editor.edit(id);
    return editor;
  };

  for (const [what, id, text] of [
    ["httpNodeAuth is in the way", "guarded", catalogText("trial.blocked")],
    ["a middleware answers", "answered", catalogText("trial.otherwise", { status: "403" })],
  ] as const) {
    it(`tells what to do when ${what}`, async () => {
      const ids = ["guarded", "answered"];
      const nodes = webhookFlow(...ids.map((each) => ({ id: each, relativePath: `/${each}` })));
      const editor = await openIn(await sharedNodeRed(nodes, { code: guards }), id);
      (await editor.sendTest()).trim().should.equal(text);
      await editor.close();
    });
  }

  it("tells what to do when the user may not write", async () => {
    const code = "adminAuth: { type: 'credentials', users: [], default: { permissions: 'read' } }";
    const nodeRed = await NodeRed.start({ code, flow: webhookFlow({ id: "hook" }) });
    try {
      const editor = await openIn(nodeRed, "hook");
      (await editor.sendTest()).trim().should.equal(catalogText("trial.forbidden"));
      await editor.close();
    } finally {
      await nodeRed.stop();
    }
  });
}); // prettier-ignore
