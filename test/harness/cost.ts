import "should";

type Work = (size: number) => unknown;

/**
 * Has something done that is made to take long, and the same eight times over, and looks whether the processor time grows
 * no faster than that. Clocks would tell as well what others do on the machine.
 *
 * @param size of the larger one, in whatever the work counts
 */
export async function shouldGrowEvenly(work: Work, size: number): Promise<void> {
  const [little, much] = [await costOf(work, size / 8), await costOf(work, size)];
  // What grows with the square takes 64 times as long. The least that is told apart is 2 ms.
  much.should.be.below(30 * Math.max(little, 2000));
}

/** In µs: the least of a few times, since what else the process has to do is counted with it. */
async function costOf(work: Work, size: number): Promise<number> {
  const costs: number[] = [];
  for (let time = 0; time < 3; time++) {
    const before = process.cpuUsage();
    await work(size);
    const { user, system } = process.cpuUsage(before);
    costs.push(user + system);
  }
  return Math.min(...costs);
}
