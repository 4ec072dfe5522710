// How the store of deliveries fares, for the log and for the nodes.

import type { NodeAPI } from "node-red";
import type { StoreEvents, Trouble, Warning } from "../../src/deliveries/store";
import { clientName } from "../../src/deliveries/valkey/module";

/** Who is told how the store fares. */
interface Listener {
  /** @param trouble nothing where it works again */
  storeFares(trouble: Trouble | undefined): void;
}

export class StoreNews implements StoreEvents {
  readonly #RED: NodeAPI;
  readonly #folder: string;
  readonly #listeners = new Set<Listener>();
  #trouble: Trouble | undefined;

  /** @param folder where what is missing is to be installed */
  constructor(RED: NodeAPI, folder: string) {
    this.#RED = RED;
    this.#folder = folder;
  }

  /** Has somebody told how the store fares, now and later. @returns what ends that */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#trouble) listener.storeFares(this.#trouble);
    return () => this.#listeners.delete(listener);
  }

  troubled(trouble: Trouble, cause: unknown): void {
    this.#tell(trouble);
    const values = { cause: messageOf(cause), client: clientName, folder: this.#folder };
    this.#RED.log.error(this.#RED._(`store.${trouble}`, values));
  }

  mended(): void {
    this.#tell(undefined);
    this.#RED.log.info(this.#RED._("store.mended"));
  }

  movedAside(path: string, cause: unknown): void {
    this.#RED.log.error([this.#RED._("store.movedAside", { path }), messageOf(cause)].join(" ").trim());
  }

  warned(warning: Warning): void {
    this.#RED.log.warn(this.#RED._(`store.${warning}`));
  }

  #tell(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    for (const listener of this.#listeners) listener.storeFares(trouble);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}
