// Senders in homes, cars and on roads.

import { challenge, hmacSha256, type Sender, signedBody } from "./sender";

export const devices = {
  netatmo: {
    name: "Netatmo",
    docs: "https://dev.netatmo.com/apidocumentation/security",
    scheme: signedBody("X-Netatmo-secret", "hex"),
    recognise: [{ "X-Netatmo-secret": "" }],
    events: ["json:event_type"],
  },
  nuki: {
    name: "Nuki Web API",
    docs: "https://developer.nuki.io/page/nuki-web-api-1-4/3",
    scheme: signedBody("X-Nuki-Signature-SHA256", "hex"),
    recognise: [{ "X-Nuki-Signature-SHA256": "" }],
    events: ["json:feature"],
  },
  enode: {
    name: "Enode",
    docs: "https://developers.enode.com/docs/webhooks",
    secretIsChosen: true,
    scheme: {
      alg: "hmac-sha1",
      key: { format: "utf8" },
      sig: { headers: ["X-Enode-Signature"], pick: { prefix: "sha1=" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "X-Enode-Signature": "sha1=" }],
    events: ["json:0.event"],
    id: { from: ["header:X-Enode-Delivery"], signed: false },
  },
  samsara: {
    name: "Samsara",
    docs: "https://developers.samsara.com/docs/webhooks",
    scheme: {
      alg: "hmac-sha256",
      key: { format: "base64" },
      sig: { headers: ["X-Samsara-Signature"], pick: { prefix: "v1=" }, enc: "hex" },
      content: ["lit:v1:", "ts", "lit::", "body"],
      ts: { source: "header:X-Samsara-Timestamp", unit: "s", tolerance: null },
    },
    recognise: [{ "X-Samsara-Signature": "v1=" }],
    events: ["json:eventType"],
    id: { from: ["json:eventId"], signed: true },
  },
  smartcar: {
    name: "Smartcar",
    docs: "https://smartcar.com/docs/integrations/webhooks/payload-verification",
    where: "Dashboard: Application Management Token",
    scheme: signedBody("SC-Signature", "hex"),
    recognise: [{ "SC-Signature": "" }],
    events: ["json:eventType"],
    id: { from: ["json:eventId"], signed: true },
    handshakes: [
      {
        method: "POST",
        // Smartcar does not say that this request is signed.
        signed: false,
        when: [["json:eventType", "VERIFY"]],
        restrict: [["json:data.challenge", /^[A-Za-z0-9_=.-]{1,128}$/]],
        reply: { status: 200, body: { challenge: { mac: "hex", of: "json:data.challenge" } } },
      },
    ],
  },
  oura: {
    name: "Oura",
    docs: "https://cloud.ouraring.com/v2/docs#tag/Webhook-Subscription-Routes",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["x-oura-signature"], enc: "hex" },
      content: ["header:x-oura-timestamp", "body"],
    },
    settings: ["verifyToken"],
    recognise: [{ "x-oura-signature": "" }],
    events: ["json:event_type"],
    handshakes: [
      {
        method: "GET",
        signed: false,
        when: [["query:verification_token", { configured: "verifyToken" }]],
        restrict: [["query:challenge", challenge]],
        reply: { status: 200, body: { challenge: "query:challenge" } },
        otherwise: 403,
      },
    ],
  },
} as const satisfies Record<string, Sender>;
