// What several senders have in common.

import type { Handshake, Scheme } from "./record";

/** What most senders use. */
export const hmacSha256 = { alg: "hmac-sha256", key: { format: "utf8" } } as const;
/** The secret itself is sent. */
export const tokenOnly = { alg: "token", key: { format: "utf8" }, content: [] } as const;

/** Standard Webhooks, "Signature scheme", and what it came from: the fields' names differ. */
export function standardWebhooks<Prefix extends string>(prefix: Prefix) {
  return {
    alg: "hmac-sha256",
    key: { format: "base64", strip: "whsec_" },
    sig: { headers: [`${prefix}-signature`], split: " ", pick: { prefix: "v1," }, enc: "base64" },
    content: [`header:${prefix}-id`, "lit:.", "ts", "lit:.", "body"],
    ts: { source: `header:${prefix}-timestamp`, unit: "s", tolerance: 300 },
  } as const satisfies Scheme;
}

/** An echo that no browser takes for a page. */
export const plainText = {
  "Content-Type": "lit:text/plain; charset=utf-8",
  "X-Content-Type-Options": "lit:nosniff",
} as const;

/** A challenge that can be echoed: nothing that is markup, or a signature's content. */
export const challenge = /^[A-Za-z0-9._~-]{1,256}$/;

/** CloudEvents' HTTP 1.1 Web Hooks §4: how a sender asks whether it may come. */
export const abuseProtection = {
  method: "OPTIONS",
  signed: false,
  when: [["header:WebHook-Request-Origin", { is: "present" }]],
  restrict: [["header:WebHook-Request-Origin", /^[A-Za-z0-9._:/*-]{1,255}$/]],
  reply: {
    status: 200,
    headers: {
      "WebHook-Allowed-Origin": "header:WebHook-Request-Origin",
      "WebHook-Allowed-Rate": "lit:*",
      Allow: "lit:POST",
    },
  },
} as const satisfies Handshake;
