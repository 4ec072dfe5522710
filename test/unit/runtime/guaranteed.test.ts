import type { Node, NodeAPI } from "node-red";
import should from "should";
import type { IncomingDelivery, StoredDelivery } from "../../../src/deliveries/delivery";
import { GuaranteedFlow } from "../../../src/flow/guaranteed";

describe("the flow of a node with guaranteed delivery", () => {
  const config = { pace: {}, reply: { by: "node" }, returnQueryParams: false };
  const message = { id: "1", body: "hello", req: {}, webhook: { attempt: 1 } } as unknown as IncomingDelivery;
  const stored = { delivery: { id: "1", size: 5, attempt: 1, head: {} } } as unknown as StoredDelivery;
  const sent: { webhook?: object }[] = [];
  const node = { id: "n", send: (msg: object) => sent.push(msg) } as unknown as Node;
  const RED = { nodes: { getNode: () => node } } as unknown as NodeAPI;
  const means = {
    config,
    queue: { add: async () => Promise.resolve() },
    recorder: { record: () => stored },
    outcomes: { emit: () => true },
    deployGate: { isClosed: false },
    completion: { follow: async () => Promise.resolve({ as: "succeeded" }) },
  } as unknown as ConstructorParameters<typeof GuaranteedFlow>[2];

  it("counts the attempts of other instances with a message of this one's request", async () => {
    const flow = new GuaranteedFlow(RED, node, means);
    should(await flow.store(message, {} as never, {})).equal(undefined);
    await flow.start({ ...stored, delivery: { ...stored.delivery, attempt: 2 } });
    sent.map(({ webhook }) => webhook).should.eql([{ attempt: 2 }]);
  });
});
