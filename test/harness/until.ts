import { scheduler } from "node:timers/promises";

/** Tries again and again until a condition is met, where nothing tells when it is. */
export async function until(met: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const limit = AbortSignal.timeout(150_000);
  while (!(await met())) {
    if (limit.aborted) throw new Error(`waited in vain for ${what}`);
    await scheduler.wait(20);
  }
}
