import should from "should";
import { lookalikes, recognise } from "../../../src/auth/diagnosis";
import { recogniseOrder, senders } from "../../../src/auth/senders/table";
import rows from "../../data/recognition.json";

describe("recognition", () => {
  for (const { name, headers, sender } of rows) {
    it(`${name}: ${sender ?? "nobody"}`, () => should(recognise(headers)).equal(sender ?? undefined));
  }

  it("knows every sender that tells, by each of the groups that tell it", () => {
    for (const id of recogniseOrder) {
      for (const group of senders[id].recognise ?? []) {
        const headers = Object.entries(group).flatMap(([name, beginning]) => [
          name.toUpperCase(),
          `${beginning.toUpperCase()}x`,
        ]);
        should(recognise(headers)).equal(id, JSON.stringify(group));
        const others = Object.keys(group).flatMap((name) => [name, "?"]);
        if (Object.values(group).some((beginning) => beginning !== "")) should(recognise(others)).not.equal(id);
        headers.splice(0, 2);
        if (Object.keys(group).length > 1) should(recognise(headers)).not.equal(id, JSON.stringify(group));
      }
    }
  });

  it("tells forges apart that send each other's fields", () => {
    const gitea = ["X-Gitea-Event", "push", "X-Gogs-Event", "push", "X-GitHub-Event", "push", "X-GitHub-Delivery", "1"];
    should(recognise(gitea)).equal("gitea");
    should(recognise(["X-Forgejo-Event", "push", ...gitea])).equal("forgejo");
    should(recognise(["X-Gitlab-Event", "Push Hook"])).equal("gitlab");
    should(recognise(["X-Gitlab-Event", "Push Hook", "webhook-signature", "v1,x"])).equal("gitlab-signed");
  });

  it("names all whose signature stands where that of a request does", () => {
    lookalikes(["X-Hub-Signature-256", "sha256=0"]).sort().should.eql(["github", "meta"]);
    lookalikes(["X-Hub-Signature", "sha256=0"]).sort().should.eql(["bitbucket", "jira", "websub"]);
    lookalikes(["X-Hub-Signature", "sha1=0"]).should.eql(["intercom"]);
    lookalikes(["webhook-signature", "v1,0"]).sort().should.eql(["gitlab-signed", "standard-webhooks"]);
    lookalikes(["Webhook-Signature", "0"]).should.eql([]);
    lookalikes(["Authorization", "Bearer 0", "X-Signature", "0", "X-Signature-256", "sha256=0"]).should.eql([]);
  });
});
