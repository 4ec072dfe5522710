import should from "should";
import type { IncomingMessage } from "node:http";
import { Budget } from "../../../src/request/budget";
import { TokenGate } from "../../../src/trust/token";
import { summarise } from "../../../src/request/summary";
import { token } from "../../harness/flow";

const encoded = encodeURIComponent(token);
const everyByte = Array.from(token, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");

function summary(
  placement: { method: "header" | "query"; name: string },
  search: string,
  headers: Record<string, string> = {},
  { ip = "192.0.2.1", secret = token, budget = new Budget() } = {},
) {
  const socket = { remoteAddress: "127.0.0.1" };
  const request = { method: "POST", headers, socket } as unknown as IncomingMessage;
  const gate = new TokenGate({ ...placement, token: secret, secondToken: "" });
  return summarise({ request, path: "/Hook/", search, ip }, gate, budget);
}

const header = { method: "header", name: "X-Token" } as const;
const query = { method: "query", name: "state" } as const;

describe("summarise", () => {
  it("has http in's names, with the path and query as they were sent", () => {
    summary(header, "a=1&b=x%20y&a=2", { host: "h", "x-token": token }).should.eql({
      method: "POST",
      url: "/Hook/?a=1&b=x%20y&a=2",
      path: "/Hook/",
      query: { a: ["1", "2"], b: "x y" },
      headers: { host: "h" },
      ip: "192.0.2.1",
    });
  });

  it("leaves out the query parameter of the token, however it is written", () => {
    for (const name of ["state", "%73tate", "st%61te"]) {
      const { url, query: rest } = summary(query, `a=1&${name}=${encoded}&b`);
      url.should.equal("/Hook/?a=1&b");
      rest.should.eql({ a: "1", b: "" });
    }
    summary(query, `state=${encoded}`).url.should.equal("/Hook/");
  });

  it("leaves out a token with an ampersand, which looks like two parameters", () => {
    const secret = `${"a".repeat(20)}&${"b".repeat(19)}`;
    const { url, query: rest } = summary(header, `x=1&y=${secret}`, {}, { secret });
    [url, rest].should.eql(["/Hook/", {}]);
  });

  for (const [ip, told] of [
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:4711", "192.0.2.1:4711"],
    ["2001:db8::1", "2001:db8::1"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["[2001:db8::1]:4711", "[2001:db8::1]:4711"],
    [token, "127.0.0.1"],
    ["unknown", "127.0.0.1"],
    ["fe80::1%a-zone-of-the-caller", "127.0.0.1"],
  ] as const) {
    it(`takes ${ip === token ? "the token" : ip} ${ip === told ? "for the sender's address" : "for no address"}`, () => {
      summary(header, "", {}, { ip }).ip.should.equal(told);
    });
  }

  it("leaves a header alone that only has the name of the query parameter", () => {
    summary(query, "", { state: "x" }).headers.should.eql({ state: "x" });
  });

  describe("leaves out everything that repeats the token", () => {
    for (const value of [token, encoded, everyByte, `https://host/hook?state=${encoded}`]) {
      it(`such as ${value.replaceAll(token, "<token>").replaceAll(encoded, "<encoded>").slice(0, 40)}`, () => {
        const {
          url,
          query: rest,
          headers,
        } = summary(query, `a=1&copy=${value}&${value}`, {
          "x-original-url": value,
          host: "h",
        });
        url.should.equal("/Hook/?a=1");
        rest.should.eql({ a: "1" });
        headers.should.eql({ host: "h" });
      });
    }
  });

  describe("leaves out a header whose name is the token, or has it in it", () => {
    // What may stand in a name, and with letters of both cases.
    const secret = token.replace(/[,=]/g, "^");
    const percentEncode = (text: string) => text.replace(/./g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
    for (const [what, name] of [
      ["as it stands", secret],
      ["within it", `x-${secret}-y`],
      ["percent-encoded", percentEncode(secret)],
      ["percent-encoded twice", percentEncode(secret).replaceAll("%", "%25")],
      ["percent-encoded in part", secret.replace(/[A-Z]/g, percentEncode)],
      ["percent-encoded in part, in lower case", secret.replace(/[a-z]/g, percentEncode)],
    ] as const) {
      it(what, () => {
        // Node gives names in lower case.
        const headers = { [name.toLowerCase()]: "x", [secret.slice(1).toLowerCase()]: "x", host: "h" };
        const { headers: kept } = summary(header, "", headers, { secret });
        kept.should.eql({ [secret.slice(1).toLowerCase()]: "x", host: "h" });
      });
    }
  });

  it("leaves a query parameter alone that only has the name of the header", () => {
    summary(header, "X-Token=1").query.should.eql({ "X-Token": "1" });
  });

  it("leaves it out where the text before it ends like the beginning of an encoded character", () => {
    for (const value of [`%${encoded}`, `%3${everyByte}`]) summary(header, value).url.should.equal("/Hook/");
  });

  describe("has a budget for all escapes of a request together", () => {
    const backslashes = "\\".repeat(500);
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x-${index}`, backslashes]));

    it("and leaves out what has escapes, once that is spent, but nothing else", () => {
      const budget = new Budget();
      const { headers } = summary(header, "", { ...fields, "x-url": "/?a=%E3%81%82&b=%E3%81%82&c=%E3%81%82&d=%20", host: "h" }, { budget });
      Object.keys(headers).should.eql(["x-0", "host"]);
      budget.spent.should.be.within(100_000, 102_000);
    });

    it("of which the query is a part", () => {
      const budget = new Budget();
      const { url, query: rest, headers } = summary(header, `a=1&b=${backslashes.repeat(10)}`, { ...fields, host: "h" }, { budget });
      [url, rest, headers].should.eql(["/Hook/?a=1", { a: "1" }, { host: "h" }]);
      budget.spent.should.be.within(100_000, 102_000);
    });

    it("and names of fields are, too", () => {
      const budget = new Budget();
      const names = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}${"%25".repeat(500)}`, "x"]));
      summary(header, "", { ...names, host: "h" }, { budget }).headers.should.have.property("host", "h");
      budget.spent.should.be.within(100_000, 102_000);
    });

    it("which most requests do not touch", () => {
      const budget = new Budget();
      const { query: rest } = summary(header, "a=1", { host: "h", accept: "*/*;q=0.8, ".repeat(20) }, { budget });
      [rest, budget.spent].should.eql([{ a: "1" }, 0]);
    });

    it("and which is enough for a query that is encoded throughout, as long as Node takes it", () => {
      const value = "%E3%81%82".repeat(1800);
      for (const [placement, search] of [[header, `a=${value}&b=1`], [query, `state=${encoded}&a=${value}&b=1`]] as const) {
        summary(placement, search).query.should.eql({ a: "あ".repeat(1800), b: "1" });
      }
    });
  }); // prettier-ignore

  it("leaves prototypes alone", () => {
    const { query: rest } = summary(header, "__proto__=1&a=2");
    should(Object.getPrototypeOf(rest)).equal(Object.prototype);
    should(Object.keys(rest)).eql(["a"]);
  });
});
