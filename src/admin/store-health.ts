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

/** Logs what the store announces, and emits its trouble as the statuses show it. */
export function reportStore(RED: NodeAPI, outcomes: Outcomes): void {
  const { userDir: folder = process.cwd() } = getSettings(RED);
  let shown: StoreTrouble | undefined;
  let timer: NodeJS.Timeout | undefined;
  const change = (trouble: StoreTrouble | undefined) => {
    shown = trouble;
    outcomes.emit("store:trouble", { trouble });
  };
  const end = () => {
    clearTimeout(timer);
    timer = undefined;
    if (shown === undefined) return;
    RED.log.info(RED._("store.restored"));
    change(undefined);
  };
  const waitForRefusals = () => {
    clearTimeout(timer);
    timer = setTimeout(end, fullForMs).unref();
  };
  outcomes.on("store:down", ({ trouble, cause }) => {
    clearTimeout(timer);
    if (trouble === shown) return;
    RED.log.error(RED._(`store.${trouble}`, { cause: getErrorMessage(cause), client: clientPackages, folder }));
    change(trouble);
  });
  outcomes.on("store:up", () => (shown === "full" ? waitForRefusals() : end()));
  outcomes.on("refused", ({ problem }) => {
    if (timer && problem === problems.storeTroubled) waitForRefusals();
  });
  outcomes.on("store:moved-aside", ({ path, cause }) => {
    RED.log.error([RED._("store.movedAside", { path }), getErrorMessage(cause)].join(" ").trim());
  });
  outcomes.on("store:warning", ({ warning }) => RED.log.warn(RED._(`store.${warning}`)));
}
