// What a user of the editor needs.

export const permissions = {
  /** To see how the nodes fare, and what came to them. */
  read: "webhook-trigger.read",
  /** To start a flow, and to fetch what a sender has brought. */
  write: "webhook-trigger.write",
} as const;
