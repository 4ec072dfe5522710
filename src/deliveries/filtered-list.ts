// The last requests that the filter of each node let not pass, in memory.

import type { Delivery } from "./delivery";
import { MemoryList } from "./memory-list";
import type { Query } from "./queue";

const maxPerNode = 20;
/** Over all nodes. */
const maxBytes = 8 * 1024 * 1024;

/** They are many, and no deliveries: they are listed only where that is asked for. */
export class FilteredList extends MemoryList {
  /** @param changed called whenever one is new */
  constructor(changed?: () => void) {
    super(changed, maxPerNode, maxBytes);
  }

  override list(query: Query): Promise<Delivery[]> {
    return query.state === "filtered" ? super.list(query) : Promise.resolve([]);
  }
}
