import { token } from "../harness/flow";
import { authorised, besiege, head, last, withstand } from "../harness/siege";

const missing = /^WWW-Authenticate: Bearer realm="webhook"\r$/im;
const invalid = /^WWW-Authenticate: Bearer realm="webhook", error="invalid_token"\r$/im;
const encoded = encodeURIComponent(token);
const wrong = (length: number) => "x".repeat(length);
/** The most bytes that Node takes as the head of a request. */
const mostHead = 16 * 1024;

const at = (path: string, ...fields: string[]) => [head("POST", path, last, "Content-Length: 1", ...fields), "x"];
const refusals = (says: RegExp, table: [string, (string | Uint8Array)[]][]) =>
  table.map(([name, sends]) => ({ name, sends, statuses: [401], says }));

// RFC 6750 §3.1: an error code where a token came, none where there was none.
besiege("tokens", (siege) => {
  describe("that are none", () =>
    withstand(
      siege,
      refusals(missing, [
        ["no header", at("/hook")],
        ["an empty header", at("/hook", "Authorization:")],
        ["the scheme alone", at("/hook", "Authorization: Bearer")],
        ["the scheme and spaces", at("/hook", "Authorization: Bearer     ")],
        ["the scheme without a space", at("/hook", `Authorization: Bearer${token}`)],
        ["a tab after the scheme", at("/hook", `Authorization: Bearer\t${token}`)],
        ["the bare token in Authorization", at("/hook", `Authorization: ${token}`)],
        ["a scheme with a quote", at("/hook", `Authorization: "Bearer" ${token}`)],
        ["two schemes", at("/hook", `Authorization: Basic, Bearer ${token}`)],
        ["a header with a longer name", at("/hook", `X-${authorised}`)],
        ["a header with an underscore for a hyphen", at("/by-header", `X_Token: ${token}`)],
        ["Proxy-Authorization", at("/hook", `Proxy-${authorised}`)],
        ["a cookie", at("/hook", `Cookie: Authorization=Bearer%20${encoded}; state=${encoded}`)],
        ["a parameter with empty brackets", at(`/by-query?state[]=${encoded}`)],
        ["a parameter with a key in brackets", at(`/by-query?state[a]=${encoded}`)],
        ["a parameter with encoded brackets", at(`/by-query?state%5B%5D=${encoded}`)],
        ["a parameter in other letter case", at(`/by-query?STATE=${encoded}`)],
        ["a parameter behind a semicolon", at(`/by-query?a=1;state=${encoded}`)],
        ["a parameter behind a fragment's sign", at(`/by-query?a=1#&state=${encoded}`)],
        ["a parameter with a NUL in its name", at(`/by-query?state%00=${encoded}`)],
        ["a parameter whose name is encoded twice", at(`/by-query?%2573tate=${encoded}`)],
        ["a parameter in the body", [head("POST", "/by-query", last, "Content-Type: application/x-www-form-urlencoded", `Content-Length: ${encoded.length + 6}`), `state=${encoded}`]],
      ]),
    ));

  describe("that are wrong", () =>
    withstand(
      siege,
      refusals(invalid, [
        ...[1, 39, 40, 41, 1000, 15_000].flatMap((length): [string, string[]][] => [
          [`a token of ${length} characters in Authorization`, at("/hook", `Authorization: Bearer ${wrong(length)}`)],
          [`a token of ${length} characters in a header`, at("/by-header", `X-Token: ${wrong(length)}`)],
          [`a token of ${length} characters in the query`, at(`/by-query?state=${wrong(length)}`)],
        ]),
        ["a token of no characters in the query", at("/by-query?state=")],
        ["a parameter without a value", at("/by-query?state")],
        ["bytes that are not ASCII", at("/hook", `Authorization: Bearer ${"\u00e4".repeat(40)}`)],
        ["bytes that are not UTF-8 in a query", at(`/by-query?state=${"%ff".repeat(40)}`)],
        ["a NUL after the token in a query", at(`/by-query?state=${encoded}%00`)],
        ["a line end after the token in a query", at(`/by-query?state=${encoded}%0d%0a`)],
        ["the token encoded twice in a query", at(`/by-query?state=${encodeURIComponent(encoded)}`)],
        ["broken percent-encoding", at("/by-query?state=%")],
        ["the token in quotes", at("/hook", `Authorization: Bearer "${token}"`)],
        ["the token in quotes in a header", at("/by-header", `X-Token: "${token}"`)],
        ["the token and a comma", at("/hook", `Authorization: Bearer ${token},`)],
        ["the token twice in a header, with a comma", at("/by-header", `X-Token: ${token}, ${token}`)],
        ["the token's first half", at("/hook", `Authorization: Bearer ${token.slice(0, 20)}`)],
        ["a repeated Authorization, right twice", at("/hook", authorised, authorised)],
        ["a repeated Authorization, right first", at("/hook", authorised, "Authorization: Bearer x")],
        ["a repeated Authorization, right last", at("/hook", "Authorization: Bearer x", authorised)],
        ["a repeated Authorization, in other letter case", at("/hook", authorised, authorised.toUpperCase().replace(token.toUpperCase(), token))],
        ["a repeated Authorization, first of another scheme", at("/hook", "Authorization: Basic eDp4", authorised)],
        ["a repeated Authorization, last of another scheme", at("/hook", authorised, "Authorization: Basic eDp4")],
        ["a repeated Authorization, once empty", at("/hook", "Authorization:", authorised)],
        ["a repeated header", at("/by-header", `X-Token: ${token}`, `x-token: ${token}`)],
        ["a repeated header, once empty", at("/by-header", "X-Token:", `X-Token: ${token}`)],
        ["a repeated parameter", at(`/by-query?state=${encoded}&state=${encoded}`)],
        ["a repeated parameter, once empty", at(`/by-query?state=&state=${encoded}`)],
        ["a repeated parameter, once encoded", at(`/by-query?state=${encoded}&%73tate=x`)],
      ]),
    ));

  describe("in a flood", () => {
    const filler = (length: number) => `X-Filler: ${wrong(length)}`;
    const rest = (path: string, ...fields: string[]) =>
      mostHead - head("POST", path, last, ...fields, filler(0)).length - 100;
    withstand(siege, [
      {
        name: "a head just below Node's limit",
        sends: at("/hook", authorised, filler(rest("/hook", authorised))),
        statuses: [200],
        payloads: ["x"],
      },
      {
        name: "a query just below Node's limit, of as many parameters as fit",
        sends: at(`/hook?${"a&".repeat(7500)}`, authorised),
        statuses: [200],
        payloads: ["x"],
      },
      {
        name: "a thousand header fields of one name each",
        sends: at("/hook", authorised, ...Array.from({ length: 950 }, (_, index) => `X-${index}: 1`)),
        statuses: [200],
        payloads: ["x"],
      },
      // RFC 6585 §5; it is Node that answers.
      ...[mostHead, 100_000].flatMap((length) => [
        { name: `a token of ${length} characters in a header`, sends: at("/hook", `Authorization: Bearer ${wrong(length)}`), statuses: [431] },
        { name: `a token of ${length} characters in the query`, sends: at(`/by-query?state=${wrong(length)}`), statuses: [431] },
        { name: `a header field of ${length} characters`, sends: at("/hook", authorised, filler(length)), statuses: [431] },
        { name: `a field name of ${length} characters`, sends: at("/hook", authorised, `${wrong(length)}: 1`), statuses: [431] },
        { name: `a query of ${length} characters`, sends: at(`/hook?${"a=1&".repeat(length / 4)}`, authorised), statuses: [431] },
        { name: `header fields whose names and values alone have ${length} characters`, sends: at("/hook", authorised, ...Array.from({ length: length / 4 }, () => "X-A: 1")), statuses: [431] },
      ]),
      // RFC 9110 §5.5: such a field is invalid.
      { name: "a NUL in a header", sends: at("/hook", `Authorization: Bearer ${token}\u0000`), statuses: [400] },
      { name: "a NUL in another header", sends: at("/by-header", `X-Token: \u0000${token}`), statuses: [400] },
      { name: "a NUL in the query", sends: at(`/by-query?state=${encoded}\u0000`), statuses: [400] },
      { name: "a space in the query", sends: at(`/by-query?state=${encoded} &a=1`), statuses: [400] },
    ]);
  });
}); // prettier-ignore
