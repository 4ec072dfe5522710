// Senders from O to S, by their ids. Above each: what its user enters in the node, for docs/senders.md.

import {
  challenge,
  hmacSha256,
  ping,
  plainText,
  type SenderRow,
  signedBody,
  signedWithTime,
  standardWebhooks,
  standardWebhooksByKey,
  subscription,
  tokenIn,
  tokenOnly,
} from "./sender";

export const oToS = {
  /**
   * **Token**: enter `Authorization` as _Authentication field_, and `Bearer` and the token as _Authentication secret_
   * of the event hook. Deploy, then verify it there.
   */
  okta: {
    name: "Okta event hooks",
    docs: "https://developer.okta.com/docs/concepts/event-hooks/",
    secretIsChosen: true,
    scheme: tokenIn("Authorization", "Bearer "),
    recognise: [{ "X-Okta-Verification-Challenge": "" }],
    events: ["json:data.events.*.eventType"],
    eventNames: "user.lifecycle.create, group.user_membership.add",
    id: { from: ["json:data.events.*.uuid", "json:eventId"], signed: false },
    handshakes: [
      {
        method: "GET",
        signed: false,
        when: [["header:X-Okta-Verification-Challenge", { is: "present" }]],
        restrict: [["header:X-Okta-Verification-Challenge", challenge]],
        reply: { status: 200, body: { verification: "header:X-Okta-Verification-Challenge" } },
      },
    ],
  },
  /** **Secret**: the token of the webhook. */
  onfido: {
    name: "Onfido",
    docs: "https://documentation.identity.entrust.com/api/manual-webhook-signature-verification/",
    scheme: signedBody("X-SHA2-Signature", "hex"),
    recognise: [{ "X-SHA2-Signature": "" }],
    events: ["json:payload.action"],
  },
  /** **Secret**: enter the same one as _Signature secret_ of the webhook. */
  openproject: {
    name: "OpenProject",
    docs: "https://www.openproject.org/docs/system-admin-guide/api-and-webhooks/",
    secretIsChosen: true,
    scheme: { ...signedBody("X-OP-Signature", "hex", "sha1="), alg: "hmac-sha1" },
    recognise: [{ "X-OP-Signature": "sha1=" }],
    events: ["json:action"],
    eventNames: "work_package:created, work_package:updated, project:created, project:updated, time_entry:created",
  },
  /**
   * **Secret**: the client secret of the API application. **Verify Token**: give the same one as `verification_token`
   * when you subscribe by Oura's API.
   */
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
    eventNames: "create, update, delete",
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
  /** **Secret**: the signing secret of the webhook, under _Settings_ → _Webhooks_. */
  outline: {
    name: "Outline",
    docs: "https://www.getoutline.com/developers",
    scheme: signedWithTime("Outline-Signature", { signature: "s", unit: "ms" }),
    recognise: [{ "Outline-Signature": "t=" }],
    events: ["json:event"],
    eventNames:
      "documents.publish, documents.update, documents.archive, documents.delete, comments.create, users.create",
    id: { from: ["json:id"], signed: true },
  },
  /**
   * **Secret**: the secret of the webhook destination, all of it. Where the operator of Outpost has renamed its header
   * fields, use _Custom_; in its mode _Standard Webhooks_, choose that.
   */
  outpost: {
    name: "Outpost",
    docs: "https://hookdeck.com/docs/outpost/guides/verify-webhook-signatures",
    // While a secret is changed there are two signatures, and `v0=` only before the first.
    scheme: {
      ...signedBody("x-outpost-signature", "hex"),
      sig: { headers: ["x-outpost-signature"], split: ["v0=", ","], enc: "hex" },
    },
    recognise: [{ "x-outpost-signature": "v0=" }],
    events: ["header:x-outpost-topic"],
    id: { from: ["header:x-outpost-event-id"], signed: false },
  },
  owntracks: {
    name: "OwnTracks",
    docs: "https://owntracks.org/booklet/tech/http/",
    fields: { verificationMethod: "basic", replyBody: "[]" },
    where: "Mode HTTP: URL; Identification: username, password",
  },
  /**
   * **Secret**: the secret key of the notification destination, all of it. The time allowed is short: this computer's
   * clock must be right.
   */
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
    eventNames:
      "transaction.completed, transaction.payment_failed, subscription.created, subscription.updated, subscription.canceled",
    id: { from: ["json:event_id"], signed: true },
  },
  /** **Secret**: shown once, when the webhook subscription is made. */
  pagerduty: {
    name: "PagerDuty (V3 webhooks)",
    docs: "https://developer.pagerduty.com/docs/verifying-signatures",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-PagerDuty-Signature"], split: ",", pick: { prefix: "v1=" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "X-PagerDuty-Signature": "v1=" }, { "X-Webhook-Subscription": "" }],
    events: ["json:event.event_type"],
    eventNames: "incident.triggered, incident.acknowledged, incident.escalated, incident.resolved",
    id: { from: ["json:event.id"], signed: true },
    handshakes: [ping("json:event.event_type", "pagey.ping")],
  },
  paperless: {
    name: "Paperless-ngx",
    docs: "https://docs.paperless-ngx.com/usage/#workflow-action-webhook",
    fields: { verificationMethod: "header" },
    where: "Workflows → Action Webhook: Webhook url, Webhook headers, Send webhook payload as JSON",
  },
  /**
   * **Webhook ID**: under _Webhooks_ in the settings of the app. The signature covers only a checksum of the body: with
   * one request of PayPal, others can be forged for four days. Use https, and ask PayPal's API before you ship.
   */
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
    eventNames: "PAYMENT.CAPTURE.COMPLETED, PAYMENT.CAPTURE.REFUNDED, CHECKOUT.ORDER.APPROVED, BILLING.SUBSCRIPTION.*",
    // The signature covers a checksum of the body, which another body may have.
    id: { from: ["json:id"], signed: false },
  },
  /** **Secret**: the secret key of the API, under _Settings_ → _API Keys & Webhooks_. */
  paystack: {
    name: "Paystack",
    docs: "https://paystack.com/docs/payments/webhooks/",
    where: "Settings → API Keys & Webhooks: Secret Key",
    secretBegins: "sk_",
    scheme: { ...signedBody("x-paystack-signature", "hex"), alg: "hmac-sha512" },
    recognise: [{ "x-paystack-signature": "" }],
    events: ["json:event"],
    eventNames: "charge.success, transfer.success, transfer.failed, refund.processed, subscription.create",
  },
  /** **Secret**: the secret of the webhook (`wbhsec_…`), all of it. */
  persona: {
    name: "Persona",
    docs: "https://docs.withpersona.com/webhooks-best-practices",
    secretBegins: "wbhsec_",
    scheme: {
      ...signedWithTime("Persona-Signature"),
      sig: { headers: ["Persona-Signature"], split: [",", " "], pick: { kv: "v1" }, enc: "hex" },
    },
    recognise: [{ "Persona-Signature": "t=" }],
    events: ["json:data.attributes.name"],
    id: { from: ["json:data.id"], signed: true },
  },
  /** **Secret**: the secret key of the webhook, in the settings of the workspace. */
  plane: {
    name: "Plane",
    docs: "https://developers.plane.so/dev-tools/intro-webhooks",
    // Its X-Plane-Delivery is another one each time that it sends.
    scheme: signedBody("X-Plane-Signature", "hex"),
    recognise: [{ "X-Plane-Event": "" }],
    events: ["header:X-Plane-Event"],
    eventNames: "project, issue, cycle, module, issue_comment",
  },
  plex: {
    name: "Plex",
    docs: "https://support.plex.tv/articles/115002267687-webhooks/",
    fields: { verificationMethod: "query" },
    where: "Account → Webhooks: URL",
  },
  postmark: {
    name: "Postmark",
    docs: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
    fields: { verificationMethod: "basic" },
    where: "Message Stream → Webhooks → Add webhook: Webhook URL, Basic auth credentials",
  },
  proxmox: {
    name: "Proxmox VE",
    docs: "https://pve.proxmox.com/pve-docs/chapter-notifications.html",
    fields: { verificationMethod: "header" },
    where: "Datacenter → Notifications → Add → Webhook: Method POST, URL, Headers (with Content-Type), Body",
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. Choose _Webhook_ there, not Slack or Teams. */
  pulumi: {
    name: "Pulumi Cloud",
    docs: "https://www.pulumi.com/docs/pulumi-cloud/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("Pulumi-Webhook-Signature", "hex"),
    recognise: [{ "Pulumi-Webhook-Kind": "" }],
    events: ["header:Pulumi-Webhook-Kind"],
    eventNames: "stack, stack_preview, stack_update, deployment, drift_detection",
    id: { from: ["header:Pulumi-Webhook-ID"], signed: false },
  },
  /** **Secret**: the `secret` of the app key that `X-Pusher-Key` names, under _App Keys_. */
  pusher: {
    name: "Pusher Channels",
    docs: "https://pusher.com/docs/channels/server_api/webhooks/",
    where: "App Keys: secret",
    scheme: signedBody("X-Pusher-Signature", "hex"),
    recognise: [{ "X-Pusher-Key": "", "X-Pusher-Signature": "" }],
    events: ["json:events.*.name"],
    eventNames: "channel_occupied, channel_vacated, member_added, member_removed, client_event",
  },
  /**
   * **Secret**: the _Current Signing Key_. **Second Secret**: the _Next Signing Key_. Messages by POST, PUT or PATCH;
   * what is in the query is not signed.
   */
  qstash: {
    name: "QStash",
    docs: "https://upstash.com/docs/qstash/howto/signature",
    where: "Signing Keys: Current Signing Key",
    secretBegins: "sig_",
    scheme: tokenIn("Upstash-Signature"),
    jwt: {
      keySource: "secret",
      headerParameter: "Upstash-Signature",
      issuer: "Upstash",
      audience: "",
      requiredClaim: "",
      bodyDigest: { claim: "body", encoding: "base64url" },
    },
    recognise: [{ "Upstash-Signature": "" }],
    id: { from: ["header:Upstash-Message-Id"], signed: false },
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. It is not the secret of the API key. */
  razorpay: {
    name: "Razorpay",
    docs: "https://razorpay.com/docs/webhooks/validate-test/",
    secretIsChosen: true,
    scheme: signedBody("X-Razorpay-Signature", "hex"),
    recognise: [{ "X-Razorpay-Signature": "" }],
    events: ["json:event"],
    eventNames:
      "payment.authorized, payment.captured, payment.failed, order.paid, refund.processed, subscription.charged",
    id: { from: ["header:x-razorpay-event-id"], signed: false },
  },
  /**
   * **Secret**: the signing secret that Revolut's API returns when the webhook is made, all of it. For Business and
   * Merchant.
   */
  revolut: {
    name: "Revolut",
    docs: "https://developer.revolut.com/docs/guides/merchant/monitor-and-observe/webhooks/verify-the-payload-signature",
    secretBegins: "wsk_",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Revolut-Signature"], split: ",", pick: { prefix: "v1=" }, enc: "hex" },
      content: ["lit:v1.", "ts", "lit:.", "body"],
      ts: { source: "header:Revolut-Request-Timestamp", unit: "ms", tolerance: 300 },
    },
    recognise: [{ "Revolut-Signature": "v1=" }],
    events: ["json:event"],
    eventNames: "ORDER_COMPLETED, ORDER_AUTHORISED, ORDER_CANCELLED, TransactionCreated, TransactionStateChanged",
  },
  /**
   * **Token**: give the same one as `verificationToken` of `deliveryMode` when you subscribe by RingCentral's API.
   * Deploy first: RingCentral tests the URL.
   */
  ringcentral: {
    name: "RingCentral",
    docs: "https://developers.ringcentral.com/guide/notifications/webhooks/creating-webhooks",
    secretIsChosen: true,
    scheme: tokenIn("Verification-Token"),
    recognise: [{ "User-Agent": "RingCentral-Webhook/" }, { "Validation-Token": "", "Verification-Token": "" }],
    events: ["json:body.eventType", "json:event"],
    id: { from: ["json:uuid"], signed: false },
    handshakes: [
      {
        method: "POST",
        signed: false,
        // Older subscriptions have this field in their events as well.
        when: [
          ["header:Validation-Token", { is: "present" }],
          ["json:uuid", { is: "absent" }],
        ],
        restrict: [["header:Validation-Token", /^[A-Za-z0-9._~+/=-]{1,256}$/]],
        reply: {
          status: 200,
          headers: { "Validation-Token": "header:Validation-Token", "Content-Type": "lit:application/json" },
        },
      },
    ],
  },
  /** **Secret**: the signing secret of the webhook, under _Settings_ → _Webhooks_. */
  rootly: {
    name: "Rootly",
    docs: "https://docs.rootly.com/configuration/webhooks",
    scheme: { ...signedWithTime("X-Rootly-Signature"), content: ["ts", "body"] },
    recognise: [{ "X-Rootly-Signature": "t=" }],
    events: ["json:event.type"],
    eventNames:
      "incident.created, incident.updated, incident.mitigated, incident.resolved, alert.created, pulse.created",
    id: { from: ["json:event.id"], signed: true },
  },
  /** **Secret**: the secret key of the webhook, in the settings of your organization. */
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
    handshakes: [ping("json:eventType", "Ping")],
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. Leave the method POST. */
  sanity: {
    name: "Sanity",
    docs: "https://www.sanity.io/docs/content-lake/webhooks",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["sanity-webhook-signature"], split: ",", pick: { kv: "v1" }, enc: "base64url" },
      content: ["ts", "lit:.", "body"],
      ts: { source: "sig:t", unit: "ms", tolerance: null },
    },
    recognise: [{ "sanity-webhook-signature": "t=" }],
    events: ["header:sanity-operation"],
    eventNames: "create, update, delete",
    id: { from: ["header:idempotency-key"], signed: false },
  },
  /** **Secret**: the _Secret Key_ of the integration, or the _Webhook Signature Key_ of a shop integration. */
  sendcloud: {
    name: "Sendcloud",
    docs: "https://sendcloud.dev/api/v3/webhooks",
    where: "Settings → Integrations: Secret Key, or Webhook Signature Key",
    scheme: signedBody("Sendcloud-Signature", "hex"),
    recognise: [{ "Sendcloud-Signature": "" }],
    events: ["json:action"],
    eventNames: "parcel_status_changed",
  },
  /** **Secret**: the verification key of the event webhook, under _Mail Settings_. */
  sendgrid: {
    name: "Twilio SendGrid Event Webhook",
    aliases: ["Inbound Parse"],
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
    events: ["json:*.event"],
    eventNames: "delivered, bounce, dropped, open, click, spamreport, unsubscribe",
    id: { from: ["json:*.sg_event_id"], signed: true },
  },
  /** **Secret**: the _Client Secret_ of the integration. */
  sentry: {
    name: "Sentry",
    docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
    scheme: signedBody("Sentry-Hook-Signature", "hex"),
    recognise: [{ "Sentry-Hook-Resource": "" }],
    events: ["header:Sentry-Hook-Resource"],
    eventNames: "issue, error, event_alert, metric_alert, comment, installation",
    id: { from: ["header:Request-ID"], signed: false },
  },
  /** **Secret**: of any length; the sender sends it as it is. **Header Parameter**: the header that has it. */
  "shared-secret": {
    name: "Shared secret in a header",
    docs: "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/senders.md#a-sender-that-is-not-here",
    secretIsChosen: true,
    // What a form begins with.
    scheme: tokenIn("X-Token"),
    settings: ["signatureHeader"],
  },
  shelly: {
    name: "Shelly",
    docs: "https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Webhook/",
    fields: { verificationMethod: "query", methods: ["GET"] },
    where: "Output or Input → Actions: URL",
  },
  /**
   * **Secret**: the key shown under _Settings_ → _Notifications_ → _Webhooks_. For webhooks of an app, its client
   * secret.
   */
  shopify: {
    name: "Shopify",
    docs: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
    contentType: "application/json",
    where: "Settings → Notifications → Webhooks",
    scheme: signedBody("X-Shopify-Hmac-Sha256", "base64"),
    recognise: [{ "X-Shopify-Topic": "" }, { "X-Shopify-Hmac-Sha256": "" }],
    events: ["header:X-Shopify-Topic"],
    eventNames:
      "orders/create, orders/paid, orders/updated, orders/cancelled, products/create, products/update, customers/create, app/uninstalled",
    id: { from: ["header:X-Shopify-Webhook-Id"], signed: false },
  },
  /** **Secret**: the client secret of the app. */
  "shopify-events": {
    name: "Shopify Events",
    docs: "https://shopify.dev/docs/apps/build/events/verify-deliveries",
    scheme: signedBody("Shopify-Hmac-Sha256", "base64"),
    recognise: [{ "Shopify-Hmac-Sha256": "" }],
    events: ["json:topic"],
    id: { from: ["header:Shopify-Webhook-Id"], signed: false },
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  sinch: {
    name: "Sinch Conversation API",
    docs: "https://developers.sinch.com/docs/conversation/callbacks/",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["x-sinch-webhook-signature"], enc: "base64" },
      content: ["body", "lit:.", "header:x-sinch-webhook-signature-nonce", "lit:.", "ts"],
      ts: { source: "header:x-sinch-webhook-signature-timestamp", unit: "s", tolerance: 300 },
    },
    recognise: [{ "x-sinch-webhook-signature": "" }],
  },
  /**
   * **Secret**: the _Signing Secret_ under _Basic Information_ of the app. Deploy before you enter the URL there: Slack
   * tests it.
   */
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
    // Of an event; of an interaction, which is the payload of a form; of a slash command.
    events: ["json:event.type", "json:type", "form:command"],
    eventNames:
      "message, app_mention, reaction_added, member_joined_channel, app_home_opened, block_actions, view_submission",
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
  /**
   * **Secret**: the Application Management Token, in the Dashboard. Verify the webhook after the deploy.
   */
  smartcar: {
    name: "Smartcar",
    docs: "https://smartcar.com/docs/integrations/webhooks/payload-verification",
    where: "Dashboard: Application Management Token",
    scheme: signedBody("SC-Signature", "hex"),
    recognise: [{ "SC-Signature": "" }],
    events: ["json:eventType", "json:eventName"],
    eventNames: "VEHICLE_STATE, VEHICLE_ERROR",
    id: { from: ["json:eventId"], signed: true },
    handshakes: [
      // Of version 2.0.
      {
        method: "POST",
        signed: false,
        when: [["json:eventName", "verify"]],
        restrict: [["json:payload.challenge", /^[A-Za-z0-9_=.-]{1,128}$/]],
        reply: { status: 200, body: { challenge: { mac: "hex", of: "json:payload.challenge" } } },
      },
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
  /** **Secret**: enter the same one as _Secret_ of the webhook, with 16 characters or more. */
  sonarqube: {
    name: "SonarQube",
    docs: "https://docs.sonarsource.com/sonarqube-server/project-administration/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Sonar-Webhook-HMAC-SHA256", "hex"),
    recognise: [{ "X-SonarQube-Project": "" }],
    events: ["json:qualityGate.status", "json:status"],
    eventNames: "OK, ERROR, FAILED",
    id: { from: ["json:taskId"], signed: true },
  },
  sonarr: {
    name: "Sonarr",
    aliases: ["Radarr", "Lidarr", "Prowlarr", "Readarr", "Whisparr"],
    docs: "https://wiki.servarr.com/sonarr/settings#connections",
    fields: { verificationMethod: "basic" },
    where: "Settings → Connect → + → Webhook: URL, Method POST, Username, Password",
  },
  /**
   * **Secret**: the signature key of the webhook subscription, in the Developer Console. **Public URL**: exactly the
   * notification URL that is entered there.
   */
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
    eventNames: "payment.created, payment.updated, order.created, order.updated, refund.created",
    id: { from: ["json:event_id"], signed: true },
  },
  /**
   * **Secret**: the signing secret of the endpoint as it is shown (`whsec_…`, `v1,whsec_…`, `polar_whs_…`), or the
   * sender's public key (`whpk_…`).
   */
  "standard-webhooks": {
    name: "Standard Webhooks",
    aliases: ["OpenAI", "Replicate", "Render", "Polar", "Brex"],
    docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
    secretBegins: "whsec_",
    // Polar's secrets from before September 2026 are keys as they are, with or without the prefix.
    scheme: { ...standardWebhooks("webhook"), key: { ...standardWebhooks("webhook").key, orText: true } },
    publicKey: standardWebhooksByKey("webhook"),
    recognise: [{ "webhook-id": "", "webhook-timestamp": "", "webhook-signature": "" }],
    // Most have `type`, Brex and Replicate the others.
    events: ["json:type", "json:event_type", "json:status"],
    id: { from: ["header:webhook-id"], signed: true },
  },
  strapi: {
    name: "Strapi",
    docs: "https://docs.strapi.io/cms/backend-customization/webhooks",
    fields: { verificationMethod: "header" },
    where: "Settings → Webhooks: Url, Headers",
  },
  /**
   * **Secret**: Strava does not sign. Give the URL of the form as `callback_url`: it has the secret in it. **Verify
   * Token**: give the same one as `verify_token` when you subscribe by Strava's API.
   */
  strava: {
    name: "Strava",
    docs: "https://developers.strava.com/docs/webhooks/",
    secretIsChosen: true,
    // Its requests are not signed: the URL has the secret.
    scheme: { ...tokenOnly, sig: { headers: [], source: "query:state" } },
    settings: ["verifyToken"],
    events: ["json:aspect_type"],
    eventNames: "create, update, delete",
    handshakes: [{ ...subscription, reply: { status: 200, body: { "hub.challenge": "query:hub.challenge" } } }],
  },
  /**
   * **Secret**: the _Signing secret_ of the endpoint, all of it. Each endpoint and Stripe's command line have their
   * own.
   */
  stripe: {
    name: "Stripe",
    docs: "https://docs.stripe.com/webhooks/signature",
    where: "Developers → Webhooks: Signing secret",
    // Part of the key: it is not taken off.
    secretBegins: "whsec_",
    scheme: signedWithTime("Stripe-Signature"),
    recognise: [{ "Stripe-Signature": "t=" }],
    events: ["json:type"],
    eventNames:
      "checkout.session.completed, payment_intent.succeeded, payment_intent.payment_failed, charge.refunded, invoice.paid, invoice.payment_failed, customer.subscription.*",
    id: { from: ["json:id"], signed: true },
    handshakes: [ping("json:type", "v2.core.event_destination.ping")],
  },
  supabase: {
    name: "Supabase Database Webhooks",
    docs: "https://supabase.com/docs/guides/database/webhooks",
    fields: { verificationMethod: "header" },
    where: "Integrations → Database Webhooks: POST, URL, HTTP Headers",
  },
  /**
   * **Secret**: the secret of the hook, under _Authentication_ → _Auth Hooks_. The sign-in waits for the reply: a hook
   * that changes claims, or decides, needs a flow that replies itself.
   */
  "supabase-auth": {
    name: "Supabase auth hooks",
    docs: "https://supabase.com/docs/guides/auth/auth-hooks",
    secretBegins: "v1,whsec_",
    scheme: standardWebhooks("webhook"),
    events: ["json:metadata.name"],
    eventNames:
      "before-user-created, after-user-created, send-sms, send-email, customize-access-token, mfa-verification, password-verification",
    // Each attempt has another webhook-id.
    id: { from: ["json:metadata.uuid", "header:webhook-id"], signed: true },
  },
  /** **Secret**: the signing secret of the endpoint. */
  svix: {
    name: "Svix",
    aliases: ["Clerk", "Resend"],
    docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
    secretBegins: "whsec_",
    scheme: standardWebhooks("svix"),
    publicKey: standardWebhooksByKey("svix"),
    recognise: [{ "svix-id": "", "svix-timestamp": "", "svix-signature": "" }],
    events: ["json:type", "json:event_type"],
    id: { from: ["header:svix-id"], signed: true },
  },
  switchbot: {
    name: "SwitchBot",
    docs: "https://github.com/OpenWonderLabs/SwitchBotAPI#webhook",
    fields: { verificationMethod: "query" },
    where: "API: POST /v1.1/webhook/setupWebhook: url, deviceList ALL",
  },
} as const satisfies Record<string, SenderRow>;
