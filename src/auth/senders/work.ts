// Senders that people work with: issues, documents, forms, appointments.

import { challenge, hmacSha256, plainText, type Sender, signedBody } from "./sender";

const docusignFields = Array.from({ length: 10 }, (_, index) => `X-DocuSign-Signature-${index + 1}`);

export const work = {
  jira: {
    name: "Jira Cloud",
    docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature", "hex", "sha256="),
    recognise: [{ "X-Atlassian-Webhook-Identifier": "" }],
    event: "json:webhookEvent",
    id: { from: ["header:X-Atlassian-Webhook-Identifier"], signed: false },
  },
  linear: {
    name: "Linear",
    docs: "https://linear.app/developers/webhooks",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Linear-Signature"], enc: "hex" },
      content: ["body"],
      ts: { source: "json:webhookTimestamp", unit: "ms", tolerance: 60 },
    },
    recognise: [{ "Linear-Signature": "", "Linear-Delivery": "" }],
    event: "header:Linear-Event",
    id: { from: ["header:Linear-Delivery"], signed: false },
  },
  notion: {
    name: "Notion",
    docs: "https://developers.notion.com/reference/webhooks",
    secretBegins: "secret_",
    scheme: signedBody("X-Notion-Signature", "hex", "sha256="),
    settings: ["arm"],
    recognise: [{ "X-Notion-Signature": "sha256=" }],
    event: "json:type",
    id: { from: ["json:id"], signed: true },
    handshakes: [
      {
        method: "POST",
        signed: false,
        when: [["json:verification_token", { is: "text" }]],
        members: ["verification_token"],
        secretMissing: true,
        restrict: [["json:verification_token", /^[A-Za-z0-9_-]{16,128}$/]],
        reply: { status: 200 },
        show: "json:verification_token",
      },
    ],
  },
  asana: {
    name: "Asana",
    docs: "https://developers.asana.com/docs/webhooks-guide",
    scheme: signedBody("X-Hook-Signature", "hex"),
    settings: ["arm"],
    recognise: [{ "X-Hook-Signature": "" }, { "X-Hook-Secret": "" }],
    event: "json:events.0.action",
    handshakes: [
      {
        method: "POST",
        signed: false,
        when: [
          ["header:X-Hook-Secret", { is: "present" }],
          ["header:X-Hook-Signature", { is: "absent" }],
        ],
        secretMissing: true,
        restrict: [["header:X-Hook-Secret", /^[A-Za-z0-9]{16,128}$/]],
        reply: { status: 200, headers: { "X-Hook-Secret": "header:X-Hook-Secret" } },
        show: "header:X-Hook-Secret",
      },
    ],
  },
  typeform: {
    name: "Typeform",
    docs: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
    secretIsChosen: true,
    scheme: signedBody("Typeform-Signature", "base64", "sha256="),
    recognise: [{ "Typeform-Signature": "sha256=" }],
    event: "json:event_type",
    id: { from: ["json:event_id"], signed: true },
  },
  calendly: {
    name: "Calendly",
    docs: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Calendly-Webhook-Signature"], split: ",", pick: { kv: "v1" }, enc: "hex" },
      content: ["ts", "lit:.", "body"],
      ts: { source: "sig:t", unit: "s", tolerance: 180 },
    },
    recognise: [{ "Calendly-Webhook-Signature": "t=" }],
    event: "json:event",
  },
  docusign: {
    name: "DocuSign Connect",
    docs: "https://developers.docusign.com/platform/webhooks/connect/validate/",
    scheme: signedBody(docusignFields, "base64"),
    recognise: [{ "X-DocuSign-Signature-1": "" }],
    event: "json:event",
  },
  dropbox: {
    name: "Dropbox",
    docs: "https://www.dropbox.com/developers/reference/webhooks",
    scheme: signedBody("X-Dropbox-Signature", "hex"),
    recognise: [{ "X-Dropbox-Signature": "" }],
    handshakes: [
      {
        method: "GET",
        signed: false,
        when: [["query:challenge", { is: "text" }]],
        restrict: [["query:challenge", challenge]],
        reply: { status: 200, headers: { ...plainText, "Content-Type": "lit:text/plain" }, body: "query:challenge" },
      },
    ],
  },
  zendesk: {
    name: "Zendesk",
    docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-Zendesk-Webhook-Signature"], enc: "base64" },
      content: ["ts", "body"],
      ts: { source: "header:X-Zendesk-Webhook-Signature-Timestamp", unit: "iso8601", tolerance: 300 },
    },
    recognise: [{ "X-Zendesk-Webhook-Signature": "" }, { "X-Zendesk-Webhook-Id": "" }],
    event: "json:type",
    id: { from: ["header:X-Zendesk-Webhook-Invocation-Id"], signed: false },
  },
  intercom: {
    name: "Intercom",
    docs: "https://developers.intercom.com/docs/webhooks/webhook-notifications",
    scheme: {
      alg: "hmac-sha1",
      key: { format: "utf8" },
      sig: { headers: ["X-Hub-Signature"], pick: { prefix: "sha1=" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [
      { "X-Hub-Signature": "sha1=", "Intercom-Webhook-Version": "" },
      { "X-Hub-Signature": "sha1=", "User-Agent": "intercom" },
    ],
    event: "json:topic",
    id: { from: ["json:id"], signed: true },
    handshakes: [{ method: "HEAD", signed: false, when: [], reply: { status: 200 } }],
  },
  hubspot: {
    name: "HubSpot (v3)",
    docs: "https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-HubSpot-Signature-v3"], enc: "base64" },
      content: ["method", "url:hubspot", "body", "ts"],
      ts: { source: "header:X-HubSpot-Request-Timestamp", unit: "ms", tolerance: 300 },
    },
    settings: ["publicUrl"],
    recognise: [{ "X-HubSpot-Signature-v3": "" }, { "X-HubSpot-Signature": "" }],
    event: "json:0.subscriptionType",
  },
} as const satisfies Record<string, Sender>;
