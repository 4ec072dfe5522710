import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import should from "should";
import { usesCertificate } from "../../src/auth/senders/sender";
import { findJwtPreset, type SenderId, senderIds, senders } from "../../src/auth/senders/table";
import { callers } from "../harness/callers";
import { bearer, tab, webhook } from "../harness/flow";
import { fieldsReadFor, hostileForms, hostileParts, hostileTexts } from "../harness/hostile";
import { useNodeRed } from "../harness/layouts";
import { signers, type SigningId } from "../harness/signers";

/** In characters: with the other fields, as much as Node.js takes. */
const headLength = 15_000;
const bodyLength = 65_536;
/** In bytes: with its first field, as large as an unverified body is read. */
const formLength = 1024 * 1024 - 10;
/** In bytes: the largest body that is taken. */
const largest = 5_000_000;
/** How much longer a request may wait than beside harmless ones: parsing JSON takes longer than reading a text. */
const factor = 20;
/** In ms: shorter waits are not told apart. */
const leastBound = 100;
const publicUrl = "https://hooks.example.com/hook";
const custom = (source: string, content: string[]) => ({
  ...{ alg: "hmac-sha256", sig: { headers: [], source, split: ",", pick: { kv: "v1" }, enc: "hex" }, content },
});

interface Hostile {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

const isSigning = (id: SenderId): id is SigningId => Object.hasOwn(signers, id);
const own = senderIds.filter((id) => id !== "custom" && !findJwtPreset(id) && !usesCertificate(senders[id].scheme));

const nodes = [
  webhook("harmless", "/harmless"),
  webhook("by-query", "/by-query", { verificationMethod: "query" }),
  webhook("basic", "/basic", { verificationMethod: "basic", credentials: { user: "user", password: "password" } }),
  webhook("callers", "/callers", { credentials: callers("door 1", "door 2") }),
  webhook("basic-callers", "/basic-callers", { verificationMethod: "basic", credentials: callers("door 1", "door 2") }),
  webhook("jwt", "/jwt", { verificationMethod: "jwt", keySource: "secret", audience: "hooks", credentials: { secret: "0123456789".repeat(4) } }),
  webhook("sns", "/sns", { sender: "amazon-sns", verificationMethod: "signature", senderSettings: { topicArn: "arn:aws:sns:eu-central-1:123456789012:topic" } }),
  webhook("paypal", "/paypal", { sender: "paypal", verificationMethod: "signature", senderSettings: { webhookId: "1JE4291016473214C" } }),
  ...own.filter(isSigning).map((id) =>
    webhook(id, `/${id}`, { sender: id, verificationMethod: "signature", senderSettings: { publicUrl }, credentials: { secret: signers[id].secrets[0] } }),
  ),
  ...(["json", "form"] as const).map((kind) =>
    webhook(kind, `/${kind}`, { sender: "custom", verificationMethod: "signature", scheme: custom(`${kind}:sig`, [`${kind}:a`]), credentials: { secret: "secret" } }),
  ),
]; // prettier-ignore

/** Requests by what they attack: the text of a field in each form, and bodies that are read before they are verified. */
function listAttacks(): Map<string, Hostile[]> {
  const attacks = new Map<string, Hostile[]>();
  const texts = Object.entries(hostileTexts(headLength - 200));
  const addField = (path: string, name: string, beginning = "", others: Record<string, string> = {}) => {
    attacks.set(
      `${name} of ${path}`,
      texts.map(([, text]) => ({ path, headers: { ...others, [name]: beginning + text } })),
    );
  };
  for (const id of own) {
    const fields = [...fieldsReadFor(senders[id])];
    for (const [name, beginning] of fields) {
      const others = fields.filter(([other]) => other !== name).map(([other, start]) => [other, `${start}1`]);
      addField(`/${id}`, name, beginning, Object.fromEntries(others) as Record<string, string>);
    }
  }
  for (const id of ["amazon-sns", "paypal"] as const) {
    for (const [name] of fieldsReadFor(senders[id])) addField(id === "paypal" ? "/paypal" : "/sns", name);
  }
  // Every node reads these, each alike; one is that of a form.
  for (const path of ["/github", "/twilio", "/sns"])
    for (const name of ["Authorization", "Content-Type"]) addField(path, name);
  for (const path of ["/basic", "/jwt", "/harmless", "/callers", "/basic-callers"]) {
    for (const beginning of ["", "Basic ", "Bearer "]) addField(path, "Authorization", beginning);
  }
  for (const name of ["X-Forwarded-For", "Forwarded", "Accept-Language", "Content-Encoding", "Cookie", "Origin", "Accept", "Purpose"]) {
    addField("/harmless", name);
  } // prettier-ignore
  addField("/missing", "X-GitHub-Event", "", { "X-GitHub-Delivery": "1" });
  const inUrl = texts.map(([, text]) => encodeURI(text).slice(0, headLength - 200));
  const urls = inUrl.flatMap((text) => [
    `/by-query?${text}`,
    `/harmless?${text}`,
    `/missing/${text}`,
    `/strava?${text}`,
  ]);
  attacks.set(
    "the URL",
    urls.map((path) => ({ path, headers: {} })),
  );
  const type = { json: "application/json", form: "application/x-www-form-urlencoded" };
  for (const kind of ["json", "form"] as const) {
    for (const path of [`/${kind}`, "/github", "/twilio", "/microsoft-graph", "/adyen", "/mailgun", "/sns"]) {
      const bodies = Object.values(hostileTexts(bodyLength)).flatMap((text) =>
        kind === "json"
          ? [text, JSON.stringify({ sig: text, a: "1", Signature: text }), `{"value":[${"{},".repeat(20_000)}{}]}`]
          : [text, `sig=${encodeURIComponent(text).slice(0, bodyLength)}&a=1`],
      );
      attacks.set(`${kind} for ${path}`, bodies.map((body) => ({ path, headers: { "Content-Type": type[kind] }, body })));
    }
  } // prettier-ignore
  for (const path of ["/twilio", "/microsoft-graph", "/adyen", "/mailgun", "/json", "/form"]) {
    for (const body of hostileForms(formLength)) {
      // One at a time: there is no room for all of them.
      attacks.set(`a large form of ${body.slice(0, 8)} for ${path}`, [
        { path, headers: { "Content-Type": type.form }, body },
      ]);
    }
  }
  for (const [index, [type, body]] of hostileParts(largest - 300).entries()) {
    attacks.set(`form ${index} with files for /mailgun`, [
      { path: "/mailgun", headers: { "Content-Type": type }, body },
    ]);
  }
  const signature = { "X-Twilio-Signature": Buffer.alloc(20).toString("base64") };
  for (const each of [[type.form, type.form], `${type.form}\t;x=y`]) {
    const headers = { ...signature, "Content-Type": each };
    const body = `b=&${"a&".repeat(largest / 2 - 10)}`;
    attacks.set(`a form for /twilio whose type is ${String(each)}`, [{ path: "/twilio", headers, body }]);
  }
  const verified = hostileForms(largest - 10).map((body) => ({
    path: "/harmless",
    headers: { ...bearer, "Content-Type": type.form },
    body,
  }));
  for (const each of verified) attacks.set(`a verified form of ${each.body.slice(0, 8)}`, [each]);
  return attacks;
}

describe("a request beside those of a stranger without a credential", () => {
  const nodeRed = useNodeRed({ flow: tab(...nodes), settings: { logging: {} } });
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const prober = new Agent();
  after(() => {
    agent.destroy();
    prober.destroy();
  });

  async function send({ path, headers, body = "{}" }: Hostile, by = agent): Promise<number | undefined> {
    const length = String(Buffer.byteLength(body, "latin1"));
    const sent = request(nodeRed().node(path), { method: "POST", agent: by, headers: { ...headers, "Content-Length": length } });
    // A refused body may break off more than once.
    sent.on("error", () => undefined).end(body, "latin1");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode;
  } // prettier-ignore

  /** How long a harmless request waits behind others that are sent at the same time, in ms. */
  async function waitBehind(others: readonly Hostile[]): Promise<number> {
    const ends = others.map((each) => send(each).catch(() => undefined));
    const start = performance.now();
    should(await send({ path: "/harmless", headers: bearer }, prober)).equal(200);
    const waited = performance.now() - start;
    await Promise.all(ends);
    return waited;
  }

  const calm = (each: Hostile): Hostile =>
    each.body === undefined
      ? { path: "/github", headers: { "X-Other": "x".repeat(headLength - 200) } }
      : { path: "/github", headers: { "Content-Type": "text/plain" }, body: "x".repeat(each.body.length) };

  for (const [name, requests] of listAttacks()) {
    it(`waits no longer than beside as many harmless ones of the same size: ${name}`, async () => {
      let least = Infinity;
      let bound = leastBound;
      // Other work on the machine makes one of them slow now and then; a slow loop is slow each time.
      for (let round = 0; round < 10 && least > bound; round++) {
        least = Math.min(least, await waitBehind(requests));
        if (least > bound) bound = Math.max(bound, factor * (await waitBehind(requests.map(calm))));
      }
      least.should.be.belowOrEqual(bound);
    });
  }
});
