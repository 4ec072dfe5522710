import fc from "fast-check";
import { IncomingMessage } from "node:http";
import { isIPv4, isIPv6, Socket } from "node:net";
import should from "should";
import { createLimits, MemoryRateCounter } from "../../src/auth/limits";
import { parseAddress, parseBlocks } from "../../src/config/blocks";
import { seed } from "../harness/property";

/** An address as a number, which nothing in `src` computes with. */
interface Numbered {
  bits: 32 | 128;
  value: bigint;
}

const mapped = 0xffffn << 32n;
const holds = <T>(arbitrary: fc.Arbitrary<T>, predicate: (value: T) => void) =>
  fc.assert(fc.property(arbitrary, predicate), { seed, numRuns: 3000 });

function inDots(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
}

/** An IPv6 address in one of the ways in which it may be written (RFC 4291 §2.2). */
function inColons(value: bigint, { upper, shorten, dots }: Spelling): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const parts = dots ? [...groups.slice(0, 6), inDots(value & 0xffffffffn)] : groups;
  const text = parts.join(":");
  const short = shorten ? text.replace(/(?:^|:)0(?::0)*(?::|$)/, "::") : text;
  return upper ? short.toUpperCase() : short;
}

interface Spelling {
  upper: boolean;
  shorten: boolean;
  dots: boolean;
  /** Whether an IPv4 address is written as one of IPv6. */
  asMapped: boolean;
}

const spelling: fc.Arbitrary<Spelling> = fc.record({
  upper: fc.boolean(),
  shorten: fc.boolean(),
  dots: fc.boolean(),
  asMapped: fc.boolean(),
});

function written({ bits, value }: Numbered, how: Spelling): string {
  if (bits === 32) return how.asMapped ? inColons(mapped | value, how) : inDots(value);
  return inColons(value, how);
}

const ipv4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value): Numbered => ({ bits: 32, value }));
const ipv6 = fc
  .tuple(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.constantFrom(0n, 32n, 64n, 80n, 96n))
  .map(([value, shift]): Numbered => ({ bits: 128, value: value >> shift }))
  .filter(({ value }) => value >> 32n !== 0xffffn);
const address = fc.oneof(ipv4, ipv6);
const block = fc
  .tuple(address, fc.nat(128), spelling)
  .map(([of, length, how]) => ({ of, prefix: Math.min(length, of.bits), how }));

interface Written {
  of: Numbered;
  prefix: number;
  how: Spelling;
}

function textOf({ of, prefix, how }: Written): string {
  return `${written(of, how)}/${of.bits === 32 && how.asMapped ? prefix + 96 : prefix}`;
}

function isIn({ bits, value }: Numbered, { of, prefix }: Written): boolean {
  const rest = BigInt(bits - prefix);
  return bits === of.bits && value >> rest === of.value >> rest;
}

/** An address that has many of its first bits in common with a block. */
function near({ of, prefix }: Written, flip: number): Numbered {
  const position = BigInt(of.bits - 1 - ((prefix + flip + of.bits - 2) % of.bits));
  return { bits: of.bits, value: of.value ^ (1n << position) };
}

/** What tells whether a list allows an address. */
function allowedBy(list: string): (ip: string) => boolean {
  const allowFrom = parseBlocks(list);
  should(allowFrom?.length).be.above(0, list);
  const services = { counter: new MemoryRateCounter(), testCredentials: { isFromUs: () => false } };
  const limits = createLimits({ allowFrom: allowFrom ?? [], rateLimit: 0 }, "node", services);
  const request = new IncomingMessage(new Socket());
  return (ip) => limits?.judge(request, ip) === undefined;
}

describe("for any list of addresses", () => {
  it("those that begin with the bits of a block are allowed, and no others, however both are written", () => {
    const near4 = fc.nat(4);
    holds(
      fc.tuple(fc.array(block, { minLength: 1, maxLength: 5 }), address, near4, spelling),
      ([blocks, other, flip, how]) => {
        const allowed = allowedBy(blocks.map(textOf).join(", "));
        for (const sender of [other, ...blocks.flatMap((each) => [each.of, near(each, flip)])]) {
          const isAllowed = blocks.some((each) => isIn(sender, each));
          allowed(written(sender, how)).should.equal(isAllowed, `${written(sender, how)} by ${blocks.map(textOf).join()}`); // prettier-ignore
        }
      },
    );
  });

  it("what Node reads as an address is read, and nothing else", () => {
    const likely = fc.string({ unit: fc.constantFrom(...Array.from("0019afF::..%-/g ")), maxLength: 24 });
    holds(fc.oneof(likely, address.map((each) => written(each, { upper: false, shorten: true, dots: true, asMapped: false }))), (text) => {
      const isAddress = (isIPv4(text) || isIPv6(text)) && !text.includes("%");
      if (text.trim() === text && !/[,/]/.test(text) && text !== "") should(parseBlocks(text) !== undefined).equal(isAddress, text);
      should(parseAddress(text) !== undefined).equal(isAddress, text);
    }); // prettier-ignore
  });
});
