// Senders from T to Z, by their ids. Above each: what its user enters in the node, for docs/senders.md.

import { type SenderRow, challenge, hmacSha256, ping, plainText, signedBody, signedWithTime, tokenIn } from "./sender";

/** What names the events of calls, messages and conversations. */
const twilioEvents = ["EventType", "StatusCallbackEvent", "RecordingStatus", "MessageStatus", "SmsStatus", "CallStatus"] as const; // prettier-ignore

export const tToZ = {
  /** **Secret**: enter the same one as _Secret key_ of the webhook. */
  taiga: {
    name: "Taiga",
    docs: "https://docs.taiga.io/webhooks.html",
    secretIsChosen: true,
    scheme: { ...signedBody("X-TAIGA-WEBHOOK-SIGNATURE", "hex"), alg: "hmac-sha1" },
    recognise: [{ "X-TAIGA-WEBHOOK-SIGNATURE": "" }],
    events: ["json:type"],
    eventNames: "issue, userstory, task, milestone, wikipage, test",
  },
  /** **Secret**: shown once, when the webhook endpoint is made. */
  tailscale: {
    name: "Tailscale",
    docs: "https://tailscale.com/kb/1213/webhooks",
    secretBegins: "tskey-webhook-",
    scheme: signedWithTime("Tailscale-Webhook-Signature"),
    recognise: [{ "Tailscale-Webhook-Signature": "t=" }],
    events: ["json:*.type"],
    eventNames: "nodeCreated, policyUpdate, userRoleUpdated",
    handshakes: [ping("json:*.type", "test")],
  },
  /** **Secret**: enter the same one as _Signing secret_ of the webhook. Without one, Tally does not sign. */
  tally: {
    name: "Tally",
    docs: "https://tally.so/help/webhooks",
    secretIsChosen: true,
    scheme: signedBody("Tally-Signature", "base64"),
    recognise: [{ "Tally-Signature": "" }],
    events: ["json:eventType"],
    eventNames: "FORM_RESPONSE",
    id: { from: ["json:eventId"], signed: true },
  },
  tasmota: {
    name: "Tasmota",
    docs: "https://tasmota.github.io/docs/Commands/",
    fields: { verificationMethod: "header", headerParameter: "X-Token" },
    where: "Console → WebQuery URL POST [Header] body",
  },
  /**
   * **Token**: give the same one as `secret_token` when you call `setWebhook`. It may have letters, digits, `_` and
   * `-`, as the form's tokens.
   */
  telegram: {
    name: "Telegram bots",
    docs: "https://core.telegram.org/bots/api#setwebhook",
    secretIsChosen: true,
    scheme: tokenIn("X-Telegram-Bot-Api-Secret-Token"),
    recognise: [{ "X-Telegram-Bot-Api-Secret-Token": "" }],
    id: { from: ["json:update_id"], signed: false },
  },
  /** **Secret**: the public key under _API Keys_ in Mission Control. */
  telnyx: {
    name: "Telnyx",
    aliases: ["TeXML"],
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
    events: ["json:data.event_type", "form:RecordingStatus", "form:CallStatus"],
    eventNames: "message.received, message.sent, message.finalized, call.initiated, call.answered, call.hangup",
    id: { from: ["json:data.id"], signed: true },
  },
  /**
   * **Secret**: enter the same one as _Token_ of the webhook, under _Settings_ → _Notifications_ of the workspace.
   * Deploy first: it is verified when you save it there.
   */
  terraform: {
    name: "HCP Terraform",
    docs: "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/settings/notifications",
    secretIsChosen: true,
    scheme: { ...signedBody("X-TFE-Notification-Signature", "hex"), alg: "hmac-sha512" },
    recognise: [{ "X-TFE-Notification-Signature": "" }],
    events: ["json:notifications.*.trigger", "json:trigger"],
    eventNames:
      "run:created, run:planning, run:needs_attention, run:applying, run:completed, run:errored, verification",
  },
  "the-things-stack": {
    name: "The Things Stack",
    aliases: ["The Things Network", "TTN"],
    docs: "https://www.thethingsindustries.com/docs/integrations/webhooks/creating-webhooks/",
    fields: { verificationMethod: "header" },
    where:
      "Integrations → Webhooks → Add Webhook → Custom webhook: Webhook format JSON, Base URL, headers; enabled event types with an empty path",
  },
  /** **Secret**: the client secret of the app, in the App Management Console. */
  todoist: {
    name: "Todoist",
    docs: "https://developer.todoist.com/api/v1/#tag/Webhooks",
    where: "App Management Console: Client secret",
    scheme: signedBody("X-Todoist-Hmac-SHA256", "base64"),
    recognise: [{ "X-Todoist-Hmac-SHA256": "" }],
    events: ["json:event_name"],
    eventNames: "item:added, item:updated, item:completed, item:deleted, project:added",
    id: { from: ["header:X-Todoist-Delivery-ID"], signed: false },
  },
  /**
   * **Secret**: the secret of the Power-Up whose token makes the webhook. **Public URL**: exactly the `callbackURL` of
   * the webhook.
   */
  trello: {
    name: "Trello",
    docs: "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/",
    scheme: {
      alg: "hmac-sha1",
      key: { format: "utf8" },
      sig: { headers: ["X-Trello-Webhook"], enc: "base64" },
      content: ["body", "url"],
    },
    settings: ["publicUrl"],
    recognise: [{ "X-Trello-Webhook": "" }],
    events: ["json:action.type"],
    eventNames: "createCard, updateCard, deleteCard, commentCard, addMemberToCard",
    id: { from: ["json:action.id"], signed: true },
    // Trello asks whether the URL is there.
    handshakes: [{ method: "HEAD", signed: false, when: [], reply: { status: 200 } }],
  },
  /** **Secret**: the primary Auth Token of the account, or the shared key that signs. **Public URL**: as entered at Twilio. */
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
    // Event Streams sends arrays of CloudEvents.
    events: [
      ...twilioEvents.map((name) => `form:${name}` as const),
      ...twilioEvents.map((name) => `query:${name}` as const),
      "json:*.type",
    ],
    id: { from: ["header:I-Twilio-Idempotency-Token", "json:*.id"], scope: ["json:*.source"], signed: false },
    // A voice or message webhook takes a body for instructions (TwiML).
    emptyReply: { to: "accepted", status: 204 },
  },
  /** **Secret**: give the same one when you subscribe by Twitch's API: 10 to 100 ASCII characters. */
  twitch: {
    name: "Twitch EventSub",
    docs: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Twitch-Eventsub-Message-Signature"], pick: { prefix: "sha256=" }, enc: "hex" },
      content: ["header:Twitch-Eventsub-Message-Id", "ts", "body"],
      ts: { source: "header:Twitch-Eventsub-Message-Timestamp", unit: "iso8601", tolerance: 600 },
    },
    recognise: [{ "Twitch-Eventsub-Message-Type": "" }],
    events: ["header:Twitch-Eventsub-Subscription-Type"],
    eventNames: "stream.online, stream.offline, channel.follow, channel.subscribe, channel.raid",
    id: { from: ["header:Twitch-Eventsub-Message-Id"], signed: true },
    handshakes: [
      {
        method: "POST",
        signed: true,
        when: [["header:Twitch-Eventsub-Message-Type", "webhook_callback_verification"]],
        reply: { status: 200, headers: { ...plainText, "Content-Type": "lit:text/plain" }, body: "json:challenge" },
      },
    ],
  },
  /** **Secret**: enter the same one as _Secret_ of the form's webhook. */
  typeform: {
    name: "Typeform",
    docs: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
    secretIsChosen: true,
    scheme: signedBody("Typeform-Signature", "base64", "sha256="),
    recognise: [{ "Typeform-Signature": "sha256=" }],
    events: ["json:event_type"],
    eventNames: "form_response",
    id: { from: ["json:event_id"], signed: true },
  },
  unifi: {
    name: "UniFi Alarm Manager",
    docs: "https://help.ui.com/hc/en-us/articles/27721287753239",
    fields: { verificationMethod: "query", methods: ["POST", "GET"] },
    where: "Alarm Manager → Create Alarm → Action → Webhook: URL, Method POST (under Advanced)",
  },
  "uptime-kuma": {
    name: "Uptime Kuma",
    docs: "https://github.com/louislam/uptime-kuma/wiki",
    fields: { verificationMethod: "header" },
    where:
      "Settings → Notifications → Webhook: Post URL, Content Type application/json, Additional Headers (with a custom body, also Content-Type: application/json)",
  },
  /** **Secret**: shown once, when the webhook is made. For an integration, its client secret. */
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
    events: ["json:type"],
    eventNames: "deployment.created, deployment.succeeded, deployment.error, deployment.canceled",
    id: { from: ["json:id"], signed: true },
  },
  /** **Secret**: the authentication token of the bot. Deploy first: Viber tests the URL when you set it. */
  viber: {
    name: "Viber bots",
    docs: "https://developers.viber.com/docs/api/rest-bot-api/",
    scheme: signedBody("X-Viber-Content-Signature", "hex"),
    recognise: [{ "X-Viber-Content-Signature": "" }],
    events: ["json:event"],
    eventNames: "message, delivered, seen, failed, subscribed, unsubscribed, conversation_started",
    handshakes: [{ method: "POST", signed: true, when: [["json:event", "webhook"]], reply: { status: 200 } }],
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  vikunja: {
    name: "Vikunja",
    docs: "https://vikunja.io/docs/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Vikunja-Signature", "hex"),
    recognise: [{ "X-Vikunja-Signature": "" }],
    events: ["json:event_name"],
    eventNames: "task.created, task.updated, task.deleted, task.comment.created, project.updated",
  },
  /** **Secret**: the _Signature secret_ of the API key, in the dashboard. */
  vonage: {
    name: "Vonage",
    aliases: ["Nexmo"],
    docs: "https://developer.vonage.com/en/getting-started/concepts/webhooks",
    scheme: tokenIn("Authorization", "Bearer "),
    events: ["json:status", "json:message_type"],
    jwt: {
      keySource: "secret",
      headerParameter: "Authorization",
      issuer: "",
      audience: "",
      requiredClaim: "",
      bodyDigest: { claim: "payload_hash", encoding: "hex", ofQuery: true },
    },
  },
  /** **Secret**: give the same one as `secret` when you make the webhook by Webex' API. */
  webex: {
    name: "Cisco Webex",
    docs: "https://developer.webex.com/docs/api/guides/webhooks",
    secretIsChosen: true,
    scheme: { ...signedBody("X-Spark-Signature", "hex"), alg: "hmac-sha1" },
    recognise: [{ "X-Spark-Signature": "" }],
    events: ["json:event"],
    eventNames: "created, updated, deleted, started, ended, joined, left",
  },
  /** **Secret**: the client secret of the app, or the secret key of a webhook that was made with a site token. */
  webflow: {
    name: "Webflow",
    docs: "https://developers.webflow.com/data/docs/working-with-webhooks",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["x-webflow-signature"], enc: "hex" },
      content: ["ts", "lit::", "body"],
      ts: { source: "header:x-webflow-timestamp", unit: "ms", tolerance: 300 },
    },
    recognise: [{ "x-webflow-signature": "" }],
    events: ["json:triggerType"],
    eventNames: "form_submission, site_publish, ecomm_new_order, collection_item_created",
  },
  /**
   * **Secret**: give the same one as `hub.secret` when you subscribe. **Topic URL**: the topic that you subscribe to.
   * **Hash**: the one that the hub signs with; YouTube's is sha1.
   */
  websub: {
    name: "WebSub",
    aliases: ["YouTube feeds", "PubSubHubbub"],
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
          ["query:hub.mode", "denied"],
          ["query:hub.topic", { configured: "topicUrl" }],
        ],
        reply: { status: 200 },
      },
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
  /**
   * **Secret**: enter the same one as _Secret_ of the webhook, under _WooCommerce_ → _Settings_ → _Advanced_ →
   * _Webhooks_. Deploy before you save it there: WooCommerce tests it.
   */
  woocommerce: {
    name: "WooCommerce",
    docs: "https://woocommerce.com/document/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-WC-Webhook-Signature", "base64"),
    recognise: [{ "X-WC-Webhook-Topic": "" }, { "X-WC-Webhook-Signature": "" }],
    events: ["header:X-WC-Webhook-Topic"],
    eventNames: "order.created, order.updated, product.created, product.updated, customer.created, coupon.created",
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
  /** **Secret**: the signing secret of the endpoint, in the WorkOS Dashboard. */
  workos: {
    name: "WorkOS",
    docs: "https://workos.com/docs/events/data-syncing/webhooks",
    scheme: signedWithTime("WorkOS-Signature", { unit: "ms", tolerance: 180 }),
    recognise: [{ "WorkOS-Signature": "t=" }],
    events: ["json:event"],
    eventNames: "user.created, user.updated, user.deleted, dsync.user.created, connection.activated",
    id: { from: ["json:id"], signed: true },
  },
  wunderground: {
    name: "Wunderground protocol",
    aliases: ["Weather Underground", "weather stations"],
    docs: "https://support.weather.com/s/article/PWS-Upload-Protocol",
    fields: { verificationMethod: "query", queryParameter: "PASSWORD", methods: ["GET"] },
    where:
      "Weather Services → Customized → Wunderground: Server, Path (with the ? at its end), Port, Station Key (after PASSWORD=)",
  },
  /** **Secret**: the API secret key (consumer secret) of the app. X accepts no URL with a port. */
  x: {
    name: "X",
    aliases: ["Twitter"],
    docs: "https://docs.x.com/x-api/webhooks/quickstart",
    scheme: signedBody("x-twitter-webhooks-signature", "base64", "sha256="),
    recognise: [{ "x-twitter-webhooks-signature": "sha256=" }],
    events: ["json:data.event_type"],
    id: { from: ["json:data.event_uuid"], signed: true },
    handshakes: [
      {
        method: "GET",
        signed: false,
        when: [["query:crc_token", { is: "text" }]],
        // The answer has the form of a signature: for no text that could be the body of a delivery.
        restrict: [["query:crc_token", /^[A-Za-z0-9_=.-]{1,128}$/]],
        reply: { status: 200, body: { response_token: { mac: "base64", of: "query:crc_token", prefix: "sha256=" } } },
      },
    ],
  },
  /** **Secret**: the webhooks key of the app, unchanged, although it looks like base64. */
  xero: {
    name: "Xero",
    docs: "https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/",
    scheme: signedBody("x-xero-signature", "base64"),
    recognise: [{ "x-xero-signature": "" }],
    events: ["json:events.*.eventType"],
    eventNames: "CREATE, UPDATE",
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
  zapier: {
    name: "Zapier",
    docs: "https://zapier.com/apps/webhook/integrations",
    fields: { verificationMethod: "header" },
    where: "Webhooks by Zapier → POST: URL, Payload Type Json, Data, Headers",
  },
  /**
   * **Secret**: _Reveal secret_ on the page of the webhook. Unchanged, although it looks like base64. Tests that
   * Zendesk sends before the webhook exists are signed with another one.
   */
  zendesk: {
    name: "Zendesk",
    docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
    contentType: "application/json",
    where: "Webhooks: Reveal secret",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-Zendesk-Webhook-Signature"], enc: "base64" },
      content: ["ts", "body"],
      ts: { source: "header:X-Zendesk-Webhook-Signature-Timestamp", unit: "iso8601", tolerance: 300 },
    },
    recognise: [{ "X-Zendesk-Webhook-Signature": "" }, { "X-Zendesk-Webhook-Id": "" }],
    events: ["json:type"],
    id: { from: ["header:X-Zendesk-Webhook-Invocation-Id"], signed: false },
  },
  /**
   * **Secret**: the `signingKey` that ZITADEL's API returns when the target is made. Where ZITADEL waits for data, let
   * the flow reply.
   */
  zitadel: {
    name: "ZITADEL actions",
    docs: "https://zitadel.com/docs/guides/integrate/actions/testing-request-signature",
    scheme: signedWithTime("ZITADEL-Signature"),
    recognise: [{ "ZITADEL-Signature": "t=" }],
    events: ["json:event_type"],
  },
  /** **Secret**: the _Secret Token_ under _Features_ → _Access_ of the app, not the Verification Token. */
  zoom: {
    name: "Zoom",
    aliases: ["Zoom Phone", "Zoom Contact Center"],
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
    eventNames:
      "meeting.started, meeting.ended, meeting.participant_joined, meeting.participant_left, recording.completed",
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
} as const satisfies Record<string, SenderRow>;
