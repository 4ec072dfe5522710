import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { signWebhookPayload, verifyWebhookSignature } from "@notionhq/client";
import { digits, type Library, valueOf } from "./library";

// It cannot be required.
const octokit = import("@octokit/webhooks-methods");

export const work: readonly Library[] = [
  {
    name: "@octokit/webhooks-methods",
    sender: "github",
    sign: async ({ body }, secret) => {
      const { sign } = await octokit;
      return { fields: [["X-Hub-Signature-256", await sign(secret, body.toString())]] };
    },
    verify: async (sent, secret) => {
      const { verify } = await octokit;
      return verify(secret, sent.body.toString(), valueOf(sent, "X-Hub-Signature-256"));
    },
    unlike: digits,
  },
  {
    name: "@notionhq/client",
    sender: "notion",
    takesBytes: true,
    sign: async ({ body }, secret) => ({
      fields: [["X-Notion-Signature", await signWebhookPayload({ body, verificationToken: secret })]],
    }),
    verify: (sent, secret) => {
      const signature = valueOf(sent, "X-Notion-Signature");
      return verifyWebhookSignature({ body: sent.body, signature, verificationToken: secret });
    },
  },
  {
    name: "@linear/sdk",
    sender: "linear",
    takesBytes: true,
    verify: (sent, secret) => new LinearWebhookClient(secret).verify(sent.body, valueOf(sent, "Linear-Signature")),
    unlike: digits,
  },
];
