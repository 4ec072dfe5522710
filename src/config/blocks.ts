// Addresses, and blocks of them: read here as well for the form, which has no `node:net`.

/** The addresses that begin with the same bits (RFC 4632 §3.1, RFC 4291 §2.3). */
export interface Block {
  family: "ipv4" | "ipv6";
  /** One of them, as it was written; without what maps an IPv4 address to an IPv6 one. */
  address: string;
  /** How many bits they have in common. */
  prefix: number;
}

/** Where IPv4 addresses stand among those of IPv6 (RFC 4291 §2.5.5.2). */
const mappedPrefix = 96;

/**
 * Reads a list of addresses and blocks. An address that is mapped (`::ffff:192.0.2.1`) is the IPv4 address that it stands
 * for, and a block of such addresses one of IPv4.
 *
 * @param value with commas or line breaks between them, and any blanks around them
 * @returns nothing where one of them cannot be read; none where the list is blank
 */
export function parseBlocks(value: unknown): Block[] | undefined {
  if (typeof value !== "string") return undefined;
  if (value.trim() === "") return [];
  const written = entriesOf(value);
  const blocks = written.map(parseBlock).filter((block) => block !== undefined);
  // A list that has something in it but no address must not be taken for one that lets everybody in.
  return blocks.length > 0 && blocks.length === written.length ? blocks : undefined;
}

/** The first entry of a list that is neither an address nor a block. */
export function unreadableEntry(list: string): string | undefined {
  return entriesOf(list).find((entry) => parseBlock(entry) === undefined);
}

function entriesOf(list: string): string[] {
  const items = list.split(/[,\n\r]/).map((item) => item.trim());
  return items.filter((item) => item !== "");
}

function parseBlock(item: string): Block | undefined {
  const [, address = "", digits] = /^([\d.]+|[\da-f:.]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(item) ?? [];
  const groups = groupsOf(address);
  const bits = groups ? 128 : 32;
  const prefix = Number(digits ?? bits);
  if (prefix > bits) return undefined;
  if (!groups) return isIPv4(address) ? { family: "ipv4", address, prefix } : undefined;
  const mapped = mappedIPv4(groups);
  if (mapped === undefined || prefix < mappedPrefix) return { family: "ipv6", address, prefix };
  return { family: "ipv4", address: mapped, prefix: prefix - mappedPrefix };
}

/** RFC 3986 §3.2.2: IPv4address. A leading zero would be octal to some. */
function isIPv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

/**
 * The eight numbers of an IPv6 address (RFC 4291 §2.2), without its zone.
 *
 * @returns nothing where it is none
 */
export function groupsOf(address: string): number[] | undefined {
  const [head = "", tail, ...more] = withoutIPv4(address).split("::");
  const before = numbersIn(head);
  const after = numbersIn(tail ?? "");
  if (!before || !after || more.length > 0) return undefined;
  const missing = 8 - before.length - after.length;
  // Two colons stand for one group at least.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...before, ...Array<number>(missing).fill(0), ...after];
}

/** Writes the IPv4 address at the end as two groups; nothing of an address where that is none. */
function withoutIPv4(address: string): string {
  const [, head = "", last = ""] = /^(.*:)([^:]*\..*)$/s.exec(address) ?? [];
  if (last === "") return address;
  if (!isIPv4(last)) return "-";
  const [a = 0, b = 0, c = 0, d = 0] = last.split(".").map(Number);
  return `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function numbersIn(part: string): number[] | undefined {
  if (part === "") return [];
  const groups = part.split(":");
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined;
}

/** The IPv4 address that an IPv6 address stands for, if it does (RFC 4291 §2.5.5.2). */
export function mappedIPv4(groups: readonly number[]): string | undefined {
  const [mark, high = 0, low = 0] = groups.slice(5);
  if (mark !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
