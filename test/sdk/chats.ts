import { validateSignature } from "@line/bot-sdk";
import { isValidSlackRequest } from "@slack/bolt";
import { verifyKey } from "discord-interactions";
import { ahead, digits, type Library, spelling, valueOf, zero } from "./library";

export const chats: readonly Library[] = [
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
    unlike: { ...digits, ...ahead, ...zero },
  },
  {
    name: "discord-interactions",
    sender: "discord",
    takesBytes: true,
    verify: (sent, secret) =>
      verifyKey(sent.body, valueOf(sent, "X-Signature-Ed25519"), valueOf(sent, "X-Signature-Timestamp"), secret),
    unlike: {
      "signed too long ago": "It looks at no time, so that a request could be sent again for ever.",
      ...ahead,
    },
  },
  {
    name: "@line/bot-sdk",
    sender: "line",
    takesBytes: true,
    verify: (sent, secret) => validateSignature(sent.body, secret, valueOf(sent, "x-line-signature")),
    unlike: spelling,
  },
];
