/** A process whose flows begin and never end, until it is killed: `<engine> <place>`. */
import { Listener } from "../../harness/listener";
import { delivered, engines, TestFlow } from "../../harness/queues";
import { until } from "../../harness/until";

async function main(name: string, place: string): Promise<void> {
  // It is killed as soon as it has said so: what it has is soon taken over.
  const queue = engines.find((engine) => engine.name === name)?.create(place, { lockDuration: 1000 });
  if (!queue) throw new Error(`There is no engine ${name}`);
  await queue.open(new Listener());
  queue.release();
  const flow = new TestFlow(() => new Promise(() => undefined));
  for (const node of ["n", "m"]) queue.process(node, flow);
  await queue.addRunning(delivered("asked", { state: "running", attempt: 1 }), Buffer.from("asked"), 100);
  for (const [id, node] of [["stored", "n"], ["last", "m"]] as const) await queue.add(delivered(id, { node }), Buffer.from(id)); // prettier-ignore
  await until(() => flow.starts.length === 2, "both flows");
  process.stdout.write("started\n");
}

const [name = "", place = ""] = process.argv.slice(2);
void main(name, place);
