// Senders from I to N, by their ids. Above each: what its user enters in the node, for docs/senders.md.

import {
  challenge,
  hmacSha256,
  ping,
  plainText,
  type SenderRow,
  signedBody,
  signedWithTime,
  subscription,
  tokenIn,
  tokenOnly,
  type Handshake,
  type Source,
} from "./sender";

/** The question of Microsoft Graph, by the spelling of its parameter. */
const graphQuestion = (parameter: Source): Handshake => ({
  method: "POST",
  signed: false,
  when: [[parameter, { is: "text" }]],
  restrict: [[parameter, /^[^<>\u0000-\u001f]{1,1024}$/]],
  reply: { status: 200, headers: plainText, body: parameter },
});

export const iToN = {
  ifttt: {
    name: "IFTTT",
    docs: "https://ifttt.com/maker_webhooks",
    fields: { verificationMethod: "query" },
    where: "Webhooks → Make a web request: URL, Method POST, Content Type application/json, Body",
  },
  /** **Secret**: enter the same one as _Secret Key_ of the webhook. */
  infisical: {
    name: "Infisical",
    docs: "https://infisical.com/docs/documentation/platform/webhooks",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      // `t=1700000000000;` and the signature: it covers the time in the body.
      sig: { headers: ["x-infisical-signature"], split: ";", enc: "hex" },
      content: ["body"],
      ts: { source: "json:timestamp", unit: "ms", tolerance: 300 },
    },
    recognise: [{ "x-infisical-signature": "t=" }],
    events: ["json:event"],
    eventNames: "secrets.modified, secrets.rotation-failed, test",
  },
  /** **Secret**: the client secret, in the Developer Hub under _Configure_ → _Basic information_. */
  intercom: {
    name: "Intercom",
    docs: "https://developers.intercom.com/docs/webhooks/webhook-notifications",
    where: "Developer Hub → Configure → Basic information: Client secret",
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
    events: ["json:topic"],
    eventNames: "conversation.user.created, conversation.user.replied, conversation.admin.closed, contact.user.created",
    id: { from: ["json:id"], signed: true },
    handshakes: [{ method: "HEAD", signed: false, when: [], reply: { status: 200 } }, ping("json:topic", "ping")],
  },
  jellyfin: {
    name: "Jellyfin",
    docs: "https://github.com/jellyfin/jellyfin-plugin-webhook",
    fields: { verificationMethod: "header" },
    where:
      "Dashboard → Plugins → Webhook → Add Generic Destination: Webhook Url, Send All Properties, Request Header twice: the token, and Content-Type with application/json",
  },
  /**
   * **Secret**: enter the same one when you make the webhook under _System_ → _WebHooks_. Connect apps sign in another
   * way, which is not supported.
   */
  jira: {
    name: "Jira Cloud",
    aliases: ["Jira Service Management"],
    docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature", "hex", "sha256="),
    recognise: [{ "X-Atlassian-Webhook-Identifier": "" }],
    events: ["json:webhookEvent"],
    eventNames:
      "jira:issue_created, jira:issue_updated, jira:issue_deleted, comment_created, sprint_started, sprint_closed",
    id: { from: ["header:X-Atlassian-Webhook-Identifier"], signed: false },
  },
  /** **Secret**: enter the same one under _Sign this webhook_ of the webhook. */
  launchdarkly: {
    name: "LaunchDarkly",
    docs: "https://launchdarkly.com/docs/home/infrastructure/webhooks",
    secretIsChosen: true,
    scheme: signedBody("X-LD-Signature", "hex"),
    recognise: [{ "X-LD-Signature": "" }],
    events: ["json:kind"],
    id: { from: ["json:_id"], signed: true },
  },
  /** **Secret**: enter the same one as _Signing secret_ of the webhook, with 6 to 40 characters. */
  lemonsqueezy: {
    name: "Lemon Squeezy",
    docs: "https://docs.lemonsqueezy.com/help/webhooks/signing-requests",
    secretIsChosen: true,
    scheme: signedBody("X-Signature", "hex"),
    recognise: [{ "X-Event-Name": "", "X-Signature": "" }],
    events: ["header:X-Event-Name"],
    eventNames:
      "order_created, order_refunded, subscription_created, subscription_updated, subscription_payment_success, subscription_payment_failed",
  },
  /** **Secret**: the channel secret under _Basic settings_ of the channel. */
  line: {
    name: "LINE",
    docs: "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
    where: "Basic settings: Channel secret",
    scheme: signedBody("x-line-signature", "base64"),
    recognise: [{ "x-line-signature": "" }],
    events: ["json:events.*.type"],
    eventNames: "message, follow, unfollow, join, postback",
    id: { from: ["json:events.*.webhookEventId"], signed: true },
    handshakes: [
      { method: "POST", signed: true, when: [["json:events", { is: "emptyList" }]], reply: { status: 200 } },
    ],
  },
  /** **Secret**: the signing secret on the page of the webhook, under _Settings_ → _API_. */
  linear: {
    name: "Linear",
    docs: "https://linear.app/developers/webhooks",
    where: "Settings → API → Webhooks: Signing secret",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["Linear-Signature"], enc: "hex" },
      content: ["body"],
      ts: { source: "json:webhookTimestamp", unit: "ms", tolerance: 60 },
    },
    recognise: [{ "Linear-Signature": "", "Linear-Delivery": "" }],
    events: ["header:Linear-Event"],
    eventNames: "Issue, Comment, Project, Cycle, IssueLabel, Reaction",
    id: { from: ["header:Linear-Delivery"], signed: false },
  },
  /** **Secret**: the API secret of the key that the webhook uses. */
  livekit: {
    name: "LiveKit",
    docs: "https://docs.livekit.io/intro/basics/rooms-participants-tracks/webhooks-events/",
    scheme: tokenIn("Authorization"),
    jwt: {
      keySource: "secret",
      headerParameter: "Authorization",
      issuer: "",
      audience: "",
      requiredClaim: "",
      bodyDigest: { claim: "sha256", encoding: "base64" },
    },
    events: ["json:event"],
    id: { from: ["json:id"], signed: true },
  },
  /** **Secret**: the signing key of the webhook, in the Console. */
  logto: {
    name: "Logto",
    docs: "https://docs.logto.io/developers/webhooks/secure-webhooks",
    where: "Console → Webhooks: Signing key",
    scheme: signedBody("logto-signature-sha-256", "hex"),
    recognise: [{ "logto-signature-sha-256": "" }],
    events: ["json:event"],
  },
  /**
   * **Secret**: the _HTTP webhook signing key_ under _API security_. It signs a time and a random text, not the event. Mail that
   * a route forwards is accepted as well.
   */
  mailgun: {
    name: "Mailgun",
    docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
    where: "API security: HTTP webhook signing key",
    scheme: {
      ...hmacSha256,
      sig: { headers: [], source: "json:signature.signature", enc: "hex" },
      content: ["json:signature.timestamp", "json:signature.token"],
      ts: { source: "json:signature.timestamp", unit: "s", tolerance: null },
    },
    // Mail that its routes forward.
    formScheme: {
      ...hmacSha256,
      sig: { headers: [], source: "form:signature", enc: "hex" },
      content: ["form:timestamp", "form:token"],
      ts: { source: "form:timestamp", unit: "s", tolerance: null },
    },
    events: ["json:event-data.event", "form:event"],
    eventNames: "delivered, failed, opened, clicked, complained, unsubscribed",
    id: { from: ["json:signature.token", "form:token"], signed: true },
  },
  make: {
    name: "Make",
    aliases: ["Integromat"],
    docs: "https://apps.make.com/http",
    fields: { verificationMethod: "header" },
    where: "HTTP → Make a request: URL, Method POST, Headers, Body type Raw, Content type JSON (application/json)",
  },
  /**
   * **Secret**: the _Token_ that is shown when the outgoing webhook is made. A `text` in the reply of the flow is
   * posted.
   */
  mattermost: {
    name: "Mattermost (outgoing webhooks)",
    docs: "https://developers.mattermost.com/integrate/webhooks/outgoing/",
    contentType: "application/json",
    scheme: { ...tokenOnly, sig: { headers: [], source: "json:token" } },
    events: ["json:trigger_word"],
    id: { from: ["json:post_id"], signed: false },
  },
  /**
   * **Secret**: the _App Secret_ under _App settings_ → _Basic_. **Verify Token**: enter the same one beside the URL.
   * Deploy first: Meta tests it.
   */
  meta: {
    name: "Meta",
    aliases: ["Facebook", "Instagram", "Messenger", "WhatsApp", "Lead Ads"],
    docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
    where: "App settings → Basic: App Secret",
    scheme: signedBody("X-Hub-Signature-256", "hex", "sha256="),
    settings: ["verifyToken"],
    recognise: [
      { "X-Hub-Signature-256": "sha256=", "User-Agent": "facebookexternalua" },
      { "X-Hub-Signature-256": "sha256=", "User-Agent": "Webhooks/" },
    ],
    events: ["json:object"],
    eventNames: "page, instagram, whatsapp_business_account",
    handshakes: [{ ...subscription, reply: { status: 200, headers: plainText, body: "query:hub.challenge" } }],
  },
  /** **Secret**: give the same one as `clientState` when you subscribe, at most 128 characters. Each body has it. */
  "microsoft-graph": {
    name: "Microsoft Graph",
    aliases: ["SharePoint", "OneDrive", "Outlook", "Microsoft 365", "Exchange Online"],
    docs: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
    secretIsChosen: true,
    scheme: {
      ...tokenOnly,
      sig: { headers: [], source: "json:value.*.clientState" },
    },
    events: ["json:value.*.changeType", "json:value.*.lifecycleEvent"],
    eventNames: "created, updated, deleted, missed, subscriptionRemoved, reauthorizationRequired",
    id: { from: ["json:value.*.id"], signed: false },
    subscriptions: { ids: "json:value.*.subscriptionId", expiries: "json:value.*.subscriptionExpirationDateTime" },
    handshakes: [
      graphQuestion("query:validationToken"),
      // SharePoint and OneDrive.
      graphQuestion("query:validationtoken"),
    ],
  },
  /**
   * **Secret**: the signing secret of the webhook, shown once when it is made. Mollie's classic webhooks have no
   * signature: use a token in the URL.
   */
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
    handshakes: [ping("json:type", "hook.ping")],
  },
  /**
   * **Secret**: the _Signing Secret_ of the app. **Audience**: the URL. Webhooks that were made with a personal token
   * have none of this.
   */
  monday: {
    name: "monday.com",
    docs: "https://developer.monday.com/apps/docs/authorization-header",
    scheme: tokenIn("Authorization"),
    jwt: { keySource: "secret", headerParameter: "Authorization", issuer: "", requiredClaim: "" },
    events: ["json:event.type", "json:type"],
    eventNames: "create_pulse, update_column_value",
    handshakes: [
      {
        method: "POST",
        signed: false,
        when: [["json:challenge", { is: "text" }]],
        members: ["challenge"],
        restrict: [["json:challenge", challenge]],
        reply: { status: 200, body: { challenge: "json:challenge" } },
      },
    ],
  },
  /**
   * **Secret**: the security token that Teams shows once, when the outgoing webhook is made. Teams shows the reply:
   * enter `{"type":"message","text":"…"}` as its **Body**, or let the flow reply.
   */
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
  /** **Secret**: the signing secret of the webhook, under _Settings_ → _Webhooks_. */
  mux: {
    name: "Mux",
    docs: "https://www.mux.com/docs/core/verify-webhook-signatures",
    scheme: signedWithTime("Mux-Signature"),
    recognise: [{ "Mux-Signature": "t=" }],
    events: ["json:type"],
    eventNames:
      "video.asset.created, video.asset.ready, video.asset.errored, video.live_stream.active, video.live_stream.idle",
    id: { from: ["json:id"], signed: true },
  },
  /** **Secret**: the client secret of the app. */
  netatmo: {
    name: "Netatmo",
    aliases: ["Legrand", "BTicino"],
    docs: "https://dev.netatmo.com/apidocumentation/security",
    scheme: signedBody("X-Netatmo-secret", "hex"),
    recognise: [{ "X-Netatmo-secret": "" }],
    events: ["json:event_type", "json:push_type"],
  },
  netdata: {
    name: "Netdata Cloud",
    docs: "https://github.com/netdata/netdata/blob/master/integrations/cloud-notifications/integrations/webhook.md",
    tokenAlone: true,
    fields: { verificationMethod: "header" },
    where:
      "Alerts & Notifications → Webhook: URL, Authentication Bearer; then Test, and the token in its payload as Token",
  },
  /** **Secret**: enter the same one as _JWS secret token_ of the notification. */
  netlify: {
    name: "Netlify",
    docs: "https://docs.netlify.com/deploy/deploy-notifications/",
    secretIsChosen: true,
    scheme: tokenIn("X-Webhook-Signature"),
    events: ["header:X-Netlify-Event"],
    eventNames: "deploy_building, deploy_created, deploy_failed, submission_created",
    jwt: {
      keySource: "secret",
      headerParameter: "X-Webhook-Signature",
      issuer: "netlify",
      audience: "",
      requiredClaim: "",
      bodyDigest: { claim: "sha256", encoding: "hex" },
    },
  },
  nextcloud: {
    name: "Nextcloud",
    docs: "https://docs.nextcloud.com/server/latest/admin_manual/webhook_listeners/index.html",
    fields: { verificationMethod: "header" },
    where:
      'Webhook Listeners API: uri, httpMethod POST, authMethod header, authData, headers {"Content-Type": "application/json"}',
  },
  /**
   * **Secret**: give the same one to `occ talk:bot:install`. For a bot of Talk; other events of Nextcloud come [without
   * a signature](recipes.md#senders-without-a-signature).
   */
  "nextcloud-talk": {
    name: "Nextcloud Talk bots",
    docs: "https://nextcloud-talk.readthedocs.io/en/latest/bots/",
    secretIsChosen: true,
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-Nextcloud-Talk-Signature"], enc: "hex" },
      content: ["header:X-Nextcloud-Talk-Random", "body"],
    },
    recognise: [{ "X-Nextcloud-Talk-Signature": "" }],
    events: ["json:type"],
    eventNames: "Create, Like, Undo, Join, Leave",
    id: { from: ["header:X-Nextcloud-Talk-Random"], signed: true },
  },
  /** **Secret**: enter the same one as _Secret Key_ of the capability, under _System_ → _Capabilities_. */
  nexus: {
    name: "Sonatype Nexus Repository",
    docs: "https://help.sonatype.com/en/working-with-hmac-payloads.html",
    secretIsChosen: true,
    scheme: { ...signedBody("X-Nexus-Webhook-Signature", "hex"), alg: "hmac-sha1" },
    recognise: [{ "X-Nexus-Webhook-ID": "" }],
    events: ["header:X-Nexus-Webhook-ID"],
    eventNames: "rm:repository:component, rm:repository:asset, rm:repository",
    id: { from: ["header:X-Nexus-Webhook-Delivery"], signed: false },
  },
  /**
   * **Secret**: Notion sends it while **Accept secret** is selected, see [below](#senders-that-send-the-secret). Enter
   * the same one at Notion.
   */
  notion: {
    name: "Notion",
    docs: "https://developers.notion.com/reference/webhooks",
    secretBegins: "secret_",
    scheme: signedBody("X-Notion-Signature", "hex", "sha256="),
    settings: ["arm"],
    recognise: [{ "X-Notion-Signature": "sha256=" }],
    events: ["json:type"],
    eventNames: "page.created, page.content_updated, page.properties_updated, page.deleted, comment.created",
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
  /** **Secret**: the client secret of the Advanced API. Of a decentral webhook, the `secret` that the API returns. */
  nuki: {
    name: "Nuki Web API",
    docs: "https://docs.nuki.io/guide/webhooks/central-decentral/",
    scheme: signedBody("X-Nuki-Signature-SHA256", "hex"),
    recognise: [{ "X-Nuki-Signature-SHA256": "" }],
    events: ["json:feature", "json:type"],
    eventNames: "DEVICE_STATUS, DEVICE_LOGS, DEVICE_AUTHS",
    id: { from: ["json:requestId"], signed: true },
  },
  /**
   * **Secret**: the `webhook_secret` that Nylas' API returns when the webhook is made. Deploy first: Nylas tests the
   * URL. Version 3 of its API.
   */
  nylas: {
    name: "Nylas",
    docs: "https://developer.nylas.com/docs/v3/notifications/",
    scheme: signedBody("X-Nylas-Signature", "hex"),
    recognise: [{ "X-Nylas-Signature": "" }],
    events: ["json:type"],
    eventNames: "message.created, message.updated, event.created, event.updated, grant.expired, thread.replied",
    id: { from: ["json:id"], signed: true },
    handshakes: [
      {
        method: "GET",
        signed: false,
        when: [["query:challenge", { is: "text" }]],
        restrict: [["query:challenge", challenge]],
        reply: { status: 200, headers: plainText, body: "query:challenge" },
      },
    ],
  },
} as const satisfies Record<string, SenderRow>;
