import should from "should";
import { permissions } from "../../src/config/permissions";
import { settingsOf } from "../harness/fixtures";
import { tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { useNodeRed } from "../harness/layouts";
import { deviationsOf, operations } from "../harness/openapi";

const others = [...operations].filter(([operation]) => !operation.startsWith("get "));

describe("the admin API", () => {
  const nodeRed = useNodeRed({ flow: tab(webhook("orders", "/orders")), code: settingsOf("admin-tokens") });

  it("is read and written with the permissions for that, and with no others", async () => {
    for (const [given, mayRead, mayWrite] of [
      ["*", true, true],
      ["read", true, false],
      ["write", false, true],
      ["webhook-trigger.read", true, false],
      ["webhook-trigger.write", false, true],
      ["flows.read", false, false],
      ["flows.write", false, false],
      ["status.read", false, false],
      ["none", false, false],
    ] as const) {
      const headers = { Authorization: `Bearer ${given}`, "Content-Type": "application/json" };
      for (const [operation, { permission }] of operations) {
        const [method = "", path = ""] = operation.split(" ");
        const url = nodeRed().admin(`/webhook-trigger/${path.replace(/\{\w+\}/, "nobody")}`);
        const reply = await send(url, { method: method.toUpperCase(), headers });
        const isAllowed = permission === permissions.read ? mayRead : permission === permissions.write && mayWrite;
        const expected = [operation, given, isAllowed, ""];
        should([operation, given, reply.status !== 401, deviationsOf(operation, reply)]).eql(expected);
      }
    }
  });

  it("has a stored delivery sent again, or signed, only for users who may see it", async () => {
    for (const [given, ...statuses] of [
      ["*", 200, 200],
      ["webhook-trigger.write", 200, 401],
      ["write", 200, 401],
      ["webhook-trigger.read", 401, 401],
    ] as const) {
      const headers = { Authorization: `Bearer ${given}`, "Content-Type": "application/json" };
      const replies = await Promise.all(
        [{}, { delivery: "1", send: false }].map((asked) =>
          send(nodeRed().admin("/webhook-trigger/orders/test"), { headers, body: JSON.stringify(asked) }),
        ),
      );
      should([given, ...replies.map(({ status }) => status)]).eql([given, ...statuses]);
    }
  });

  it("does nothing for a page of another site, and takes JSON only but for what is read by GET", async () => {
    for (const [operation] of others) {
      const [method = "", path = ""] = operation.split(" ");
      const url = nodeRed().admin(`/webhook-trigger/${path.replace(/\{\w+\}/, "nobody")}`);
      // Node.js sends a body with DELETE without its length.
      const body = method === "delete" ? "" : "{}";
      const call = (fields: Record<string, string>) =>
        send(url, { method: method.toUpperCase(), headers: { Authorization: "Bearer *", ...fields }, body });
      for (const [fields, status] of [
        [{ "Content-Type": "application/json", "Sec-Fetch-Site": "cross-site" }, 403],
        [{ "Content-Type": "application/json", "Sec-Fetch-Site": "same-site" }, 403],
        [{ "Content-Type": "text/plain" }, 415],
        [{ "Content-Type": "application/x-www-form-urlencoded" }, 415],
        [{ "Content-Type": "text/plain; application/json" }, 415],
        [{}, 415],
      ] as const) {
        const reply = await call({ ...fields });
        should([operation, fields, reply.status, deviationsOf(operation, reply)]).eql([operation, fields, status, ""]);
      }
      for (const site of ["same-origin", "none"]) {
        const { status } = await call({ "Content-Type": "Application/JSON; charset=utf-8", "Sec-Fetch-Site": site });
        should([operation, site, [403, 415].includes(status)]).eql([operation, site, false]);
      }
    }
  });
});

describe("the admin API, for browsers that do not say whether a page is of another site (to HTTP without TLS),", () => {
  const flow = tab(webhook("orders", "/orders"));
  const json = { "Content-Type": "application/json", "X-Forwarded-Host": "editor.example, inner.example" };
  const rows: Record<string, [name: string, fields: (host: string) => Record<string, string>, isAllowed: boolean][]> = {
    "no proxy": [
      ["its own", (host) => ({ Origin: `http://${host}` }), true],
      ["its own, with the default port", () => ({ Host: "editor.example:443", Origin: "https://Editor.example" }), true],
      ["its own behind a proxy that changes the host, as the browser says", () => ({ Origin: "https://elsewhere.example", "Sec-Fetch-Site": "same-origin" }), true],
      ["another site", () => ({ Origin: "http://evil.example" }), false],
      ["another port", () => ({ Origin: "http://127.0.0.1:1" }), false],
      ["secret", () => ({ Origin: "null" }), false],
      ["another one than a host that cannot be read", () => ({ Host: "a b", Origin: "http://evil.example" }), false],
      ["named by a proxy that is not trusted", () => ({ Origin: "http://editor.example" }), false],
    ],
    loopback: [
      ["its own", (host) => ({ Origin: `http://${host}` }), true],
      ["named by a trusted proxy", () => ({ Origin: "http://editor.example" }), true],
      ["another one than a trusted proxy names", () => ({ Origin: "http://inner.example" }), false],
    ],
  }; // prettier-ignore
  for (const [trusted, pages] of Object.entries(rows)) {
    describe(`and trusts ${trusted},`, () => {
      const settings = trusted === "loopback" ? { httpServerOptions: { "trust proxy": trusted } } : {};
      const nodeRed = useNodeRed({ flow, settings });
      for (const [name, fields, isAllowed] of pages) {
        it(`${isAllowed ? "obeys" : "refuses"} a page whose origin is ${name}`, async () => {
          for (const [operation] of others) {
            const [method = "", path = ""] = operation.split(" ");
            const url = nodeRed().admin(`/webhook-trigger/${path.replace(/\{\w+\}/, "nobody")}`);
            const headers = { ...json, ...fields(new URL(url).host) };
            const body = method === "delete" ? "" : "{}";
            const reply = await send(url, { method: method.toUpperCase(), headers, body });
            should([operation, reply.status === 403, deviationsOf(operation, reply)]).eql([operation, !isAllowed, ""]);
          }
        });
      }
    });
  }
});
