import should from "should";
import { bearer, tab, token, webhook } from "../harness/flow";
import { afterReply, exchange, hangUp, type Part, type Reply, send } from "../harness/http";
import { inEveryLayout } from "../harness/layouts";
import { last } from "../harness/siege";

const verifyToken = "my-verify-token";
const byMeta = {
  verificationMethod: "signature",
  sender: "meta",
  credentials: { secret: "a secret of some length", verifyToken },
};
/** Whether by address or by number, requests are refused at all of these. */
const limited = (end: string, limit: Record<string, unknown>) => [
  webhook(`header${end}`, `/header${end}`, limit),
  webhook(`query${end}`, `/query${end}`, { verificationMethod: "query", ...limit }),
  webhook(`meta${end}`, `/meta${end}`, { ...byMeta, ...limit }),
  webhook(`shared${end}`, `/shared${end}`, { ...byMeta, ...limit }),
  { id: `page${end}`, type: "http in", method: "get", url: `/shared${end}`, wires: [["page"]] },
];
const flow = tab(
  ...limited("-elsewhere", { allowFrom: "203.0.113.0/24, 2001:db8::/32" }),
  ...limited("-often", { rateLimit: 1 }),
  webhook("thrice", "/thrice", { rateLimit: 3 }),
  { id: "slow", type: "slow", wires: [] },
  { id: "page", type: "function", func: "msg.payload = 'a page'; return msg;", outputs: 1, wires: [["answer"]] },
  { id: "answer", type: "http response", statusCode: "200", headers: {}, wires: [] },
);

interface Secrets {
  token: string;
  verifyToken: string;
}
const right: Secrets = { token, verifyToken };
const wrong: Secrets = { token: "x".repeat(token.length), verifyToken: "another" };
const ofLength = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;
const byHeader = (rest: string) => (secrets: Secrets) => ["POST", "/header", `Authorization: Bearer ${secrets.token}\r\n${rest}`]; // prettier-ignore
const hub = (secrets: Secrets) => `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${secrets.verifyToken}`;
const json = "Content-Type: application/json\r\n";
/** Requests by method, path and the rest, that may come in or not by their secrets. */
const attempts: Record<string, (secrets: Secrets) => string[]> = {
  "a token in a header": byHeader(ofLength("x")),
  "a token in the query": (secrets) => ["POST", "/query", ofLength("x"), `state=${encodeURIComponent(secrets.token)}`],
  JSON: byHeader(json + ofLength('{"blocked":true}')),
  "broken JSON": byHeader(json + ofLength("{")),
  "a form": byHeader(`Content-Type: application/x-www-form-urlencoded\r\n${ofLength("blocked=1")}`),
  "an unknown coding": byHeader(`${json}Content-Encoding: compress\r\n${ofLength("{}")}`),
  "too large a body": byHeader(`${json}Content-Length: 9000000\r\n\r\n`),
  "a body that waits for 100": byHeader("Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"),
  "a handshake by GET": (secrets) => ["GET", "/meta", "\r\n", hub(secrets)],
  "a handshake by GET where there is a page": (secrets) => ["GET", "/shared", "\r\n", hub(secrets)],
};

/** What is sent once something has been answered, so that the connection ends at once. */
const afterwards: Record<string, Part[]> = {
  "too large a body": [afterReply, hangUp],
  "a body that waits for 100": [afterReply, "x"],
};

/** Settings of the operator's: a guard that looks into bodies, and waits for them. */
const guards = {
  "": "",
  ", behind a guard that reads bodies":
    "httpNodeMiddleware: (request, response, next) => request.body?.blocked ? response.status(418).end() : next()",
};

for (const [where, code] of Object.entries(guards)) {
  const settings = { httpServerOptions: { "trust proxy": true } };
  inEveryLayout(`limits${where}`, { flow, settings, code }, (nodeRed) => {
    let callers = 0;
    /** All that is answered, but for what time makes of it. */
    async function answered(
      attempt: string,
      secrets: Secrets,
      end: string,
      ip: string,
      ...more: string[]
    ): Promise<string> {
      const [method, path = "", rest = "", search] = attempts[attempt]?.(secrets) ?? [];
      const { pathname } = new URL(nodeRed().node(path + end));
      const target = search === undefined ? pathname : `${pathname}?${search}`;
      const head = [`${method} ${target} HTTP/1.1`, "Host: x", last, `X-Forwarded-For: ${ip}`, ...more].join("\r\n");
      const whole = rest === "\r\n" ? `${head}\r\n\r\n` : `${head}\r\n${rest}`;
      const received = await exchange(nodeRed().origin, whole, ...(afterwards[attempt] ?? []));
      return received.replace(/^Date: .*\r$/m, "").replace(/^Retry-After: ([1-9]|[1-5]\d|60)\r$/m, "Retry-After: soon");
    }
    const statusOf = (answer: string) =>
      Number(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
    const post = (path: string, ip: string, headers: Record<string, string> = bearer, body = "x"): Promise<Reply> =>
      send(nodeRed().node(path), { headers: { ...headers, "X-Forwarded-For": ip }, body });

    for (const attempt of Object.keys(attempts)) {
      const isPage = attempt.includes("page");
      it(`tell nobody from elsewhere whether the secret is right: ${attempt}`, async () => {
        const [one, other] = [await answered(attempt, right, "-elsewhere", "192.0.2.1"), await answered(attempt, wrong, "-elsewhere", "192.0.2.1")]; // prettier-ignore
        one.should.equal(other);
        statusOf(one).should.equal(isPage ? 200 : 403);
      });

      it(`tell nobody who comes too often whether the secret is right: ${attempt}`, async () => {
        const ip = `198.51.100.${++callers}`;
        await answered(attempt, wrong, "-often", ip);
        const [one, other] = [
          await answered(attempt, right, "-often", ip),
          await answered(attempt, wrong, "-often", ip),
        ];
        one.should.equal(other);
        statusOf(one).should.equal(isPage ? 200 : 429);
        if (!isPage) one.should.match(/^Retry-After: soon$/m);
      });
    }

    it("tell nobody whether the secret is right while flows are deployed", async () => {
      const finish = await nodeRed().beginDeploy(flow);
      const names = Object.keys(attempts).filter((name) => !name.includes("page"));
      const asked = names.flatMap((attempt, index) =>
        [right, wrong].map((secrets, which) => {
          return answered(attempt, secrets, "-elsewhere", "192.0.2.1", `X-Trace: asked${index}${which}`);
        }),
      );
      for (const [index] of names.entries())
        for (const which of [0, 1]) await nodeRed().arrived(`asked${index}${which}`);
      await finish();
      const answers = await Promise.all(asked);
      for (const [index, name] of names.entries()) {
        should(answers[2 * index]).equal(answers[2 * index + 1], name);
        should(statusOf(answers[2 * index] ?? "")).equal(403, name);
      }
    });

    const formsOf = { from: "203.0.113.7, 203.0.113.7:1234, ::ffff:203.0.113.7, [2001:db8::1]:443, 2001:db8::1%eth0, ::ffff:cb00:7107" }; // prettier-ignore
    for (const ip of formsOf.from.split(", ")) {
      it(`know an address that may send as ${ip}`, async () => {
        (await post("/header-elsewhere", ip)).status.should.equal(200);
      });
    }
    for (const ip of [
      "",
      "unknown",
      "_hidden",
      "203.0.113",
      "203.0.113.07",
      "0xcb.0.113.7",
      "3405803783",
      "203.0.113.7/24",
      "2001:db8::1::1",
      "::ffff:203.0.113.256",
      "203.0.113.7@x",
      "x203.0.113.7",
      "192.0.2.1%203.0.113.7",
      "::203.0.113.7",
      "64:ff9b::203.0.113.7",
      "203.0.113.7".padEnd(4000, "x"),
    ]) {
      // prettier-ignore
      it(`take for none that may send: «${ip.slice(0, 40)}»`, async () => {
        (await post("/header-elsewhere", ip)).status.should.equal(403);
      });
    }

    it("count a request once, however often it is met; and those that are refused", async () => {
      const ip = "198.51.100.200";
      const body = '{"a":1}';
      const headers = { ...bearer, "Content-Type": "application/json" };
      const finish = await nodeRed().beginDeploy(flow);
      const waiting = post("/thrice", ip, { ...headers, "X-Trace": "waiting" }, body);
      await nodeRed().arrived("waiting");
      await finish();
      (await waiting).status.should.equal(200);
      (await post("/thrice", ip, {}, body)).status.should.equal(401);
      (await post("/thrice", ip, headers, body)).status.should.equal(200);
      const { status, headers: told } = await post("/thrice", ip, headers, body);
      should([status, Number(told["retry-after"]) >= 1, Number(told["retry-after"]) <= 60]).eql([429, true, true]);
      (await post("/thrice", "198.51.100.201", headers, body)).status.should.equal(200);
      await nodeRed().putClockForward();
      (await post("/thrice", ip, headers, body)).status.should.equal(200);
    });
  });
}

inEveryLayout("addresses that callers make up", { flow }, (nodeRed) => {
  it("are nobody's where no proxy is trusted", async () => {
    for (const made of [
      { "X-Forwarded-For": "203.0.113.7" },
      { Forwarded: "for=203.0.113.7" },
      { "X-Real-IP": "203.0.113.7" },
    ]) {
      (await send(nodeRed().node("/header-elsewhere"), { headers: { ...bearer, ...made } })).status.should.equal(403);
    }
    const often = async (ip: string) =>
      (await send(nodeRed().node("/header-often"), { headers: { ...bearer, "X-Forwarded-For": ip } })).status;
    should([await often("203.0.113.7"), await often("203.0.113.8")]).eql([200, 429]);
  });
});
