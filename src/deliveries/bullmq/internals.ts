// All that BullMQ does not document: checked when the queue opens.

import type { Job, Queue, Worker } from "bullmq";
import type { ChainableCommander, Cluster, Redis } from "ioredis";

type BullPackage = typeof import("bullmq");
type Backend = ReturnType<Queue["getBackend"]>;
type Transaction = Parameters<Backend["addJobToTransaction"]>[0];

/** Of a job: an id, and how many bytes its delivery has. */
export interface JobData {
  readonly bytes?: number;
}

/** BullMQ's own counts never end a delivery; its `attempt` does. */
export const unlimited = 1_000_000;

/** A job that is not stored yet, with any id: `Queue.add` refuses ids that are numbers. */
export function createJob({ Job }: BullPackage, queue: Queue, id: string, data: JobData): Job {
  const options = { removeOnComplete: true, removeOnFail: true, attempts: unlimited, backoff: 1000 };
  return new Job(queue, "delivery", data, options, id);
}

/** Stores a job in a transaction of our own. Call `isUnknownScript` with its error. */
export function addJob(multi: ChainableCommander, queue: Queue, job: Job): void {
  // BullMQ's scripts are commands of the client.
  const scripts = multi as unknown as Record<string, (args: unknown[]) => unknown>;
  const transaction = { runCommand: (name: string, args: unknown[]) => scripts[name]?.(args) };
  void queue.getBackend().addJobToTransaction(transaction as unknown as Transaction, job.asJSON(), job.id ?? "");
}

/** The server has forgotten a script, as after a restart. */
export function isUnknownScript(error: Error): boolean {
  return error.message.startsWith("NOSCRIPT");
}

/** After such an error of `addJob`. */
export async function addJobAlone(queue: Queue, job: Job): Promise<void> {
  await queue.getBackend().addJob(job.asJSON(), job.id ?? "");
}

/** Puts back what runs on instances that have ended. Workers do so as well, but while instances reconnect, too. */
export async function takeOver(worker: Worker): Promise<void> {
  await worker.getBackend().moveStalledJobsToWait();
}

/** Locks a job again whose lock has expired, though it still runs. */
export function keepLock(multi: ChainableCommander, queue: Queue, id: string, token: string, lockMs: number): void {
  multi.set(lockKey(queue, id), token, "PX", lockMs, "NX").srem(queue.toKey("stalled"), id);
}

/** There while an instance has the job. */
export function lockKey(queue: Queue, id: string): string {
  return `${queue.toKey(id)}:lock`;
}

/** What this version of BullMQ lacks. */
export interface Missing {
  /** Without it nothing can be stored. */
  readonly transactions: boolean;
  /** Without it, what runs may be started again after a lost connection. */
  readonly takeOver: boolean;
}

/** @param queue any, which is connected by this client */
export function findMissing(bull: BullPackage, queue: Queue, client: object): Missing {
  const backend: Partial<Backend> = queue.getBackend();
  const commands: string[] = [];
  const transaction = { runCommand: (command: string) => commands.push(command) };
  try {
    void backend.addJobToTransaction?.(transaction as unknown as Transaction, createJob(bull, queue, "1", {}).asJSON(), "1"); // prettier-ignore
  } catch {
    // It wants something else.
  }
  const [command = ""] = commands;
  return {
    transactions: typeof (client as Record<string, unknown>)[command] !== "function",
    takeOver: typeof backend.moveStalledJobsToWait !== "function",
  };
}

/** Whether the lock of a job that runs is where we look for it. */
export async function isLockKnown(redis: Redis | Cluster, queue: Queue, id: string): Promise<boolean> {
  return (await redis.exists(lockKey(queue, id))) > 0;
}
