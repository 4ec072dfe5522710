import should from "should";
import { Budget } from "../../../src/request/budget";
import { StandIns } from "../../../src/trust/stand-ins";
import { TokenGate } from "../../../src/trust/token";
import { token } from "../../harness/flow";

const placement = { method: "header", name: "X-Token" } as const;
const gate = new TokenGate({ ...placement, token, secondToken: "" });
/** What a budget may be overdrawn by: one step more for each reading of the last place. */
const overdraft = 2000;
const most = 100_000;

/** Texts of a length that have many readings, or look as if they had. */
const rows: [what: string, row: (length: number) => string][] = [
  "\\", "\\\\6{", "&;%5c", "%", "%25", "%5c", "&amp;", "&#92;", "\\u005c", "\\u{5c}", "\\u{", "\\x5c%", "&#x5c;\\", "&abcdefghijklmnop",
].map((piece) => [piece, (length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)]); // prettier-ignore

describe("a text with rows of escapes", () => {
  for (const [what, row] of rows) {
    it(`is read with a bounded effort, however long it is: ${what}`, () => {
      for (const length of [1000, 16_000, 500_000]) {
        const budget = new Budget();
        gate.secrecy.tells(row(length), budget);
        budget.spent.should.be.belowOrEqual(most + overdraft);
        const forLog = new Budget();
        const concealed = gate.secrecy.conceal(`${row(length)}${token}`, Infinity, forLog);
        forLog.spent.should.be.belowOrEqual(most + overdraft);
        should(concealed.includes(token.slice(0, 2))).be.false();
      }
    });
  }

  it("counts as telling the token where it is not read to its end", () => {
    const budget = new Budget();
    gate.secrecy.tells("\\".repeat(16_000), budget).should.be.true();
    budget.isSpent.should.be.true();
    gate.secrecy.tells("%41".repeat(20), budget).should.be.true();
    gate.secrecy.tells("Text without escapes, longer than a token is.", budget).should.be.false();
    gate.secrecy.names("%41".repeat(20), budget).should.be.true();
    gate.secrecy.names("x-header-field-without-escapes-and-longer-than-a-token", budget).should.be.false();
  });
});

describe("a text as callers send it", () => {
  it("is read without any effort where it has no escapes", () => {
    const budget = new Budget();
    gate.secrecy.tells("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8".repeat(100), budget).should.be.false();
    gate.secrecy.names("x-header-field-without-escapes-and-longer-than-a-token", budget).should.be.false();
    budget.spent.should.equal(0);
  });

  for (const [what, piece] of [
    ["percent-encoded in UTF-8", "%E3%81%82"],
    ["percent-encoded throughout", "%41"],
    ["percent-encoded twice", "%25E3%2581%2582"],
    ["with many parameters", "&parameter=1"],
    ["with many parameters, in HTML", "&amp;parameter=1"],
    ["that is JSON in JSON", '{\\"key\\":\\"value\\"}'],
  ] as const) {
    it(`is read to its end, as long as Node takes it: ${what}`, () => {
      const budget = new Budget();
      gate.secrecy.tells(piece.repeat(16_384 / piece.length), budget).should.be.false();
      budget.isSpent.should.be.false();
    });
  }
});

describe("a text that is cut short", () => {
  const secret = `"\\/'&%<>` + "0123456789abcdefghijABCDEFGHIJ-_".slice(0, 32);
  const own = new TokenGate({ ...placement, token: secret, secondToken: "" });
  const json = (text: string) => JSON.stringify(text).slice(1, -1);
  const percentEncoded = (text: string) => text.replace(/./g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

  for (const [what, written] of [
    ["as it stands", secret],
    ["in JSON", json(secret)],
    ["in JSON in JSON", json(json(secret))],
    ["percent-encoded throughout, in JSON", json(percentEncoded(secret))],
    ["percent-encoded twice", encodeURIComponent(percentEncoded(secret))],
  ] as const) {
    const text = `«${written}»${written}«»`;

    it(`has nothing of a token in it, wherever the cut is: ${what}`, () => {
      for (let length = 0; length <= text.length + 1; length++) {
        const concealed = own.secrecy.conceal(text, length);
        concealed.should.match(/^[«»…]*$/);
        concealed.length.should.be.belowOrEqual(length + 1);
      }
    });

    it(`has nothing of a token in it, wherever the budget is spent: ${what}`, () => {
      const needed = new Budget(Infinity);
      own.secrecy.conceal(text, Infinity, needed).should.equal("«…»…«»");
      for (let steps = 0; steps < needed.spent; steps++) {
        own.secrecy.conceal(text, Infinity, new Budget(steps)).should.match(/^[«»…]*$/);
      }
      own.secrecy.conceal(text, Infinity, new Budget(needed.spent + 1)).should.equal("«…»…«»");
    });
  }

  it("has nothing of a stand-in in it either, wherever the cut is", () => {
    const standIns = new StandIns();
    const tokens = [token, standIns.issue("hook").token, standIns.issue("hook").token];
    const each = new TokenGate({ ...placement, token, secondToken: "" }, "hook", standIns);
    const text = `«${tokens.join("»")}»`;
    for (let length = 0; length <= text.length; length++) each.secrecy.conceal(text, length).should.match(/^[«»…]*$/);
    each.secrecy.conceal(text).should.equal("«…»…»…»");
  });
});
