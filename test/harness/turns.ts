import { setImmediate as turn } from "node:timers/promises";

/** Lets so many turns of the event loop pass: in each, all is heard that was sent before it. */
export async function turns(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await turn();
}

/** A report of a child has come: what it has logged before comes another way, and is there then. */
export const hearLog = async () => turns(2);
/** A reply has come: what its server has logged and reported before comes other ways, and is there then. */
export const hearReports = async () => turns(4);
