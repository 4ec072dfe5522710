import { Batch } from "../../../src/deliveries/batch";
import { until } from "../../harness/until";

describe("Batch", () => {
  let sent: number[][];
  let batch: Batch<number>;
  beforeEach(() => {
    sent = [];
    batch = new Batch((items) => void sent.push(items));
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it("sends together what comes in a turn, in its order", async () => {
    for (const item of [1, 2, 3]) batch.put(item);
    sent.should.eql([]);
    await turn();
    batch.put(4);
    await turn();
    sent.should.eql([[1, 2, 3], [4]]);
  });

  it("has what can wait go with what comes next", async () => {
    batch.put(1, true);
    await turn();
    sent.should.eql([]);
    batch.put(2);
    await turn();
    sent.should.eql([[1, 2]]);
  });

  it("does not have it wait for ever", async () => {
    batch.put(1, true);
    await until(() => sent.length > 0, "it to be sent");
    sent.should.eql([[1]]);
  });

  it("sends at once when it is told to, and each only once", async () => {
    batch.put(1, true);
    batch.put(2);
    batch.flush();
    sent.should.eql([[1, 2]]);
    await turn();
    batch.flush();
    sent.should.eql([[1, 2]]);
  });

  it("gives back what it has not sent, and sends that no more", async () => {
    batch.put(1);
    batch.put(2, true);
    batch.clear().should.eql([1, 2]);
    await turn();
    sent.should.eql([]);
  });
});
