// The thread that has the file: SQLite is synchronous, and each sync would stop every flow.

import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Desk } from "./desk";
import type { Setup, ToWorker } from "./operations";

function serve(port: MessagePort): void {
  const desk = new Desk(workerData as Setup, (what) => port.postMessage(what));
  port.on("message", (message: ToWorker) => {
    if (message !== "close") return desk.take(message);
    desk.close();
    port.close();
  });
}

if (parentPort) serve(parentPort);
