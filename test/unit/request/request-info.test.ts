import type { IncomingMessage } from "node:http";
import should from "should";
import { createBasicAuthenticator } from "../../../src/auth/basic";
import { TestCredentials } from "../../../src/auth/test-credentials";
import { createTokenAuthenticator } from "../../../src/auth/token";
import { describeRequest, removeCredential } from "../../../src/request/request-info";
import { token } from "../../harness/flow";

function summary(
  placement: { method: "header" | "query"; name: string },
  search: string,
  headers: Record<string, string> = {},
  { ip = "192.0.2.1", secret = token } = {},
) {
  const socket = { remoteAddress: "127.0.0.1" };
  const url = search === "" ? "/Hook/" : `/Hook/?${search}`;
  const request = { method: "POST", url, headers, socket };
  const authenticator = createTokenAuthenticator({ ...placement, first: secret, callers: [] });
  return describeRequest(request as unknown as IncomingMessage, authenticator, "/Hook/", ip);
}

const header = { method: "header", name: "X-Token" } as const;
const query = { method: "query", name: "state" } as const;

describe("what a message has of its request", () => {
  it("redacts a token with an ampersand, which looks like two parameters", () => {
    const secret = `${"a".repeat(20)}&${"b".repeat(19)}`;
    const { url, query: rest } = summary(header, `x=1&y=${secret}`, {}, { secret });
    [url, rest].should.eql(["/Hook/?x=1&y=[redacted]", { x: "1", y: "[redacted]" }]);
  });

  it("leaves alone what only has the name of the other place", () => {
    summary(query, "", { state: "x" }).headers.should.eql({ state: "x" });
    summary(header, "X-Token=1").query.should.eql({ "X-Token": "1" });
  });

  it("redacts a token that is encoded in another way in a parameter, which has it when it is read", () => {
    const everyByte = Array.from(token, (character) => `%${character.charCodeAt(0).toString(16)}`).join("");
    const { url, query: rest } = summary(query, `a=1&copy=${everyByte}`);
    [url, rest].should.eql(["/Hook/?a=1&copy=%5Bredacted%5D", { a: "1", copy: "[redacted]" }]);
  });

  it("redacts a secret of any length in a path with parameters, in any spelling", () => {
    const inBytes = (text: string) => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16)}`).join("");
    for (const secret of ["p", "p4s", "a/b", "ü", "🔑", "longer", "as long as it is"]) {
      const access = { method: "basic", user: "u", first: secret, callers: [] } as const;
      const authenticator = createBasicAuthenticator(access, new TestCredentials().of("node"));
      for (const written of [encodeURIComponent(secret), inBytes(secret)]) {
        const [request, path] = [{ method: "POST", url: `/d/${written}`, headers: {} }, `/d/${written}`];
        const { url } = describeRequest(request as unknown as IncomingMessage, authenticator, path, "192.0.2.1");
        should(url).equal("/d/%5Bredacted%5D", written);
      }
    }
  });

  it("leaves the token in nothing that Express and its parsers have made of the request", () => {
    const request = {
      method: "POST",
      // A middleware has cut the one, and left the other.
      url: "/Hook/",
      originalUrl: `/node/Hook/?a=1&state=${encodeURIComponent(token)}`,
      query: { a: "1", state: token },
      params: { id: token },
      cookies: { last: `/Hook?state=${token}`, session: { at: `state=${token}` }, theme: "dark" },
      headers: { cookie: `last=${token}` },
      headersDistinct: { cookie: [`last=${token}`] },
      rawHeaders: ["Cookie", `last=${token}`],
    };
    removeCredential(
      request as unknown as IncomingMessage,
      createTokenAuthenticator({ ...query, first: token, callers: [] }),
    );
    should(request.originalUrl).equal("/node/Hook/?a=1");
    should([request.query, request.cookies, request.params]).eql([{ a: "1" }, { theme: "dark" }, { id: "[redacted]" }]);
    JSON.stringify(request).should.not.containEql(token);
  });
});
