// Senders that people publish on.

import { challenge, hmacSha256, plainText, type Sender, signedBody, tokenOnly } from "./sender";

/** The check of a subscription, as Meta and Strava send it. */
const subscription = {
  method: "GET",
  signed: false,
  when: [
    ["query:hub.mode", "subscribe"],
    ["query:hub.verify_token", { configured: "verifyToken" }],
  ],
  restrict: [["query:hub.challenge", challenge]],
  otherwise: 403,
} as const;

export const social = {
  meta: {
    name: "Meta (Facebook, Instagram, Messenger, WhatsApp)",
    docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
    where: "App settings → Basic: App Secret",
    scheme: signedBody("X-Hub-Signature-256", "hex", "sha256="),
    settings: ["verifyToken"],
    recognise: [
      { "X-Hub-Signature-256": "sha256=", "User-Agent": "facebookexternalua" },
      { "X-Hub-Signature-256": "sha256=", "User-Agent": "Webhooks/" },
    ],
    events: ["json:object"],
    handshakes: [{ ...subscription, reply: { status: 200, headers: plainText, body: "query:hub.challenge" } }],
  },
  x: {
    name: "X (Twitter)",
    docs: "https://docs.x.com/x-api/webhooks/quickstart",
    scheme: signedBody("x-twitter-webhooks-signature", "base64", "sha256="),
    recognise: [{ "x-twitter-webhooks-signature": "sha256=" }],
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
  strava: {
    name: "Strava",
    docs: "https://developers.strava.com/docs/webhooks/",
    secretIsChosen: true,
    // Its requests are not signed: the URL has the secret.
    scheme: { ...tokenOnly, sig: { headers: [], source: "query:state" } },
    settings: ["verifyToken"],
    events: ["json:aspect_type"],
    handshakes: [{ ...subscription, reply: { status: 200, body: { "hub.challenge": "query:hub.challenge" } } }],
  },
} as const satisfies Record<string, Sender>;
