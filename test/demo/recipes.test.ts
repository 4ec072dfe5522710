import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import should from "should";
import { paste } from "../harness/curl";
import { tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { NodeRed } from "../harness/node-red";
import { codeBlock, section } from "../harness/readme";
import { sharedBrowser } from "../harness/stage";

/** As the form makes them, of the characters that all these senders take. */
const token = "abcdefghijklmnopqrstuvwxyz-ABCDEFG_01234";
const recipes = section("Recipes");

/** What the documentation of a sender says that it sends, as far as it matters here. */
interface Sent {
  search?: string;
  headers: Record<string, string>;
  body: unknown;
}

const json = { "Content-Type": "application/json" };

const senders: Record<string, Sent> = {
  // https://docs.gitlab.com/user/project/integrations/webhook_events/
  GitLab: {
    headers: {
      ...json,
      "User-Agent": "GitLab/18.5.0",
      "X-Gitlab-Event": "Push Hook",
      "X-Gitlab-Instance": "https://gitlab.example",
      "X-Gitlab-Token": token,
    },
    body: {
      object_kind: "push",
      event_name: "push",
      ref: "refs/heads/main",
      project: { id: 1, path_with_namespace: "shop/orders" },
      commits: [{ id: "1f0c7d2", title: "Add an order", added: ["orders/42"], modified: [], removed: [] }],
      total_commits_count: 1,
    },
  },
  // https://core.telegram.org/bots/api#setwebhook, #update
  Telegram: {
    headers: { ...json, "X-Telegram-Bot-Api-Secret-Token": token },
    body: {
      update_id: 10_000,
      message: { message_id: 1, date: 1_700_000_000, chat: { id: 1, type: "private" }, text: "Grüße 👋" },
    },
  },
  // https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
  Grafana: {
    headers: { ...json, "User-Agent": "Grafana", Authorization: `Bearer ${token}` },
    body: {
      receiver: "Node-RED",
      status: "firing",
      orgId: 1,
      alerts: [{ status: "firing", labels: { alertname: "Cold store" }, values: { B: 44.239, C: 1 } }],
      groupKey: '{}:{alertname="Cold store"}',
      truncatedAlerts: 0,
      state: "alerting",
    },
  },
  // https://docs.github.com/en/webhooks/webhook-events-and-payloads
  GitHub: {
    search: `?state=${token}`,
    headers: {
      ...json,
      "User-Agent": "GitHub-Hookshot/044aadd",
      "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "X-GitHub-Event": "ping",
      "X-GitHub-Hook-ID": "1",
    },
    body: { zen: "Design for failure.", hook_id: 1, hook: { type: "Repository", active: true, events: ["push"] } },
  },
};

describe("the README's recipes", () => {
  let nodeRed: NodeRed;
  before(async () => {
    nodeRed = await NodeRed.start({
      flow: tab(
        ...Object.keys(senders).map((name) => webhook(name, `/${name}`, fieldsOf(name))),
        webhook("backup", "/backup", { credentials: { token } }),
        webhook("contact", "/contact", { credentials: { token }, verificationMethod: "query" }),
      ),
    });
  });
  after(() => nodeRed.stop());

  it("are all tried", () => {
    const rows = [...recipes.matchAll(/^\| \*\*(\w+)\*\*/gm)].map(([, name]) => name);
    rows.should.eql(Object.keys(senders));
  });

  for (const [name, { search = "", headers, body }] of Object.entries(senders)) {
    it(`${name}: what it sends becomes a message`, async () => {
      const reply = await send(nodeRed.node(`/${name}${search}`), { headers, body: JSON.stringify(body) });
      reply.status.should.equal(200);
      const { payload, req } = await nodeRed.message(reply.json.id);
      should(payload).eql(body);
      for (const [field, value] of Object.entries(headers)) {
        if (!value.includes(token)) should(req.headers).have.property(field.toLowerCase(), value);
      }
      JSON.stringify(req).should.not.containEql(token);
    });

    it(`${name}: with another token it is refused`, async () => {
      const other = JSON.parse(JSON.stringify({ search, headers }).replace(token, "another")) as Sent;
      const url = nodeRed.node(`/${name}${other.search ?? ""}`);
      (await send(url, { headers: other.headers, body: JSON.stringify(body) })).status.should.equal(401);
    });
  }

  it("cron: the command of its line, as cron hands it to a shell", async () => {
    const [, command = ""] = /^(?:\S+ ){5}(.*)\n$/.exec(codeBlock("Recipes", "crontab")) ?? [];
    // The shell gets what is before the first % only, and the rest is the input of the command.
    command.should.startWith("curl ").and.not.containEql("%");
    const line = command.replace("http://127.0.0.1:1880", nodeRed.origin).replace("TOKEN", token);
    const { status } = await paste([line.replace(" >/dev/null", "")]);
    status.should.equal(200);
    const { payload } = await nodeRed.until(
      () => nodeRed.messages.find(({ req }) => req.path === "/backup"),
      "the message",
    );
    should(payload).equal("done");
    await paste([line.replace(token, "another")]).should.be.rejectedWith(/401/);
  });

  describe("a form on a web page", () => {
    it("sends its fields from another site, and shows the reply to the visitor", async () => {
      const form = codeBlock("Recipes", "html").replace("https://nodered.example", nodeRed.origin);
      const site = createServer((_request, response) => {
        response.setHeader("Content-Type", "text/html; charset=utf-8").end(form.replace("TOKEN", token));
      }).listen(0, "127.0.0.1");
      await once(site, "listening");
      const page = await (await sharedBrowser()).newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      await page.getByLabel("Name").fill("Shop & Co");
      await page.getByLabel("Message").fill("Two lines,\nin UTF-8: ½ ☕");
      await page.getByRole("button", { name: "Send" }).click();
      await page.waitForURL(/contact/);
      const seen = JSON.parse(await page.locator("body").innerText()) as Record<string, unknown>;
      seen.should.have.property("status", "accepted");
      const { payload } = await nodeRed.message(seen.id);
      // HTML, "multipart and form submission": line breaks travel as CR LF.
      should(payload).eql({ name: "Shop & Co", message: "Two lines,\r\nin UTF-8: ½ ☕" });
      await page.close();
      site.closeAllConnections();
      site.close();
    });
  });
});

/** The fields that the recipe of a sender tells to set. */
function fieldsOf(name: string): Record<string, unknown> {
  const [, told = ""] = new RegExp(`^\\| \\*\\*${name}\\*\\* *\\| (.*?) *\\|`, "m").exec(recipes) ?? [];
  const [, headerParameter] = /^Header Parameter `([^`]+)`/.exec(told) ?? [];
  if (headerParameter) return { credentials: { token }, headerParameter };
  told.should.equal("Verification Method **Query parameter**");
  return { credentials: { token }, verificationMethod: "query" };
}
