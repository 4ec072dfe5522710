import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import should from "should";
import { keptFileName } from "../../src/auth/published";
import { sqliteIsHere } from "../../src/config/stores";
import { type CertifiedKey, createCertificate } from "../harness/certificates";
import { signPaypal, signSns, topicArn, webhookId } from "../harness/certified";
import { moduleOf } from "../harness/fixtures";
import { tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { createKeyPair, signToken } from "../harness/jwt";
import { onBothWays } from "../harness/layouts";
import { NodeRed } from "../harness/node-red";
import { type Publisher, startPublisher } from "../harness/publisher";
import { until } from "../harness/until";

const sns = { verificationMethod: "signature", sender: "amazon-sns", senderSettings: { topicArn }, credentials: {} };
const issuer = { issuer: "https://issuer.example", audience: "orders" };
const jwt = { verificationMethod: "jwt", keySource: "jwks", jwksUrl: "https://issuer.example/keys", ...issuer };
const flow = tab(
  webhook("sns", "/sns", sns),
  webhook("guaranteed", "/guaranteed", { ...sns, guaranteed: sqliteIsHere() }),
  webhook("paypal", "/paypal", { ...sns, sender: "paypal", senderSettings: { webhookId } }),
  webhook("open", "/open", { ...sns, senderSettings: {} }),
  webhook("jwt", "/jwt", { ...jwt, credentials: {} }),
);

describe("a webhook whose sender names its certificate", () => {
  const env: Record<string, string> = {};
  let publisher: Publisher;
  let own: CertifiedKey;
  let asked: string[] = [];

  before(async () => {
    publisher = await startPublisher();
    own = createCertificate("-subj", "/CN=sns.amazonaws.com");
    publisher.handle = ({ url = "" }, response) => {
      asked.push(url);
      if (url.includes("-gone")) response.writeHead(404);
      response.end(/\.pem$|\/certs\//.test(url) ? own.certificate : "<ConfirmSubscriptionResponse/>");
    };
    Object.assign(env, { NODE_EXTRA_CA_CERTS: publisher.certificateFile, PUBLISHER: publisher.origin });
  });
  after(() => publisher.close());

  onBothWays("that is open", { flow, env, plugin: moduleOf("published-elsewhere") }, (nodeRed) => {
    const SigningCertURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem";
    const postSns = async (given: Record<string, string> = {}, path = "/sns") =>
      send(nodeRed().node(path), {
        headers: {
          "Content-Type": "text/plain; charset=UTF-8",
          "x-amz-sns-message-type": given.Type ?? "Notification",
        },
        body: JSON.stringify(signSns(own.key, { SigningCertURL, ...given })),
      });

    beforeEach(() => {
      asked = [];
    });

    it("starts the flow with the message of Amazon SNS, parsed where it is JSON", async () => {
      for (const [path, Message, payload] of [
        ["/sns", "Hello world!", "Hello world!"],
        ["/sns", '{"Records":[{"s3":1}]}', { Records: [{ s3: 1 }] }],
        ["/guaranteed", "[1]", [1]],
      ] as const) {
        const { status, json } = await postSns({ Message, MessageId: `id-${path}-${Message}` }, path);
        status.should.equal(200);
        const message = await nodeRed().message(json.id);
        should(message.payload).eql(payload);
        should(message.webhook).containEql({ sender: "amazon-sns", id: `id-${path}-${Message}`, credential: "first" });
      }
    });

    it("confirms the subscription of its topic, and starts no flow for it", async () => {
      const SubscribeURL = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2";
      const given = { Type: "SubscriptionConfirmation", Token: "2", SubscribeURL };
      (await postSns({ ...given, TopicArn: `${topicArn}-of-a-stranger` })).status.should.equal(401);
      asked.should.eql([]);
      const before = nodeRed().messages.length;
      (await postSns(given)).status.should.equal(200);
      asked.should.containEql("/sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2");
      nodeRed().messages.length.should.equal(before);
      await nodeRed().status("sns", /handshake/);
    });

    it("starts the flow with an event of PayPal, and is refused for another body", async () => {
      const body = '{"id":"WH-1","event_type":"PAYMENT.SALE.COMPLETED"}';
      const signed = signPaypal(own.key, "https://api.paypal.com/v1/notifications/certs/CERT-1", body);
      const headers = { "Content-Type": "application/json", ...signed };
      const { status, json } = await send(nodeRed().node("/paypal"), { headers, body });
      status.should.equal(200);
      should(await nodeRed().message(json.id)).match({
        topic: "PAYMENT.SALE.COMPLETED",
        webhook: { sender: "paypal", event: "PAYMENT.SALE.COMPLETED", id: "WH-1" },
      });
      const other = await send(nodeRed().node("/paypal"), { headers, body: `${body} ` });
      should([other.status, other.headers["www-authenticate"]]).eql([401, 'Signature realm="webhook"']);
    });

    it("is refused for a raw message, and the operator is told why", async () => {
      const headers = { "x-amz-sns-rawdelivery": "true", "x-amz-sns-message-type": "Notification" };
      const hasReason = async () => {
        (await send(nodeRed().node("/sns"), { headers, body: "Hello world!" })).status.should.equal(401);
        const { json } = await send(nodeRed().admin("/webhook-trigger/sns/lastRequest"), { method: "GET" });
        const { lastRefused } = json as { lastRefused?: { reasons: { key: string }[] } };
        return lastRefused?.reasons[0]?.key === "certificate.raw";
      };
      // Reasons are looked for once a second.
      await until(hasReason, "the reason");
    });

    it("is refused with 413 where it is larger than any message of Amazon SNS", async () => {
      const Message = "x".repeat(1024 * 1024);
      (await postSns({ Message })).status.should.equal(413);
      (await postSns({ Message: Message.slice(2000) })).status.should.equal(200);
    });

    it("is answered with 503 while the certificate is not where it should be, and the log says why", async () => {
      const gone = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-gone.pem";
      const why = /could not be fetched \(503\).*sns\.eu-west-1\.amazonaws\.com replied with an error/;
      // Reasons have a budget of time: where it is spent, the next line of the log has one.
      await until(async () => {
        const { status, headers } = await postSns({ SigningCertURL: gone }, "/guaranteed");
        should([status, headers["retry-after"]]).eql([503, "30"]);
        return why.test(nodeRed().log);
      }, "the reason in the log");
    });

    it("stays closed without the topic, and says in its status when it is open", async () => {
      await nodeRed().status("open", /Topic ARN/);
      await nodeRed().status("paypal", /accepted/);
    });
  });

  describe("that is killed, and started again in the midst of forged requests", () => {
    const paypalUrl = "https://api.paypal.com/v1/notifications/certs/CERT-";
    const snsUrl = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-";
    let [nodeRed, number, forged]: [NodeRed | undefined, number, number] = [undefined, 0, 0];
    let pair: Awaited<ReturnType<typeof createKeyPair>>;
    let second: typeof pair;
    const path = (sent: string) => nodeRed?.node(sent) ?? "";

    const sendPaypal = async (url: string, localAddress: string) => {
      const headers = { "Content-Type": "application/json", ...signPaypal(own.key, url, "{}") };
      return (await send(path("/paypal"), { headers, body: "{}", localAddress })).status;
    };
    const sendSns = async (SigningCertURL: string, localAddress: string) => {
      const body = JSON.stringify(signSns(own.key, { SigningCertURL }));
      return (await send(path("/sns"), { headers: { "x-amz-sns-message-type": "Notification" }, body, localAddress }))
        .status;
    };
    const sendToken = async (kid: string, localAddress: string) => {
      const claims = { iss: issuer.issuer, aud: issuer.audience, exp: Date.now() / 1000 + 600 };
      const headers = { Authorization: `Bearer ${await signToken(claims, { ...pair.key, kid })}` };
      return (await send(path("/jwt"), { headers, body: "x", localAddress })).status;
    };
    const sendGenuine = () =>
      Promise.all([
        sendPaypal(`${paypalUrl}1`, "127.0.0.1"),
        sendSns(`${snsUrl}1.pem`, "127.0.0.1"),
        sendToken("1", "127.0.0.1"),
      ]);
    /** Ten requests of each kind in a second, for certificates and keys that there are not. */
    const attackFrom = (address: string) => {
      const timer = setInterval(() => {
        const name = `forged-${number++}`;
        for (const each of [
          sendPaypal(paypalUrl + name, address),
          sendSns(`${snsUrl}${name}.pem`, address),
          sendToken(name, address),
        ]) {
          const count = (status: number) => {
            if (status !== 200) forged++;
          };
          // The last ones may meet the end of Node-RED.
          each.then(count, () => undefined);
        }
      }, 100);
      return () => clearInterval(timer);
    };
    const publish = (isGone = false) => {
      publisher.handle = ({ url = "" }, response) => {
        if (isGone || url.includes("forged")) response.writeHead(404).end();
        else response.end(url.includes("issuer") ? JSON.stringify({ keys: [pair.jwk, second.jwk] }) : own.certificate);
      };
    };

    const options = { flow, env, plugin: moduleOf("published-elsewhere") };
    let [userDir, file] = ["", ""];

    before(async () => {
      [pair, second] = [await createKeyPair("ES256", "1"), await createKeyPair("ES256", "2")];
      publish();
      nodeRed = await NodeRed.start(options);
      ({ userDir } = nodeRed);
      file = join(userDir, keptFileName);
      should(await sendGenuine()).eql([200, 200, 200]);
      const isKept = () =>
        [paypalUrl, snsUrl, "issuer.example"].every((url) => readFileSync(file, "utf8").includes(url));
      await until(() => existsSync(file) && isKept(), "certificates and keys to be kept");
      (statSync(file).mode & 0o777).should.equal(0o600);
      await nodeRed.kill();
    });
    afterEach(() => nodeRed?.stop());

    it("accepts genuine ones by what has verified others before, also where all have one address", async () => {
      publish(true);
      nodeRed = await NodeRed.start({ ...options, userDir });
      const stop = attackFrom("127.0.0.1");
      forged = 0;
      const replies: number[] = [];
      await until(async () => {
        replies.push(...(await sendGenuine()));
        return forged >= 100;
      }, "the attack").finally(stop);
      replies.filter((status) => status !== 200).should.eql([]);
    });

    it("accepts genuine ones of another address by what it then fetches, where the file is damaged", async () => {
      publish();
      writeFileSync(file, '{"https://api.paypal.com/v1/');
      nodeRed = await NodeRed.start({ ...options, userDir });
      const stop = attackFrom("127.0.0.66");
      forged = 0;
      try {
        await until(() => forged >= 60, "the attack");
        should(await sendGenuine()).eql([200, 200, 200]);
      } finally {
        stop();
      }
    });
  });
});
