/** The worker of the store in a file, on a disk that does what the test says. */
import { getEnvironmentData } from "node:worker_threads";
import type { Database } from "../../src/deliveries/sqlite/tables";
import "../../src/deliveries/sqlite/worker";
import { Fault, faultsKey } from "./faults";

const shared = getEnvironmentData(faultsKey);
if (!(shared instanceof SharedArrayBuffer)) throw new Error("no faults are set");
const faults = new Int32Array(shared);
interface Prototype {
  exec: (this: Database, sql: string) => void;
}
const { DatabaseSync } = process.getBuiltinModule("node:sqlite") as unknown as {
  DatabaseSync: { prototype: Prototype };
};
const { exec } = DatabaseSync.prototype;
const at = (fault: Fault) => Atomics.load(faults, fault);

DatabaseSync.prototype.exec = function (sql) {
  if (sql.startsWith("BEGIN")) exec.call(this, `PRAGMA max_page_count = ${at(Fault.mostPages) || 4294967294}`);
  if (sql !== "COMMIT") return exec.call(this, sql);
  Atomics.wait(faults, Fault.slow, at(Fault.slow), at(Fault.slow));
  const errcode = at(Fault.error);
  if (at(Fault.errors) > 0 && Atomics.sub(faults, Fault.errors, 1) === 1) Atomics.store(faults, Fault.error, 0);
  if (errcode) throw Object.assign(new Error("injected"), { errcode });
  if (at(Fault.dieBefore) > 0 && Atomics.sub(faults, Fault.dieBefore, 1) > 0) process.exit(1);
  exec.call(this, sql);
  Atomics.add(faults, Fault.commits, 1);
  if (at(Fault.dieAfter) > 0 && Atomics.sub(faults, Fault.dieAfter, 1) > 0) process.exit(1);
};
