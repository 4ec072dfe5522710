// Senders that send a JSON Web Token. What the token has is in `src/config/jwt-presets.ts`.

import type { JwtSenderId } from "../../config/jwt-presets";
import { challenge, type Sender, tokenIn } from "./sender";

export const byJwt = {
  "google-pubsub": {
    name: "Google Cloud Pub/Sub (push)",
    docs: "https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
    scheme: tokenIn("Authorization", "Bearer "),
    id: { from: ["json:message.messageId"], signed: false },
  },
  "google-scheduler": {
    name: "Google Cloud Scheduler and Cloud Tasks",
    docs: "https://cloud.google.com/scheduler/docs/http-target-auth",
    scheme: tokenIn("Authorization", "Bearer "),
  },
  "google-chat": {
    name: "Google Chat",
    docs: "https://developers.google.com/workspace/chat/verify-requests-from-chat",
    scheme: tokenIn("Authorization", "Bearer "),
  },
  netlify: {
    name: "Netlify",
    docs: "https://docs.netlify.com/deploy/deploy-notifications/",
    secretIsChosen: true,
    scheme: tokenIn("X-Webhook-Signature"),
  },
  vonage: {
    name: "Vonage",
    docs: "https://developer.vonage.com/en/getting-started/concepts/webhooks",
    scheme: tokenIn("Authorization", "Bearer "),
  },
  monday: {
    name: "monday.com",
    docs: "https://developer.monday.com/apps/docs/authorization-header",
    scheme: tokenIn("Authorization"),
    events: ["json:event.type"],
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
} as const satisfies Record<JwtSenderId, Sender>;
