// Numbers for machines: what the nodes have counted, below the root of the admin API.

import type { NodeAPI } from "node-red";
import type { RequestHandler } from "express";
import type { Redactor } from "../../src/trust/redactor";
import { Counts } from "./counts";
import type { Exposition } from "./exposition";
import { Remembered } from "./remembered";
import { permissions } from "./permissions";

/** Of a name and a path, so many characters are told. */
const longestLabel = 300;

/** A node, as far as it is told of. */
interface Named {
  id: string;
  name?: string | undefined;
}

export class Metrics {
  readonly #counted: Remembered<Counts>;
  #exposition: Promise<Exposition> | undefined;

  constructor(RED: NodeAPI) {
    this.#counted = new Remembered(RED, () => new Counts());
    const { httpAdmin, auth } = RED;
    const metrics: RequestHandler = (_request, response, next) => {
      this.#expose()
        .then(async (exposition) => {
          const text = await exposition.text();
          response.set({ "Cache-Control": "no-store", "Content-Type": exposition.contentType }).end(text);
        })
        .catch(next);
    };
    httpAdmin.get("/webhook-trigger/metrics", auth.needsPermission(permissions.read), metrics);
  }

  /** The counts of a node that begins, maybe anew. */
  of({ id }: Named): Counts {
    const counts = this.#counted.of(id);
    // What holds for this deploy is not known yet.
    counts.identity = undefined;
    counts.fares = undefined;
    return counts;
  }

  /** Says which node it is. Secrets in its name or its path are redacted. */
  describe({ id, name = "" }: Named, path: string, redactor: Redactor): void {
    const told = (text: string) => redactor.redact(text).slice(0, longestLabel);
    this.#counted.of(id).identity = { name: told(name), path: told(path) };
  }

  /** The library takes memory and a moment to load: when somebody asks first. */
  #expose(): Promise<Exposition> {
    return (this.#exposition ??= import("./exposition").then(({ Exposition }) => new Exposition(this.#counted.all)));
  }
}
