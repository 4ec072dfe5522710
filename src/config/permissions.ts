// The permissions of the admin API.

export const permissions = {
  /** To see deliveries, counts and metrics. */
  read: "webhook-trigger.read",
  /** To start a flow, to pause a node, and to fetch a secret that a sender has brought. */
  write: "webhook-trigger.write",
} as const;
