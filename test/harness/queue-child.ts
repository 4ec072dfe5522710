/** A process whose flow starts with a delivery and never ends, until it is killed: `<engine> <place> <id> [<timeoutMs>]`. */
import { Listener } from "./listener";
import { delivered, engines, TestFlow } from "./queues";

async function main(name: string, place: string, id: string, timeoutMs: string | undefined): Promise<void> {
  // It is killed as soon as it has said so: what it has is soon taken over.
  const queue = engines.find((engine) => engine.name === name)?.create(place, { lockDuration: 1000 });
  await queue?.open(new Listener());
  queue?.release();
  const say = () => process.stdout.write("started\n");
  const flow = new TestFlow(() => new Promise(say));
  queue?.process("n", flow);
  if (timeoutMs === undefined) return queue?.add(delivered(id), Buffer.from(id));
  await queue?.addRunning(delivered(id, { state: "running", attempt: 1 }), Buffer.from(id), Number(timeoutMs));
  say();
}

const [name = "", place = "", id = "", timeoutMs] = process.argv.slice(2);
void main(name, place, id, timeoutMs);
