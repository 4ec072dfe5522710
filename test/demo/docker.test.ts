import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { parse } from "yaml";
import { callerToken, parseCallers } from "../../src/config/callers";
import { clientPackages, sqliteIsHere } from "../../src/config/stores";
import { bearer, tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { Instances } from "../harness/instances";
import { nginxIsHere } from "../harness/nginx";
import { NodeRed } from "../harness/node-red";
import { Page } from "../harness/pages";
import { packageName, root, temporaryFolder } from "../harness/package";
import { ShownDeliveries } from "../harness/shown-deliveries";
import { serverIsHere } from "../harness/valkey";

interface Service {
  build: string | { context: string; args: Record<string, string> };
  command: string | string[];
  environment: Record<string, string>;
  volumes: string[];
}

const folder = join(root, "docs", "docker");
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const composeFiles = readdirSync(folder).filter((name) => name.startsWith("compose"));
const variable = /\$\{(\w+):\?\}/g;
const values: Record<string, string> = {
  NODE_RED_CREDENTIAL_SECRET: "a long random text",
  STORE_PASSWORD: "another",
  WEBHOOK_TRIGGER_BASE_URL: "https://hooks.example",
};

/** The services of a file, with the values of a user. */
function servicesOf(name: string): Record<string, Service> {
  const text = read(name).replace(variable, (_, each: string) => values[each] ?? "");
  return (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
}

const headers = { ...bearer, "Content-Type": "application/json" };
const orders = webhook("orders", "/orders", { guaranteed: true, wires: [["hold"]] });
const flow = tab(orders, { id: "hold", type: "hold", wires: [[]] });

describe("the files in docs/docker", () => {
  it("have no secret in them, and an example of .env in which all values are to be replaced", () => {
    const example = [...read(".env.example").matchAll(/^(\w+)=(.*)$/gm)];
    for (const [, , value = ""] of example) value.should.containEql("replace-me");
    const used = composeFiles.flatMap((name) => [...read(name).matchAll(variable)].map(([, each]) => each));
    [...new Set(used)].sort().should.eql(example.map(([, name]) => name).sort());
    for (const name of composeFiles) {
      read(name).should.not.match(/(?:credentialSecret=|redis:\/\/|requirepass |valkey-cli -a )(?!:?\$\{)/);
    }
  });

  it("install what they need, and mount what is there", () => {
    const { "node-red-1": several, nginx } = servicesOf("compose.several.yaml");
    read("Dockerfile").should.match(new RegExp(`^RUN npm install .* ${packageName} \\$STORE$`, "m"));
    should(several?.build).eql({ context: ".", args: { STORE: clientPackages } });
    const [mounted = ""] = nginx?.volumes ?? [];
    existsSync(join(folder, mounted.split(":")[0] ?? "")).should.be.true();
  });

  it("come with lines that make the token of a caller, and its object for a list", () => {
    const made = execFileSync("sh", ["-c", new Page("docker.md").block("sh", "name=")], { encoding: "utf8" });
    const [token = "", caller = ""] = made.split("\n");
    const list = parseCallers(`[${caller}]`);
    should(list).eql([{ name: "door 1", digest: hash("sha256", token) }]);
    should(token).match(callerToken);
  });

  if (sqliteIsHere()) {
    it("run one Node-RED that keeps its deliveries in its volume over a crash", async () => {
      const { "node-red": service } = servicesOf("compose.yaml");
      should(service?.volumes).eql(["data:/data"]);
      const data = temporaryFolder("data");
      const { WEBHOOK_TRIGGER_STORE: store = "", ...others } = service?.environment ?? {};
      store.should.equal("sqlite:///data");
      const options = {
        flow: tab(webhook("orders", "/orders", { guaranteed: true })),
        args: service?.command as string[],
        env: { ...others, WEBHOOK_TRIGGER_STORE: `sqlite://${data}` },
      };
      const nodeRed = await NodeRed.start(options);
      await nodeRed.logged(/WEBHOOK_TRIGGER_MEMORY=32mb/);
      const { status, json } = await send(`${nodeRed.origin}/hooks/orders`, { headers });
      status.should.equal(200);
      await nodeRed.message(json.id);
      await nodeRed.kill();
      const next = await NodeRed.start({ ...options, userDir: nodeRed.userDir });
      await new ShownDeliveries(next).find(({ id }) => id === json.id);
      await next.stop();
    });
  }

  if (serverIsHere && nginxIsHere) {
    it("run three Node-REDs behind nginx, which lets webhooks in and nothing else, and lose none when one is killed", async () => {
      const { nginx: _, store, ...nodeReds } = servicesOf("compose.several.yaml");
      const [first, ...others] = Object.values(nodeReds);
      others.length.should.equal(2);
      for (const other of others)
        should(other).containEql({ environment: first?.environment, command: first?.command });
      const [program, ...serverArgs] = String(store?.command).split(/\s+/);
      should(program).equal("valkey-server");
      // The server of the tests has the first two anyway.
      for (const option of ["appendonly yes", "appendfsync always", "maxmemory-policy noeviction"]) {
        should(store?.command).containEql(`--${option}`);
      }
      const instances = await Instances.start(3, flow, {
        serverArgs,
        options: ({ port }) => {
          const text = JSON.stringify(first?.environment).replace("@store:6379", `@127.0.0.1:${port}`);
          return { args: first?.command as string[], env: JSON.parse(text) as Record<string, string> };
        },
        configure: (port, all) =>
          Object.keys(nodeReds).reduce(
            (text, name, index) => text.replace(`${name}:1880`, new URL(all[index]?.origin ?? "").host),
            read("nginx.conf").replace("listen 80;", `listen 127.0.0.1:${port};`),
          ),
      });
      try {
        const get = async (path: string) => (await instances.post(path, { method: "GET" })).status;
        should([await get("/health"), await get("/"), await get("/settings")]).eql([200, 404, 404]);
        // Paths that nginx reads as below /hooks/, and Node-RED as its own.
        for (const path of ["/context/global/..%2f..%2fhooks%2fg", "/flow/..%2fhooks%2fg", "//hooks/../flows", "/%68ooks/x", "/x/../hooks/orders"]) {
          const { status, body } = await instances.post(path, { method: "GET" });
          should([path, status, body.includes("<center>nginx")]).eql([path, 404, true]);
        } // prettier-ignore
        const replies = await Promise.all(
          Array.from({ length: 60 }, () => instances.post("/hooks/orders", { headers })),
        );
        const ids = replies.map(({ status, json }) => (status === 200 ? String(json.id) : status));
        await instances.had("hold", (messages) => messages.length === ids.length);
        // One that is at work.
        await instances.messagesOf("hold")[0]?.instance.kill();
        const isThere = (id: string | number) =>
          instances.messagesOf("hold").some(({ _msgid, instance }) => _msgid === id && instance.running);
        await instances.had("hold", () => ids.every(isThere));
        for (const { log } of instances.all) log.should.not.match(/appendonly|appendfsync|noeviction/);
      } finally {
        await instances.stop();
      }
    });
  }
});
