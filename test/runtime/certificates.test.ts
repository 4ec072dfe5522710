import should from "should";
import { sqliteIsHere } from "../../src/config/stores";
import { type CertifiedKey, createCertificate } from "../harness/certificates";
import { signPaypal, signSns, topicArn, webhookId } from "../harness/certified";
import { moduleOf } from "../harness/fixtures";
import { tab, webhook } from "../harness/flow";
import { send } from "../harness/http";
import { onBothWays } from "../harness/layouts";
import { type Publisher, startPublisher } from "../harness/publisher";
import { until } from "../harness/until";

const sns = { verificationMethod: "signature", sender: "amazon-sns", senderSettings: { topicArn }, credentials: {} };
const flow = tab(
  webhook("sns", "/sns", sns),
  webhook("guaranteed", "/guaranteed", { ...sns, guaranteed: sqliteIsHere() }),
  webhook("paypal", "/paypal", { ...sns, sender: "paypal", senderSettings: { webhookId } }),
  webhook("open", "/open", { ...sns, senderSettings: {} }),
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
      const { status, headers } = await postSns({ SigningCertURL: gone }, "/guaranteed");
      should([status, headers["retry-after"]]).eql([503, "30"]);
      await nodeRed().logged(/could not be fetched \(503\).*sns\.eu-west-1\.amazonaws\.com replied with an error/);
    });

    it("stays closed without the topic, and says in its status when it is open", async () => {
      await nodeRed().status("open", /Topic ARN/);
      await nodeRed().status("paypal", /accepted/);
    });
  });
});
