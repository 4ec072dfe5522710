// Senders that sign with a key whose certificate the request names.

import type { Sender } from "./sender";

export const byCertificate = {
  "amazon-sns": {
    name: "Amazon SNS",
    docs: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
    scheme: {
      alg: "code:sns",
      key: { format: "utf8" },
      sig: { headers: [], source: "json:Signature", enc: "base64" },
      content: ["body"],
      ts: { source: "json:Timestamp", unit: "iso8601", tolerance: 172_800 },
    },
    settings: ["topicArn"],
    recognise: [{ "x-amz-sns-message-type": "" }],
    payload: "Message",
    id: { from: ["json:MessageId"], signed: true },
  },
  paypal: {
    name: "PayPal",
    docs: "https://developer.paypal.com/api/rest/webhooks/rest/",
    scheme: {
      alg: "code:paypal",
      key: { format: "utf8" },
      sig: { headers: ["PAYPAL-TRANSMISSION-SIG"], enc: "base64" },
      content: ["header:PAYPAL-TRANSMISSION-ID", "header:PAYPAL-TRANSMISSION-TIME", "body"],
      // It sends again for three days.
      ts: { source: "header:PAYPAL-TRANSMISSION-TIME", unit: "iso8601", tolerance: 345_600 },
    },
    settings: ["webhookId"],
    recognise: [{ "PAYPAL-TRANSMISSION-ID": "", "PAYPAL-TRANSMISSION-SIG": "" }],
    events: ["json:event_type"],
    // The signature covers a checksum of the body, which another body may have.
    id: { from: ["json:id"], signed: false },
  },
} as const satisfies Record<string, Sender>;
