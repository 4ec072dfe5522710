// How the store of deliveries fares, for the log and for the statuses of its nodes.

import type { NodeAPI } from "node-red";
import { clientPackages } from "../../src/deliveries/bullmq/server";
import type { StoreEvents, Trouble } from "../../src/deliveries/queue";
import type { Outcomes } from "../../src/outcomes";
import { problems } from "../../src/problem";
import { settingsOf } from "./host";

/** A store that was full works again when it has refused nothing for so long, in ms: small bodies fit where large ones do not. */
const fullForMs = 60_000;

export class StoreHealth {
  /** What it is in trouble with. */
  trouble: Trouble | undefined;
  readonly #changed: () => void;
  readonly #logUp: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param changed called when the trouble is another, or over */
  constructor(RED: NodeAPI, outcomes: Outcomes, changed: () => void) {
    this.#changed = changed;
    this.#logUp = () => RED.log.info(RED._("store.mended"));
    const folder = settingsOf(RED).userDir ?? process.cwd();
    outcomes.on("store:down", ({ trouble, cause }) => {
      clearTimeout(this.#timer);
      if (trouble === this.trouble) return;
      this.trouble = trouble;
      RED.log.error(RED._(`store.${trouble}`, { cause: getMessage(cause), client: clientPackages, folder }));
      changed();
    });
    outcomes.on("store:up", () => {
      if (this.trouble === "full") this.#waitForRefusals();
      else this.#end();
    });
    outcomes.on("refused", ({ problem }) => {
      if (this.#timer && problem === problems.storeTroubled) this.#waitForRefusals();
    });
    outcomes.on("store:moved-aside", ({ path, cause }) => {
      RED.log.error([RED._("store.movedAside", { path }), getMessage(cause)].join(" ").trim());
    });
    outcomes.on("store:warning", ({ warning }) => RED.log.warn(RED._(`store.${warning}`)));
  }

  #waitForRefusals(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), fullForMs).unref();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.trouble === undefined) return;
    this.trouble = undefined;
    this.#logUp();
    this.#changed();
  }
}

function getMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}

/** Has a store tell what happens to it as events. @param changed a delivery was stored or has changed */
export function emitStoreEvents(outcomes: Outcomes, changed: StoreEvents["changed"]): StoreEvents {
  return {
    down: (trouble, cause) => outcomes.emit("store:down", { trouble, cause }),
    up: () => outcomes.emit("store:up"),
    movedAside: (path, cause) => outcomes.emit("store:moved-aside", { path, cause }),
    warned: (warning) => outcomes.emit("store:warning", { warning }),
    changed,
  };
}
