/** A process that adds deliveries and reserves a key, says so, and goes on until it is killed: `<url> <beatLasts> <id>…`. */
import { ValkeyStore } from "../../src/deliveries/valkey-store";
import { bodyOf, delivered, Told } from "./stores";

async function main(url: string, beatLasts: number, ids: string[]): Promise<void> {
  const store = new ValkeyStore({ url, beatEvery: beatLasts / 4, beatLasts });
  await store.open(new Told());
  for (const id of ids) await store.add(delivered(id, { state: "queued" }), bodyOf(id));
  await store.duplicates.reserve({ endpoint: "n", key: "k", id: "of the child", keptFor: 3_600_000 });
  process.stdout.write("kept\n");
}

const [url = "", beatLasts = "", ...ids] = process.argv.slice(2);
void main(url, Number(beatLasts), ids);
