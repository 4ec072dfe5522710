import type { NodeReport } from "../../src/admin/node-health";

/** What the runtime says of a node that nobody has called. */
export const uncalled: NodeReport = {
  accepted: 0,
  refused: 0,
  handshakes: 0,
  duplicates: 0,
  filtered: 0,
  filteredEvents: [],
  withoutKey: 0,
  unanswered: 0,
  hasSecret: false,
};
