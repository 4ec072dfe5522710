/** A process that adds deliveries until it is killed, and says of each that it is kept: `<folder> <prefix> [killAt]`. */
import { SqliteStore } from "../../src/deliveries/sqlite-store";
import { Fault, Faults, faultyWorker } from "./faults";
import { bodyOf, delivered, Told } from "./stores";

const atOnce = 32;

async function main(folder: string, prefix: string, killAt: number): Promise<void> {
  const faults = new Faults();
  faults.set(Fault.killAt, killAt);
  const store = new SqliteStore(folder, { worker: faultyWorker });
  await store.open(new Told());
  let last = 0;
  const add = async () => {
    for (;;) {
      const id = `${prefix}-${++last}`;
      await store.add(delivered(id, { state: "queued" }), bodyOf(id));
      process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, add));
}

const [folder = "", prefix = "", killAt = "0"] = process.argv.slice(2);
void main(folder, prefix, Number(killAt));
