// Senders from A to C, by their ids. Above each: what its user enters in the node, for docs/senders.md.

import {
  type SenderRow,
  abuseProtection,
  hmacSha256,
  ping,
  signedBody,
  signedWithTime,
  standardWebhooks,
  tokenIn,
} from "./sender";

/** Adyen's keys are written in hexadecimal digits. */
const adyen = { alg: "hmac-sha256", key: { format: "hex" } } as const;
/** Exactly one: a second item would not be signed. */
const adyenItem = "notificationItems.*.NotificationRequestItem";

export const aToC = {
  /**
   * **Secret**: the HMAC key of the webhook, in the Customer Area under _Developers_ → _Webhooks_ → _Security_. Choose
   * JSON there. It signs references, amount, event and success, not the whole body.
   */
  adyen: {
    name: "Adyen (standard webhooks)",
    docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
    contentType: "application/json",
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
    id: {
      from: [`json:${adyenItem}.pspReference`],
      scope: [`json:${adyenItem}.eventCode`, `json:${adyenItem}.success`],
      signed: true,
    },
    eventNames: "AUTHORISATION, CAPTURE, REFUND, CANCELLATION, CHARGEBACK",
  },
  /** **Secret**: the HMAC key of the webhook, in the Customer Area under _Developers_ → _Webhooks_ → _Security_. */
  "adyen-platforms": {
    name: "Adyen (platform and management webhooks)",
    docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
    where: "Developers → Webhooks → Security: HMAC key",
    scheme: { ...adyen, sig: { headers: ["HmacSignature"], enc: "base64" }, content: ["body"] },
    recognise: [{ HmacSignature: "" }],
    events: ["json:type"],
  },
  /** **Secret**: the webhook secret of the product, such as Tracking or Returns. */
  aftership: {
    name: "AfterShip",
    docs: "https://www.aftership.com/docs/tracking/webhook/webhook-signature",
    where: "Settings → Webhooks: Webhook secret",
    // Of Tracking; of Returns and Warranty.
    scheme: signedBody(["aftership-hmac-sha256", "as-signature-hmac-sha256"], "base64"),
    recognise: [{ "aftership-hmac-sha256": "" }, { "as-signature-hmac-sha256": "" }],
    events: ["json:event"],
    eventNames: "tracking_update, edd_revise",
    id: { from: ["json:event_id"], signed: true },
  },
  /** **Secret**: the `macSecretBase64` that Airtable's API returns when the webhook is made. */
  airtable: {
    name: "Airtable",
    docs: "https://airtable.com/developers/web/api/webhooks-overview",
    scheme: {
      alg: "hmac-sha256",
      key: { format: "base64" },
      sig: { headers: ["X-Airtable-Content-MAC"], pick: { prefix: "hmac-sha256=" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "X-Airtable-Content-MAC": "hmac-sha256=" }],
  },
  alertmanager: {
    name: "Alertmanager",
    aliases: ["Prometheus", "Grafana Mimir"],
    docs: "https://prometheus.io/docs/alerting/latest/configuration/#webhook_config",
    tokenAlone: true,
    fields: { verificationMethod: "header" },
    where: "receivers → webhook_configs: url, http_config → authorization → credentials",
  },
  /**
   * **Topic ARN**: of the topic. Deploy before you subscribe: the node confirms the subscription. Leave _raw message
   * delivery_ off: it has no signature.
   */
  "amazon-sns": {
    name: "Amazon SNS",
    aliases: ["Amazon SES", "Amazon CloudWatch"],
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
  /** **Secret**: shown once, when the webhook is made in the Console under _Manage_ → _Webhooks_. */
  anthropic: {
    name: "Anthropic",
    aliases: ["Claude"],
    docs: "https://platform.claude.com/docs/en/managed-agents/webhooks",
    secretBegins: "whsec_",
    scheme: standardWebhooks("webhook"),
    events: ["json:data.type"],
    eventNames: "session.status_idled, session.status_run_started, deployment_run.failed",
    id: { from: ["header:webhook-id"], signed: true },
  },
  argocd: {
    name: "Argo CD notifications",
    docs: "https://argo-cd.readthedocs.io/en/stable/operator-manual/notifications/services/webhook/",
    fields: { verificationMethod: "header" },
    where: "argocd-notifications-cm → service.webhook.NAME: url, headers; template.NAME → webhook: method POST, body",
  },
  /**
   * **Secret**: Asana sends it while **Accept secret** is selected, see [below](#senders-that-send-the-secret). Each
   * webhook has its own secret and needs its own node.
   */
  asana: {
    name: "Asana",
    docs: "https://developers.asana.com/docs/webhooks-guide",
    scheme: signedBody("X-Hook-Signature", "hex"),
    settings: ["arm"],
    recognise: [{ "X-Hook-Signature": "" }, { "X-Hook-Secret": "" }],
    events: ["json:events.*.action"],
    eventNames: "added, changed, removed, deleted, undeleted",
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
      // A heartbeat, every eight hours.
      { method: "POST", signed: true, when: [["json:events", { is: "emptyList" }]], reply: { status: 200 } },
    ],
  },
  auth0: {
    name: "Auth0 log streams",
    docs: "https://auth0.com/docs/customize/log-streams/custom-log-streams",
    fields: { verificationMethod: "header" },
    where:
      "Monitoring → Streams → Create Stream → Custom Webhook: Payload URL, Authorization Token, Content Type application/json, Content Format JSON Array",
  },
  /**
   * **Token**: add it to the subscription as a delivery property: the header `Authorization` with `Bearer` and the
   * token.
   */
  "azure-eventgrid": {
    name: "Azure Event Grid",
    aliases: ["Azure Blob Storage"],
    docs: "https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema",
    secretIsChosen: true,
    scheme: tokenIn("Authorization", "Bearer "),
    recognise: [{ "aeg-event-type": "" }],
    before: ["cloudevents"],
    events: ["json:*.eventType", "ce:type"],
    eventNames: "Microsoft.Storage.BlobCreated, Microsoft.Storage.BlobDeleted",
    id: { from: ["json:*.id", "ce:id"], scope: ["json:*.topic", "ce:source"], signed: false },
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
  /** **Secret**: enter the same one as _Secret_ of the webhook. Without one, Bitbucket does not sign. */
  bitbucket: {
    name: "Bitbucket",
    aliases: ["Bitbucket Data Center", "Bitbucket Server", "Stash"],
    docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature", "hex", "sha256="),
    recognise: [
      { "X-Event-Key": "", "X-Hook-UUID": "" },
      { "X-Event-Key": "", "User-Agent": "Bitbucket-Webhooks/" },
      { "X-Event-Key": "", "X-Request-Id": "" },
    ],
    events: ["header:X-Event-Key"],
    eventNames:
      "repo:push, pullrequest:created, pullrequest:updated, pullrequest:fulfilled, issue:created, repo:refs_changed, pr:opened, pr:merged",
    id: { from: ["header:X-Request-UUID", "header:X-Request-Id"], signed: false },
    handshakes: [
      {
        // Data Center's test of the connection.
        method: "POST",
        signed: false,
        when: [
          ["header:X-Event-Key", "diagnostics:ping"],
          ["json:test", true],
        ],
        members: ["test"],
        reply: { status: 200 },
      },
      ping("header:X-Event-Key", "diagnostics:ping"),
    ],
  },
  /**
   * **Secret**: the primary signature key, under _Webhooks_ of the app in the Developer Console. **Second Secret**: the
   * secondary one, if there is one.
   */
  box: {
    name: "Box",
    docs: "https://developer.box.com/guides/webhooks/v2/signatures-v2/",
    where: "Developer Console → Webhooks: Primary signature key",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["BOX-SIGNATURE-PRIMARY", "BOX-SIGNATURE-SECONDARY"], enc: "base64" },
      content: ["body", "ts"],
      ts: { source: "header:BOX-DELIVERY-TIMESTAMP", unit: "iso8601", tolerance: 600 },
    },
    recognise: [{ "BOX-DELIVERY-ID": "" }],
    events: ["json:trigger"],
    eventNames: "FILE.UPLOADED, FILE.DOWNLOADED, FILE.DELETED, FOLDER.CREATED, COMMENT.CREATED",
    id: { from: ["json:id"], signed: true },
  },
  /** **Secret**: the _Token_ of the webhook under _Notification Services_. Choose there that it signs. */
  buildkite: {
    name: "Buildkite (signature)",
    docs: "https://buildkite.com/docs/apis/webhooks/pipelines",
    where: "Notification Services → Webhook: Token",
    scheme: signedWithTime("X-Buildkite-Signature", { time: "timestamp", signature: "signature" }),
    recognise: [{ "X-Buildkite-Signature": "timestamp=" }],
    before: ["buildkite-token"],
    events: ["header:X-Buildkite-Event"],
    eventNames:
      "build.scheduled, build.running, build.failing, build.finished, job.finished, agent.connected, agent.lost",
  },
  /** **Token**: the _Token_ of the webhook under _Notification Services_. */
  "buildkite-token": {
    name: "Buildkite (token)",
    docs: "https://buildkite.com/docs/apis/webhooks/pipelines",
    where: "Notification Services → Webhook: Token",
    scheme: tokenIn("X-Buildkite-Token"),
    recognise: [{ "X-Buildkite-Event": "" }],
    events: ["header:X-Buildkite-Event"],
    eventNames:
      "build.scheduled, build.running, build.failing, build.finished, job.finished, agent.connected, agent.lost",
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. Without one, Cal.com does not sign. */
  calcom: {
    name: "Cal.com",
    docs: "https://cal.com/docs/developing/guides/automation/webhooks",
    secretIsChosen: true,
    scheme: signedBody("X-Cal-Signature-256", "hex"),
    recognise: [{ "X-Cal-Signature-256": "" }],
    events: ["json:triggerEvent"],
    eventNames: "BOOKING_CREATED, BOOKING_RESCHEDULED, BOOKING_CANCELLED, MEETING_ENDED",
    handshakes: [ping("json:triggerEvent", "PING")],
  },
  /**
   * **Secret**: give the same one as `signing_key` when you subscribe by Calendly's API. An OAuth app has one already.
   */
  calendly: {
    name: "Calendly",
    docs: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures",
    secretIsChosen: true,
    scheme: signedWithTime("Calendly-Webhook-Signature", { tolerance: 180 }),
    recognise: [{ "Calendly-Webhook-Signature": "t=" }],
    events: ["json:event"],
    eventNames: "invitee.created, invitee.canceled, routing_form_submission.created, invitee_no_show.created",
  },
  /** **Secret**: the client secret, under _Developers_ → _API Keys_. */
  cashfree: {
    name: "Cashfree",
    docs: "https://www.cashfree.com/docs/api-reference/webhooks/payloads-and-signatures",
    where: "Developers → API Keys: Client secret",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["x-webhook-signature"], enc: "base64" },
      // Cashfree says nothing of its unit.
      content: ["header:x-webhook-timestamp", "body"],
    },
    recognise: [{ "x-webhook-signature": "", "x-webhook-timestamp": "", "x-webhook-version": "" }],
    events: ["json:type"],
    eventNames: "PAYMENT_SUCCESS_WEBHOOK, PAYMENT_FAILED_WEBHOOK, PAYMENT_USER_DROPPED_WEBHOOK, REFUND_STATUS_WEBHOOK",
  },
  chirpstack: {
    name: "ChirpStack",
    docs: "https://www.chirpstack.io/docs/chirpstack/integrations/http.html",
    fields: { verificationMethod: "header" },
    where: "Applications → Integrations → HTTP: Payload encoding JSON, Event endpoint URL(s), Headers",
  },
  /** **Secret**: enter the same one as _Secret token_ of the webhook, under _Project Settings_ → _Webhooks_. */
  circleci: {
    name: "CircleCI",
    docs: "https://circleci.com/docs/guides/integration/outbound-webhooks/",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["circleci-signature"], split: ",", pick: { kv: "v1" }, enc: "hex" },
      content: ["body"],
    },
    recognise: [{ "circleci-event-type": "" }, { "circleci-signature": "v1=" }],
    events: ["header:circleci-event-type"],
    eventNames: "workflow-completed, job-completed",
    id: { from: ["json:id"], signed: true },
  },
  /** **Secret**: the `secret` that ClickUp's API returns when the webhook is made. Enter it before
   * the first event: ClickUp suspends a webhook that gets 401. */
  clickup: {
    name: "ClickUp",
    docs: "https://developer.clickup.com/docs/webhooksignature",
    scheme: signedBody("X-Signature", "hex"),
    events: ["json:event"],
    eventNames: "taskCreated, taskUpdated, taskDeleted, taskStatusUpdated, taskCommentPosted",
  },
  /** **Token**: the bearer token that the sender is given. */
  cloudevents: {
    name: "CloudEvents over HTTP",
    docs: "https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md",
    secretIsChosen: true,
    scheme: tokenIn("Authorization", "Bearer "),
    recognise: [{ "ce-id": "", "ce-source": "", "ce-type": "" }, { "Content-Type": "application/cloudevents" }],
    events: ["ce:type"],
    id: { from: ["ce:id"], scope: ["ce:source"], signed: false },
    handshakes: [abuseProtection],
  },
  /**
   * **Token**: enter the same one as _Secret_ of the webhook, under _Notifications_ → _Destinations_. Deploy first:
   * Cloudflare tests it when you save it, and it cannot be changed later.
   */
  cloudflare: {
    name: "Cloudflare notifications",
    docs: "https://developers.cloudflare.com/notifications/get-started/configure-webhooks/",
    secretIsChosen: true,
    scheme: tokenIn("cf-webhook-auth"),
    recognise: [{ "cf-webhook-auth": "" }],
    events: ["json:alert_type"],
  },
  /** **Secret**: the `secret` that Cloudflare's API returns when the webhook is made. */
  "cloudflare-stream": {
    name: "Cloudflare Stream",
    docs: "https://developers.cloudflare.com/stream/manage-video-library/using-webhooks/",
    scheme: signedWithTime("Webhook-Signature", { time: "time", signature: "sig1" }),
    recognise: [{ "Webhook-Signature": "time=" }],
    events: ["json:status.state"],
    eventNames: "ready, error",
  },
  /**
   * **Secret**: the secret of the endpoint. The project must sign with the hash SHA256 in hexadecimal digits, as new ones
   * do.
   */
  convoy: {
    name: "Convoy (simple signatures)",
    docs: "https://getconvoy.io/docs/product-manual/signatures",
    scheme: signedBody("X-Convoy-Signature", "hex"),
    recognise: [{ "X-Convoy-Signature": "" }],
    id: { from: ["header:X-Convoy-Event-ID", "header:X-Convoy-Idempotency-Key"], signed: false },
  },
  /**
   * **Secret**: the secret of the endpoint, which has _advanced signatures_ switched on. The project must sign with the
   * hash SHA256 in hexadecimal digits, as new ones do.
   */
  "convoy-advanced": {
    name: "Convoy (advanced signatures)",
    docs: "https://getconvoy.io/docs/product-manual/signatures",
    scheme: { ...signedWithTime("X-Convoy-Signature"), content: ["ts", "lit:,", "body"] },
    recognise: [{ "X-Convoy-Signature": "t=" }],
    before: ["convoy"],
    id: { from: ["header:X-Convoy-Event-ID", "header:X-Convoy-Idempotency-Key"], signed: false },
  },
  custom: {
    name: "Custom",
    docs: "https://github.com/flowhooks/node-red-webhook-trigger/blob/main/docs/senders.md#custom-another-sender-that-signs",
    // What a form begins with.
    scheme: signedBody("X-Signature-256", "hex", "sha256="),
    settings: ["publicUrl"],
  },
} as const satisfies Record<string, SenderRow>;
