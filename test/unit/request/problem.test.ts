import should from "should";
import { findProblem, problems } from "../../../src/request/problem";

describe("a problem", () => {
  it("is of the credential just where it asks for one, whatever its status", () => {
    for (const problem of Object.values(problems)) {
      problem.isOfCredential.should.equal("WWW-Authenticate" in problem.headers, problem.name);
    }
    const ofAddress = Object.values(problems).filter(({ isOfAddress }) => isOfAddress);
    should(ofAddress).eql([problems.addressNotAllowed, problems.rateExceeded]);
  });

  it("is found by its document alone, each by its own, and nothing by another text", () => {
    for (const problem of Object.values(problems)) should(findProblem(problem.body)).equal(problem);
    for (const text of ["", "{}", '{"status":503}', `${problems.paused.body} `])
      should(findProblem(text)).be.undefined();
  });
});
