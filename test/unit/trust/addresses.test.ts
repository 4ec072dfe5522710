import should from "should";
import { parseBlocks, unreadableEntry } from "../../../src/config/blocks";
import { AllowedAddresses } from "../../../src/trust/addresses";

describe("AllowedAddresses", () => {
  for (const [list, ip, allowed] of [
    ["", "192.0.2.1", true],
    ["", "anything", true],
    ["192.0.2.0/24", "192.0.2.255", true],
    ["192.0.2.0/24", "192.0.3.0", false],
    ["192.0.2.77/24", "192.0.2.1", true],
    ["192.0.2.0/24\n2001:db8::/32\r\n,", "2001:DB8:0:0::1", true],
    ["192.0.2.1", "::ffff:192.0.2.1", true],
    ["192.0.2.1", "::FFFF:c000:201", true],
    ["::ffff:192.0.2.0/120", "192.0.2.9", true],
    ["::ffff:c000:200/120", "192.0.3.9", false],
    ["0.0.0.0/0", "::ffff:192.0.2.1", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["::/0", "2001:db8::1", true],
    ["::/0", "::ffff:192.0.2.1", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["192.0.2.1", "192.0.2.1:51234", true],
    ["2001:db8::1", "[2001:db8::1]:443", true],
    ["2001:db8::1", "[2001:db8::1]", true],
    ["0.0.0.0/0, ::/0", "", false],
    ["0.0.0.0/0, ::/0", "unknown", false],
    ["0.0.0.0/0, ::/0", "_hidden", false],
    ["10.0.0.1", "010.0.0.1", false],
  ] as const) {
    it(`${allowed ? "let" : "do not let"} ${ip || "nobody"} in by ${JSON.stringify(list)}`, () => {
      const blocks = parseBlocks(list);
      should.exist(blocks);
      new AllowedAddresses(blocks ?? []).allow(ip).should.equal(allowed);
    });
  }
});

describe("the entry of a list that is no address", () => {
  for (const [list, entry] of [
    ["192.0.2.1, somewhere\n203.0.113.0/33", "somewhere"],
    ["192.0.2.1\r\n 203.0.113.0/33 ", "203.0.113.0/33"],
    ["203.0.113.0/24, 2001:db8::/32", undefined],
    [" , ", undefined],
  ] as const) {
    it(`is ${entry ?? "none"} in ${JSON.stringify(list)}`, () => {
      should(unreadableEntry(list)).equal(entry);
    });
  }
});
