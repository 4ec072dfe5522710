/**
 * Requests as the documentation of senders shows them, signed with a given credential; `test/data/requests.json` has more
 * of them.
 */
import { createHmac } from "node:crypto";

export interface Sent {
  headers: Record<string, string>;
  body: string;
}

export type Sender = (credential: string, event?: string) => Sent;

const json = { "Content-Type": "application/json" };
const form = { "Content-Type": "application/x-www-form-urlencoded" };
const hmac = (secret: string, encoding: "hex" | "base64", text: string, hash = "sha256") =>
  createHmac(hash, secret).update(text).digest(encoding);
const now = () => String(Math.floor(Date.now() / 1000));

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
export const github: Sender = (secret, event = "ping") => {
  const body = JSON.stringify({ repository: { full_name: "shop/orders" }, issue: { title: "Grüße 👋" } });
  const headers = { ...json, "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958", "X-GitHub-Event": event };
  return { headers: { ...headers, "X-Hub-Signature-256": `sha256=${hmac(secret, "hex", body)}` }, body };
};

/** https://docs.stripe.com/webhooks#verify-manually, https://docs.stripe.com/api/events/object */
export const stripe: Sender = (secret, type = "checkout.session.completed") => {
  // It is sent with indentation, as a person would write it.
  const body = JSON.stringify({ id: "evt_1NG8Du2eZvKYlo2CUI79vXWy", object: "event", type }, null, 2);
  const time = now();
  const signature = `t=${time},v1=${hmac(secret, "hex", `${time}.${body}`)},v0=${"0".repeat(64)}`;
  return { headers: { "Content-Type": "application/json; charset=utf-8", "Stripe-Signature": signature }, body };
};

/** https://shopify.dev/docs/apps/build/webhooks/verify-deliveries */
export const shopify: Sender = (secret) => {
  const body = '{"id":820982911946154508,"email":"jon@example.com","total_price":"403.00","note":"a\\/b"}';
  const signature = hmac(secret, "base64", body);
  return { headers: { ...json, "X-Shopify-Topic": "orders/create", "X-Shopify-Hmac-Sha256": signature }, body };
};

/**
 * https://docs.slack.dev/authentication/verifying-requests-from-slack/, https://docs.slack.dev/apis/events-api/
 *
 * @param event `url_verification` for the question that comes when the URL is entered
 */
export const slack: Sender = (secret, event = "app_mention") => {
  const told =
    event === "url_verification"
      ? { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd", type: event }
      : { type: "event_callback", event_id: "Ev123ABC456", event: { type: event, text: "Grüße 👋" } };
  return signedBySlack(secret, JSON.stringify(told), json);
};

function signedBySlack(secret: string, body: string, type: Record<string, string>): Sent {
  const time = now();
  const signature = `v0=${hmac(secret, "hex", `v0:${time}:${body}`)}`;
  return { headers: { ...type, "X-Slack-Request-Timestamp": time, "X-Slack-Signature": signature }, body };
}

/**
 * https://docs.slack.dev/interactivity/implementing-slash-commands/
 *
 * @param text what the user has written behind the command
 */
export const slashCommand: Sender = (secret, text = "94070") => {
  const fields = { user_name: "steve", command: "/weather", text, trigger_id: "13345224609.738474920" };
  return signedBySlack(secret, String(new URLSearchParams(fields)), form);
};

/** Where Node-RED is, as senders see it that sign the URL. */
export const publicOrigin = "https://nodered.example";

/**
 * https://www.twilio.com/docs/voice/twiml#request-parameters, https://www.twilio.com/docs/usage/security#validating-requests
 *
 * @param from who calls
 */
export const twilioCall: Sender = (secret, from = "+14158675309") => {
  const fields = { CallSid: "CA1234567890ABCDE", CallStatus: "ringing", From: from, To: "+18005551212" };
  // They are in the order of their names.
  const signed = `${publicOrigin}/twilio/call${Object.entries(fields).flat().join("")}`;
  const headers = { ...form, "X-Twilio-Signature": hmac(secret, "base64", signed, "sha1") };
  return { headers, body: String(new URLSearchParams(fields)) };
};

/** https://docs.gitlab.com/user/project/integrations/webhook_events/ */
export const gitlab: Sender = (token) => ({
  headers: { ...json, "X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": token },
  body: '{"object_kind":"push","ref":"refs/heads/main","project":{"id":1,"path_with_namespace":"shop/orders"}}',
});

/** https://core.telegram.org/bots/api#setwebhook, #update */
export const telegram: Sender = (token, text = "Grüße 👋") => ({
  headers: { ...json, "X-Telegram-Bot-Api-Secret-Token": token },
  body: JSON.stringify({ update_id: 10000, message: { message_id: 1, chat: { id: 1, type: "private" }, text } }),
});

/** https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks#change-notification-example */
export const graph: Sender = (clientState, changeType = "created") => ({
  headers: json,
  body: JSON.stringify({ value: [{ subscriptionId: "7f105c7d", changeType, clientState, resource: "users/anna" }] }),
});

/** https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
export const grafana: Sender = (token) => ({
  headers: { ...json, Authorization: `Bearer ${token}` },
  body: '{"receiver":"Node-RED","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"Cold store"}}]}',
});

/** The sender that the documentation of custom signatures makes up. */
export const acme: Sender = (secret) => {
  const body = '{"order": 42}';
  const time = now();
  const signature = `v1=${hmac(secret, "hex", `${time}.${body}`)}`;
  return { headers: { ...json, "X-Acme-Timestamp": time, "X-Acme-Signature": signature }, body };
};
