import "should";
import { authenticate, Credentials } from "../../../src/trust/token";
import { present } from "../../../src/trust/present";
import { token } from "../../harness/flow";

describe("present", () => {
  for (const [method, name] of [
    ["header", "Authorization"],
    ["header", "authorization"],
    ["header", "X-Token"],
    ["query", "state"],
    ["query", "a b&c=d+é"],
  ] as const) {
    it(`puts a token where authenticate finds it: the ${method} ${name}`, () => {
      const { headers, search } = present({ method, name }, token);
      const refusal = authenticate(
        new Credentials({ placement: { method, name }, token }),
        Object.entries(headers).flat(),
        search.slice(1),
      );
      (refusal === undefined).should.be.true();
    });
  }
});
