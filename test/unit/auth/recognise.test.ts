import should from "should";
import { recognise } from "../../../src/auth/diagnosis";
import { isSenderId, senderIds, senders } from "../../../src/auth/senders/table";
import handshakes from "../../data/handshakes.json";
import rows from "../../data/recognition.json";
import { requests } from "../../data/requests.json";
import { accepted } from "../../data/signatures.json";

describe("recognition", () => {
  for (const { name, headers, sender } of rows) {
    it(`${name}: ${sender ?? "nobody"}`, () => should(recognise(headers)).equal(sender ?? undefined));
  }

  it("knows every sender that tells, by each of the groups that tell it", () => {
    for (const id of senderIds) {
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

  it("finds the sender of each request in the test data that has fields of its own, and is in no doubt", () => {
    for (const { sender, headers, of } of requests) {
      // Okta has them in its handshake only.
      if (!isSenderId(sender) || !senders[sender].recognise || sender === "okta") continue;
      should(recognise(headers)).equal(sender, of.join());
    }
    should(
      recognise(["Stripe-Signature", "t=1,v1=0", "svix-id", "m", "svix-timestamp", "1", "svix-signature", "v1,0"]),
    ).be.undefined();
  });

  it("takes no sender's request for another's", () => {
    for (const { sender, headers } of [...accepted, ...handshakes, ...requests]) {
      const id = sender.replace("-v1a", "");
      const found = recognise(headers);
      // One without fields of its own may send those of another, as Anthropic those of Standard Webhooks.
      const isTold = !isSenderId(id) || senders[id].recognise !== undefined;
      if (found !== undefined && isTold) found.should.equal(id);
    }
  });

  it("tells forges apart that send each other's fields", () => {
    const gitea = ["X-Gitea-Event", "push", "X-Gogs-Event", "push", "X-GitHub-Event", "push", "X-GitHub-Delivery", "1"];
    should(recognise(gitea)).equal("gitea");
    should(recognise(["X-Forgejo-Event", "push", ...gitea])).equal("forgejo");
    should(recognise(["X-Gitlab-Event", "Push Hook"])).equal("gitlab");
    should(recognise(["X-Gitlab-Event", "Push Hook", "webhook-signature", "v1,x"])).equal("gitlab-signed");
  });
});
