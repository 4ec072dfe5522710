/** Checks types, lint and format of everything in the repository. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { commandOf, ensureDependencies, root } from "./setup.mjs";

ensureDependencies();
const typescript = commandOf("typescript", "bin/tsc");
const checks = [
  [commandOf("eslint", "bin/eslint.js"), "--max-warnings=0", "."],
  [typescript, "-p", "test/tsconfig.json"],
  [typescript, "--noEmit", "-p", "tsconfig.json"],
  [typescript, "-p", "tsconfig.editor.json"],
  [commandOf("prettier", "bin/prettier.cjs"), "--check", "."],
];
const children = checks.map((check) => spawn(process.execPath, check, { cwd: root, stdio: "inherit" }));
await Promise.all(children.map((child) => once(child, "close")));
if (children.some(({ exitCode }) => exitCode !== 0)) process.exitCode = 1;
