/** Prints, line by line, each path that a Node-RED with everything switched on gives a route or a mounted app. */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

type Method = (...args: unknown[]) => unknown;

const [, , folder = "", userDir = ""] = process.argv;
const load = createRequire(join(folder, "package.json"));
const express = createRequire(load.resolve("@node-red/editor-api"))("express") as {
  Router: Record<"route", Method>;
  application: Record<"use", Method>;
};
const RED = load("./lib/red.js") as { init: Method; start: () => Promise<void> };
const paths = new Set<string>();

/** Notes the path that a method of Express is called with. */
function listen<Name extends string>(owner: Record<Name, Method>, name: Name): void {
  const method = owner[name];
  owner[name] = function (this: unknown, ...args) {
    if (typeof args[0] !== "function") paths.add(String(args[0]));
    return method.apply(this, args);
  };
}
listen(express.Router, "route");
listen(express.application, "use");

RED.init(createServer(), {
  userDir,
  credentialSecret: false,
  telemetry: { enabled: false },
  adminAuth: { type: "credentials", users: [] },
  editorTheme: { projects: { enabled: true } },
  runtimeState: { enabled: true, ui: true },
  logging: { console: { level: "off" } },
});
void RED.start().then(() => {
  process.stdout.write([...paths].join("\n"), () => process.exit());
});
