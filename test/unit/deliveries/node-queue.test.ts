import should from "should";
import { NodeQueue } from "../../../src/deliveries/sqlite/node-queue";
import { TestFlow } from "../../harness/queues";
import { until } from "../../harness/until";

describe("the queue of one node in a file", () => {
  it("does not count as running what the file has yet to answer for", async () => {
    const done = () => Promise.resolve();
    const queue = new NodeQueue(
      {
        take: () => new Promise(() => undefined),
        counts: () => Promise.resolve({ queued: 1 }),
        end: done,
        putBack: done,
        pause: done,
        resume: done,
      },
      true,
      60_000,
    );
    const flow = new TestFlow();
    queue.opened(undefined);
    queue.process(flow);
    try {
      await until(() => flow.load !== undefined, "the load");
      should(flow.load).match({ running: 0, queued: 1 });
    } finally {
      queue.close();
    }
  });
});
