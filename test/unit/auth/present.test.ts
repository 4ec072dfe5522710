import "should";
import { present } from "../../../src/auth/present";
import { TokenAuthenticator } from "../../../src/auth/token";
import { token } from "../../harness/flow";

describe("present", () => {
  for (const [method, name] of [
    ["header", "Authorization"],
    ["header", "authorization"],
    ["header", "X-Token"],
    ["query", "state"],
    ["query", "a b&c=d+é"],
  ] as const) {
    it(`puts a token where the gate finds it: the ${method} ${name}`, () => {
      const { headers, search } = present({ method, name }, token);
      const authenticator = new TokenAuthenticator({ method, name, token, secondToken: "" });
      const head = { method: "POST", rawHeaders: Object.entries(headers).flat(), search: search.slice(1) };
      authenticator.begin(head).should.have.property("credential", "first");
    });
  }
});
