import type { Locator } from "playwright-core";
import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import { defaults, handlingDefaults, type HandlingFields } from "../../src/config/fields";
import type { TestOutcome } from "../../src/flow/test-requests";
import { catalogText, Editor, type Section } from "../harness/browser";
import { webhook, webhookFlow } from "../harness/flow";
import { sharedBrowser, sharedNodeRed } from "../harness/stage";
import { uncalled } from "../harness/standing";

const fields = Object.keys(handlingDefaults) as (keyof HandlingFields)[];
const signed = { verificationMethod: "signature", credentials: { secret: "a secret" } };

/** Nodes that have something in these fields, and what their headings say of it. */
const told: Record<
  string,
  { saved: Partial<HandlingFields>; sender?: string; states: Partial<Record<Section, string>> }
> = {
  usual: {
    saved: {},
    states: {
      message: text("body"),
      reply: text("atOnce", { status: "200" }),
      duplicates: text("duplicatesUnchecked"),
      limits: `${text("anyAddress")}, ${text("noRate")}`,
      guaranteed: text("guaranteedOff"),
    },
  },
  filled: {
    saved: {
      replyStatus: 202,
      ignoreDuplicates: true,
      duplicateKey: "json:order.id",
      duplicateWindow: 1,
      allowFrom: "192.0.2.1, 192.0.2.2\n2001:db8::/32",
      rateLimit: 60,
      alertWhenSilent: 0.5,
      rawBody: true,
    },
    states: {
      message: `${text("body")} · ${text("rawBody")}`,
      reply: text("atOnce", { status: "202" }),
      duplicates: text("duplicatesKnown", { hours: "1", key: "json:order.id" }),
      limits: `${text("addresses", { count: "3" })}, ${text("rate", { rate: "60" })}, ${text("expected", { hours: "0.5" })}`,
    },
  },
  answering: {
    saved: { reply: "flow", replyTimeout: 30, ignoreDuplicates: true, allowFrom: " 192.0.2.0/24\n" },
    sender: "github",
    states: {
      reply: text("byFlow", { seconds: "30" }),
      duplicates: text("duplicatesKnown", { hours: "72", key: text("byId") }),
      limits: `192.0.2.0/24, ${text("noRate")}`,
    },
  },
  digesting: {
    saved: { ignoreDuplicates: true, duplicateKey: "body" },
    states: { duplicates: text("duplicatesKnown", { hours: "72", key: text("byBody") }) },
  },
  keyless: { saved: { ignoreDuplicates: true }, states: { duplicates: text("duplicatesUnknown") } },
  repeating: {
    saved: {},
    sender: "github",
    states: { duplicates: `${text("duplicatesUnchecked")} · ${text("duplicatesSuggested", { name: "GitHub" })}` },
  },
  environment: {
    saved: {
      reply: "${REPLY}",
      ignoreDuplicates: "${IGNORE}",
      allowFrom: "${FROM}",
      rateLimit: "${RATE}",
      alertWhenSilent: "${HOURS}",
      rawBody: "${RAW}",
      guaranteed: "${DURABLE}",
    },
    states: {
      message: `${text("body")} · \${RAW}`,
      reply: "${REPLY}",
      duplicates: "${IGNORE}",
      limits: `\${FROM}, ${text("rate", { rate: "${RATE}" })}, ${text("expected", { hours: "${HOURS}" })}`,
      guaranteed: "${DURABLE}",
    },
  },
};

function text(key: string, values: Record<string, string> = {}): string {
  return catalogText(`section.${key}`, values);
}

/** A node of a version that had none of these fields. */
function older(id: string) {
  const saved = Object.entries(webhook(id, `/${id}`)).filter(([name]) => !fields.some((field) => field === name));
  return { ...Object.fromEntries(saved), z: "tab", x: 400, y: 40, wires: [["sink"]] };
}

describe("what becomes of requests, in the form", () => {
  let editor: Editor;
  let standing: NodeReport;
  before(async () => {
    const nodes = Object.entries(told).map(([id, { saved, sender = "" }]) => ({ id, relativePath: `/${id}`, ...saved, sender, ...(sender && signed) }));
    const nodeRed = await sharedNodeRed([...webhookFlow(...nodes, { id: "kept", relativePath: "/kept" }), older("older"), older("renamed")]);
    editor = await Editor.open(await sharedBrowser(), nodeRed);
    await editor.page.route("**/standing", (route) => route.fulfill({ json: standing }));
  });
  beforeEach(() => {
    standing = { ...uncalled };
  });
  afterEach(() => editor.leave());
  after(() => editor.close());

  const focus = () => editor.page.evaluate(() => document.activeElement?.id);
  const state = (section: Section) => editor.state(section).innerText();
  const kinds = () => editor.page.locator("#webhook-trigger-duplicateKeyOf");
  const saved = async (id: string) => {
    const found: Record<string, unknown> = {};
    for (const field of fields) found[field] = await editor.saved(id, field);
    return found;
  };
  const shown = async () => {
    const visible: string[] = [];
    for (const field of fields) if (await editor.input(field).isVisible()) visible.push(field);
    return visible;
  };

  for (const [id, { states }] of Object.entries(told)) {
    it(`is in the headings of ${id}, whose sections are closed and stay as they are`, async () => {
      const before = await saved(id);
      await editor.editAsItIs(id);
      (await editor.openSections()).should.eql([]);
      for (const [section, expected] of Object.entries(states)) (await state(section as Section)).should.equal(expected);
      await editor.done();
      (await saved(id)).should.eql(before);
      (await editor.isChanged(id)).should.be.false();
      (await editor.isValid(id)).should.be.true();
    });
  }

  it("is what holds for a node that is older than the fields, which stays without them", async () => {
    (await editor.isValid("older")).should.be.true();
    await editor.editAsItIs("older");
    (await editor.openSections()).should.eql([]);
    for (const field of ["reply", "replyStatus", "replyBody", "replyType", "replyTimeout", "duplicateKey", "duplicateWindow", "allowFrom", "rateLimit", "alertWhenSilent", "attempts", "backoffFirst", "backoffLongest", "attemptTimeout", "concurrency", "ratePerMinute", "breaker"] as const) {
      (await editor.input(field).inputValue()).should.equal(String(defaults[field]));
    }
    for (const field of ["ignoreDuplicates", "rawBody", "guaranteed"] as const) (await editor.input(field).isChecked()).should.be.false();
    await editor.done();
    (await editor.isChanged("older")).should.be.false();
    (await editor.isValid("older")).should.be.true();
    Object.values(await saved("older")).should.eql(fields.map(() => undefined));
  });

  it("is changed alone in a node that is older", async () => {
    await editor.edit("renamed");
    await editor.input("rateLimit").fill("60");
    await editor.done();
    (await editor.isValid("renamed")).should.be.true();
    should(await saved("renamed")).containEql({ rateLimit: "60", replyStatus: undefined, reply: undefined });
  });

  it("is saved, and there when the form is opened again", async () => {
    const changes = { reply: "flow", replyTimeout: "30", duplicateKey: "query:id", duplicateWindow: "24", allowFrom: "192.0.2.1\n::1", rateLimit: "5", alertWhenSilent: "0.5" } as const;
    await editor.edit("kept");
    await editor.input("reply").selectOption("flow");
    await editor.input("ignoreDuplicates").check();
    await editor.input("rawBody").check();
    for (const [field, value] of Object.entries(changes)) if (field !== "reply") await editor.input(field as keyof typeof changes).fill(value);
    await editor.done();
    await editor.editAsItIs("kept");
    (await editor.openSections()).should.eql(["message", "reply", "duplicates", "limits"]);
    for (const [field, value] of Object.entries(changes)) (await editor.input(field as keyof typeof changes).inputValue()).should.equal(value);
    for (const field of ["ignoreDuplicates", "rawBody"] as const) (await editor.input(field).isChecked()).should.be.true();
    await editor.done();
    (await saved("kept")).should.eql({ ...handlingDefaults, ...changes, ignoreDuplicates: true, rawBody: true });
    (await editor.isValid("kept")).should.be.true();
  });

  const always = ["reply", "ignoreDuplicates", "allowFrom", "rateLimit", "alertWhenSilent", "rawBody", "guaranteed"];
  for (const [what, change, expected] of [
    ["a reply at once", () => Promise.resolve(), ["replyStatus", "replyBody", "replyType"]],
    ["a reply without content", () => editor.input("replyStatus").fill("204"), ["replyStatus"]],
    ["a reply by the flow", () => editor.input("reply").selectOption("flow"), ["replyTimeout"]],
    ["duplicates that are ignored", () => editor.input("ignoreDuplicates").check(), ["replyStatus", "replyBody", "replyType", "duplicateKey", "duplicateWindow"]],
    ["guaranteed delivery", () => editor.input("guaranteed").check(), ["replyStatus", "replyBody", "replyType", "attempts", "backoffFirst", "backoffLongest", "attemptTimeout", "concurrency", "ratePerMinute", "breaker"]],
  ] as const) {
    it(`asks for what belongs to ${what}, and for nothing else`, async () => {
      await editor.edit("usual");
      await change();
      (await shown()).sort().should.eql([...always, ...expected].sort());
      (await editor.hint("reply").innerText()).should.equal(what === "a reply by the flow" ? catalogText("hint.replyByFlow") : "");
    });
  }

  it("may all depend on the environment", async () => {
    await editor.edit("environment");
    (await shown()).should.eql(fields);
  });

  it("opens a section for an error in it, and says so in the heading", async () => {
    await editor.editAsItIs("usual");
    await editor.heading("limits").click();
    await editor.input("rateLimit").fill("many");
    (await state("limits")).should.equal(text("broken"));
    (await editor.state("limits").locator("i.fa").count()).should.equal(1);
    const colour = (of: Locator) => of.evaluate((element) => getComputedStyle(element).color);
    (await colour(editor.state("limits"))).should.equal(await colour(editor.message("rateLimit"))).and.not.equal(await colour(editor.state("duplicates")));
    await editor.heading("limits").click();
    await editor.done();
    (await editor.isValid("usual")).should.be.false();
    await editor.editAsItIs("usual");
    (await editor.openSections()).should.eql(["limits"]);
    await editor.input("rateLimit").fill("0");
    await editor.done();
    (await editor.isValid("usual")).should.be.true();
  });

  it("does not check a field that does not apply, and checks it as soon as it does", async () => {
    await editor.edit("usual");
    await editor.input("replyType").fill("text");
    await editor.input("replyStatus").fill("204");
    (await editor.message("replyType").textContent() ?? "?").should.equal("");
    await editor.input("replyStatus").fill("200");
    (await editor.message("replyType").innerText()).should.equal(catalogText("rules.replyType"));
    (await editor.input("replyType").getAttribute("aria-invalid") ?? "").should.equal("true");
  });

  describe("suggests to ignore duplicates where the sender has an id for its deliveries", () => {
    it("and begins with it by a button, which leaves the keyboard on the box", async () => {
      await editor.edit("repeating");
      (await editor.input("ignoreDuplicates").isChecked()).should.be.false();
      (await editor.note("duplicates").innerText()).trim().should.startWith(catalogText("duplicates.suggested", { name: "GitHub" }));
      await editor.note("duplicates").locator("button").click();
      (await editor.input("ignoreDuplicates").isChecked()).should.be.true();
      should(await focus()).equal("node-input-ignoreDuplicates");
      (await editor.note("duplicates").isVisible()).should.be.false();
      (await state("duplicates")).should.equal(text("duplicatesKnown", { hours: "72", key: text("byId") }));
    });

    it("and not where it has none, which it says when they are to be ignored all the same", async () => {
      await editor.edit("usual");
      (await editor.note("duplicates").isVisible()).should.be.false();
      (await editor.note("no-id").isVisible()).should.be.false();
      await editor.input("ignoreDuplicates").check();
      (await editor.note("no-id").innerText()).trim().should.equal(catalogText("duplicates.noId"));
      await editor.input("sender").selectOption("github");
      (await editor.note("no-id").isVisible()).should.be.false();
      (await kinds().inputValue()).should.equal("id");
    });

    it("and offers that id in the hint of the key as well, but only there", async () => {
      await editor.edit("keyless");
      (await editor.hint("duplicateKey").innerText()).should.equal(catalogText("hint.duplicateKeyWithoutId"));
      await editor.input("sender").selectOption("github");
      (await editor.hint("duplicateKey").innerText()).should.equal(catalogText("hint.duplicateKey"));
    });
  });

  it("has a list of what deliveries may be known by, which writes the key", async () => {
    await editor.edit("keyless");
    (await kinds().inputValue()).should.equal("none");
    for (const [kind, key] of [["header", "header:"], ["body", "body"], ["query", "query:"]] as const) {
      await kinds().selectOption(kind);
      (await editor.input("duplicateKey").inputValue()).should.equal(key);
    }
    await editor.input("duplicateKey").fill("header:X-Id");
    await kinds().selectOption("header");
    (await editor.input("duplicateKey").inputValue()).should.equal("header:X-Id");
    // The name of a header field is none of a value in the JSON.
    await kinds().selectOption("json");
    (await editor.input("duplicateKey").inputValue()).should.equal("json:");
    await editor.input("duplicateKey").fill("${KEY}");
    (await kinds().inputValue()).should.equal("written");
    (await state("duplicates")).should.equal(text("duplicatesKnown", { hours: "72", key: "${KEY}" }));
  });

  it("says how many requests had no key, as long as duplicates are to be ignored", async () => {
    standing.withoutKey = 7;
    await editor.edit("digesting");
    await editor.note("without-key").waitFor();
    (await editor.note("without-key").innerText()).trim().should.equal(catalogText("duplicates.withoutKey", { count: "7" }));
    await editor.input("ignoreDuplicates").uncheck();
    (await editor.note("without-key").isVisible()).should.be.false();
  });

  it("notes a body that is not the JSON that its type promises", async () => {
    await editor.edit("usual");
    const note = editor.note("json");
    for (const [type, body, isNoted] of [
      ["application/json", "{ok}", true],
      ["application/problem+json; charset=utf-8", "{ok}", true],
      ["text/plain", "{ok}", false],
      ["application/json", '{"ok":true}', false],
      ["application/json", "", false],
      ["application/json", "${BODY}", false],
    ] as const) {
      await editor.input("replyType").fill(type);
      await editor.input("replyBody").fill(body);
      (await note.isVisible()).should.equal(isNoted, `${type} ${body}`);
      if (isNoted) (await note.innerText()).trim().should.equal(catalogText("reply.noJson"));
    }
  });

  it("says which of the addresses is none", async () => {
    await editor.edit("usual");
    await editor.input("allowFrom").fill("192.0.2.1, 203.0.113.0/33\n203.0.113.0/24");
    (await editor.message("allowFrom").innerText()).should.equal(catalogText("limits.unreadable", { entry: "203.0.113.0/33" }));
    await editor.input("allowFrom").fill(",");
    (await editor.message("allowFrom").innerText()).should.equal(catalogText("rules.allowFrom"));
    await editor.input("allowFrom").fill("203.0.113.0/24");
    (await editor.message("allowFrom").isVisible()).should.be.false();
  });

  it("warns of limits by address where Node-RED seems to see no other computer", async () => {
    standing.hasOnlyLoopback = true;
    await editor.edit("usual");
    await editor.input("rateLimit").fill("60");
    await editor.note("loopback").waitFor();
    (await editor.note("loopback").innerText()).trim().should.startWith(catalogText("limits.loopback"));
    should(await editor.note("loopback").locator("a").getAttribute("href")).endWith("/docs/replies.md#behind-a-proxy");
    (await state("limits")).should.endWith(text("onlyLocal"));
    await editor.input("rateLimit").fill("0");
    (await editor.note("loopback").isVisible()).should.be.false();
    await editor.input("allowFrom").fill("192.0.2.1");
    (await editor.note("loopback").isVisible()).should.be.true();
  });

  it("states that in the heading, and leaves the section closed", async () => {
    standing.hasOnlyLoopback = true;
    await editor.editAsItIs("filled");
    await editor.state("limits").filter({ hasText: text("onlyLocal") }).waitFor();
    (await editor.openSections()).should.eql([]);
  });

  it("warns of limits by address where any sender can claim any address", async () => {
    standing.trustsEveryProxy = true;
    await editor.edit("usual");
    (await editor.note("forgeable").isVisible()).should.be.false();
    await editor.input("rateLimit").fill("60");
    await editor.note("forgeable").waitFor();
    (await editor.note("forgeable").innerText()).trim().should.startWith(catalogText("limits.trustsEveryProxy"));
    should(await editor.note("forgeable").locator("a").getAttribute("href")).endWith("/docs/replies.md#behind-a-proxy");
    (await state("limits")).should.endWith(text("forgeable"));
    (await editor.note("loopback").isVisible()).should.be.false();
    await editor.input("rateLimit").fill("0");
    (await editor.note("forgeable").isVisible()).should.be.false();
    await editor.input("allowFrom").fill("192.0.2.1");
    (await editor.note("forgeable").isVisible()).should.be.true();
  });

  it("has the raw body in the picture of the message", async () => {
    await editor.edit("usual");
    await editor.input("rawBody").check();
    (await editor.picture.innerText()).should.equal('msg.payload = "hello world"\nmsg.rawBody = Buffer.from("hello world")');
  });

  for (const [outcome, status, verdict] of [["answered", 201, "good"], ["unanswered", 504, "bad"]] as [TestOutcome, number, string][]) {
    it(`tells that a test request was ${outcome}, and where to look`, async () => {
      await editor.page.route("**/test", (route) => route.fulfill({ json: { outcome, status } }));
      await editor.editAsItIs("answering");
      const expected = catalogText(`trial.${outcome}`, { status: String(status) });
      // The node has a list of addresses.
      (await editor.sendTest()).should.equal(`${expected} ${catalogText("trial.unlimited")}`);
      await editor.page.locator(`.webhook-trigger-result.${verdict}`).waitFor();
      (await editor.page.locator("#webhook-trigger-debug").isVisible()).should.be.true();
      await editor.page.unroute("**/test");
    });
  }
}); // prettier-ignore
