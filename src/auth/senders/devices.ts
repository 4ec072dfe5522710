// Senders in homes, cars and on roads.

import { type Sender, signedBody } from "./sender";

export const devices = {
  netatmo: {
    name: "Netatmo",
    docs: "https://dev.netatmo.com/apidocumentation/security",
    scheme: signedBody("X-Netatmo-secret", "hex"),
    recognise: [{ "X-Netatmo-secret": "" }],
    event: "json:event_type",
  },
  nuki: {
    name: "Nuki Web API",
    docs: "https://developer.nuki.io/page/nuki-web-api-1-4/3",
    scheme: signedBody("X-Nuki-Signature-SHA256", "hex"),
    recognise: [{ "X-Nuki-Signature-SHA256": "" }],
    event: "json:feature",
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
    event: "json:0.event",
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
    event: "json:eventType",
    id: { from: ["json:eventId"], signed: true },
  },
} as const satisfies Record<string, Sender>;
