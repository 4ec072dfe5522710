/** `node:http` alone, in a process of its own. */
import { randomBytes } from "node:crypto";
import { leastServer, leastSignedServer, listenLocally } from "./least";

const { TOKEN: token = "", SECRET: secret } = process.env;
const newId = () => randomBytes(8).toString("hex");
const server = secret === undefined ? leastServer(token, newId) : leastSignedServer(secret, newId);
listenLocally(server, (port) => process.send?.(port));
process.on("disconnect", () => process.exit());
process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
