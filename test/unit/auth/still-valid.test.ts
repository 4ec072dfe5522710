import { isStillValid } from "../../../src/auth/still-valid";
import type { BasicAccess, SignatureAccess, TokenAccess } from "../../../src/config/parse";

const caller = (name: string, digest = name) => ({ name, digest });
const token: TokenAccess = { method: "header", name: "X-Token", first: "a", callers: [caller("one"), caller("two")] };
const basic: BasicAccess = { method: "basic", user: "me", first: "a", second: "b", callers: token.callers };
const signed: SignatureAccess = {
  ...{ method: "signature", scheme: null, settings: { publicUrl: "https://a.example" } },
  ...{ first: "a", callers: [], verifyToken: "" },
};
const [first, second] = [{ credential: "first" }, { credential: "second" }] as const;

describe("what a request has shown before a deploy", () => {
  it("is still valid where that has left it as it is, or has made it the other one", () => {
    isStillValid(token, structuredClone(token), first).should.be.true();
    isStillValid(token, { ...token, callers: [] }, first).should.be.true();
    isStillValid(signed, { ...signed, first: "new", second: "a" }, first).should.be.true();
    isStillValid(basic, { ...basic, first: "b", second: "" }, second).should.be.true();
    for (const one of [token, basic]) isStillValid(one, { ...one, callers: [caller("one")] }, { ...first, caller: "one" }).should.be.true(); // prettier-ignore
  });

  it("is the token of a caller, but with Basic its name as well", () => {
    const renamed = [caller("uno", "one"), caller("two")];
    isStillValid(token, { ...token, callers: renamed }, { ...first, caller: "one" }).should.be.true();
    isStillValid(basic, { ...basic, callers: renamed }, { ...first, caller: "one" }).should.be.false();
  });

  it("is not valid any more where that has changed or removed it, or what it is verified by besides", () => {
    isStillValid(token, { ...token, first: "b" }, first).should.be.false();
    isStillValid(token, { ...token, name: "X-Other" }, first).should.be.false();
    isStillValid(basic, { ...basic, first: "b", second: "" }, first).should.be.false();
    isStillValid(basic, { ...basic, user: "you" }, first).should.be.false();
    isStillValid(signed, { ...signed, settings: {} }, first).should.be.false();
    isStillValid(token, signed, first).should.be.false();
    for (const now of [signed, { ...token, callers: [caller("two")] }, { ...token, callers: [caller("one", "new")] }]) {
      isStillValid(token, now, { ...first, caller: "one" }).should.be.false();
    }
  });
});
