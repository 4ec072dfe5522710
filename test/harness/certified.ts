import { createSign } from "node:crypto";
import { crc32 } from "node:zlib";

/** A message of Amazon SNS, by the members that its documentation names, but for the signature. */
export type SnsMessage = Record<string, string>;

export const topicArn = "arn:aws:sns:eu-west-1:123456789012:MyTopic";
export const webhookId = "8PT597110X687430LKGECATA";

/** https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html */
export function signSns(key: Buffer, given: SnsMessage): SnsMessage {
  const message: SnsMessage = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: topicArn,
    Message: "Hello world!",
    Timestamp: new Date().toISOString(),
    SignatureVersion: "2",
    ...given,
  };
  const signed =
    message.Type === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  let text = "";
  for (const name of signed) if (message[name] !== undefined) text += `${name}\n${message[name]}\n`;
  const hash = message.SignatureVersion === "1" ? "sha1" : "sha256";
  return { ...message, Signature: createSign(hash).update(text).sign(key, "base64") };
}

/** https://developer.paypal.com/api/rest/webhooks/rest/ */
export function signPaypal(key: Buffer, certificateUrl: string, body: string, id = webhookId): Record<string, string> {
  const [transmission, time] = ["69cd13f0-d67a-11e5-baa3-778b53f4ae55", new Date().toISOString()];
  const text = [transmission, time, id, crc32(body)].join("|");
  return {
    "PAYPAL-AUTH-ALGO": "SHA256withRSA",
    "PAYPAL-CERT-URL": certificateUrl,
    "PAYPAL-TRANSMISSION-ID": transmission,
    "PAYPAL-TRANSMISSION-SIG": createSign("sha256").update(text).sign(key, "base64"),
    "PAYPAL-TRANSMISSION-TIME": time,
  };
}
