// Where deliveries are kept that must not be lost.

import type { BrokenRule } from "./rules";

/** In a file of this instance, on a server that all instances share, or nowhere: as Node.js and the settings allow. */
export type Keeping = "file" | "server" | "none";

/** Keeps an endpoint closed that is to lose nothing where nothing can be kept. */
export function keepingRule(isGuaranteed: boolean, keeping: Keeping): BrokenRule | undefined {
  return isGuaranteed && keeping === "none" ? "storeMissing" : undefined;
}
