/**
 * What a Node-RED loads before all else so that a test knows what else it loads: `{ modules: true }` has it report the
 * URLs of all modules, ECMAScript's and others.
 */
import * as module from "node:module";

/**
 * Newer than the types of Node.js.
 *
 * @typedef {(url: string, context: object, next: (url: string, context: object) => object) => object} Load
 * @typedef {{ registerHooks: (hooks: { load: Load }) => void }} Hooks
 */
const hooks = /** @type {Hooks} */ (/** @type {unknown} */ (module));
/** @type {Set<string>} */
const loaded = new Set();
hooks.registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});
process.on("message", (/** @type {{ modules?: true }} */ { modules }) => {
  if (modules) process.send?.({ trace: `modules: ${JSON.stringify([...loaded])}` });
});
