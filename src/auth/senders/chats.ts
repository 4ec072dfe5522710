// Senders that people talk over.

import { hmacSha256, plainText, type Sender, signedBody, tokenIn } from "./sender";

export const chats = {
  slack: {
    name: "Slack",
    docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
    where: "Basic Information: Signing Secret",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-Slack-Signature"], pick: { prefix: "v0=" }, enc: "hex" },
      content: ["lit:v0:", "ts", "lit::", "body"],
      ts: { source: "header:X-Slack-Request-Timestamp", unit: "s", tolerance: 300 },
    },
    recognise: [{ "X-Slack-Signature": "v0=" }],
    events: ["json:event.type"],
    id: { from: ["json:event_id"], signed: true },
    handshakes: [
      {
        method: "POST",
        signed: true,
        when: [["json:type", "url_verification"]],
        reply: { status: 200, headers: plainText, body: "json:challenge" },
      },
    ],
    // The user who gave a slash command is shown what it answers.
    emptyReply: { to: "accepted", status: 200 },
  },
  zoom: {
    name: "Zoom",
    docs: "https://developers.zoom.us/docs/api/webhooks/",
    where: "Features → Access: Secret Token",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["x-zm-signature"], pick: { prefix: "v0=" }, enc: "hex" },
      content: ["lit:v0:", "ts", "lit::", "body"],
      ts: { source: "header:x-zm-request-timestamp", unit: "s", tolerance: 300 },
    },
    recognise: [{ "x-zm-signature": "v0=" }],
    events: ["json:event"],
    handshakes: [
      {
        method: "POST",
        signed: true,
        when: [["json:event", "endpoint.url_validation"]],
        // The content of a signature has colons and braces in it: none is made here for a stranger.
        restrict: [["json:payload.plainToken", /^[A-Za-z0-9_=-]{1,256}$/]],
        reply: {
          status: 200,
          body: {
            plainToken: "json:payload.plainToken",
            encryptedToken: { mac: "hex", of: "json:payload.plainToken" },
          },
        },
      },
    ],
  },
  discord: {
    name: "Discord (interactions and webhook events)",
    docs: "https://docs.discord.com/developers/events/webhook-events",
    where: "General Information: Public Key",
    scheme: {
      alg: "ed25519",
      key: { format: "ed25519-hex" },
      sig: { headers: ["X-Signature-Ed25519"], enc: "hex" },
      content: ["ts", "body"],
      ts: { source: "header:X-Signature-Timestamp", unit: "s", tolerance: 300 },
    },
    recognise: [{ "X-Signature-Ed25519": "" }],
    events: ["json:event.type"],
    id: { from: ["json:id"], signed: true },
    handshakes: [
      // To an interaction, type 1 is a ping; to a webhook event, which has an event in it, it is the ordinary one.
      {
        method: "POST",
        signed: true,
        when: [
          ["json:type", 1],
          ["json:event", { is: "absent" }],
        ],
        reply: { status: 200, body: { type: 1 } },
      },
      {
        method: "POST",
        signed: true,
        when: [["json:type", 0]],
        reply: { status: 204, headers: { "Content-Type": "lit:application/json" } },
      },
    ],
    emptyReply: { to: "accepted", status: 204 },
  },
  telegram: {
    name: "Telegram bots",
    docs: "https://core.telegram.org/bots/api#setwebhook",
    secretIsChosen: true,
    scheme: tokenIn("X-Telegram-Bot-Api-Secret-Token"),
    recognise: [{ "X-Telegram-Bot-Api-Secret-Token": "" }],
    id: { from: ["json:update_id"], signed: false },
  },
  line: {
    name: "LINE",
    docs: "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
    where: "Basic settings: Channel secret",
    scheme: signedBody("x-line-signature", "base64"),
    recognise: [{ "x-line-signature": "" }],
    events: ["json:events.0.type"],
    id: { from: ["json:events.0.webhookEventId"], signed: true },
    handshakes: [
      { method: "POST", signed: true, when: [["json:events", { is: "emptyList" }]], reply: { status: 200 } },
    ],
  },
  msteams: {
    name: "Microsoft Teams (outgoing webhook)",
    docs: "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook",
    scheme: {
      alg: "hmac-sha256",
      key: { format: "base64" },
      sig: { headers: ["Authorization"], pick: { prefix: "HMAC " }, enc: "base64" },
      content: ["body"],
    },
    recognise: [{ Authorization: "HMAC " }],
    events: ["json:type"],
    id: { from: ["json:id"], signed: true },
  },
} as const satisfies Record<string, Sender>;
