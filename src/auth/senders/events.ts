// Events that senders document, as the form offers them. Senders have more, and add some.

import { isSenderId, type SenderId, senders } from "./table";

/** Those first that most users want. */
const events: Readonly<Partial<Record<SenderId, string>>> = {
  github: "push, pull_request, issues, issue_comment, release, create, delete, workflow_run, check_run, star",
  gitlab: "Push Hook, Tag Push Hook, Issue Hook, Merge Request Hook, Note Hook, Pipeline Hook, Job Hook, Release Hook",
  gitea: "push, create, delete, pull_request, issues, issue_comment, release",
  forgejo: "push, create, delete, pull_request, issues, issue_comment, release",
  bitbucket: "repo:push, pullrequest:created, pullrequest:updated, pullrequest:fulfilled, issue:created",
  stripe:
    "checkout.session.completed, payment_intent.succeeded, payment_intent.payment_failed, charge.refunded, invoice.paid, invoice.payment_failed, customer.subscription.*",
  shopify:
    "orders/create, orders/paid, orders/updated, orders/cancelled, products/create, products/update, customers/create, app/uninstalled",
  woocommerce: "order.created, order.updated, product.created, product.updated, customer.created, coupon.created",
  slack: "message, app_mention, reaction_added, member_joined_channel, app_home_opened",
  zoom: "meeting.started, meeting.ended, meeting.participant_joined, meeting.participant_left, recording.completed",
  sentry: "issue, error, event_alert, metric_alert, comment, installation",
  pagerduty: "incident.triggered, incident.acknowledged, incident.escalated, incident.resolved",
  calendly: "invitee.created, invitee.canceled, routing_form_submission.created",
  typeform: "form_response",
  square: "payment.created, payment.updated, order.created, order.updated, refund.created",
  paddle:
    "transaction.completed, transaction.payment_failed, subscription.created, subscription.updated, subscription.canceled",
  paypal: "PAYMENT.CAPTURE.COMPLETED, PAYMENT.CAPTURE.REFUNDED, CHECKOUT.ORDER.APPROVED, BILLING.SUBSCRIPTION.*",
  sendgrid: "delivered, bounce, dropped, open, click, spamreport, unsubscribe",
  mailgun: "delivered, failed, opened, clicked, complained, unsubscribed",
  telnyx: "message.received, message.sent, message.finalized, call.initiated, call.answered, call.hangup",
  line: "message, follow, unfollow, join, postback",
  grafana: "firing, resolved",
  vercel: "deployment.created, deployment.succeeded, deployment.error, deployment.canceled",
  "gitlab-signed":
    "Push Hook, Tag Push Hook, Issue Hook, Merge Request Hook, Note Hook, Pipeline Hook, Job Hook, Release Hook",
  gogs: "push, create, delete, pull_request, issues, issue_comment, release",
  jira: "jira:issue_created, jira:issue_updated, jira:issue_deleted, comment_created, sprint_started, sprint_closed",
  linear: "Issue, Comment, Project, Cycle, IssueLabel, Reaction",
  notion: "page.created, page.content_updated, page.properties_updated, page.deleted, comment.created",
  asana: "added, changed, removed, deleted",
  docusign: "envelope-sent, envelope-delivered, envelope-completed, envelope-declined, envelope-voided",
  intercom: "conversation.user.created, conversation.user.replied, conversation.admin.closed, contact.user.created",
  hubspot: "contact.creation, contact.propertyChange, deal.creation, deal.propertyChange, company.creation",
  calcom: "BOOKING_CREATED, BOOKING_RESCHEDULED, BOOKING_CANCELLED, MEETING_ENDED",
  todoist: "item:added, item:updated, item:completed, item:deleted, project:added",
  clickup: "taskCreated, taskUpdated, taskDeleted, taskStatusUpdated, taskCommentPosted",
  trello: "createCard, updateCard, deleteCard, commentCard, addMemberToCard",
  tally: "FORM_RESPONSE",
  box: "FILE.UPLOADED, FILE.DOWNLOADED, FILE.DELETED, FOLDER.CREATED, COMMENT.CREATED",
  webflow: "form_submission, site_publish, ecomm_new_order, collection_item_created",
  adyen: "AUTHORISATION, CAPTURE, REFUND, CANCELLATION, CHARGEBACK",
  meta: "page, instagram, whatsapp_business_account",
  twitch: "stream.online, stream.offline, channel.follow, channel.subscribe, channel.raid",
  strava: "create, update, delete",
  oura: "create, update, delete",
  "grafana-timestamp": "firing, resolved",
  "azure-eventgrid": "Microsoft.Storage.BlobCreated, Microsoft.Storage.BlobDeleted",
  "microsoft-graph": "created, updated, deleted",
  workos: "user.created, user.updated, user.deleted, dsync.user.created, connection.activated",
};

export function findDocumentedEvents(sender: string): readonly string[] {
  return isSenderId(sender) ? (events[sender]?.split(", ") ?? []) : [];
}

/**
 * The event of a request that looks like a sender's, and the header field with it. Only an event that the sender
 * documents: any other value may be a secret.
 *
 * @param read the value of a field by its name in lower case
 */
export function findEventField(
  sender: SenderId,
  read: (field: string) => unknown,
): { readonly field: string; readonly event: string } | undefined {
  const source = senders[sender].events?.find((place) => place.startsWith("header:"));
  if (source === undefined) return undefined;
  const field = source.slice("header:".length).toLowerCase();
  const event = findDocumentedEvents(sender).find((each) => each === read(field));
  return event === undefined ? undefined : { field, event };
}
