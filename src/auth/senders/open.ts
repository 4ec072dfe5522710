// Senders that keep to an open standard, and those that a user describes.

import {
  abuseProtection,
  challenge,
  plainText,
  type Sender,
  signedBody,
  standardWebhooks,
  standardWebhooksByKey,
  tokenIn,
} from "./sender";

export const open = {
  "standard-webhooks": {
    name: "Standard Webhooks (OpenAI, Replicate, Anthropic, Render, Supabase auth hooks, Polar, Brex, …)",
    docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
    secretBegins: "whsec_",
    // Polar's secrets from before September 2026 are keys as they are, with or without the prefix.
    scheme: { ...standardWebhooks("webhook"), key: { ...standardWebhooks("webhook").key, orText: true } },
    publicKey: standardWebhooksByKey("webhook"),
    recognise: [{ "webhook-id": "", "webhook-timestamp": "", "webhook-signature": "" }],
    events: ["json:type"],
    id: { from: ["header:webhook-id"], signed: true },
  },
  svix: {
    name: "Svix (Clerk, Resend, …)",
    docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
    secretBegins: "whsec_",
    scheme: standardWebhooks("svix"),
    publicKey: standardWebhooksByKey("svix"),
    recognise: [{ "svix-id": "", "svix-timestamp": "", "svix-signature": "" }],
    events: ["json:type"],
    id: { from: ["header:svix-id"], signed: true },
  },
  cloudevents: {
    name: "CloudEvents over HTTP",
    docs: "https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md",
    secretIsChosen: true,
    scheme: tokenIn("Authorization", "Bearer "),
    recognise: [{ "ce-id": "", "ce-source": "", "ce-type": "" }],
    events: ["header:ce-type"],
    id: { from: ["header:ce-id"], signed: false },
    handshakes: [abuseProtection],
  },
  websub: {
    name: "WebSub (YouTube feeds and other hubs)",
    docs: "https://www.w3.org/TR/websub/",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature", "hex", "sha256="),
    settings: ["topicUrl", "alg"],
    recognise: [{ Link: "", "X-Hub-Signature": "" }],
    handshakes: [
      {
        method: "GET",
        signed: false,
        when: [
          ["query:hub.mode", ["subscribe", "unsubscribe"]],
          ["query:hub.topic", { configured: "topicUrl" }],
          ["query:hub.challenge", { is: "text" }],
        ],
        restrict: [["query:hub.challenge", challenge]],
        reply: { status: 200, headers: plainText, body: "query:hub.challenge" },
        otherwise: 404,
      },
    ],
  },
  "shared-secret": {
    name: "Shared secret in a header",
    docs: "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/senders.md#a-sender-that-is-not-here",
    secretIsChosen: true,
    // What a form begins with.
    scheme: tokenIn("X-Token"),
    settings: ["signatureHeader"],
  },
  custom: {
    name: "Custom",
    docs: "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/senders.md#custom-another-sender-that-signs",
    // What a form begins with.
    scheme: signedBody("X-Signature-256", "hex", "sha256="),
    settings: ["publicUrl"],
  },
} as const satisfies Record<string, Sender>;
