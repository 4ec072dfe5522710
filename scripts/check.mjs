/** Checks types, lint and format of everything in the repository. */
import { commandOf, ensureDependencies, runAtOnce } from "./setup.mjs";

ensureDependencies();
const typescript = commandOf("typescript", "bin/tsc");
// What takes longest comes first.
await runAtOnce([
  [commandOf("eslint", "bin/eslint.js"), "--max-warnings=0", "."],
  [typescript, "-p", "test/tsconfig.json"],
  [typescript, "--noEmit", "-p", "tsconfig.json"],
  [typescript, "-p", "tsconfig.editor.json"],
  [commandOf("prettier", "bin/prettier.cjs"), "--check", "."],
]);
