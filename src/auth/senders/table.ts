// All senders by id.

import { carriers } from "./carriers";
import { byCertificate } from "./by-certificate";
import { chats } from "./chats";
import { codeHosts } from "./code-hosts";
import { commerce } from "./commerce";
import { devices } from "./devices";
import { byJwt } from "./by-jwt";
import { open } from "./open";
import { operations } from "./operations";
import { isRecipeId, recipes } from "./recipes";
import type { Sender } from "./sender";
import { social } from "./social";
import { work } from "./work";

const rows = {
  ...codeHosts,
  ...work,
  ...commerce,
  ...chats,
  ...social,
  ...carriers,
  ...operations,
  ...devices,
  ...byJwt,
  ...byCertificate,
  ...open,
};

export type SenderId = keyof typeof rows;

export const senders: Readonly<Record<SenderId, Sender>> = rows;

export const senderIds: readonly SenderId[] = Object.keys(rows).filter(isSenderId);

/** Whether a saved value is the id of a sender. */
export function isSenderId(value: unknown): value is SenderId {
  return typeof value === "string" && Object.hasOwn(senders, value);
}

/** Senders that a user describes: in the form, their names are translated. */
export const describedIds = ["shared-secret", "custom"] as const satisfies readonly SenderId[];

/** The name of a sender or a recipe without a part in brackets; empty for any sender, and for one that a user describes. */
export function shortName(id: unknown): string {
  if (describedIds.some((each) => each === id)) return "";
  const name = isSenderId(id) ? senders[id].name : isRecipeId(id) ? recipes[id].name : "";
  return name.replace(/ \(.*\)$/, "");
}

/**
 * The order in which senders are recognised. Some send the header fields of another sender besides their own, as Forgejo
 * those of Gitea and GitHub: they come before it. A sender with fields of its own may stand anywhere.
 */
export const recogniseOrder = [
  "forgejo", "gitea", "gogs", "gitlab-signed", "gitlab", "jira", "bitbucket", "github", "stripe", "slack", "shopify",
  "woocommerce", "zoom", "linear", "notion", "sentry", "pagerduty", "typeform", "zendesk", "docusign", "dropbox",
  "grafana", "paddle", "calendly", "square", "hubspot", "twitch", "xero", "x", "telegram", "discord", "telnyx",
  "sendgrid", "twilio", "asana", "line", "azure-eventgrid", "svix", "standard-webhooks", "intercom", "meta",
  "calcom", "todoist", "trello", "tally", "airtable", "box", "webflow", "vercel", "tailscale", "workos", "mollie",
  "msteams", "paypal", "amazon-sns", "netatmo", "nuki", "enode", "samsara", "shopify-events", "adyen-platforms",
  "smartcar", "oura", "okta", "cloudevents", "websub",
] as const satisfies readonly SenderId[]; // prettier-ignore
