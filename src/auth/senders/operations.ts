// Senders that watch and run machines.

import { abuseProtection, hmacSha256, plainText, type Sender, signedBody, tokenIn, tokenOnly } from "./sender";

export const operations = {
  sentry: {
    name: "Sentry",
    docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
    scheme: signedBody("Sentry-Hook-Signature", "hex"),
    recognise: [{ "Sentry-Hook-Resource": "" }],
    event: "header:Sentry-Hook-Resource",
    id: { from: ["header:Request-ID"], signed: false },
  },
  pagerduty: {
    name: "PagerDuty (V3 webhooks)",
    docs: "https://developer.pagerduty.com/docs/verifying-signatures",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-PagerDuty-Signature"], split: ",", pick: { prefix: "v1=" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "X-PagerDuty-Signature": "v1=" }, { "X-Webhook-Subscription": "" }],
    event: "json:event.event_type",
    id: { from: ["json:event.id"], signed: true },
  },
  grafana: {
    name: "Grafana Alerting",
    docs: "https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/",
    secretIsChosen: true,
    scheme: signedBody("X-Grafana-Alerting-Signature", "hex"),
    settings: ["signatureHeader"],
    recognise: [{ "X-Grafana-Alerting-Signature": "" }],
    event: "json:status",
  },
  "grafana-timestamp": {
    name: "Grafana Alerting with timestamp header",
    docs: "https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-Grafana-Alerting-Signature"], enc: "hex" },
      content: ["ts", "lit::", "body"],
      ts: { source: "header:X-Grafana-Alerting-Timestamp", unit: "s", tolerance: 300 },
    },
    settings: ["timestampHeader", "signatureHeader"],
    event: "json:status",
  },
  "azure-eventgrid": {
    name: "Azure Event Grid",
    docs: "https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema",
    secretIsChosen: true,
    scheme: tokenIn("Authorization", "Bearer "),
    recognise: [{ "aeg-event-type": "" }],
    event: "json:0.eventType",
    id: { from: ["json:0.id"], signed: false },
    handshakes: [
      {
        method: "POST",
        signed: true,
        when: [
          ["header:aeg-event-type", "SubscriptionValidation"],
          ["json:0.data.validationCode", { is: "text" }],
        ],
        reply: { status: 200, body: { validationResponse: "json:0.data.validationCode" } },
      },
      abuseProtection,
    ],
  },
  "microsoft-graph": {
    name: "Microsoft Graph",
    docs: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
    secretIsChosen: true,
    scheme: {
      ...tokenOnly,
      sig: { headers: [], source: "json:value.*.clientState" },
    },
    event: "json:value.0.changeType",
    id: { from: ["json:value.0.id"], signed: false },
    handshakes: [
      {
        method: "POST",
        signed: false,
        when: [["query:validationToken", { is: "text" }]],
        restrict: [["query:validationToken", /^[^<>\u0000-\u001f]{1,1024}$/]],
        reply: { status: 200, headers: plainText, body: "query:validationToken" },
      },
    ],
  },
  vercel: {
    name: "Vercel",
    docs: "https://vercel.com/docs/webhooks/webhooks-api",
    scheme: {
      alg: "hmac-sha1",
      key: { format: "utf8" },
      sig: { headers: ["x-vercel-signature"], enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "x-vercel-signature": "" }],
    event: "json:type",
    id: { from: ["json:id"], signed: true },
  },
  tailscale: {
    name: "Tailscale",
    docs: "https://tailscale.com/kb/1213/webhooks",
    secretBegins: "tskey-webhook-",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Tailscale-Webhook-Signature"], split: ",", pick: { kv: "v1" }, enc: "hex" },
      content: ["ts", "lit:.", "body"],
      ts: { source: "sig:t", unit: "s", tolerance: 300 },
    },
    recognise: [{ "Tailscale-Webhook-Signature": "t=" }],
    event: "json:0.type",
  },
  workos: {
    name: "WorkOS",
    docs: "https://workos.com/docs/events/data-syncing/webhooks",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["WorkOS-Signature"], split: ",", pick: { kv: "v1" }, enc: "hex" },
      content: ["ts", "lit:.", "body"],
      ts: { source: "sig:t", unit: "ms", tolerance: 180 },
    },
    recognise: [{ "WorkOS-Signature": "t=" }],
    event: "json:event",
    id: { from: ["json:id"], signed: true },
  },
} as const satisfies Record<string, Sender>;
