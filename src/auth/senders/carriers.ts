// Senders that carry calls, messages and mail.

import { hmacSha256, type Sender } from "./sender";

export const carriers = {
  twilio: {
    name: "Twilio",
    docs: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
    scheme: {
      alg: "code:twilio",
      key: { format: "utf8" },
      sig: { headers: ["X-Twilio-Signature"], enc: "base64" },
      content: [],
    },
    settings: ["publicUrl"],
    recognise: [{ "X-Twilio-Signature": "" }],
    id: { from: ["header:I-Twilio-Idempotency-Token"], signed: false },
    // A voice or message webhook takes a body for instructions (TwiML).
    emptyReply: { to: "accepted", status: 204 },
  },
  sendgrid: {
    name: "Twilio SendGrid Event Webhook",
    docs: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
    where: "Mail Settings → Event Webhook: Verification key",
    scheme: {
      alg: "ecdsa-p256-sha256",
      key: { format: "spki-base64" },
      sig: { headers: ["X-Twilio-Email-Event-Webhook-Signature"], enc: "base64" },
      content: ["ts", "body"],
      ts: { source: "header:X-Twilio-Email-Event-Webhook-Timestamp", unit: "s", tolerance: null },
    },
    recognise: [{ "X-Twilio-Email-Event-Webhook-Signature": "" }],
    events: ["json:0.event"],
    id: { from: ["json:0.sg_event_id"], signed: true },
  },
  mailgun: {
    name: "Mailgun",
    docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
    where: "API security: HTTP webhook signing key",
    scheme: {
      ...hmacSha256,
      sig: { headers: [], source: "json:signature.signature", enc: "hex" },
      content: ["json:signature.timestamp", "json:signature.token"],
      ts: { source: "json:signature.timestamp", unit: "s", tolerance: null },
    },
    events: ["json:event-data.event"],
    id: { from: ["json:signature.token"], signed: true },
  },
  telnyx: {
    name: "Telnyx",
    docs: "https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks",
    where: "Mission Control → API Keys: Public key",
    scheme: {
      alg: "ed25519",
      key: { format: "ed25519-base64" },
      sig: { headers: ["telnyx-signature-ed25519"], enc: "base64" },
      content: ["ts", "lit:|", "body"],
      ts: { source: "header:telnyx-timestamp", unit: "s", tolerance: 300 },
    },
    recognise: [{ "telnyx-signature-ed25519": "" }],
    events: ["json:data.event_type"],
    id: { from: ["json:data.id"], signed: true },
  },
} as const satisfies Record<string, Sender>;
