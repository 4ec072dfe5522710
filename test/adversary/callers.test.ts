import { createDecipheriv, hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { callerMethods, callers, callerToken, presentations } from "../harness/callers";
import { putForward, withClock } from "../harness/clock";
import { moduleOf } from "../harness/fixtures";
import { tab, webhook } from "../harness/flow";
import { bytesOf, endHeld, guaranteed, storeKinds } from "../harness/guaranteed";
import { command, send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { type Flow, NodeRed } from "../harness/node-red";
import { operations } from "../harness/openapi";
import { states } from "../harness/deliveries-tab";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { Upload } from "../harness/upload";

type Method = (typeof callerMethods)[number];

interface Made {
  readonly name: string;
  readonly token: string;
  readonly digest: string;
}

/** All that a token may look like, the pair of `basic` included. */
function formsOf({ name, token }: Made): string[] {
  const encodings = (["base64", "base64url", "hex"] as const).map((encoding) => Buffer.from(token).toString(encoding));
  return [token, ...encodings, Buffer.from(`${name}:${token}`).toString("base64")];
}

function digestsOf({ token }: Made): string[] {
  const hex = hash("sha256", token);
  return [hex, hex.toUpperCase(), hash("sha256", token, "base64"), hash("sha256", token, "base64url")];
}

/** Node-RED's credentials file: AES-256-CTR with the digest of the secret, the initial vector in front. */
function decryptCredentials(file: string, secret: string | false): string {
  const written = JSON.parse(file) as { $?: string };
  if (secret === false) return file;
  const { $: sealed = "" } = written;
  const iv = Buffer.from(sealed.slice(0, 32), "hex");
  const decipher = createDecipheriv("aes-256-ctr", hash("sha256", secret, "buffer"), iv);
  return decipher.update(sealed.slice(32), "base64", "utf8") + decipher.final("utf8");
}

/** All that the admin API and Node-RED's own tell of these nodes by GET, but for Node-RED's route for credentials. */
async function readAdminApi(nodeRed: NodeRed, shown: ShownDeliveries, flow: Flow): Promise<string[]> {
  const { deliveries } = await shown.page("limit=500");
  const all = await Promise.all(states.map((state) => shown.page(`limit=500&state=${state}`)));
  const gets = [...operations.keys()].filter((operation) => operation.startsWith("get ")).map((operation) => operation.slice(4));
  const paths = gets.flatMap((path) => {
    const ids = path.includes("deliveries/{id}") ? deliveries.map(({ id }) => id) : flow.map(({ id }) => String(id));
    return path.includes("{") ? ids.map((id) => path.replace(/\{\w+\}/, id)) : [path];
  });
  // A stream has no end.
  const own = paths.filter((path) => path !== "changes").map((path) => `/webhook-trigger/${path}`);
  const answers = [JSON.stringify(all)];
  for (const path of [...own, "/flows", "/flow/tab", "/settings", "/nodes", "/webhook-trigger"]) {
    const { headers, body } = await send(nodeRed.admin(path), { method: "GET", headers: { Accept: "application/json, text/html" } });
    answers.push(JSON.stringify(headers) + body);
  }
  return answers;
} // prettier-ignore

for (const kind of storeKinds.filter(({ isHere }) => isHere)) {
  it(`leaves the token of a caller nowhere but in the answer that made it, and its digest but in the credentials, with deliveries in ${kind.name}`, async () => {
    const store = await kind.begin();
    const credentialSecret = kind.isOrdered ? false : "the secret of the settings file";
    const settings = { ...store.options.settings, credentialSecret, webhookTriggerDeliveries: { keep: 500 } };
    const nodeRed = await NodeRed.start({ ...store.options, settings, plugin: moduleOf("hold"), besides: ["10-function.js"] });
    try {
      const shown = new ShownDeliveries(nodeRed);
      const names = ["door 1", "Tür: 2", "stolen"];
      const asked = await command(nodeRed.admin("/webhook-trigger/callers"), { names });
      const made = asked.json.callers as [Made, Made, Made];
      const [, , stolen] = made;
      should(asked.headers).have.property("cache-control", "no-store");
      const madeAgain = (await command(nodeRed.admin("/webhook-trigger/callers"), { names })).json.callers as Made[];
      should(new Set([...made, ...madeAgain].map(({ token }) => token)).size).equal(6);
      for (const { token, digest } of made) should([token.length, digest]).eql([40, hash("sha256", token)]);
      const flow = (among: readonly Made[]): Flow => {
        const credentials = { callers: JSON.stringify(among.map(({ name, digest }) => ({ name, digest }))) };
        const fields = { credentials, returnQueryParams: true, attempts: 1, alertWhenSilent: 1, alertPerCaller: true, rateLimit: 1000, rateLimitBy: "caller" };
        return tab(
          ...callerMethods.flatMap((verificationMethod) => guaranteed(verificationMethod, { ...fields, verificationMethod, relativePath: `/${verificationMethod}/:id` }, ["sink"])),
          ...callerMethods.map((verificationMethod) => webhook(`direct-${verificationMethod}`, `/direct/${verificationMethod}/:id`, { ...fields, verificationMethod, wires: [["throw"]] })),
          { id: "throw", type: "function", func: "throw new Error(JSON.stringify(msg.req));", outputs: 1, libs: [], wires: [["sink"]] },
          { id: "watch", type: "webhook-watch", name: "", scope: null, events: null, wires: [["sink"]] },
        );
      };
      /** Sends a token in its place and, unless it is a stranger's by now, elsewhere. */
      const post = async (method: Method, { name, token }: Made, path: string, again = token) => {
        const { search, headers } = presentations[method](name, token);
        const query = `${search === "" ? "?" : `${search}&`}again=${again}&a=1`;
        const more = { "X-Again": `t=${again}`, "Cookie": `session=${again}`, "X-Original-Url": `/?state=${again}`, "User-Agent": `device/1 (${again})`, ...(again === token && { "X-Copied": headers.Authorization ?? "" }) };
        return send(nodeRed.node(`/${path}/${again}${query}`), { headers: { ...headers, ...more, "Content-Type": "application/json" }, body: '{"a":1}' });
      };
      await nodeRed.deploy(flow(made));

      const accepted: string[] = [];
      for (const method of callerMethods) {
        for (const caller of made) {
          const { status, body, json } = await post(method, caller, method);
          should(status).equal(200, body);
          should((await nodeRed.message(json.id)).webhook).have.property("caller", caller.name);
          accepted.push(String(json.id));
          (await post(method, caller, `direct/${method}`)).status.should.equal(200);
          (await post(method, { ...caller, token: callerToken("nobody") }, method, caller.token)).status.should.equal(401);
          (await post(method, { ...caller, name: "x", token: "x" }, method, caller.token)).status.should.equal(401);
        }
        await endHeld(nodeRed, method, `the flow says ${made.map(({ token }) => token).join(", ")}`);
      }
      for (const id of accepted) {
        await shown.find((each) => each.id === id && each.state === "failed");
        const { status, body, json } = await shown.replay(id);
        should(status).equal(200, body);
        await nodeRed.message(json.id);
      }
      for (const method of callerMethods) await endHeld(nodeRed, method);
      // What was stored is still there, also what a removed caller has sent, which the deploy puts back.
      await post("header", stolen, "header");
      await nodeRed.deploy(flow(made.filter(({ name }) => name !== "stolen")));
      for (const method of callerMethods) {
        (await post(method, stolen, method, "x")).status.should.equal(401);
        await command(nodeRed.admin(`/webhook-trigger/${method}/test`));
      }

      const answers = await readAdminApi(nodeRed, shown, flow(made));
      // What the form exports is what Node-RED gives it; its own route for credentials is the only one with digests.
      const own = await send(nodeRed.admin("/credentials/webhook-trigger/header"), { method: "GET" });
      should(own.body).containEql(made[0].digest);

      await nodeRed.stop();
      const files = readdirSync(nodeRed.userDir, { recursive: true, encoding: "utf8", withFileTypes: true }).filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
      const written = new Map(files.map((file) => [file, readFileSync(file, "latin1")]));
      const credentials = [...written].filter(([file]) => file.includes("flows_cred")).map(([, text]) => decryptCredentials(text, credentialSecret));
      const others = [...written].filter(([file]) => !file.includes("flows_cred")).map(([, text]) => text);
      // Node-RED itself logs what a node of a flow reports.
      const log = nodeRed.log.split("\n").filter((line) => !line.includes("[hold:")).join("\n");
      const seen = [log, JSON.stringify([...nodeRed.messages, ...nodeRed.statuses]), ...answers];
      should(credentials.some((text) => text.includes(made[0].digest))).be.true();
      should(seen.some((text) => text.includes("the flow says [redacted], [redacted], [redacted]"))).be.true();
      for (const caller of made) {
        for (const [places, forms] of [
          [[...seen, ...others, ...credentials, ...written.values(), bytesOf(store), own.body], formsOf(caller)],
          [[...seen, ...others, bytesOf(store)], digestsOf(caller)],
        ] as const) {
          const found = places.flatMap((text) => forms.filter((form) => text.includes(form)).map((form) => `${form}: ${around(text, form)}`));
          should(found).eql([]);
        }
      }
    } finally {
      await nodeRed.stop();
      await store.end();
    }
  }); // prettier-ignore
}

function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(at - 200, 0), at + 100);
}

/** Nodes that take the tokens of these, by each method, with guaranteed delivery too. */
const flowOf = (...names: string[]): Flow => {
  const credentials = callers(...names);
  return tab(
    ...callerMethods.flatMap((verificationMethod) => [
      webhook(verificationMethod, `/${verificationMethod}`, { verificationMethod, credentials }),
      ...guaranteed(`kept-${verificationMethod}`, { verificationMethod, credentials }, ["sink"]),
    ]),
    // Another one in each flow, so that each deploy closes it.
    { id: "slow", type: "slow", name: names.join(", "), wires: [] },
  );
};

onBothWays("a deploy that removes a caller", { plugin: moduleOf("hold"), env: withClock }, (nodeRed) => {
  before(() => putForward(nodeRed(), 0));
  beforeEach(() => nodeRed().deploy(flowOf("one", "removed", "other")));

  const post = (method: Method, name: string, path: string = method, trace = "post") => {
    const { search, headers } = presentations[method](name);
    return send(nodeRed().node(`/${path}${search}`), { headers: { ...headers, "X-Trace": trace }, body: trace });
  };
  const upload = (method: Method, name: string, body: string) => {
    const { search, headers } = presentations[method](name);
    return Upload.begin(nodeRed(), body, `/${method}${search}`, headers);
  };
  const names = ["one", "removed", "other"];
  const ofEach = <Result>(act: (name: string) => Promise<Result>) => Promise.all(names.map(act));

  for (const method of callerMethods) {
    for (const kind of ["full", "nodes"] as const) {
      it(`refuses what waits for it and what is on its way, of that caller alone: ${method}, ${kind}`, async () => {
        const before = nodeRed().messages.length;
        const ending = await ofEach((name) => upload(method, name, `${name} ends meanwhile`));
        const going = await ofEach((name) => upload(method, name, `${name} goes on`));
        const finish = await nodeRed().beginDeploy(flowOf("one", "other"), kind);
        for (const each of ending) each.finish();
        const waiting = names.map((name) => post(method, name, method, `${name} waits`));
        for (const name of names) await nodeRed().arrived(`${name} waits`);
        await finish();
        for (const each of going) each.finish();
        const expected = [200, 401, 200];
        for (const replies of [waiting, names.map((name) => post(method, name))]) {
          should((await Promise.all(replies)).map(({ status }) => status)).eql(expected);
        }
        for (const uploads of [ending, going]) {
          should((await Promise.all(uploads.map((each) => each.statuses()))).flat()).eql(expected);
        }
        const callersSeen = nodeRed().messages.slice(before).map(({ webhook: { caller } }) => String(caller)); // prettier-ignore
        should(callersSeen.sort()).eql([...Array<string>(4).fill("one"), ...Array<string>(4).fill("other")]);
      });
    }
  }

  it("refuses a body on its way where another credential is asked for, or another path, since the deploy", async () => {
    const bySender = { verificationMethod: "signature", sender: "github", credentials: { secret: "key" } };
    const kept = { guaranteed: true, credentials: callers("one", "removed") };
    const own = { credentials: { token: callerToken("own") } };
    await nodeRed().deploy(
      tab(webhook("signed", "/signed", { credentials: callers("one") }), webhook("kept", "/kept", kept), webhook("own", "/own", own)),
    ); // prettier-ignore
    const { headers } = presentations.header("one");
    const signature = { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` };
    const begin = (path: string, fields: Record<string, string>) => Upload.begin(nodeRed(), path, path, fields);
    const uploads = await Promise.all([
      begin("/signed", { ...headers, ...signature }),
      begin("/kept", headers),
      begin("/own", presentations.header("own").headers),
    ]);
    const before = nodeRed().messages.length;
    await nodeRed().deploy(
      tab(webhook("signed", "/signed", bySender), webhook("kept", "/moved", kept), webhook("own", "/own", { credentials: { token: callerToken("new") } })),
    ); // prettier-ignore
    for (const each of uploads) each.finish();
    should((await Promise.all(uploads.map((each) => each.statuses()))).flat()).eql([401, 503, 503]);
    nodeRed().messages.length.should.equal(before);
  });

  // Without a file, a guaranteed delivery is refused.
  if (sqliteIsHere()) {
    it("keeps the deliveries that were stored before", async () => {
      for (const method of callerMethods) {
        const { json } = await post(method, "removed", `kept-${method}`);
        const attempts = () => nodeRed().messages.filter(({ _msgid, sink }) => _msgid === json.id && sink.startsWith("hold"));
        await nodeRed().until(() => attempts()[0], "the first start");
        await nodeRed().deploy(flowOf("one", "other"));
        await nodeRed().until(() => attempts()[1], "the start after the deploy");
        await endHeld(nodeRed(), `kept-${method}`);
        const end = await nodeRed().until(() => nodeRed().messages.find(({ _msgid, sink }) => _msgid === json.id && sink === "sink"), "the end");
        should(end.webhook).match({ caller: "removed", attempt: 1 });
        (await post(method, "removed", `kept-${method}`)).status.should.equal(401);
        await nodeRed().deploy(flowOf("one", "removed", "other"));
      }
    }); // prettier-ignore
  }

  it("loses no request of the others, and takes none of that caller once it is done", async () => {
    let isOver = false;
    const load = (name: string) =>
      callerMethods.map(async (method) => {
        const statuses: number[] = [];
        while (!isOver) statuses.push((await post(method, name)).status);
        return statuses;
      });
    const sent = { one: load("one"), other: load("other"), removed: load("removed") };
    for (const kind of ["full", "flows", "nodes"] as const) {
      await nodeRed().deploy(flowOf("one", "other"), kind);
      for (const method of callerMethods) (await post(method, "removed")).status.should.equal(401);
      await nodeRed().deploy(flowOf("one", "removed", "other"), kind);
      for (const method of callerMethods) (await post(method, "removed")).status.should.equal(200);
    }
    isOver = true;
    for (const statuses of await Promise.all([...sent.one, ...sent.other])) {
      should([...new Set(statuses)]).eql([200]);
      statuses.should.not.be.empty();
    }
    for (const statuses of await Promise.all(sent.removed)) should([...new Set(statuses)].sort()).eql([200, 401]);
  });
});
