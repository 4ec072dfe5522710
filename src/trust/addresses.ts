// Which addresses may send.

import { BlockList, isIPv4, isIPv6 } from "node:net";
import { type Block, groupsOf, mappedIPv4 } from "../config/blocks";

/** An address without its port, its zone, and what maps it to IPv6. */
export interface Address {
  family: Block["family"];
  text: string;
  /** The eight numbers of an IPv6 address; none of an IPv4 one. */
  groups: readonly number[];
}

/**
 * Reads the address of a sender. Proxies may add its port, and the system its zone (RFC 4007 §11), which is of this
 * computer alone.
 *
 * @returns nothing where it is none: a proxy may pass on what its caller wrote
 */
export function addressOf(ip: string): Address | undefined {
  if (isIPv4(ip)) return { family: "ipv4", text: ip, groups: [] };
  const bare = ip.replace(/^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/, "$1$2").replace(/%.*$/s, "");
  if (isIPv4(bare)) return { family: "ipv4", text: bare, groups: [] };
  const groups = isIPv6(bare) ? groupsOf(bare) : undefined;
  if (!groups) return undefined;
  const mapped = mappedIPv4(groups);
  if (mapped !== undefined) return { family: "ipv4", text: mapped, groups: [] };
  return { family: "ipv6", text: bare, groups };
}

/** Whether an address is this computer's own, as nobody else sees it (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopback(ip: string): boolean {
  const { family, text = "", groups = [] } = addressOf(ip) ?? {};
  return family === "ipv4" ? text.startsWith("127.") : groups.join() === "0,0,0,0,0,0,0,1";
}

/**
 * The addresses that an endpoint takes requests from. As in nginx's `allow`, a mapped address is an IPv4 address and
 * nothing else: blocks of IPv6, such as `::/0`, do not hold it.
 */
export class AllowedAddresses {
  readonly #isOpen: boolean;
  /** One for each family: Node compares addresses of one with blocks of the other, too. */
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** @param blocks none for all addresses */
  constructor(blocks: readonly Block[]) {
    this.#isOpen = blocks.length === 0;
    for (const { family, address, prefix } of blocks) this.#lists[family].addSubnet(address, prefix, family);
  }

  /** Whether a request may come from an address; where some may not, it may not come from what is no address. */
  allow(ip: string): boolean {
    if (this.#isOpen) return true;
    const address = addressOf(ip);
    return address !== undefined && this.#lists[address.family].check(address.text, address.family);
  }
}
