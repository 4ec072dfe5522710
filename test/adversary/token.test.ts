import { hash } from "node:crypto";
import should from "should";
import { send } from "../harness/http";
import { accepted, type Attack, besiege, head, holders, refused, withstand } from "../harness/siege";

// RFC 6750 §3.1: an error code where a token came, none where there was none.
const missing = /^WWW-Authenticate: Bearer realm="webhook"\r$/im;
const invalid = /^WWW-Authenticate: Bearer realm="webhook", error="invalid_token"\r$/im;
const wrong = (length: number) => "x".repeat(length);
const escaped = (text: string) => Buffer.from(text).toString("hex").replaceAll(/../g, "%$&");
/** The largest head of a request that Node takes, in bytes. */
const maxHead = 16 * 1024;

const absent = (table: [string, string[]][]) => table.map(([name, sends]) => refused(name, sends, 401, missing));
const bad = (table: [string, string[]][]) => table.map(([name, sends]) => refused(name, sends, 401, invalid));

function attacksWith({ token, under }: (typeof holders)[number]): Attack[] {
  const encoded = encodeURIComponent(token);
  const authorised = `Authorization: Bearer ${token}`;
  const at = (path: string, ...fields: string[]) => [head("POST", under + path, "Content-Length: 1", ...fields), "x"];
  return [
    ...absent([
      ["no header", at("/hook")],
      ["another authentication scheme", at("/hook", "Authorization: Basic Zm9vOmJhcg==")],
      ["the token in the query where a header is configured", at(`/hook?state=${encoded}`)],
      ["the token in Authorization where the query is configured", at("/by-query", authorised)],
      ["the token in Authorization where another header is configured", at("/by-header", authorised)],
      ["the scheme and spaces", at("/hook", "Authorization: Bearer     ")],
      ["the scheme without a space", at("/hook", `Authorization: Bearer${token}`)],
      ["the bare token in Authorization", at("/hook", `Authorization: ${token}`)],
      ["two schemes", at("/hook", `Authorization: Basic, Bearer ${token}`)],
      ["a header with a longer name", at("/hook", `X-${authorised}`)],
      ["a header with an underscore for a hyphen", at("/by-header", `X_Token: ${token}`)],
      ["a cookie", at("/hook", `Cookie: Authorization=Bearer%20${encoded}; state=${encoded}`)],
      ["a parameter with a key in brackets", at(`/by-query?state[a]=${encoded}`)],
      ["a parameter with encoded brackets", at(`/by-query?state%5B%5D=${encoded}`)],
      ["a parameter in other letter case", at(`/by-query?STATE=${encoded}`)],
      ["a parameter behind a semicolon", at(`/by-query?a=1;state=${encoded}`)],
      ["a parameter whose name is encoded twice", at(`/by-query?%2573tate=${encoded}`)],
      ["a parameter in the body", [head("POST", `${under}/by-query`, "Content-Type: application/x-www-form-urlencoded", `Content-Length: ${encoded.length + 6}`), `state=${encoded}`]],
    ]),
    ...bad([
      ...[1, 39, 40, 41, 15_000].flatMap((length): [string, string[]][] => [
        [`a token of ${length} characters in Authorization`, at("/hook", `Authorization: Bearer ${wrong(length)}`)],
        [`a token of ${length} characters in a header`, at("/by-header", `X-Token: ${wrong(length)}`)],
        [`a token of ${length} characters in the query`, at(`/by-query?state=${wrong(length)}`)],
      ]),
      ["a parameter without a value", at("/by-query?state")],
      ["bytes that are not ASCII", at("/hook", `Authorization: Bearer ${"\u00e4".repeat(40)}`)],
      ["bytes that are not UTF-8 in a query", at(`/by-query?state=${"%ff".repeat(40)}`)],
      ["a NUL after the token in a query", at(`/by-query?state=${encoded}%00`)],
      ["the token encoded twice in a query", at(`/by-query?state=${encodeURIComponent(escaped(token))}`)],
      ["broken percent-encoding", at("/by-query?state=%")],
      ["the digest of the token", at("/hook", `Authorization: Bearer ${hash("sha256", token)}`)],
      ["the token in lower case", at("/hook", `Authorization: Bearer ${token.toLowerCase()}`)],
      ["the token in quotes", at("/hook", `Authorization: Bearer "${token}"`)],
      ["the token and a comma", at("/hook", `Authorization: Bearer ${token},`)],
      ["the token's first half", at("/hook", `Authorization: Bearer ${token.slice(0, 20)}`)],
      ["a repeated Authorization, right twice", at("/hook", authorised, authorised)],
      ["a repeated Authorization, right first", at("/hook", authorised, "Authorization: Bearer x")],
      ["a repeated Authorization, right last", at("/hook", "Authorization: Bearer x", authorised)],
      ["a repeated Authorization, first of another scheme", at("/hook", "Authorization: Basic eDp4", authorised)],
      ["a repeated Authorization, once empty", at("/hook", "Authorization:", authorised)],
      ["a repeated header", at("/by-header", `X-Token: ${token}`, `x-token: ${token}`)],
      ["a repeated parameter", at(`/by-query?state=${encoded}&state=${encoded}`)],
      ["a repeated parameter, once empty and once encoded", at(`/by-query?state=&%73tate=${encoded}`)],
    ]),
    accepted("the token in the query, each character encoded", at(`/by-query?state=${escaped(token)}`), { body: "x", query: {} }),
    accepted("950 header fields and a query of 1,500 parameters", at(`/hook?${"a&".repeat(1500)}`, authorised, ...Array.from({ length: 950 }, (_, index) => `X-${index}: 1`)), "x"),
    // RFC 6585 §5; it is Node that answers.
    refused(`a token of ${maxHead} characters in a header`, at("/hook", `Authorization: Bearer ${wrong(maxHead)}`), 431),
    refused(`a token of ${maxHead} characters in the query`, at(`/by-query?state=${wrong(maxHead)}`), 431),
    // RFC 9110 §5.5: such a field is invalid.
    refused("a NUL in a header", at("/hook", `Authorization: Bearer ${token}\u0000`), 400),
    refused("a NUL in the query", at(`/by-query?state=${encoded}\u0000`), 400),
    // SECURITY: a sender cannot choose its address where no proxy is trusted.
    ...["X-Forwarded-For: 203.0.113.7", "Forwarded: for=203.0.113.7", "X-Real-IP: 203.0.113.7"].map((field) =>
      refused(`an address that it makes up, in ${field}`, at("/elsewhere", authorised, field), 403),
    ),
  ]; // prettier-ignore
}

besiege("requests without the right token in its place", (siege) => {
  for (const each of holders) {
    const { holder, token, under } = each;
    const encoded = encodeURIComponent(token);

    describe(`of ${holder}`, () => withstand(siege, attacksWith(each)));

    describe(`with ${holder}`, () => {
      /** What a flow sees that looks into all that `msg.res` leads to. */
      const inspected = async (path: string, headers: Record<string, string>) => {
        const { status, body } = await send(siege().nodeRed.node(path), { headers });
        status.should.equal(200);
        return body;
      };
      const hasToken = (text: string) => text.includes(token) || text.includes(encoded);

      it("hide it from the flow: msg.res leads to it nowhere, other than that of core's http in", async () => {
        const headers = { Authorization: `Bearer ${token}`, "X-Again": `t=${token}` };
        should(hasToken(await inspected(`${under}/inspecting`, headers))).be.false();
        const query = await inspected(`${under}/inspecting-query?state=${encoded}`, {
          "X-Original-Url": `/?state=${encoded}`,
        });
        should(hasToken(query)).be.false();
        should(hasToken(await inspected("/core", headers))).be.true();
      });
    });
  }
});
