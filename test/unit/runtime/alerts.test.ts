import type { Node } from "node-red";
import should from "should";
import type { Alert } from "../../../src/admin/alerts";
import { Observed, settle } from "../../harness/observed";

describe("alerts", () => {
  it("come for each silent caller, also where sending one of them has failed, which is logged", async () => {
    const observed = new Observed();
    observed.deploy({ callers: ["one", "two", "three"] });
    const sent: string[] = [];
    const send = ({ payload: { event, caller = "" } }: { readonly payload: Alert }) => {
      if (caller === "one") throw new Error("no");
      sent.push(`${event} ${caller}`);
    };
    observed.observers.alerts.watch({ send } as unknown as Node, {});
    const silent = ["one", "two"].map((caller) => ({ node: "node", caller, hours: 1, since: 0 }));
    observed.outcomes.emit("silent", { node: "node", silent });
    observed.outcomes.emit("heard", { node: "node", caller: "three" });
    await settle();
    sent.should.eql(["silent two", "heard three"]);
    should(observed.log.filter((line) => line.startsWith("error"))).eql(["error Error: no"]);
  });
});
