// The trouble of the store, for the log and the statuses.

import type { NodeAPI } from "node-red";
import { getSettings } from "../config/node-red";
import { clientPackages } from "../config/stores";
import { getErrorMessage } from "../config/values";
import type { StoreTrouble } from "../deliveries/queue";
import type { Outcomes } from "../flow/outcomes";
import { problems } from "../request/problem";

/** A full store works again when it has refused nothing for so long (ms): small bodies fit where large ones do not. */
const fullForMs = 60_000;

export class StoreHealth {
  trouble: StoreTrouble | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(RED: NodeAPI, outcomes: Outcomes) {
    const { userDir: folder = process.cwd() } = getSettings(RED);
    const changed = () => outcomes.emit("store:trouble", { trouble: this.trouble });
    const end = () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      if (this.trouble === undefined) return;
      this.trouble = undefined;
      RED.log.info(RED._("store.restored"));
      changed();
    };
    const waitForRefusals = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(end, fullForMs).unref();
    };
    outcomes.on("store:down", ({ trouble, cause }) => {
      clearTimeout(this.#timer);
      if (trouble === this.trouble) return;
      this.trouble = trouble;
      RED.log.error(RED._(`store.${trouble}`, { cause: getErrorMessage(cause), client: clientPackages, folder }));
      changed();
    });
    outcomes.on("store:up", () => (this.trouble === "full" ? waitForRefusals() : end()));
    outcomes.on("refused", ({ problem }) => {
      if (this.#timer && problem === problems.storeTroubled) waitForRefusals();
    });
    outcomes.on("store:moved-aside", ({ path, cause }) => {
      RED.log.error([RED._("store.movedAside", { path }), getErrorMessage(cause)].join(" ").trim());
    });
    outcomes.on("store:warning", ({ warning }) => RED.log.warn(RED._(`store.${warning}`)));
  }
}
