import { existsSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { mock } from "node:test";
import should from "should";
import SnsValidator from "sns-validator";
import type { Authenticator, BodyVerdict } from "../../../src/auth/authenticator";
import { KeptPublications, keptFileName } from "../../../src/auth/published";
import { createAuthenticator } from "../../../src/auth/create-authenticator";
import { Problem, problems } from "../../../src/request/problem";
import { type CertifiedKey, createCertificate } from "../../harness/certificates";
import { shouldCostLess } from "../../harness/cost";
import { useFetch } from "../../harness/fetching";
import { settle } from "../../harness/observed";
import { temporaryFolder } from "../../harness/package";
import { until } from "../../harness/until";
import { judgeRequest } from "../../harness/verification";
import { signPaypal, signSns, type SnsMessage, topicArn, webhookId } from "../../harness/certified";

let own: CertifiedKey | undefined;
const key = () => own?.key ?? Buffer.alloc(0);

/** @param kept of its Node-RED, or one that has just been started for the first time */
function create(
  sender: "amazon-sns" | "paypal",
  settings: object = { topicArn, webhookId },
  kept = new KeptPublications(),
): Authenticator {
  const none = { scheme: null, first: "", callers: [], verifyToken: "" };
  const access = { method: "signature", settings, ...none } as const;
  const authenticator = createAuthenticator({ sender, access }, "node", undefined, kept);
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  return authenticator;
}

function verify(
  authenticator: Authenticator,
  body: string,
  fields: Record<string, string> = {},
  at = Date.now(),
  ip = "192.0.2.1",
): Promise<BodyVerdict> {
  const head = { method: "POST", rawHeaders: Object.entries(fields).flat(), search: "" };
  return judgeRequest(authenticator, head, body, at, ip);
}

/** "accepted", "handshake", or the name of the problem. */
async function judge(...given: Parameters<typeof verify>): Promise<string> {
  const verdict = await verify(...given);
  if (verdict instanceof Problem) return verdict.name;
  return "status" in verdict ? "handshake" : "accepted";
}

function reasonsFor(authenticator: Authenticator, body: string, fields: Record<string, string> = {}): string[] {
  const head = { method: "POST", rawHeaders: Object.entries(fields).flat(), search: "" };
  const { reasons } = authenticator.explain({ head, body: Buffer.from(body), at: Date.now() });
  return reasons.map(({ key }) => key);
}

/** Serves a certificate, that of the key. */
function useCertificate() {
  before(() => (own ??= createCertificate("-subj", "/CN=sns.amazonaws.com")));
  return useFetch(() => Promise.resolve(new Response(Uint8Array.from(own?.certificate ?? []))));
}

describe("a message of Amazon SNS", () => {
  const fetching = useCertificate();
  const SigningCertURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem";
  const sign = (given: SnsMessage = {}) => JSON.stringify(signSns(key(), { SigningCertURL, ...given }));

  it("is accepted with a signature of version 1 and 2, with a subject and without, by one fetch of the certificate", async () => {
    const authenticator = create("amazon-sns");
    for (const given of [{ SignatureVersion: "1" }, { SignatureVersion: "2" }, { Subject: "My subject" }, { Message: "a\nb" }, { Message: "" }]) {
      (await judge(authenticator, sign(given))).should.equal("accepted");
    }
    should(await verify(authenticator, sign({ Timestamp: new Date(Date.now() - 5000).toISOString() })))
      .have.property("sentAt")
      .which.is.below(Date.now() - 4000);
    fetching.urls.should.eql([SigningCertURL]);
  });

  it("is accepted, and refused when it was changed, as by Amazon's own library", async () => {
    const { get } = https;
    // It fetches the certificate by `https.get`.
    const serve = (_url: unknown, take: (response: PassThrough) => void) => {
      const response = Object.assign(new PassThrough(), { statusCode: 200 });
      take(response);
      return response.end(own?.certificate);
    };
    https.get = serve as unknown as typeof get;
    const judgeByLibrary = (body: string) =>
      new Promise<string>((resolve) =>
        new SnsValidator().validate(body, (error) => resolve(error ? "signatureInvalid" : "accepted")),
      );
    try {
      const confirmation = { Type: "SubscriptionConfirmation", Token: "t", SubscribeURL: "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription" };
      for (const given of [{ SignatureVersion: "1" }, {}, { Subject: "My subject" }, confirmation] as SnsMessage[]) {
        const message = signSns(key(), { SigningCertURL, ...given });
        const changed = { ...message, Message: "x" };
        (await judgeByLibrary(JSON.stringify(message))).should.equal("accepted");
        (await judgeByLibrary(JSON.stringify(changed))).should.equal("signatureInvalid");
        (await judge(create("amazon-sns"), JSON.stringify(changed))).should.equal("signatureInvalid");
        (await judge(create("amazon-sns"), JSON.stringify(message))).should.equal(given === confirmation ? "handshake" : "accepted");
      }
    } finally {
      https.get = get;
    }
  });

  it("is refused when what is signed has changed", async () => {
    const authenticator = create("amazon-sns");
    const message = signSns(key(), { SigningCertURL, Subject: "My subject" });
    const later = new Date(Date.now() + 1000).toISOString();
    for (const changed of [{ Message: "x" }, { MessageId: "x" }, { Subject: "x" }, { Subject: undefined }, { Timestamp: later }, { Signature: `${message.Signature} ` }, { SignatureVersion: "1" }]) {
      const body = JSON.stringify({ ...message, ...changed });
      (await judge(authenticator, body)).should.equal("signatureInvalid", JSON.stringify(changed));
      reasonsFor(authenticator, body).should.eql(["signatureWrong"]);
    }
  });

  it("is refused without a fetch when it is from another topic, from another host, too old, or not a message", async () => {
    const authenticator = create("amazon-sns");
    const bodies: [string, string, string][] = [
      [sign({ TopicArn: `${topicArn}2` }), "signatureInvalid", "certificate.topic"],
      [sign({ SignatureVersion: "3" }), "signatureInvalid", "signatureMalformed"],
      [sign({ Timestamp: new Date(Date.now() - 49 * 3_600_000).toISOString() }), "signatureInvalid", "clockBehind"],
      [sign({ Timestamp: "now" }), "signatureInvalid", "timeMalformed"],
      [sign({ Type: "SubscriptionConfirmation", SubscribeURL: "https://example.com/" }), "signatureInvalid", "signatureMalformed"],
      ...["null", "[]", "x", "1", "{}", '{"Type":"constructor"}', JSON.stringify({ Type: "__proto__", Signature: "x", TopicArn: topicArn })].map((body): [string, string, string] => [body, "signatureMissing", "missing"]),
      ...[
        "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com.example/SimpleNotificationService-1.pem",
        "https://example.com/sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://user@sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.txt",
        "https://s3.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.s3.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-1.pem",
        "https://sns.eu-west-1.amazonaws.com/other/SimpleNotificationService-1.pem",
        `${SigningCertURL}?1`,
        "https://sns.eu-west-1.s3.amazonaws.com/SimpleNotificationService-1.pem",
        "",
      ].map((url): [string, string, string] => [sign({ SigningCertURL: url }), "signatureInvalid", "signatureMalformed"]),
    ];
    for (const [body, problem, reason] of bodies) {
      (await judge(authenticator, body)).should.equal(problem, body);
      reasonsFor(authenticator, body).should.eql([reason], body);
    }
    fetching.urls.should.eql([]);
  });

  it("is refused where its signed lines could be read in two ways", async () => {
    const authenticator = create("amazon-sns");
    for (const given of [{ MessageId: "1\nSubject\nS" }, { Subject: "My subject\n" }, { MessageId: undefined }, { Message: undefined }]) {
      (await judge(authenticator, sign(given as SnsMessage))).should.equal("signatureInvalid", JSON.stringify(given));
    }
    fetching.urls.should.eql([]);
  });

  it("is refused before its body is read where it was sent raw, which has no signature", async () => {
    const raw = { "x-amz-sns-rawdelivery": "true", "x-amz-sns-message-type": "Notification" };
    (await judge(create("amazon-sns"), "Hello world!", raw)).should.equal("signatureMissing");
    reasonsFor(create("amazon-sns"), "Hello world!", raw).should.eql(["certificate.raw"]);
  });

  it("is not read beyond 1 MB, four times of what Amazon sends at most", () => {
    const begun = create("amazon-sns").checkHead({ method: "POST", rawHeaders: [], search: "" }, Date.now());
    should(begun).have.property("maxBody").which.eql({ bytes: 1024 * 1024, otherwise: problems.bodyTooLarge });
  });

  it("takes as long to be refused as its JSON takes to be parsed, and far less without the topic", async () => {
    const authenticator = create("amazon-sns");
    const many = Array.from({ length: 60_000 }, (_, index) => `"${index.toString(36)}":"x"`).join(",");
    const json = `{"TopicArn":"${topicArn}","Type":"Notification","Signature":"x",${many}}`;
    const other = json.replace(topicArn, "arn:aws:sns:eu-west-1:1:Other");
    const parse = () => JSON.parse(Buffer.from(json).toString()) as unknown;
    await shouldCostLess(() => reasonsFor(authenticator, json), 2, parse);
    await shouldCostLess(() => reasonsFor(authenticator, other), 1 / 4, parse);
  });

  it("that confirms a subscription makes Amazon's URL be fetched, after its signature was verified", async () => {
    const authenticator = create("amazon-sns");
    const SubscribeURL = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topicArn}&Token=2`;
    const message = signSns(key(), { Type: "SubscriptionConfirmation", Token: "2", SubscribeURL, SigningCertURL });
    (await judge(authenticator, JSON.stringify({ ...message, Token: "3" }))).should.equal("signatureInvalid");
    fetching.urls.should.eql([SigningCertURL]);
    (await judge(authenticator, JSON.stringify(message))).should.equal("handshake");
    fetching.urls.should.eql([SigningCertURL, SubscribeURL]);
    // Once.
    (await judge(authenticator, JSON.stringify(message))).should.equal("handshake");
    fetching.urls.should.eql([SigningCertURL, SubscribeURL]);
    fetching.respond = () => Promise.resolve(new Response("", { status: 500 }));
    const failing = signSns(key(), { ...message, SubscribeURL: `${SubscribeURL}3` });
    for (let count = 0; count < 20; count++) {
      (await judge(authenticator, JSON.stringify(failing))).should.equal("keysUnavailable");
    }
    fetching.urls.should.have.length(3);
    reasonsFor(authenticator, JSON.stringify(failing)).should.eql(["fetch.status"]);
    const end = signSns(key(), { ...message, Type: "UnsubscribeConfirmation" });
    (await judge(authenticator, JSON.stringify(end))).should.equal("handshake");
  });

  it("is refused when the certificate has expired", async () => {
    const authenticator = create("amazon-sns");
    const at = Date.now() + 3 * 24 * 3_600_000;
    const body = sign({ Timestamp: new Date(at).toISOString() });
    (await judge(authenticator, body, {}, at)).should.equal("signatureInvalid");
    const head = { method: "POST", rawHeaders: [], search: "" };
    should(authenticator.explain({ head, body: Buffer.from(body), at }).reasons).match([{ key: "certificate.expired" }]);
  });

  const failures: [string, () => Promise<Response>, string][] = [
    ["is unreachable", () => Promise.reject(new TypeError("fetch failed")), "fetch.unreachable"],
    ["redirects", () => Promise.resolve(new Response("", { status: 302 })), "fetch.redirect"],
    ["sends ten megabytes", () => Promise.resolve(new Response("x".repeat(10_000_000))), "fetch.tooLarge"],
    ["sends no certificate", () => Promise.resolve(new Response("{}")), "fetch.malformed"],
  ];
  for (const [title, reply, reason] of failures) {
    it(`is answered with 503 while the server of the certificate ${title}, which is asked once`, async () => {
      fetching.respond = reply;
      const authenticator = create("amazon-sns");
      for (let count = 0; count < 10; count++) (await judge(authenticator, sign())).should.equal("keysUnavailable");
      reasonsFor(authenticator, sign()).should.eql([reason]);
      fetching.urls.should.eql([SigningCertURL]);
    });
  }
}); // prettier-ignore

describe("a request of PayPal", () => {
  const fetching = useCertificate();
  const url = "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1";
  const body = '{"id":"WH-1","event_type":"PAYMENT.SALE.COMPLETED","summary":"½"}';

  it("is accepted with a signature for this webhook and this body, by one fetch of the certificate", async () => {
    const authenticator = create("paypal");
    for (let count = 0; count < 3; count++) {
      (await judge(authenticator, body, signPaypal(key(), url, body))).should.equal("accepted");
    }
    fetching.urls.should.eql([url]);
  });

  it("is refused for another webhook, and with another body", async () => {
    const authenticator = create("paypal");
    const other = signPaypal(key(), url, body, "OTHER");
    (await judge(authenticator, body, other)).should.equal("signatureInvalid");
    reasonsFor(authenticator, body, other).should.eql(["signatureWrong"]);
    (await judge(authenticator, `${body} `, signPaypal(key(), url, body))).should.equal("signatureInvalid");
  });

  it("is refused when it is older than PayPal's last attempt", async () => {
    const authenticator = create("paypal");
    const at = Date.now() + 5 * 24 * 3_600_000;
    (await judge(authenticator, body, signPaypal(key(), url, body), at)).should.equal("signatureInvalid");
    fetching.urls.should.eql([]);
  });

  it("is refused before its body is read without one of its fields, and with a certificate elsewhere", async () => {
    const authenticator = create("paypal");
    const signed = signPaypal(key(), url, body);
    for (const name of Object.keys(signed).filter((each) => each !== "PAYPAL-AUTH-ALGO")) {
      const { [name]: _left, ...others } = signed;
      (await judge(authenticator, body, others)).should.equal("signatureMissing");
    }
    for (const other of [
      "http://api.paypal.com/v1/notifications/certs/CERT-1",
      "https://api.paypal.com.example/v1/notifications/certs/CERT-1",
      "https://example.com/v1/notifications/certs/CERT-1",
      "https://www.paypal.com/v1/notifications/certs/CERT-1",
      "https://api.paypal.com/v1/notifications/certs/../../else",
      "https://api.paypal.com@example.com/v1/notifications/certs/CERT-1",
    ]) {
      (await judge(authenticator, body, { ...signed, "PAYPAL-CERT-URL": other })).should.equal("signatureInvalid");
    }
    fetching.urls.should.eql([]);
  });
});

describe("a certificate that strangers name", () => {
  const genuine = "https://api.paypal.com/v1/notifications/certs/CERT-1";
  const body = '{"id":"WH-1"}';
  let now: number;
  let named = 0;
  before(() => (own ??= createCertificate("-subj", "/CN=sns.amazonaws.com")));
  const fetching = useFetch(() => Promise.reject(new Error("set by each test")));
  beforeEach(() => {
    now = 1_000_000;
    mock.method(performance, "now", () => now);
    // PayPal has the genuine ones alone.
    fetching.respond = () => {
      const isGenuine = fetching.urls.at(-1)?.startsWith(genuine);
      return Promise.resolve(isGenuine ? new Response(Uint8Array.from(own?.certificate ?? [])) : new Response("", { status: 404 }));
    };
  });
  afterEach(() => mock.restoreAll());

  /** Where the certificate is, is not signed: one signature is that of all requests. */
  let signed: Record<string, string>;
  before(() => (signed = signPaypal(key(), genuine, body)));
  const ask = (authenticator: Authenticator, url: string, ip: string) =>
    judge(authenticator, body, { ...signed, "PAYPAL-CERT-URL": url }, Date.now(), ip);
  /** Ten requests a second, each with another certificate. */
  const attack = async (authenticator: Authenticator, seconds: number, toIp: (count: number) => string) => {
    for (let count = 0; count < 10 * seconds; count++, now += 100) {
      const forged = `https://api.paypal.com/v1/notifications/certs/FORGED-${named++}`;
      (await ask(authenticator, forged, toIp(count))).should.equal("keysUnavailable");
    }
  };

  it("keeps nobody else from being verified, also in the first minute of a Node-RED", async () => {
    const authenticator = create("paypal");
    await attack(authenticator, 30, () => "192.0.2.66");
    fetching.urls.should.have.length(5);
    (await ask(authenticator, genuine, "192.0.2.1")).should.equal("accepted");
    await attack(authenticator, 60, () => "192.0.2.66");
    fetching.urls.length.should.be.belowOrEqual(16);
  });

  it("counts for all addresses of the same network", async () => {
    await attack(create("paypal"), 30, (count) => `2001:db8::${(count + 1).toString(16)}`);
    fetching.urls.should.have.length(5);
  });

  it("leaves fetches to networks that have named none, where many name some again and again", async () => {
    const authenticator = create("paypal");
    await attack(authenticator, 30, (count) => `192.0.2.${count % 10}`);
    (await ask(authenticator, genuine, "198.51.100.1")).should.equal("accepted");
    fetching.urls.should.have.length(10 + 20 + 1);
  });

  it("keeps no renewed one out of networks that have sent a verified request, whichever of their addresses sends it", async () => {
    const authenticator = create("paypal");
    const renewed = `${genuine}-RENEWED`;
    (await ask(authenticator, genuine, "198.51.100.1")).should.equal("accepted");
    await attack(authenticator, 50, (count) => `203.0.${count >> 8}.${count & 255}`);
    (await ask(authenticator, renewed, "192.0.2.1")).should.equal("keysUnavailable");
    (await ask(authenticator, renewed, "198.51.100.2")).should.equal("accepted");
  });

  it("is fetched no more than five times for an address and twenty times for all of the networks that have sent a verified request", async () => {
    const authenticator = create("paypal");
    (await ask(authenticator, genuine, "198.51.100.1")).should.equal("accepted");
    await attack(authenticator, 10, () => "198.51.100.2");
    fetching.urls.should.have.length(1 + 5);
    await attack(authenticator, 40, (count) => `198.51.100.${count & 127}`);
    fetching.urls.should.have.length(1 + 20);
  });

  it("is fetched no more than forty times a minute for all networks together", async () => {
    await attack(create("paypal"), 60, (count) => `203.0.${count >> 8}.${count & 255}`);
    fetching.urls.length.should.be.belowOrEqual(40);
  });

  it("does not take the place of one that has verified a request, also where all share one address, and after a restart", async () => {
    const folder = temporaryFolder("kept");
    const kept = () => new KeptPublications(folder);
    (await ask(create("paypal", undefined, kept()), genuine, "192.0.2.1")).should.equal("accepted");
    await until(() => existsSync(join(folder, keptFileName)), "the file");
    const restarted = kept();
    fetching.urls = [];
    for (let round = 0; round < 3; round++) {
      await attack(create("paypal", undefined, restarted), 20, () => "192.0.2.1");
      (await ask(create("paypal", undefined, restarted), genuine, "192.0.2.1")).should.equal("accepted");
    }
    fetching.urls.should.not.containEql(genuine);
  });

  it("is not asked for again within half a minute where it could not be fetched", async () => {
    const authenticator = create("paypal");
    const other = "https://api.paypal.com/v1/notifications/certs/OTHER";
    for (const [at, count] of [[0, 1], [29_999, 1], [30_000, 2]] as const) {
      now = 1_000_000 + at;
      (await ask(authenticator, other, "192.0.2.1")).should.equal("keysUnavailable");
      fetching.urls.should.have.length(count);
    }
  });

  it("lets no more than 25 requests of a network wait, and a hundred in all", async () => {
    const authenticator = create("paypal");
    let answer = () => undefined as unknown;
    const { respond } = fetching;
    fetching.respond = (signal) => new Promise((resolve) => (answer = () => resolve(respond(signal))));
    const results: string[] = [];
    const send = (ip: string) => ask(authenticator, genuine, ip).then((result) => results.push(result));
    const waiting = Array.from({ length: 30 }, () => send("192.0.2.66"));
    for (let count = 0; count < 100; count++) waiting.push(send(`198.51.100.${count}`));
    await settle();
    results.should.eql(Array(30).fill("keysUnavailable"));
    answer();
    await Promise.all(waiting);
    results.slice(30).should.eql(Array(100).fill("accepted"));
    fetching.urls.should.eql([genuine]);
  });

  it("that has expired since it was kept is fetched again", async () => {
    const kept = new KeptPublications();
    kept.keep(genuine, { text: String(own?.certificate), fetchedAt: Date.now() });
    const later = Date.now() + 3 * 24 * 3_600_000;
    mock.method(Date, "now", () => later);
    // So far, PayPal has no newer one.
    (await ask(create("paypal", undefined, kept), genuine, "192.0.2.1")).should.equal("signatureInvalid");
    fetching.urls.should.eql([genuine]);
  });

  it("that expires while Node-RED runs is asked for again each half a minute, until there is a newer one", async () => {
    const authenticator = create("paypal");
    (await ask(authenticator, genuine, "192.0.2.1")).should.equal("accepted");
    const later = Date.now() + 3 * 24 * 3_600_000;
    mock.method(Date, "now", () => later);
    for (let count = 0; count < 3; count++) (await ask(authenticator, genuine, "192.0.2.1")).should.equal("signatureInvalid");
    fetching.urls.should.eql([genuine, genuine]);
    now += 30_000;
    const renewed = createCertificate("-subj", "/CN=api.paypal.com", "-days", "30");
    fetching.respond = () => Promise.resolve(new Response(Uint8Array.from(renewed.certificate)));
    const askOften = [1, 2, 3].map(() => judge(authenticator, body, signPaypal(renewed.key, genuine, body), later));
    (await Promise.all(askOften)).should.eql(["accepted", "accepted", "accepted"]);
    fetching.urls.should.eql([genuine, genuine, genuine]);
  });

  it("takes no fetch from the confirmation of a subscription", async () => {
    const SigningCertURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem";
    const SubscribeURL = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=";
    fetching.respond = () => Promise.resolve(new Response(Uint8Array.from(own?.certificate ?? [])));
    const kept = new KeptPublications();
    const authenticator = create("amazon-sns", undefined, kept);
    (await judge(authenticator, JSON.stringify(signSns(key(), { SigningCertURL })))).should.equal("accepted");
    fetching.respond = () => Promise.resolve(new Response("", { status: 404 }));
    await attack(create("paypal", undefined, kept), 30, (count) => `203.0.${count >> 8}.${count & 255}`);
    fetching.respond = () => Promise.resolve(new Response("<ConfirmSubscriptionResponse/>"));
    for (let count = 0; count < 20; count++) {
      const given = { Type: "SubscriptionConfirmation", Token: String(count), SubscribeURL: `${SubscribeURL}${count}` };
      const message = signSns(key(), { SigningCertURL, ...given });
      (await judge(authenticator, JSON.stringify(message))).should.equal("handshake");
    }
  });
}); // prettier-ignore

describe("a sender with certificates", () => {
  it("needs its setting", () => {
    const access = { method: "signature", scheme: null, settings: {}, first: "", callers: [], verifyToken: "" } as const;
    createAuthenticator({ sender: "amazon-sns", access }).should.eql({ rule: "topicArn", value: "" });
    createAuthenticator({ sender: "paypal", access }).should.eql({ rule: "webhookId", value: "" });
  });
}); // prettier-ignore
