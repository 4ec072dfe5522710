// Senders that sell, charge and keep accounts.

import { hmacSha256, type Sender, signedBody } from "./sender";

/** Adyen's keys are written in hexadecimal digits. */
const adyen = { alg: "hmac-sha256", key: { format: "hex" } } as const;
/** Exactly one: a second item would not be signed. */
const adyenItem = "notificationItems.*.NotificationRequestItem";

export const commerce = {
  stripe: {
    name: "Stripe",
    docs: "https://docs.stripe.com/webhooks/signature",
    where: "Developers → Webhooks: Signing secret",
    // Part of the key: it is not taken off.
    secretBegins: "whsec_",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Stripe-Signature"], split: ",", pick: { kv: "v1" }, enc: "hex" },
      content: ["ts", "lit:.", "body"],
      ts: { source: "sig:t", unit: "s", tolerance: 300 },
    },
    recognise: [{ "Stripe-Signature": "t=" }],
    events: ["json:type"],
    id: { from: ["json:id"], signed: true },
  },
  paddle: {
    name: "Paddle Billing",
    docs: "https://developer.paddle.com/webhooks/signature-verification",
    secretBegins: "pdl_ntfset_",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Paddle-Signature"], split: ";", pick: { kv: "h1" }, enc: "hex" },
      content: ["ts", "lit::", "body"],
      ts: { source: "sig:ts", unit: "s", tolerance: 5 },
    },
    recognise: [{ "Paddle-Signature": "ts=" }],
    events: ["json:event_type"],
    id: { from: ["json:event_id"], signed: true },
  },
  square: {
    name: "Square",
    docs: "https://developer.squareup.com/docs/webhooks/step3validate",
    where: "Developer Console: Signature key",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["x-square-hmacsha256-signature"], enc: "base64" },
      content: ["url", "body"],
    },
    settings: ["publicUrl"],
    recognise: [{ "x-square-hmacsha256-signature": "" }],
    events: ["json:type"],
    id: { from: ["json:event_id"], signed: true },
  },
  shopify: {
    name: "Shopify",
    docs: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
    where: "Settings → Notifications → Webhooks",
    scheme: signedBody("X-Shopify-Hmac-Sha256", "base64"),
    recognise: [{ "X-Shopify-Topic": "" }, { "X-Shopify-Hmac-Sha256": "" }],
    events: ["header:X-Shopify-Topic"],
    id: { from: ["header:X-Shopify-Webhook-Id"], signed: false },
  },
  "shopify-events": {
    name: "Shopify Events (developer preview)",
    docs: "https://shopify.dev/docs/apps/build/events/verify-deliveries",
    scheme: signedBody("Shopify-Hmac-Sha256", "base64"),
    recognise: [{ "Shopify-Hmac-Sha256": "" }],
    events: ["json:topic"],
    id: { from: ["header:Shopify-Webhook-Id"], signed: false },
  },
  woocommerce: {
    name: "WooCommerce",
    docs: "https://woocommerce.com/document/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-WC-Webhook-Signature", "base64"),
    recognise: [{ "X-WC-Webhook-Topic": "" }, { "X-WC-Webhook-Signature": "" }],
    events: ["header:X-WC-Webhook-Topic"],
    id: { from: ["header:X-WC-Webhook-Delivery-ID"], signed: false },
    handshakes: [
      {
        method: "POST",
        signed: false,
        when: [["header:X-WC-Webhook-Signature", { is: "absent" }]],
        form: /^webhook_id=[0-9]{1,20}$/,
        reply: { status: 200 },
      },
    ],
  },
  xero: {
    name: "Xero",
    docs: "https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/",
    scheme: signedBody("x-xero-signature", "base64"),
    recognise: [{ "x-xero-signature": "" }],
    events: ["json:events.0.eventType"],
    handshakes: [
      {
        method: "POST",
        signed: true,
        when: [
          ["json:events", { is: "emptyList" }],
          ["json:entropy", { is: "text" }],
        ],
        reply: { status: 200 },
      },
    ],
    emptyReply: { to: "all", status: 200 },
  },
  mollie: {
    name: "Mollie (next-gen webhooks)",
    docs: "https://docs.mollie.com/reference/webhooks-best-practices",
    scheme: {
      ...hmacSha256,
      // While the secret is changed, there is a signature by each.
      sig: { headers: ["X-Mollie-Signature"], split: ",", pick: { prefix: "sha256=" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "X-Mollie-Signature": "sha256=" }],
    events: ["json:type"],
    id: { from: ["json:id"], signed: true },
  },
  adyen: {
    name: "Adyen (standard webhooks)",
    docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
    where: "Developers → Webhooks → Security: HMAC key",
    scheme: {
      ...adyen,
      sig: { headers: [], source: `json:${adyenItem}.additionalData.hmacSignature`, enc: "base64" },
      content: [
        `json:${adyenItem}.pspReference`,
        "lit::",
        `json?:${adyenItem}.originalReference`,
        "lit::",
        `json:${adyenItem}.merchantAccountCode`,
        "lit::",
        `json?:${adyenItem}.merchantReference`,
        "lit::",
        `json:${adyenItem}.amount.value`,
        "lit::",
        `json:${adyenItem}.amount.currency`,
        "lit::",
        `json:${adyenItem}.eventCode`,
        "lit::",
        `json:${adyenItem}.success`,
      ],
    },
    events: [`json:${adyenItem}.eventCode`],
  },
  "adyen-platforms": {
    name: "Adyen (platform and management webhooks)",
    docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
    where: "Developers → Webhooks → Security: HMAC key",
    scheme: { ...adyen, sig: { headers: ["HmacSignature"], enc: "base64" }, content: ["body"] },
    recognise: [{ HmacSignature: "" }],
    events: ["json:type"],
  },
} as const satisfies Record<string, Sender>;
