/** The libraries that senders publish for those who receive their webhooks. */
import EasyPost from "@easypost/api";
import { validateSignature } from "@line/bot-sdk";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import Mux from "@mux/mux-node";
import { signWebhookPayload, verifyWebhookSignature } from "@notionhq/client";
import { WebhookEventVerifier } from "@onfido/api";
import { NodeRuntime, Webhooks } from "@paddle/paddle-node-sdk";
import { encodeSignatureHeader, isValidSignature } from "@sanity/webhook";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { isValidSlackRequest } from "@slack/bolt";
import { WorkOS } from "@workos-inc/node";
import { AwsLambdaReceiver } from "@zoom/rivet/meetings";
import { verifyKey } from "discord-interactions";
import { parse } from "node:querystring";
import Pusher from "pusher";
import Razorpay from "razorpay";
import { validateWebhook } from "replicate";
import smartcar from "smartcar";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import twilio from "twilio";
import type { SigningId } from "../harness/signers";
import { signers, type Unsigned } from "../harness/signers";

NodeRuntime.initialize();
// It cannot be required.
const octokit = import("@octokit/webhooks-methods");

/** A request as it is sent, with its fields as they are. */
export interface Sent {
  fields: [string, string][];
  /** The query of its URL, without a question mark. */
  search: string;
  body: Buffer;
}

/** What a sender's own library makes of signatures. */
export interface Library {
  /** Its package. */
  name: string;
  sender: SigningId;
  /** Whether it is given the bytes of a body. The others are given text, and some of them read it as JSON. */
  takesBytes?: true;
  /** The body that it reads, of any JSON, where it asks for more than JSON. */
  event?: (data: string) => string;
  /** The fields with which the sender signs, where the library can tell. */
  sign?: (request: Unsigned, secret: string) => [string, string][] | Promise<[string, string][]>;
  /** Refuses with an error, or with `false`. */
  verify: (request: Sent, secret: string) => unknown;
  /** Whether it may accept what was changed, and the node alone has to refuse that. */
  isLenient?: true;
  /** What it accepts though it was signed at another time, and the node does not: all that could be sent again. */
  ignores?: readonly ("past" | "future")[];
}

const valueOf = ({ fields }: Sent, name: string) => fields.find(([field]) => field === name)?.[1] ?? "";
const twilioForm = (body: Buffer) => parse(body.toString()) as Record<string, unknown>;
const twilioUrl = (search: string) => `${signers.twilio.publicUrl ?? ""}?${search}`;

/** What Zoom's library replies to a request. */
export function askZoom({ fields, body }: Sent, secret: string): Promise<{ statusCode: number; body: string }> {
  // Its types name a package that it does not bring.
  const receive = new AwsLambdaReceiver({ webhooksSecretToken: secret }).start() as (
    request: { headers: Record<string, string>; body: string },
    context: object,
  ) => ReturnType<typeof askZoom>;
  return receive({ headers: Object.fromEntries(fields), body: body.toString() }, {});
}

/** Standard Webhooks and Svix sign alike, with fields of their own. */
function standard(name: string, sender: "standard-webhooks" | "svix", prefix: string, Webhook: typeof StandardWebhook | typeof SvixWebhook): Library {
  return {
    name,
    sender,
    sign: ({ id, at, body }, secret) => [
      [`${prefix}-id`, id],
      [`${prefix}-timestamp`, String(at)],
      [`${prefix}-signature`, new Webhook(secret).sign(id, new Date(at * 1000), body.toString())],
    ],
    verify: ({ fields, body }, secret) => void new Webhook(secret).verify(body.toString(), Object.fromEntries(fields)),
  };
} // prettier-ignore

export const libraries: readonly Library[] = [
  {
    name: "stripe",
    sender: "stripe",
    sign: ({ body, at }, secret) => [
      [
        "Stripe-Signature",
        Stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret, timestamp: at }),
      ],
    ],
    verify: (sent, secret) =>
      void Stripe.webhooks.constructEvent(sent.body.toString(), valueOf(sent, "Stripe-Signature"), secret),
    ignores: ["future"],
  },
  {
    name: "@paddle/paddle-node-sdk",
    sender: "paddle",
    verify: (sent, secret) =>
      new Webhooks().isSignatureValid(sent.body.toString(), secret, valueOf(sent, "Paddle-Signature")),
    ignores: ["future"],
  },
  standard("standardwebhooks", "standard-webhooks", "webhook", StandardWebhook),
  standard("svix", "svix", "svix", SvixWebhook),
  {
    name: "replicate",
    sender: "standard-webhooks",
    verify: (sent, secret) =>
      validateWebhook({
        id: valueOf(sent, "webhook-id"),
        timestamp: valueOf(sent, "webhook-timestamp"),
        signature: valueOf(sent, "webhook-signature"),
        body: sent.body.toString(),
        secret,
      }),
    ignores: ["past", "future"],
  },
  {
    name: "@octokit/webhooks-methods",
    sender: "github",
    sign: async ({ body }, secret) => [["X-Hub-Signature-256", await (await octokit).sign(secret, body.toString())]],
    verify: async (sent, secret) =>
      (await octokit).verify(secret, sent.body.toString(), valueOf(sent, "X-Hub-Signature-256")),
  },
  {
    name: "@notionhq/client",
    sender: "notion",
    takesBytes: true,
    sign: async ({ body }, secret) => [
      ["X-Notion-Signature", await signWebhookPayload({ body, verificationToken: secret })],
    ],
    verify: (sent, secret) =>
      verifyWebhookSignature({
        body: sent.body,
        signature: valueOf(sent, "X-Notion-Signature"),
        verificationToken: secret,
      }),
  },
  {
    name: "@linear/sdk",
    sender: "linear",
    takesBytes: true,
    verify: (sent, secret) => new LinearWebhookClient(secret).verify(sent.body, valueOf(sent, "Linear-Signature")),
  },
  {
    name: "@slack/bolt",
    sender: "slack",
    verify: (sent, secret) =>
      isValidSlackRequest({
        signingSecret: secret,
        body: sent.body.toString(),
        headers: {
          "x-slack-signature": valueOf(sent, "X-Slack-Signature"),
          "x-slack-request-timestamp": Number(valueOf(sent, "X-Slack-Request-Timestamp")),
        },
      }),
    ignores: ["future"],
  },
  {
    name: "discord-interactions",
    sender: "discord",
    takesBytes: true,
    verify: (sent, secret) =>
      verifyKey(sent.body, valueOf(sent, "X-Signature-Ed25519"), valueOf(sent, "X-Signature-Timestamp"), secret),
    ignores: ["past", "future"],
  },
  {
    name: "@line/bot-sdk",
    sender: "line",
    takesBytes: true,
    verify: (sent, secret) => validateSignature(sent.body, secret, valueOf(sent, "x-line-signature")),
  },
  {
    name: "twilio",
    sender: "twilio",
    verify: (sent, secret) =>
      twilio.validateRequest(
        secret,
        valueOf(sent, "X-Twilio-Signature"),
        twilioUrl(sent.search),
        twilioForm(sent.body),
      ),
  },
  {
    name: "@workos-inc/node",
    sender: "workos",
    verify: (sent, secret) =>
      new WorkOS("sk_test").webhooks.verifyHeader({
        // It writes the JSON anew.
        payload: JSON.parse(sent.body.toString()) as unknown,
        sigHeader: valueOf(sent, "WorkOS-Signature"),
        secret,
      }),
    isLenient: true,
    ignores: ["future"],
  },
  {
    name: "@sendgrid/eventwebhook",
    sender: "sendgrid",
    isLenient: true,
    verify: (sent, secret) => {
      const library = new EventWebhook();
      const field = (name: string) => valueOf(sent, `X-Twilio-Email-Event-Webhook-${name}`);
      const key = library.convertPublicKeyToECDSA(secret);
      return library.verifySignature(key, sent.body.toString(), field("Signature"), field("Timestamp"));
    },
  },
  {
    name: "@sanity/webhook",
    sender: "sanity",
    sign: async ({ body, at }, secret) => [
      ["sanity-webhook-signature", await encodeSignatureHeader(body.toString(), at * 1000, secret)],
    ],
    verify: (sent, secret) => isValidSignature(sent.body.toString(), valueOf(sent, "sanity-webhook-signature"), secret),
  },
  {
    name: "@mux/mux-node",
    sender: "mux",
    verify: (sent, secret) =>
      new Mux({ tokenId: "id", tokenSecret: "secret" }).webhooks.verifySignature(
        sent.body.toString(),
        Object.fromEntries(sent.fields),
        secret,
      ),
    ignores: ["future"],
  },
  {
    name: "pusher",
    sender: "pusher",
    verify: (sent, secret) => {
      // It asks of the JSON that it is said to be some, and of the key that it is the app's.
      const headers = {
        "content-type": "application/json",
        "x-pusher-key": "key",
        "x-pusher-signature": valueOf(sent, "X-Pusher-Signature"),
      };
      const library = new Pusher({ appId: "1", key: "key", secret, cluster: "eu" });
      return library.webhook({ headers, rawBody: sent.body.toString() }).isValid();
    },
  },
  {
    name: "razorpay",
    sender: "razorpay",
    verify: (sent, secret) =>
      Razorpay.validateWebhookSignature(sent.body.toString(), valueOf(sent, "X-Razorpay-Signature"), secret),
  },
  {
    name: "@onfido/api",
    sender: "onfido",
    verify: (sent, secret) =>
      void new WebhookEventVerifier(secret).readPayload(sent.body, valueOf(sent, "X-SHA2-Signature")),
  },
  {
    name: "@easypost/api",
    sender: "easypost",
    verify: ({ fields, body }, secret) =>
      void new EasyPost("key").Utils.validateWebhook(body, Object.fromEntries(fields), secret),
  },
  {
    name: "@zoom/rivet",
    sender: "zoom",
    event: (data) => `{"event":"meeting.started","payload":${data}}`,
    verify: async (sent, secret) => (await askZoom(sent, secret)).statusCode === 200,
    // It writes the JSON anew.
    isLenient: true,
    ignores: ["past", "future"],
  },
  {
    name: "smartcar",
    sender: "smartcar",
    // It writes the JSON anew.
    verify: (sent, secret) =>
      smartcar.verifyPayload(secret, valueOf(sent, "SC-Signature"), JSON.parse(sent.body.toString())),
    isLenient: true,
  },
];
