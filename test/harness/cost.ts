import "should";

type Work = (size: number) => unknown;

/** A busy machine takes longer now and then; what grows faster does so each time. */
const rounds = 12;

/**
 * Has something done that is made to take long, and the same eight times over, and checks that the processor time grows
 * no faster than that. Clocks would tell as well what others do on the machine.
 *
 * @param size of the larger one, in whatever the work counts
 */
export async function shouldGrowEvenly(work: Work, size: number): Promise<void> {
  const growths: number[] = [];
  for (let round = 0; round < rounds && !growths.some((growth) => growth < 30); round++) {
    // The least that is told apart is 2 ms.
    const little = Math.max(await leastCostOf(work, size / 8), 2000);
    growths.push((await costOf(work, size)) / little);
  }
  // What grows with the square takes 64 times as long.
  Math.min(...growths).should.be.below(30);
}

/** Checks that something takes less processor time than so many times something else, which takes some milliseconds. */
export async function shouldCostLess(work: () => unknown, times: number, other: () => unknown): Promise<void> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds && !ratios.some((ratio) => ratio < times); round++) {
    const cost = await leastCostOf(other, 0);
    ratios.push((await costOf(work, 0)) / cost);
  }
  Math.min(...ratios).should.be.below(times);
}

/** In µs: what else the process has to do is counted with it. */
async function costOf(work: Work, size: number): Promise<number> {
  const before = process.cpuUsage();
  await work(size);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function leastCostOf(work: Work, size: number): Promise<number> {
  return Math.min(await costOf(work, size), await costOf(work, size), await costOf(work, size));
}
