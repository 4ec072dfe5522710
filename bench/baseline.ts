/** `node:http` alone, in a process of its own. */
import { randomBytes } from "node:crypto";
import { leastServer, listenLocally } from "./least";

const server = leastServer(process.env.TOKEN ?? "", () => randomBytes(8).toString("hex"));
listenLocally(server, (port) => process.send?.(port));
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
