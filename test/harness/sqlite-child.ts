/** A process that adds deliveries until it is killed, and says of each that it is stored: `<folder> <prefix>`. */
import { SqliteQueue } from "../../src/deliveries/sqlite/sqlite-queue";
import { bodyOf, delivered } from "./deliveries";
import { Listener } from "./listener";

const atOnce = 32;

async function main(folder: string, prefix: string): Promise<void> {
  const queue = new SqliteQueue(folder);
  await queue.open(new Listener());
  let last = 0;
  const add = async () => {
    for (;;) {
      const id = `${prefix}-${++last}`;
      await queue.add(delivered(id, { state: "queued" }), bodyOf(id));
      process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, add));
}

const [folder = "", prefix = ""] = process.argv.slice(2);
void main(folder, prefix);
