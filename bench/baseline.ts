/** `node:http` alone, in a process of its own. */
import { randomBytes } from "node:crypto";
import { hasToken, isSigned, leastServer, listenLocally } from "./least";

const { TOKEN: token = "", SECRET: secret } = process.env;
const verify = secret === undefined ? hasToken(token) : isSigned(secret);
const server = leastServer(verify, () => randomBytes(8).toString("hex"));
listenLocally(server, (port) => process.send?.(port));
process.on("disconnect", () => process.exit());
