import { readFile } from "node:fs/promises";
import type { Route } from "playwright-core";
import should from "should";
import { catalogText } from "../harness/browser";
import { callers, callerToken } from "../harness/callers";
import { paste } from "../harness/curl";
import { bearer, tab, token, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useEditor } from "../harness/stage";

const names = Array.from({ length: 10 }, (_, index) => `Tür ${index + 1}`);
const known = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `sensor ${index}`, digest: index.toString(16).padStart(64, "0") })); // prettier-ignore
/** As it may be written by hand. */
const written = ` ${JSON.stringify(known(2), null, 1)}\n`;
const basic = (more: object = {}) => ({
  verificationMethod: "basic",
  credentials: { user: "own", password: "password", ...more },
});

describe("the section Callers of the form", () => {
  const flow = [
    { id: "subflow", type: "subflow", name: "Hook", in: [], out: [], env: [] },
    { ...webhook("inner", "/inner", { credentials: { callers: written } }), z: "subflow", x: 100, y: 40, wires: [] },
    ...tab(
    webhook("doors", "/doors"),
    webhook("query", "/query", { verificationMethod: "query", queryParameter: "a key", credentials: {} }),
    webhook("basic", "/basic", basic()),
    webhook("counting", "/counting", basic(callers("door"))),
    webhook("used", "/used", { credentials: callers("stolen", "moved", "lost", "other") }),
    webhook("listed", "/listed", { credentials: callers("door") }),
    webhook("waiting", "/waiting", { credentials: callers("door") }),
    webhook("kept", "/kept", { credentials: callers("gate") }),
    webhook("written", "/written", { credentials: { token, callers: written } }),
    webhook("many", "/many", { credentials: { callers: JSON.stringify(known(1000)) } }),
    webhook("damaged", "/damaged", { credentials: { token, callers: JSON.stringify([{ name: "door", digest: token }]) } }),
    webhook("variable", "/variable", { credentials: { callers: "${CALLERS}" } }),
    ),
  ];
  const { editor, nodeRed } = useEditor(flow);
  const text = (key: string, values: Record<string, string> = {}) => catalogText(`callers.${key}`, values);
  const section = () => editor().part("section-callers");
  const rows = () => section().locator("li");
  const row = (index: number) => rows().nth(index);
  const button = (name: string) => section().getByRole("button", { name, exact: true });
  const variable = () => section().getByLabel(text("variable"), { exact: true });
  const trouble = () => editor().part("caller-trouble");

  const open = async (id: string) => {
    await editor().editAsItIs(id);
    await editor().part("heading-callers").click();
    await editor().part("caller-names").waitFor();
  };
  const add = async (...added: string[]) => {
    await editor().part("caller-names").focus();
    await editor().page.evaluate((pasted) => navigator.clipboard.writeText(pasted), added.join("\r\n"));
    for (const keys of ["ControlOrMeta+a", "ControlOrMeta+v"]) await editor().page.keyboard.press(keys);
    await button(text("add")).click();
  };
  /** What is in the file that is saved, by name: the cells of its lines. */
  const saveFile = async () => {
    const saved = editor().page.waitForEvent("download");
    await button(text("save")).click();
    const download = await saved;
    download.suggestedFilename().should.match(/^callers-(doors|used|basic|kept)\.csv$/);
    const content = await readFile(await download.path(), "utf8");
    const [heading = "", ...lines] = content.split("\r\n").slice(0, -1);
    return { content, heading: heading.replace("\uFEFF", ""), lines: lines.map((line) => line.split(",") as [string, string, string, string]) };
  };
  /** Closes the form, which has changed nothing. */
  const expectUnchanged = async (id: string) => {
    await editor().done();
    (await editor().isChanged(id)).should.be.false(id);
  };
  const deploy = async () => {
    await editor().done();
    await editor().deploy();
  };
  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await send(path, { headers })).status;
  const callerOf = async (path: string, headers: Record<string, string> = {}) => {
    const { json } = await send(path, { headers });
    return (await nodeRed().message(json.id)).webhook.caller;
  };
  const asBearer = (given: string) => ({ Authorization: `Bearer ${given}` });

  it("is not there where a sender signs, and makes ten callers of pasted lines, whose tokens are in a file, and each of which is known by its name", async () => {
    await open("doors");
    await editor().fillIn({ verificationMethod: "signature" });
    (await section().isVisible()).should.be.false();
    await editor().fillIn({ verificationMethod: "header" });
    (await editor().state("callers").innerText()).should.equal(text("none"));
    await add("", ...names.map((name) => ` ${name} `));
    await rows().nth(9).waitFor();
    (await editor().state("callers").innerText()).should.equal("10");
    (await rows().locator("span").first().innerText()).trim().should.equal(text("undeployed"));
    const { content, heading, lines } = await saveFile();
    heading.should.equal("name,token,header,URL");
    // So that Excel reads its umlauts.
    content.should.startWith("\uFEFF");
    lines.map(([name]) => name).should.eql(names);
    await editor().enter({ token: "" });
    (await editor().message("token").innerText()).should.equal("");
    (await section().locator(".webhook-trigger-group", { hasText: "Tür 10" }).isVisible()).should.be.true();
    (await editor().hint("token").innerText()).should.equal(text("only"));
    const placeholder = catalogText("testRequest.placeholder");
    (await editor().note("yours").innerText()).trim().should.equal(catalogText("handover.callers", { placeholder }));
    // Nothing makes a token for the node.
    await editor().enter({ sender: "gitlab" });
    await editor().enter({ sender: "" });
    (await editor().input("token").inputValue()).should.equal("");
    await editor().done();
    (await editor().isValid("doors")).should.be.true();
    const saved = JSON.stringify(await editor().saved("doors", "credentials"));
    const page = await editor().page.content();
    await editor().deploy();
    for (const [name, given, header, url] of lines) {
      header.should.equal(`Authorization: Bearer ${given}`);
      url.should.equal(nodeRed().node("/doors"));
      for (const left of [saved, page]) left.should.not.containEql(given);
      should(await callerOf(url, asBearer(given))).equal(name);
    }
    (await statusOf(nodeRed().node("/doors"), bearer)).should.equal(401);
  });

  it("says when each was used, removes one, renames one and makes a new token for one, which changes no other, and tests the node by a key of its own", async () => {
    const url = nodeRed().node("/used");
    const [stolen, moved, lost, other] = ["stolen", "moved", "lost", "other"].map(callerToken) as [string, string, string, string];
    (await statusOf(url, asBearer(stolen))).should.equal(200);
    await open("used");
    await row(0).locator("time").waitFor();
    should(await row(0).locator("time").getAttribute("title")).containEql(String(new Date().getFullYear()));
    (await row(1).locator("span").innerText()).trim().should.equal(text("unused"));
    await button(text("remove", { name: "stolen" })).click();
    await row(0).getByText(text("removed")).waitFor();
    await row(1).locator("input").fill("renamed ");
    (await editor().message("callers").innerText()).should.equal("");
    await button(text("renew", { name: "lost" })).click();
    await row(2).getByText(text("renewed")).waitFor();
    const [renewed = ""] = (await saveFile()).lines.map(([, given]) => given);
    await button(text("remove", { name: "other" })).click();
    await button(text("keep", { name: "other" })).click();
    (await statusOf(url, asBearer(stolen))).should.equal(200);
    await deploy();
    for (const given of [stolen, lost]) (await statusOf(url, asBearer(given))).should.equal(401);
    for (const [given, name] of [[moved, "renamed"], [renewed, "lost"], [other, "other"]] as const) {
      should(await callerOf(url, asBearer(given))).equal(name);
    }
    await open("used");
    (await rows().count()).should.equal(3);
    await editor().part("console-open").click();
    const shown = editor().page.locator(".webhook-trigger-console");
    await shown.getByText(text("only")).waitFor();
    (await shown.getByRole("checkbox").count()).should.equal(0);
    (await editor().sendTest()).should.equal(catalogText("testRequest.accepted"));
  });

  it("is used by keyboard alone", async () => {
    const { keyboard } = editor().page;
    await editor().editAsItIs("query");
    await editor().tabTo("webhook-trigger-heading-callers");
    await keyboard.press("Enter");
    await editor().part("caller-names").waitFor();
    await editor().tabTo("webhook-trigger-caller-names");
    await keyboard.type("one\ntwo");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await rows().nth(1).waitFor();
    const copy = button(catalogText("copy", { name: catalogText("handover.url") })).first();
    const isThere = () => copy.evaluate((element) => element === document.activeElement);
    for (let steps = 0; !(await isThere()) && steps < 10; steps++) await keyboard.press("Tab");
    await keyboard.press("Enter");
    const url = await editor().clipboard();
    url.should.match(/\/query\?a\+key=[\w-]{40}$/);
    await button(text("remove", { name: "two" })).focus();
    await keyboard.press("Enter");
    (await button(text("keep", { name: "two" })).evaluate((element) => element === document.activeElement)).should.be.true();
    await keyboard.press("Control+Enter");
    await editor().input("name").waitFor({ state: "detached" });
    await editor().deploy();
    await nodeRed().status("query", /^\/query/);
    should(await callerOf(url)).equal("one");
  });

  it("gives a user and a password with Basic authentication, as a header and as a command as well", async () => {
    await open("basic");
    await add("Zoë: 1", "-2");
    const { heading, lines: [[, given, header] = ["", "", ""], [user] = [""]] } = await saveFile();
    heading.should.equal("user,password,header,URL");
    user.should.equal("-2");
    header.should.equal(`Authorization: Basic ${Buffer.from(`Zoë: 1:${given}`).toString("base64")}`);
    await button(catalogText("copy", { name: catalogText("section.terminal") })).first().click();
    const command = await editor().clipboard();
    await deploy();
    (await paste([command])).status.should.equal(200);
    should(await callerOf(nodeRed().node("/basic"), { Authorization: header.slice("Authorization: ".length) })).equal("Zoë: 1");
    await open("basic");
    await row(0).locator("input").fill("Zoë: 2");
    (await row(0).locator("span").innerText()).trim().should.equal(text("renamed"));
    await editor().enter({ user: "", password: "" });
    (await editor().note("yours").innerText()).trim().should.equal(catalogText("handover.users"));
    await editor().cancel();
  });

  it("names at once what cannot be added, and adds nothing then, nor without permission", async () => {
    await open("written");
    const placeholder = catalogText("testRequest.placeholder");
    (await editor().note("yours").innerText()).trim().should.equal(catalogText("handover.own", { placeholder }));
    for (const [added, said] of [
      [["new", "SENSOR 1"], text("taken", { names: "SENSOR 1" })],
      [["same", "Same"], text("taken", { names: "same, Same" })],
      [["new", "x".repeat(65), "a\tb"], text("unusable", { names: `${"x".repeat(65)}, a\tb` })],
      [Array.from({ length: 999 }, (_, index) => String(index)), catalogText("rules.callers.many")],
    ] as const) {
      await add(...added);
      should(await trouble().textContent()).equal(said);
      (await editor().focus()).should.equal("webhook-trigger-caller-names");
      (await rows().count()).should.equal(2);
    }
    await editor().page.route("**/webhook-trigger/callers", (route) => route.fulfill({ status: 403 }));
    await add("new");
    await trouble().filter({ hasText: text("forbidden") }).waitFor();
    await editor().page.unroute("**/webhook-trigger/callers");
    await row(0).locator("input").fill("Sensor 1");
    (await editor().message("callers").innerText()).should.equal(catalogText("rules.callers.twice"));
    (await section().locator('li [aria-invalid="true"]').count()).should.equal(2);
    await section().getByText(text("twice", { names: "Sensor 1, sensor 1" })).waitFor();
    await row(0).locator("input").fill("sensor 0");
    (await editor().message("callers").innerText()).should.equal("");
    // Undo brings back the names.
    await row(0).locator("input").fill("renamed");
    await editor().done();
    (await editor().isChanged("written")).should.be.true();
    await editor().invoke("core:undo");
    (await editor().isChanged("written")).should.be.false();
    await open("written");
    (await row(0).locator("input").inputValue()).should.equal("sensor 0");
    await expectUnchanged("written");
  });

  it("opens where its value breaks a rule, which it says without the value", async () => {
    await editor().editAsItIs("damaged");
    (await editor().openSections()).should.eql(["callers"]);
    (await editor().message("callers").innerText()).should.equal(catalogText("rules.callers.digest"));
    await section().locator("li").waitFor();
    await button(text("remove", { name: "door" })).click();
    (await editor().message("callers").innerText()).should.equal("");
  });

  it("has an environment variable with all callers, and can be given one, but keeps the list while that is only looked at", async () => {
    const state = () => editor().state("callers").innerText();
    await editor().editAsItIs("variable");
    (await state()).should.equal("${CALLERS}");
    await editor().part("heading-callers").click();
    (await variable().inputValue()).should.equal("${CALLERS}");
    await button(text("byList")).click();
    await editor().part("caller-names").waitFor();
    (await state()).should.equal("${CALLERS}");
    await expectUnchanged("variable");
    await open("written");
    await button(text("byVariable")).click();
    for (const [entered, stated] of [["", "2"], ["${OTHER}", "${OTHER}"], ["", "2"]] as const) {
      await variable().fill(entered);
      (await state()).should.equal(stated);
    }
    await expectUnchanged("written");
    await open("listed");
    await row(0).waitFor();
    await button(text("byVariable")).click();
    await variable().fill("OTHER");
    const said = await editor().message("callers").innerText();
    said.should.equal(catalogText("rules.callers.format")).and.containEql("${CALLERS}");
    await variable().fill("${OTHER}");
    await editor().done();
    should(await editor().saved("listed", "credentials")).have.property("callers", "${OTHER}");
  });

  it("keeps a new caller, and a new name, when the answer of the runtime comes after another change", async () => {
    const route = "**/webhook-trigger/callers";
    /** Answers the request of an action after another one. */
    const answerAfter = async (ask: () => Promise<void>, change: () => Promise<void>) => {
      const { page } = editor();
      const asked = new Promise<Route>((resolve) => void page.route(route, resolve));
      await ask();
      const held = await asked;
      await change();
      const answered = page.waitForResponse(route);
      await held.continue();
      await (await answered).finished();
      await page.unroute(route);
    };
    await open("waiting");
    await answerAfter(() => add("new"), () => button(text("byVariable")).click());
    await editor().state("callers").getByText("2", { exact: true }).waitFor();
    await button(text("byList")).click();
    await section().locator(".webhook-trigger-group").getByText("new", { exact: true }).waitFor();
    (await editor().state("callers").innerText()).should.equal("2");
    await answerAfter(() => button(text("renew", { name: "door" })).click(), () => row(0).locator("input").fill("gate"));
    await row(0).getByText(text("renewed")).waitFor();
    await editor().done();
    const { callers: saved } = (await editor().saved("waiting", "credentials")) as { callers: string };
    (JSON.parse(saved) as { name: string }[]).map(({ name }) => name).should.eql(["gate", "new"]);
    // The form of another node knows nothing of it.
    await open("waiting");
    await answerAfter(() => add("late"), async () => {
      await editor().cancel();
      await open("written");
    });
    (await editor().state("callers").innerText()).should.equal("2");
    await expectUnchanged("written");
  });

  it("shows the newest tokens first, whose names no spreadsheet calculates, and gives the list to a variable", async () => {
    await open("kept");
    const headings = section().locator(".webhook-trigger-group");
    const shown = async (first: string) => {
      await headings.first().getByText(first, { exact: true }).waitFor();
      return (await headings.allInnerTexts()).join();
    };
    const added = ["=1+1", "+1", "-1", "@a", ...Array.from({ length: 8 }, (_, index) => `new ${index}`)];
    await add(...added);
    (await shown("=1+1")).should.equal(added.slice(0, 10).join());
    await add("last");
    (await shown("last")).should.equal(["last", ...added.slice(0, 9)].join());
    const { lines } = await saveFile();
    lines.slice(0, 5).map(([name]) => name).should.eql(["'=1+1", "'+1", "'-1", "'@a", "new 0"]);
    await button(catalogText("copy", { name: text("asVariable") })).click();
    const list = JSON.parse(await editor().clipboard()) as { name: string; digest: string }[];
    list.map(({ name }) => name).should.eql(["gate", ...added, "last"]);
    for (const { digest } of list) digest.should.match(/^[0-9a-f]{64}$/);
    // What is deployed can be seen, and not changed, while a variable is chosen; the list comes back.
    await button(text("byVariable")).click();
    await section().getByText(text("deployed")).waitFor();
    (await rows().first().locator("span").first().innerText()).should.equal("gate");
    (await rows().locator("input").count()).should.equal(0);
    await button(text("byList")).click();
    await row(list.length - 1).locator("input").waitFor();
    (await editor().state("callers").innerText()).should.equal(String(list.length));
    await headings.first().getByText("last", { exact: true }).waitFor();
    await editor().cancel();
  });

  it("has a search for many callers, and asks when they were used, but not inside a subflow, whose instances have other ids", async () => {
    const asked: string[] = [];
    editor().page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await open("inner");
    await editor().cancel();
    await open("many");
    await row(0).getByText(text("unused")).waitFor();
    asked.should.containEql("/webhook-trigger/many/callers").and.not.containEql("/webhook-trigger/inner/callers");
    await section().getByText(text("hidden", { count: "900" })).waitFor();
    await section().getByRole("searchbox").fill("SENSOR 99");
    await rows().nth(11).waitFor({ state: "detached" });
    (await rows().count()).should.equal(11);
    await expectUnchanged("many");
  });

  it("is there where callers have tokens, and so are the fields that count by caller", async () => {
    await editor().edit("counting");
    for (const field of ["rateLimitBy", "alertPerCaller"] as const) {
      (await editor().input(field).isVisible()).should.be.true();
      await editor().enter({ verificationMethod: "jwt" });
      (await editor().input(field).isVisible()).should.be.false();
      (await editor().state("callers").innerText()).should.equal(text("notUsed"));
      await editor().enter({ verificationMethod: "basic" });
    }
    await button(text("remove", { name: "door" })).click();
    (await editor().input("alertPerCaller").isVisible()).should.be.false();
    await editor().enter({ verificationMethod: "jwt" });
    await button(text("keep", { name: "door" })).click();
    (await editor().input("callers").inputValue()).should.containEql("door");
  });
}); // prettier-ignore
