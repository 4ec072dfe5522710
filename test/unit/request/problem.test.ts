import should from "should";
import { findProblem, problems } from "../../../src/request/problem";

describe("a problem", () => {
  it("is of the address, or of the credential, just where that is the reason", () => {
    const all = Object.values(problems);
    const ofAddress = all.filter(({ isOfAddress }) => isOfAddress);
    should(ofAddress).eql([problems.addressNotAllowed, problems.rateExceeded]);
    const names = all.filter(({ isOfCredential }) => isOfCredential).map(({ name }) => name);
    const ofCredential = ["token", "password", "signature"].flatMap((each) => [`${each}Missing`, `${each}Invalid`]);
    names.should.eql(ofCredential);
  });

  it("is found by its document alone, each by its own, and nothing by another text", () => {
    for (const problem of Object.values(problems)) should(findProblem(problem.body)).equal(problem);
    for (const text of ["", "{}", '{"status":503}', `${problems.paused.body} `])
      should(findProblem(text)).be.undefined();
  });
});
