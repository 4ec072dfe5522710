// Senders from D to H, by their ids. Above each: what its user enters in the node, for docs/senders.md.

import {
  challenge,
  hmacSha256,
  ping,
  plainText,
  type SenderRow,
  signedBody,
  signedPayload,
  signedWithTime,
  standardWebhooks,
  tokenIn,
  tokenOnly,
} from "./sender";

/** An account has up to 100 active keys, and signs with each. */
const docusignFields = Array.from({ length: 100 }, (_, index) => `X-DocuSign-Signature-${index + 1}`);

const google = {
  keySource: "jwks",
  jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
  headerParameter: "Authorization",
  issuer: "https://accounts.google.com",
  claims: { email_verified: "true" },
  identity: "email",
} as const;

export const dToH = {
  datadog: {
    name: "Datadog",
    docs: "https://docs.datadoghq.com/integrations/webhooks/",
    fields: { verificationMethod: "header" },
    where: "Integrations → Webhooks → New: URL, Custom Headers; Encode as form off",
  },
  /** **Secret**: the _Public Key_ under _General Information_ of the application. */
  discord: {
    name: "Discord (interactions and webhook events)",
    docs: "https://docs.discord.com/developers/events/webhook-events",
    where: "General Information: Public Key",
    scheme: {
      alg: "ed25519",
      key: { format: "ed25519-hex" },
      sig: { headers: ["X-Signature-Ed25519"], enc: "hex" },
      content: ["ts", "body"],
      ts: { source: "header:X-Signature-Timestamp", unit: "s", tolerance: 300 },
    },
    recognise: [{ "X-Signature-Ed25519": "" }],
    events: ["json:event.type", "json:type"],
    id: { from: ["json:id"], signed: true },
    handshakes: [
      // To an interaction, type 1 is a ping; to a webhook event, which has an event in it, it is the ordinary one.
      {
        method: "POST",
        signed: true,
        when: [
          ["json:type", 1],
          ["json:event", { is: "absent" }],
        ],
        reply: { status: 200, body: { type: 1 } },
      },
      {
        method: "POST",
        signed: true,
        when: [["json:type", 0]],
        reply: { status: 204, headers: { "Content-Type": "lit:application/json" } },
      },
    ],
    emptyReply: { to: "accepted", status: 204 },
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  discourse: {
    name: "Discourse",
    docs: "https://meta.discourse.org/t/49045",
    contentType: "application/json",
    secretIsChosen: true,
    scheme: signedBody("X-Discourse-Event-Signature", "hex", "sha256="),
    recognise: [{ "X-Discourse-Event-Type": "" }],
    events: ["header:X-Discourse-Event", "header:X-Discourse-Event-Type"],
    eventNames: "post_created, post_edited, topic_created, topic_status_updated, user_created, user_logged_in, ping",
    id: { from: ["header:X-Discourse-Event-Id"], signed: false },
  },
  "docker-hub": {
    name: "Docker Hub",
    docs: "https://docs.docker.com/docker-hub/repos/manage/webhooks/",
    fields: { verificationMethod: "query" },
    where: "Repository → Webhooks: Webhook URL",
  },
  /**
   * **Secret**: a Connect key of the account. The node checks up to 100 signatures, each made with another active key.
   */
  docusign: {
    name: "DocuSign Connect",
    docs: "https://developers.docusign.com/platform/webhooks/connect/validate/",
    scheme: signedBody(docusignFields, "base64"),
    recognise: [{ "X-DocuSign-Signature-1": "" }],
    events: ["json:event", "json:status"],
    eventNames: "envelope-sent, envelope-delivered, envelope-completed, envelope-declined, envelope-voided",
  },
  /** **Secret**: the _App secret_ in the App Console. */
  dropbox: {
    name: "Dropbox",
    docs: "https://www.dropbox.com/developers/reference/webhooks",
    where: "App Console: App secret",
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
  /**
   * **Secret**: give the same one as `webhook_secret` when you make the webhook by EasyPost's API: ASCII only, as the
   * form's secrets.
   */
  easypost: {
    name: "EasyPost",
    docs: "https://docs.easypost.com/guides/webhooks-guide",
    secretIsChosen: true,
    scheme: signedBody("X-Hmac-Signature", "hex", "hmac-sha256-hex="),
    recognise: [{ "X-Hmac-Signature": "hmac-sha256-hex=" }],
    events: ["json:description"],
    eventNames: "tracker.created, tracker.updated, batch.created, batch.updated, refund.successful, scan_form.created",
    id: { from: ["json:id"], signed: true },
  },
  ecowitt: {
    name: "Ecowitt weather stations",
    docs: "https://www.home-assistant.io/integrations/ecowitt/",
    fields: { verificationMethod: "query" },
    where: "Weather Services → Customized → Ecowitt: Server, Path (up to the end of the URL), Port",
  },
  /** **Secret**: shown once, when the webhook is made, all of it. */
  elevenlabs: {
    name: "ElevenLabs",
    docs: "https://elevenlabs.io/docs/overview/administration/webhooks",
    scheme: signedWithTime("ElevenLabs-Signature", { signature: "v0", tolerance: 1800 }),
    recognise: [{ "ElevenLabs-Signature": "t=" }],
    events: ["json:type"],
    eventNames: "post_call_transcription, post_call_audio, call_initiation_failure",
  },
  /** **Secret**: give the same one as `secret` when you create the webhook by Enode's API. */
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
    events: ["json:*.event"],
    eventNames: "user:vehicle:discovered, user:vehicle:updated",
    id: { from: ["header:X-Enode-Delivery"], signed: false },
    handshakes: [ping("json:*.event", "system:heartbeat", "enode:webhook:test")],
  },
  esphome: {
    name: "ESPHome",
    docs: "https://esphome.io/components/http_request/",
    fields: { verificationMethod: "header" },
    where: "http_request.post: url, request_headers (the token, and Content-Type: application/json), json or body",
  },
  /** **Secret**: enter the same one, with 16 characters or more, when you run `eas webhook:create`. */
  expo: {
    name: "Expo EAS",
    docs: "https://docs.expo.dev/eas/webhooks",
    secretIsChosen: true,
    scheme: { ...signedBody("expo-signature", "hex", "sha1="), alg: "hmac-sha1" },
    recognise: [{ "expo-signature": "sha1=" }],
    events: ["json:status"],
    eventNames: "finished, errored, canceled",
  },
  /**
   * **Secret**: give the same one as `passcode` when you make the webhook by Figma's API, at most 100 characters. Each
   * body has it.
   */
  figma: {
    name: "Figma",
    docs: "https://developers.figma.com/docs/rest-api/webhooks-security/",
    secretIsChosen: true,
    scheme: { ...tokenOnly, sig: { headers: [], source: "json:passcode" } },
    events: ["json:event_type"],
    eventNames: "FILE_UPDATE, FILE_VERSION_UPDATE, FILE_DELETE, FILE_COMMENT, LIBRARY_PUBLISH, DEV_MODE_STATUS_UPDATE",
    handshakes: [{ method: "POST", signed: true, when: [["json:event_type", "PING"]], reply: { status: 200 } }],
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  flagsmith: {
    name: "Flagsmith",
    docs: "https://docs.flagsmith.com/administration-and-security/platform-configuration/environment-settings",
    secretIsChosen: true,
    scheme: signedBody("X-Flagsmith-Signature", "hex"),
    recognise: [{ "X-Flagsmith-Signature": "" }],
    events: ["json:event_type"],
    eventNames: "FLAG_UPDATED, FLAG_DELETED, AUDIT_LOG_CREATED",
  },
  /**
   * **Secret**: enter the same one as `token` in the Secret of the Provider, which has the type `generic-hmac`. Its
   * type `generic` signs nothing: choose _Any sender_ for it.
   */
  flux: {
    name: "Flux",
    docs: "https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac",
    secretIsChosen: true,
    scheme: signedBody("X-Signature", "hex", "sha256="),
    recognise: [{ "Gotk-Component": "" }],
    events: ["json:reason"],
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  forgejo: {
    name: "Forgejo",
    aliases: ["Codeberg"],
    docs: "https://forgejo.org/docs/latest/user/webhooks/",
    contentType: "application/json",
    secretIsChosen: true,
    ...signedPayload("X-Forgejo-Signature"),
    recognise: [{ "X-Forgejo-Event": "" }],
    before: ["gitea", "github", "gogs"],
    events: ["header:X-Forgejo-Event"],
    eventNames: "push, create, delete, pull_request, issues, issue_comment, release",
    id: { from: ["header:X-Forgejo-Delivery"], signed: false },
  },
  /**
   * **Secret**: the signing key of the app, in the Developer settings. Deploy first: Front tests the URL when you save
   * it.
   */
  front: {
    name: "Front (application webhooks)",
    docs: "https://dev.frontapp.com/docs/application-webhooks",
    scheme: {
      ...hmacSha256,
      sig: { headers: ["X-Front-Signature"], enc: "base64" },
      content: ["ts", "lit::", "body"],
      ts: { source: "header:X-Front-Request-Timestamp", unit: "ms", tolerance: 300 },
    },
    recognise: [{ "X-Front-Signature": "", "X-Front-Request-Timestamp": "" }],
    before: ["front-rules"],
    events: ["json:type"],
    eventNames: "inbound_received, outbound_sent, conversation_archived, conversation_reopened, new_comment_added",
    handshakes: [
      {
        method: "POST",
        signed: true,
        when: [
          ["header:X-Front-Challenge", { is: "present" }],
          ["json:type", "sync"],
        ],
        reply: { status: 200, body: { challenge: "header:X-Front-Challenge" } },
      },
    ],
  },
  /** **Secret**: the API secret of the company. */
  "front-rules": {
    name: "Front (rule webhooks)",
    docs: "https://dev.frontapp.com/docs/rule-webhooks",
    scheme: { ...signedBody("X-Front-Signature", "base64"), alg: "hmac-sha1" },
    recognise: [{ "X-Front-Signature": "" }],
    events: ["json:type"],
    id: { from: ["json:id"], signed: true },
  },
  /** **Secret**: the HMAC key with which the webhook signs, in _Key Master_. Keys of other kinds are not supported. */
  fusionauth: {
    name: "FusionAuth",
    docs: "https://fusionauth.io/docs/extend/events-and-webhooks/signing",
    where: "Settings → Key Master: HMAC key",
    scheme: tokenIn("X-FusionAuth-Signature-JWT"),
    jwt: {
      keySource: "secret",
      headerParameter: "X-FusionAuth-Signature-JWT",
      issuer: "",
      audience: "",
      requiredClaim: "",
      bodyDigest: { claim: "request_body_sha256", encoding: "base64" },
    },
    recognise: [{ "X-FusionAuth-Signature-JWT": "" }],
    events: ["json:event.type"],
    id: { from: ["json:event.id"], signed: true },
  },
  /**
   * **Secret**: enter the same one as _Secret_ of the webhook. Ghost does not send which event it is: give each a path
   * of its own. Ghost 5.87 or later.
   */
  ghost: {
    name: "Ghost",
    docs: "https://docs.ghost.org/webhooks",
    secretIsChosen: true,
    scheme: { ...signedWithTime("X-Ghost-Signature", { signature: "sha256", unit: "ms" }), content: ["body", "ts"] },
    recognise: [{ "X-Ghost-Signature": "sha256=" }],
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  gitea: {
    name: "Gitea",
    aliases: ["Gitea Cloud"],
    docs: "https://docs.gitea.com/usage/webhooks",
    contentType: "application/json",
    secretIsChosen: true,
    ...signedPayload("X-Gitea-Signature"),
    recognise: [{ "X-Gitea-Event": "" }],
    before: ["github", "gogs"],
    events: ["header:X-Gitea-Event"],
    eventNames: "push, create, delete, pull_request, issues, issue_comment, release",
    id: { from: ["header:X-Gitea-Delivery"], signed: false },
  },
  /**
   * **Secret**: enter the same one as _Secret_ of the webhook, in the settings of the repository, the organization or
   * the app.
   */
  github: {
    name: "GitHub",
    aliases: ["GitHub Enterprise", "GitHub Sponsors", "GitHub Marketplace"],
    docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
    contentType: "application/json",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature-256", "hex", "sha256="),
    recognise: [
      { "X-GitHub-Event": "", "User-Agent": "GitHub-Hookshot/" },
      { "X-GitHub-Event": "", "X-GitHub-Delivery": "" },
    ],
    events: ["header:X-GitHub-Event"],
    eventNames: "push, pull_request, issues, issue_comment, release, create, delete, workflow_run, check_run, star",
    id: { from: ["header:X-GitHub-Delivery"], signed: false },
  },
  /** **Token**: enter the same one as _Secret token_ of the webhook. */
  gitlab: {
    name: "GitLab (secret token)",
    docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
    secretIsChosen: true,
    scheme: tokenIn("X-Gitlab-Token"),
    recognise: [{ "X-Gitlab-Event": "" }],
    events: ["header:X-Gitlab-Event"],
    eventNames:
      "Push Hook, Tag Push Hook, Issue Hook, Merge Request Hook, Note Hook, Pipeline Hook, Job Hook, Release Hook, System Hook",
    id: { from: ["header:Idempotency-Key"], signed: false },
  },
  /** **Secret**: the _Signing token_ in the form of the webhook. */
  "gitlab-signed": {
    name: "GitLab (signing token)",
    docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
    where: "Webhooks: Signing token",
    secretBegins: "whsec_",
    scheme: standardWebhooks("webhook"),
    recognise: [{ "X-Gitlab-Event": "", "webhook-signature": "v1," }],
    before: ["gitlab", "standard-webhooks"],
    events: ["header:X-Gitlab-Event"],
    eventNames:
      "Push Hook, Tag Push Hook, Issue Hook, Merge Request Hook, Note Hook, Pipeline Hook, Job Hook, Release Hook, System Hook",
    id: { from: ["header:webhook-id"], signed: true },
  },
  /** **Secret**: the secret of the webhook endpoint, in the dashboard under _Developers_. */
  gocardless: {
    name: "GoCardless",
    docs: "https://developer.gocardless.com/getting-started/stay-up-to-date-with-webhooks-v2",
    scheme: signedBody("Webhook-Signature", "hex"),
    recognise: [{ "Webhook-Signature": "", "User-Agent": "gocardless-webhook-service/" }],
    events: ["json:events.*.action"],
    eventNames: "created, submitted, confirmed, paid_out, failed, cancelled, charged_back",
    id: { from: ["json:events.*.id"], signed: true },
  },
  /** **Secret**: enter the same one as _Secret_ of the webhook. */
  gogs: {
    name: "Gogs",
    docs: "https://gogs.io/docs/features/webhook",
    contentType: "application/json",
    secretIsChosen: true,
    ...signedPayload("X-Gogs-Signature"),
    recognise: [{ "X-Gogs-Event": "" }],
    before: ["github"],
    events: ["header:X-Gogs-Event"],
    eventNames: "push, create, delete, pull_request, issues, issue_comment, release",
    id: { from: ["header:X-Gogs-Delivery"], signed: false },
  },
  /**
   * **Audience**: the URL, with _HTTP endpoint URL_ as the _Authentication Audience_ of the app. **Required Claim**:
   * `email=` and the service account under _Connection settings_ of the app; if there is none,
   * `email=chat@system.gserviceaccount.com`.
   */
  "google-chat": {
    name: "Google Chat",
    docs: "https://developers.google.com/workspace/chat/verify-requests-from-chat",
    scheme: tokenIn("Authorization", "Bearer "),
    events: ["json:type"],
    eventNames: "MESSAGE, ADDED_TO_SPACE, REMOVED_FROM_SPACE, CARD_CLICKED",
    jwt: google,
    // It shows what it gets as a message.
    emptyReply: { to: "accepted", status: 200 },
  },
  /**
   * **Audience**: as in the subscription, with _Enable authentication_; the URL, if you set none. **Required Claim**:
   * `email=` and its service account.
   */
  "google-pubsub": {
    name: "Google Cloud Pub/Sub",
    aliases: ["Gmail", "Google Play", "Google Forms"],
    docs: "https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
    scheme: tokenIn("Authorization", "Bearer "),
    jwt: google,
    id: { from: ["header:x-goog-pubsub-message-id", "json:message.messageId"], signed: false },
  },
  /**
   * **Audience**: as in the job or task, with an _OIDC token_; the URL, if you set none. **Required Claim**: `email=`
   * and its service account.
   */
  "google-scheduler": {
    name: "Google Cloud Scheduler",
    aliases: ["Google Cloud Tasks"],
    docs: "https://cloud.google.com/scheduler/docs/http-target-auth",
    scheme: tokenIn("Authorization", "Bearer "),
    events: ["header:X-CloudScheduler-JobName", "header:X-CloudTasks-QueueName"],
    id: {
      from: ["header:X-CloudScheduler-ScheduleTime", "header:X-CloudTasks-TaskName"],
      scope: ["header:X-CloudScheduler-JobName", "header:X-CloudTasks-QueueName"],
      signed: false,
    },
    jwt: google,
  },
  goreleaser: {
    name: "GoReleaser",
    docs: "https://goreleaser.com/customization/announce/webhook/",
    fields: { verificationMethod: "header" },
    where: ".goreleaser.yaml → announce → webhook: endpoint_url, headers, content_type",
  },
  /**
   * **Secret**: enter the same one under _HMAC Signature_ of the contact point. **Signature Header**: only if you
   * changed its name there.
   */
  grafana: {
    name: "Grafana Alerting",
    aliases: ["Grafana Cloud"],
    docs: "https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/",
    secretIsChosen: true,
    scheme: signedBody("X-Grafana-Alerting-Signature", "hex"),
    settings: ["signatureHeader"],
    recognise: [{ "X-Grafana-Alerting-Signature": "" }],
    events: ["json:status", "json:state"],
    eventNames: "firing, resolved",
  },
  /**
   * **Secret**: as above. **Timestamp Header**: the name that you entered for it there. **Signature Header**: only if
   * you changed its name.
   */
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
    events: ["json:status", "json:state"],
    eventNames: "firing, resolved",
  },
  harbor: {
    name: "Harbor",
    docs: "https://goharbor.io/docs/latest/working-with-projects/project-configuration/configure-webhooks/",
    fields: { verificationMethod: "header" },
    where: "Project → Webhooks: Endpoint URL, Auth Header",
  },
  healthchecks: {
    name: "Healthchecks.io",
    docs: "https://healthchecks.io/docs/",
    fields: { verificationMethod: "header" },
    where:
      "Integrations → Webhook: URL, Method POST, Request Body, Request Headers (with Content-Type), for down and for up",
  },
  "home-assistant": {
    name: "Home Assistant",
    docs: "https://www.home-assistant.io/integrations/rest_command/",
    fields: { verificationMethod: "header" },
    where: "configuration.yaml → rest_command: url, method: post, content_type: application/json, headers, payload",
  },
  /**
   * **Secret**: the signing secret of the project, in its settings under _Secrets_. Hookdeck forwards what the original
   * sender has sent, with its header fields: choose Hookdeck, not that sender. If its prefix `x-hookdeck` was changed
   * in the project, use _Custom_.
   */
  hookdeck: {
    name: "Hookdeck",
    docs: "https://hookdeck.com/docs/authentication",
    // While a secret is changed, the older one signs as well.
    scheme: signedBody(["x-hookdeck-signature", "x-hookdeck-signature-2"], "base64"),
    recognise: [{ "x-hookdeck-signature": "" }, { "x-hookdeck-eventid": "" }],
    // It forwards the fields of any sender.
    before: ["*"],
    events: ["header:X-GitHub-Event", "header:X-Shopify-Topic", "json:type"],
    id: { from: ["header:x-hookdeck-eventid"], signed: false },
  },
  /** **Secret**: the client secret of the app. **Public URL**: the address that HubSpot calls. */
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
    events: ["json:*.subscriptionType"],
    eventNames:
      "contact.creation, contact.propertyChange, deal.creation, deal.propertyChange, company.creation, object.creation, object.propertyChange",
  },
  /** **Token**: enter the same one as _Secret_ of the webhook: ASCII only, as the form's tokens. */
  huggingface: {
    name: "Hugging Face",
    docs: "https://huggingface.co/docs/hub/webhooks",
    secretIsChosen: true,
    // Others have a field of this name as well, so it tells nothing.
    scheme: tokenIn("X-Webhook-Secret"),
    events: ["json:event.scope"],
    eventNames: "repo, repo.content, repo.config, discussion, discussion.comment",
  },
} as const satisfies Record<string, SenderRow>;
