// Senders that host code.

import { type Sender, signedBody, standardWebhooks, tokenIn } from "./sender";

export const codeHosts = {
  github: {
    name: "GitHub",
    docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature-256", "hex", "sha256="),
    recognise: [
      { "X-GitHub-Event": "", "User-Agent": "GitHub-Hookshot/" },
      { "X-GitHub-Event": "", "X-GitHub-Delivery": "" },
    ],
    event: "header:X-GitHub-Event",
    id: { from: ["header:X-GitHub-Delivery"], signed: false },
  },
  gitlab: {
    name: "GitLab (secret token)",
    docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
    secretIsChosen: true,
    scheme: tokenIn("X-Gitlab-Token"),
    recognise: [{ "X-Gitlab-Event": "" }],
    event: "header:X-Gitlab-Event",
    id: { from: ["header:Idempotency-Key"], signed: false },
  },
  "gitlab-signed": {
    name: "GitLab (signing token)",
    docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
    where: "Webhooks: Signing token",
    secretBegins: "whsec_",
    scheme: standardWebhooks("webhook"),
    recognise: [{ "X-Gitlab-Event": "", "webhook-signature": "v1," }],
    event: "header:X-Gitlab-Event",
    id: { from: ["header:webhook-id"], signed: true },
  },
  forgejo: {
    name: "Forgejo / Codeberg",
    docs: "https://forgejo.org/docs/latest/user/webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Forgejo-Signature", "hex"),
    recognise: [{ "X-Forgejo-Event": "" }],
    event: "header:X-Forgejo-Event",
    id: { from: ["header:X-Forgejo-Delivery"], signed: false },
  },
  gitea: {
    name: "Gitea",
    docs: "https://docs.gitea.com/usage/webhooks",
    secretIsChosen: true,
    scheme: signedBody("X-Gitea-Signature", "hex"),
    recognise: [{ "X-Gitea-Event": "" }],
    event: "header:X-Gitea-Event",
    id: { from: ["header:X-Gitea-Delivery"], signed: false },
  },
  gogs: {
    name: "Gogs",
    docs: "https://gogs.io/docs/features/webhook",
    secretIsChosen: true,
    scheme: signedBody("X-Gogs-Signature", "hex"),
    recognise: [{ "X-Gogs-Event": "" }],
    event: "header:X-Gogs-Event",
    id: { from: ["header:X-Gogs-Delivery"], signed: false },
  },
  bitbucket: {
    name: "Bitbucket (Cloud and Data Center)",
    docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
    secretIsChosen: true,
    scheme: signedBody("X-Hub-Signature", "hex", "sha256="),
    recognise: [
      { "X-Event-Key": "", "X-Hook-UUID": "" },
      { "X-Event-Key": "", "User-Agent": "Bitbucket-Webhooks/" },
      { "X-Event-Key": "", "X-Request-Id": "" },
    ],
    event: "header:X-Event-Key",
    id: { from: ["header:X-Request-UUID", "header:X-Request-Id"], signed: false },
  },
} as const satisfies Record<string, Sender>;
