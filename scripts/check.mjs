/** Checks types, lint and format of everything in the repository. */
import { commandOf, ensureDependencies, run } from "./setup.mjs";

ensureDependencies();
const typescript = commandOf("typescript", "bin/tsc");
run(process.execPath, [typescript, "--noEmit", "-p", "tsconfig.json"]);
run(process.execPath, [typescript, "-p", "tsconfig.editor.json"]);
run(process.execPath, [typescript, "-p", "test/tsconfig.json"]);
run(process.execPath, [commandOf("eslint", "bin/eslint.js"), "--max-warnings=0", "."]);
run(process.execPath, [commandOf("prettier", "bin/prettier.cjs"), "--check", "."]);
