// Addresses, and blocks of them: without `node:net`, since the form reads them, too.

/** The addresses that begin with the same bits (RFC 4632 §3.1, RFC 4291 §2.3). */
export interface Block {
  family: "ipv4" | "ipv6";
  /** One of them, in its usual spelling. */
  address: string;
  /** How many bits they have in common. */
  prefix: number;
}

/**
 * Parses a list of addresses and blocks. An IPv4-mapped address (`::ffff:192.0.2.1`) is the IPv4 address, and a block of
 * such addresses is a block of IPv4 addresses.
 *
 * @param value with commas or line breaks between them, and any blanks around them
 * @returns nothing where one of them cannot be read; an empty list where the value is blank
 */
export function parseBlocks(value: unknown): Block[] | undefined {
  if (typeof value !== "string") return undefined;
  if (value.trim() === "") return [];
  const entries = splitList(value);
  const blocks = entries.map(parseBlock).filter((block) => block !== undefined);
  // A list of commas alone is a mistake, and must not allow all addresses.
  return blocks.length > 0 && blocks.length === entries.length ? blocks : undefined;
}

/** The first entry of a list that is neither an address nor a block. */
export function findUnreadable(list: string): string | undefined {
  return splitList(list).find((entry) => parseBlock(entry) === undefined);
}

function splitList(list: string): string[] {
  const items = list.split(/[,\n\r]/).map((item) => item.trim());
  return items.filter((item) => item !== "");
}

function parseBlock(entry: string): Block | undefined {
  const [, written = "", digits] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(entry) ?? [];
  const address = parseAddress(written);
  if (address === undefined) return undefined;
  const family = address.includes(":") ? "ipv6" : "ipv4";
  const bits = written.includes(":") ? 128 : 32;
  const prefix = Number(digits ?? bits);
  if (prefix > bits) return undefined;
  if (family === "ipv6" || bits === 32) return { family, address, prefix };
  // Of a block that holds more than IPv4-mapped addresses, these are no part.
  return prefix < 96 ? { family: "ipv6", address: written, prefix } : { family, address, prefix: prefix - 96 };
}

/**
 * Parses an IP address.
 *
 * @returns its usual spelling (RFC 5952), that of the IPv4 address where it is IPv4-mapped (RFC 4291 §2.5.5.2); nothing
 *   where it is none
 */
export function parseAddress(text: string): string | undefined {
  const isIPv6 = text.includes(":");
  if (!(isIPv6 ? /^[\da-f:.]+$/i : /^\d+\.[\d.]+$/).test(text)) return undefined;
  const canonical = canonicalise(isIPv6 ? text : `::ffff:${text}`);
  const [, high = "", low = ""] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical ?? "") ?? [];
  if (low === "") return isIPv6 ? canonical : undefined;
  return [high, low].flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]).join(".");
}

/** Node.js and browsers read an IPv6 address in a URL strictly, without leading zeros in a last part in dots. */
function canonicalise(address: string): string | undefined {
  try {
    return new URL(`http://[${address}]`).hostname.slice(1, -1);
  } catch {
    return undefined;
  }
}
