import should from "should";
import type { NodeReport } from "../../src/admin/node-health";
import type { SenderId } from "../../src/auth/senders/table";
import { defaults } from "../../src/config/fields";
import { sqliteIsHere } from "../../src/config/stores";
import { catalogText, type Editor, type Section } from "../harness/browser";
import { type HandlingField, handlingFields, token, webhook, webhookFlow } from "../harness/flow";
import { openEditor } from "../harness/stage";
import { uncalled } from "../harness/node-report";

const section = (key: string, values: Record<string, string> = {}) => catalogText(`section.${key}`, values);

/** Nodes that have something in these fields, and what the headings say of it. */
const nodes: Record<string, { saved: Record<string, unknown>; states: Partial<Record<Section, string | string[]>> }> = {
  usual: {
    saved: {},
    states: {
      callers: catalogText("callers.none"),
      rotation: section("oneCredential"),
      message: section("body"),
      reply: section("atOnce", { status: "200" }),
      duplicates: section("duplicatesUnchecked"),
      limits: ["POST", section("anyAddress"), section("noRate")],
      guaranteed: section("guaranteedOff"),
      terminal: section("line"),
    },
  },
  filled: {
    saved: {
      ...{ verificationMethod: "query", returnQueryParams: true, rawBody: true, replyStatus: 202 },
      ...{ ignoreDuplicates: true, duplicateKey: "json:order.id", duplicateWindow: 1 },
      ...{ allowFrom: "192.0.2.1, 192.0.2.2\n2001:db8::/32", rateLimit: 60, alertWhenSilent: 0.5 },
    },
    states: {
      message: [section("bodyAndQuery"), section("rawBody")],
      reply: section("atOnce", { status: "202" }),
      duplicates: section("duplicatesKnown", { hours: "1", key: "json:order.id" }),
      limits: ["POST", section("addresses", { count: "3" }), rate("60"), section("expected", { hours: "0.5" })],
      terminal: section("line"),
    },
  },
  answering: {
    saved: signedBy("github", {
      reply: "flow",
      replyTimeout: 30,
      ignoreDuplicates: true,
      allowFrom: " 192.0.2.0/24\n",
    }),
    states: {
      reply: section("byFlow", { seconds: "30" }),
      duplicates: section("duplicatesKnown", { hours: "72", key: section("byId") }),
      limits: ["POST", "192.0.2.0/24", section("noRate")],
      terminal: section("noLine"),
    },
  },
  paced: {
    saved: signedBy("notion", {
      senderSettings: { arm: "${ARM}" },
      guaranteed: true,
      concurrency: 1,
      ratePerMinute: 60,
      breaker: 5,
    }),
    states: {
      guaranteed: [
        section("guaranteedInFile"),
        section("concurrency", { count: "1" }),
        rate("60"),
        section("breaker_other", { failures: "5" }),
      ],
    },
  },
  custom: { saved: signedBy("custom", { scheme: { alg: "${ALG}" } }), states: {} },
  environment: {
    saved: {
      ...{ sender: "${WHO}", reply: "${REPLY}", ignoreDuplicates: "${IGNORE}", rawBody: "${RAW}" },
      ...{ allowFrom: "${FROM}", rateLimit: "${RATE}", alertWhenSilent: "${HOURS}", guaranteed: "${DURABLE}" },
      credentials: { token, callers: "${CALLERS}" },
    },
    states: {
      callers: "${CALLERS}",
      message: [section("body"), "${RAW}"],
      reply: "${REPLY}",
      duplicates: "${IGNORE}",
      limits: ["POST", "${FROM}", rate("${RATE}"), section("expected", { hours: "${HOURS}" })],
      guaranteed: "${DURABLE}",
    },
  },
};

function rate(requests: string): string {
  return section("rate", { rate: requests });
}

function signedBy(sender: SenderId, fields: Record<string, unknown> = {}) {
  return { sender, verificationMethod: "signature", credentials: { secret: "a secret" }, ...fields };
}

/** A node of a version that had none of these fields, and no senders. */
function older(id: string) {
  const added: string[] = [...handlingFields, "sender", "scheme", "senderSettings"];
  const saved = Object.entries(webhook(id, `/${id}`)).filter(([name]) => !added.includes(name));
  return { ...Object.fromEntries(saved), z: "tab", x: 400, y: 40, wires: [["sink"]] };
}

const flow = [
  ...webhookFlow(
    ...Object.entries(nodes).map(([id, { saved }]) => ({ id, relativePath: `/${id}`, ...saved })),
    ...[{ id: "repeating", relativePath: "/repeating", ...signedBy("github") }],
  ),
  older("older"),
  older("renamed"),
];

describe("what becomes of requests, in the form", () => {
  let editor: Editor;
  let report: NodeReport;
  let where: unknown;
  before(async () => {
    ({ editor } = await openEditor(flow));
    where = await editor.setting("webhookTriggerGuaranteed");
    await editor.page.route("**/lastRequest", (route) => route.fulfill({ json: report }));
  });
  beforeEach(async () => {
    report = { ...uncalled };
    await editor.set("webhookTriggerGuaranteed", "file");
  });
  afterEach(() => editor.leave());

  const state = (name: Section) => editor.state(name).innerText();
  const isNoted = (name: Parameters<Editor["note"]>[0]) => editor.note(name).isVisible();
  const noted = async (name: Parameters<Editor["note"]>[0]) => {
    await editor.note(name).waitFor();
    return (await editor.note(name).innerText()).trim();
  };
  const message = (field: HandlingField) => editor.message(field).innerText();
  const kinds = () => editor.part("duplicateKeyOf");
  const points = async () => {
    const all = await editor.page.locator("#webhook-trigger-section-guaranteed li:visible").allInnerTexts();
    return all.map((text) => text.trim());
  };
  const promised = (...keys: string[]) => keys.map((key) => catalogText(`guaranteed.${key}`));
  const saved = (id: string) => editor.savedFields(id, [...handlingFields, "sender", "scheme", "senderSettings"]);
  /** Closes the form, which has changed nothing. */
  const expectUnchanged = async (id: string, before: object) => {
    (await editor.page.locator(".webhook-trigger-message").allInnerTexts()).join("").should.equal("", id);
    await editor.done();
    (await saved(id)).should.eql(before);
    (await editor.isChanged(id)).should.be.false(id);
    (await editor.isValid(id)).should.be.true(id);
  };

  it("is in the headings of closed sections, and stays as it was saved", async () => {
    for (const [id, { states }] of Object.entries(nodes)) {
      const before = await saved(id);
      await editor.editAsItIs(id);
      (await editor.openSections()).should.eql([]);
      for (const [name, expected] of Object.entries(states)) {
        (await state(name as Section)).should.equal([expected].flat().join(" · "), id);
      }
      await expectUnchanged(id, before);
    }
  });

  it("is the default for a node that is older than the fields, which does not count as changed", async () => {
    const before = await saved("older");
    const usual = Object.fromEntries([...handlingFields, "sender" as const].map((name) => [name, defaults[name]]));
    await editor.editAsItIs("older");
    (await editor.openSections()).should.eql([]);
    for (const field of handlingFields) {
      const [value, input] = [defaults[field], editor.input(field)];
      if (typeof value === "boolean") (await input.isChecked()).should.equal(value, field);
      else (await input.inputValue()).should.equal(String(value), field);
    }
    await editor.cancel();
    (await saved("older")).should.eql(before);
    await editor.editAsItIs("older");
    await expectUnchanged("older", { ...before, ...usual });
    await editor.editAsItIs("renamed");
    await editor.fillIn({ rateLimit: "60" });
    await editor.done();
    (await editor.isValid("renamed")).should.be.true();
    should(await saved("renamed")).containEql({ rateLimit: "60", replyStatus: 200, reply: "now" });
  });

  const always = ["reply", "ignoreDuplicates", "allowFrom", "rateLimit", "alertWhenSilent", "rawBody", "guaranteed"];
  const atOnce = ["replyStatus", "replyBody", "replyType"];
  it("asks for what belongs to what was chosen, and for nothing else, checks a field only while it applies, and points out a body that is not the JSON of its type", async () => {
    const shows = async (...expected: string[]) => {
      const visible: string[] = await editor.visible(...handlingFields);
      visible.sort().should.eql([...always, ...expected].sort());
      const isByFlow = (await editor.input("reply").inputValue()) === "flow";
      (await editor.hint("reply").innerText()).should.equal(isByFlow ? catalogText("hint.replyByFlow") : "");
    };
    await editor.edit("usual");
    await shows(...atOnce);
    await editor.fillIn({ replyStatus: "204" });
    await shows("replyStatus");
    await editor.fillIn({ reply: "flow" });
    await shows("replyTimeout");
    await editor.fillIn({ ignoreDuplicates: true });
    await shows("replyTimeout", "duplicateKey", "duplicateWindow");
    await editor.fillIn({ ignoreDuplicates: false, guaranteed: true });
    const retried = ["attempts", "backoffFirst", "backoffLongest", "attemptTimeout", "concurrency", "ratePerMinute", "breaker"];
    await shows("replyTimeout", ...retried);
    await editor.fillIn({ reply: "now" });
    await shows("replyStatus", "httpErrorsFail", ...retried);
    await editor.fillIn({ replyType: "text", replyStatus: "204" });
    (await editor.message("replyType").textContent() ?? "?").should.equal("");
    await editor.fillIn({ replyStatus: "200" });
    (await message("replyType")).should.equal(catalogText("rules.replyType"));
    should(await editor.input("replyType").getAttribute("aria-invalid")).equal("true");
    (await state("reply")).should.equal(section("broken"));
    for (const [type, body, isWrong] of [
      ["application/json", "{ok}", true],
      ["application/problem+json; charset=utf-8", "{ok}", true],
      ["text/plain", "{ok}", false],
      ["application/json", '{"ok":true}', false],
      ["application/json", "", false],
      ["application/json", "${BODY}", false],
    ] as const) {
      await editor.fillIn({ replyType: type, replyBody: body });
      (await isNoted("json")).should.equal(isWrong, `${type} ${body}`);
      if (isWrong) (await noted("json")).should.equal(catalogText("reply.noJson"));
    }
    await editor.cancel();
    await editor.edit("environment");
    await shows(...handlingFields.filter((field) => !always.includes(field)));
  });

  it("suggests to ignore duplicates where the sender has an id for its deliveries, by a button, says that they cannot be known where it has none, and has a list of other keys", async () => {
    report.withoutKey = 1;
    await editor.edit("repeating");
    const suggested = [section("duplicatesUnchecked"), section("duplicatesSuggested", { name: "GitHub" })];
    (await state("duplicates")).should.equal(suggested.join(" · "));
    (await noted("duplicates")).should.startWith(catalogText("duplicates.suggested", { name: "GitHub" }));
    await editor.note("duplicates").locator("button").click();
    (await editor.input("ignoreDuplicates").isChecked()).should.be.true();
    (await editor.focus()).should.equal("node-input-ignoreDuplicates");
    (await isNoted("duplicates")).should.be.false();
    (await state("duplicates")).should.equal(section("duplicatesKnown", { hours: "72", key: section("byId") }));
    await editor.fillIn({ sender: "", ignoreDuplicates: false });
    (await isNoted("duplicates")).should.be.false();
    await editor.fillIn({ ignoreDuplicates: true });
    (await noted("no-id")).should.equal(catalogText("duplicates.noId"));
    (await noted("without-key")).should.equal(catalogText("duplicates.withoutKey_one", { count: "1" }));
    (await editor.hint("duplicateKey").innerText()).should.equal(catalogText("hint.duplicateKeyWithoutId"));
    (await state("duplicates")).should.equal(section("duplicatesUnknown"));
    (await kinds().inputValue()).should.equal("none");
    for (const [kind, key] of [["header", "header:"], ["body", "body"], ["query", "query:"], ["json", "json:"]] as const) {
      await kinds().selectOption(kind);
      (await editor.input("duplicateKey").inputValue()).should.equal(key);
    }
    await editor.fillIn({ duplicateKey: "header:X-Id" });
    await kinds().selectOption("header");
    (await editor.input("duplicateKey").inputValue()).should.equal("header:X-Id");
    // The name of a header field is none of a value in the JSON.
    await kinds().selectOption("json");
    (await editor.input("duplicateKey").inputValue()).should.equal("json:");
    await editor.fillIn({ duplicateKey: "${KEY}" });
    (await kinds().inputValue()).should.equal("written");
    (await state("duplicates")).should.equal(section("duplicatesKnown", { hours: "72", key: "${KEY}" }));
    await editor.fillIn({ duplicateKey: "", sender: "github" });
    (await isNoted("no-id")).should.be.false();
    (await kinds().inputValue()).should.equal("id");
    (await editor.hint("duplicateKey").innerText()).should.equal(catalogText("hint.duplicateKey"));
    await editor.fillIn({ ignoreDuplicates: false });
    (await isNoted("without-key")).should.be.false();
  });

  it("says which of the addresses is none, and warns of limits by address where Node-RED does not see it", async () => {
    await editor.edit("usual");
    await editor.enter({ allowFrom: "192.0.2.1, 203.0.113.0/33\n203.0.113.0/24" });
    (await message("allowFrom")).should.equal(catalogText("limits.unreadable", { entry: "203.0.113.0/33" }));
    await editor.enter({ allowFrom: "," });
    (await message("allowFrom")).should.equal(catalogText("rules.allowFrom"));
    await editor.enter({ allowFrom: "203.0.113.0/24" });
    (await editor.message("allowFrom").isVisible()).should.be.false();
    for (const [fact, note, text, stated] of [
      ["hasOnlyLoopback", "loopback", "limits.loopback", "onlyLocal"],
      ["trustsEveryProxy", "forgeable", "limits.trustsEveryProxy", "forgeable"],
    ] as const) {
      report = { ...uncalled, [fact]: true };
      await editor.enter({ allowFrom: "", rateLimit: "60" });
      (await noted(note)).should.startWith(catalogText(text));
      should(await editor.note(note).locator("a").getAttribute("href")).endWith("/docs/replies.md#behind-a-proxy");
      await editor.state("limits").filter({ hasText: section(stated) }).waitFor();
      await editor.enter({ rateLimit: "0" });
      (await isNoted(note)).should.be.false();
      await editor.enter({ allowFrom: "192.0.2.1" });
      (await isNoted(note)).should.be.true();
    }
  });

  it("says where guaranteed deliveries are stored, as the runtime says it, what is promised, and for how long, and what it needs where nothing can be stored, which is an error only where it is on", async () => {
    should(where).equal(sqliteIsHere() ? "file" : "none");
    await editor.edit("usual");
    for (const [store, stated] of [["file", "guaranteedInFile"], ["server", "guaranteedOnServer"]] as const) {
      await editor.set("webhookTriggerGuaranteed", store);
      await editor.fillIn({ reply: "now", guaranteed: false });
      (await points()).should.eql(promised("again", "status"));
      (await isNoted("no-store")).should.be.false();
      await editor.fillIn({ guaranteed: true });
      (await state("guaranteed")).should.equal(section(stated));
      await editor.fillIn({ reply: "flow" });
      (await points()).should.containEql(catalogText("guaranteed.byFlow"));
    }
    (await editor.input("attempts").inputValue()).should.equal(String(defaults.attempts));
    for (const [entered, time] of [
      [{}, "85 minutes"],
      [{ attempts: "50" }, "41 hours"],
      [{ attempts: "1" }, undefined],
      [{ attempts: "2", backoffFirst: "1" }, "1 second"],
      [{ backoffFirst: "soon" }, undefined],
    ] as const) {
      await editor.fillIn(entered);
      const span = editor.part("guaranteed-span");
      if (time) (await span.innerText()).should.equal(catalogText("guaranteed.span", { time }));
      else (await span.isVisible()).should.be.false();
    }
    await editor.set("webhookTriggerGuaranteed", "none");
    await editor.fillIn({ guaranteed: false });
    (await noted("no-store")).should.equal(catalogText("guaranteed.missing"));
    (await points()).should.eql([]);
    (await editor.message("guaranteed").isVisible()).should.be.false();
    await editor.cancel();
    await editor.editAsItIs("paced");
    (await editor.openSections()).should.eql(["guaranteed"]);
    (await state("guaranteed")).should.equal(section("broken"));
    (await message("guaranteed")).should.equal(catalogText("guaranteed.closed"));
    await editor.enter({ guaranteed: false });
    (await editor.message("guaranteed").isVisible()).should.be.false();
    await editor.enter({ guaranteed: true });
    await editor.done();
    (await editor.isValid("paced")).should.be.false();
  });
}); // prettier-ignore
