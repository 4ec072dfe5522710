/** What something costs a server in processor time: other work on the machine does not count, nor does waiting. */
import { connections, milliseconds } from "./figures";
import { type Requests, steadyLoad } from "./load";
import type { Subject } from "./subjects";

/** Requests per second: a rate that a server holds with ease, so that it does not measure how full its queues are. */
export const fixedRate = 8000;

/** The processor time that a subject takes for something, in µs. */
export async function costOf(subject: Subject, act: () => Promise<void>): Promise<number> {
  const before = await subject.cpu();
  await act();
  const after = await subject.cpu();
  return after.user + after.system - before.user - before.system;
}

/**
 * The processor time that a subject takes for one request at the fixed rate, in µs.
 *
 * @param status that each of them is to be answered with
 */
export async function costPerRequest(subject: Subject, request: Requests, status = "200"): Promise<number> {
  let answered = 0;
  const cost = await costOf(subject, async () => {
    const { statuses } = await steadyLoad(subject.port, request, { connections, rate: fixedRate, milliseconds });
    const { [status]: wanted = 0, ...others } = statuses;
    if (Object.keys(others).length > 0) throw new Error(`answered ${Object.keys(others).join(", ")} instead of ${status}`); // prettier-ignore
    answered = wanted;
  });
  return cost / answered;
}
