import should from "should";
import { putForward, withClock } from "../harness/clock";
import { callers, callerToken } from "../harness/callers";
import { bearer, tab, token, webhook } from "../harness/flow";
import { afterReply, exchange, hangUp, type Part, type Reply, send } from "../harness/http";
import { roots, useNodeRed } from "../harness/layouts";
import { last } from "../harness/siege";

const verifyToken = "my-verify-token";
const byMeta = {
  verificationMethod: "signature",
  sender: "meta",
  credentials: { secret: "a secret of some length", verifyToken },
};
const credentials = { token, ...callers("door 1") };
/** Whether by address or by number, requests are refused at all of these. */
const limited = (end: string, limit: Record<string, unknown>) => [
  webhook(`header${end}`, `/header${end}`, { credentials, ...limit }),
  webhook(`query${end}`, `/query${end}`, { credentials, verificationMethod: "query", ...limit }),
  webhook(`meta${end}`, `/meta${end}`, { ...byMeta, ...limit }),
];
const flow = tab(
  ...limited("-elsewhere", { allowFrom: "203.0.113.0/24, 2001:db8::/32" }),
  ...limited("-often", { rateLimit: 1 }),
  webhook("thrice", "/thrice", { rateLimit: 3 }),
  { id: "slow", type: "slow", wires: [] },
);

interface Secrets {
  token: string;
  ofCaller: string;
  verifyToken: string;
}
const right: Secrets = { token, ofCaller: callerToken("door 1"), verifyToken };
const wrong: Secrets = { token: "x".repeat(token.length), ofCaller: callerToken("door 2"), verifyToken: "another" };
const ofLength = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;
const byHeader = (rest: string) => (secrets: Secrets) => ["POST", "/header", `Authorization: Bearer ${secrets.token}\r\n${rest}`]; // prettier-ignore
const hub = (secrets: Secrets) => `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${secrets.verifyToken}`;
const json = "Content-Type: application/json\r\n";
/** Requests by method, path and the rest, that may be accepted or not by their secrets. */
const attempts: Record<string, (secrets: Secrets) => string[]> = {
  "a token in a header": byHeader(ofLength("x")),
  "a caller's token in a header": ({ ofCaller, ...others }) =>
    byHeader(ofLength("x"))({ ...others, ofCaller, token: ofCaller }),
  "a caller's token in the query": ({ ofCaller }) => ["POST", "/query", ofLength("x"), `state=${ofCaller}`],
  "a token in the query": (secrets) => ["POST", "/query", ofLength("x"), `state=${encodeURIComponent(secrets.token)}`],
  JSON: byHeader(json + ofLength('{"blocked":true}')),
  "broken JSON": byHeader(json + ofLength("{")),
  "an unknown coding": byHeader(`${json}Content-Encoding: compress\r\n${ofLength("{}")}`),
  "too large a body": byHeader(`${json}Content-Length: 9000000\r\n\r\n`),
  "a body that waits for 100": byHeader(`Expect: 100-continue\r\n${last}\r\nContent-Length: 1\r\n\r\n`),
  "a handshake by GET": (secrets) => ["GET", "/meta", "\r\n", hub(secrets)],
};

/** What is sent after the first reply, where that does not end the exchange. */
const afterwards: Record<string, Part[]> = { "a body that waits for 100": ["x"] };

/** The second has a guard of the operator's that looks into bodies, and waits for them. */
const ways = {
  "with separate roots": { settings: roots.separate, code: "" },
  "behind a guard that reads bodies": {
    settings: roots.equal,
    code: "httpNodeMiddleware: (request, response, next) => request.body?.blocked ? response.status(418).end() : next()",
  },
};

for (const [where, { settings, code }] of Object.entries(ways)) {
  describe(`a limit of addresses and rates, ${where},`, () => {
    const httpServerOptions = { "trust proxy": true };
    const nodeRed = useNodeRed({ flow, settings: { ...settings, httpServerOptions }, code, env: withClock });
    let senders = 0;

    /** The whole reply, but for what time makes of it. */
    async function answered(attempt: string, secrets: Secrets, end: string, ip: string, ...more: string[]): Promise<string> {
      const [method, path = "", rest = "", search] = attempts[attempt]?.(secrets) ?? [];
      const { pathname } = new URL(nodeRed().node(path + end));
      const target = search === undefined ? pathname : `${pathname}?${search}`;
      const head = [`${method} ${target} HTTP/1.1`, "Host: x", `X-Forwarded-For: ${ip}`, ...more].join("\r\n");
      const received = await exchange(nodeRed().origin, `${head}\r\n${rest}`, afterReply, ...(afterwards[attempt] ?? [hangUp]));
      return received.replace(/^Date: .*\r$/m, "").replace(/^Retry-After: ([1-9]|[1-5]\d|60)\r$/m, "Retry-After: soon");
    } // prettier-ignore
    const statusOf = (answer: string) =>
      Number(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
    const post = (path: string, ip: string, headers: Record<string, string> = bearer, body = "x"): Promise<Reply> =>
      send(nodeRed().node(path), { headers: { ...headers, "X-Forwarded-For": ip }, body });

    for (const attempt of Object.keys(attempts)) {
      it(`gives the same reply to a right and a wrong secret that it refuses: ${attempt}`, async () => {
        const fromElsewhere = (secrets: Secrets) => answered(attempt, secrets, "-elsewhere", "192.0.2.1");
        const refused = await fromElsewhere(right);
        refused.should.equal(await fromElsewhere(wrong));
        statusOf(refused).should.equal(403);

        const ip = `198.51.100.${++senders}`;
        await answered(attempt, wrong, "-often", ip);
        const limited = await answered(attempt, right, "-often", ip);
        limited.should.equal(await answered(attempt, wrong, "-often", ip));
        statusOf(limited).should.equal(429);
        limited.should.match(/^Retry-After: soon$/m);
      });
    }

    it("gives the same reply to a right and a wrong secret while flows are deployed", async () => {
      const finish = await nodeRed().beginDeploy(flow);
      const names = Object.keys(attempts);
      const asked = names.flatMap((attempt, index) =>
        [right, wrong].map((secrets, which) =>
          answered(attempt, secrets, "-elsewhere", "192.0.2.1", `X-Trace: asked${index}${which}`),
        ),
      );
      for (const [index] of names.entries()) {
        for (const which of [0, 1]) await nodeRed().arrived(`asked${index}${which}`);
      }
      await finish();
      const answers = await Promise.all(asked);
      for (const [index, name] of names.entries()) {
        should(answers[2 * index]).equal(answers[2 * index + 1], name);
        should(statusOf(answers[2 * index] ?? "")).equal(403, name);
      }
    });

    it("takes the address that a trusted proxy reports in each of its forms, and junk for none that may send", async () => {
      for (const ip of ["203.0.113.7", "203.0.113.7:1234", "::ffff:203.0.113.7", "[2001:db8::1]:443", "2001:db8::1%eth0"]) {
        (await post("/header-elsewhere", ip)).status.should.equal(200, ip);
      }
      for (const ip of ["", "unknown", "203.0.113.07", "3405803783", "203.0.113.7/24", "203.0.113.7@x", "::203.0.113.7", "203.0.113.7".padEnd(4000, "x")]) {
        (await post("/header-elsewhere", ip)).status.should.equal(403, ip);
      }
    }); // prettier-ignore

    it("counts a request once, also one that waits for a deploy, and those that are refused", async () => {
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
      const { status, headers: fields } = await post("/thrice", ip, headers, body);
      status.should.equal(429);
      Number(fields["retry-after"]).should.be.within(1, 60);
      (await post("/thrice", "198.51.100.201", headers, body)).status.should.equal(200);
      await putForward(nodeRed(), 3_600_000);
      (await post("/thrice", ip, headers, body)).status.should.equal(200);
    });
  });
}
