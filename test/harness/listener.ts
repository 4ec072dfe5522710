/** Hears how a store fares. */
import { EventEmitter } from "node:events";
import type { StoreEvents, Warning } from "../../src/deliveries/queue";

export class Listener extends EventEmitter<StoreEvents> {
  readonly said: string[] = [];
  readonly aside: string[] = [];
  readonly warnings: Warning[] = [];
  /** Each node that was paused or resumed, with why it is paused now. */
  readonly pauses: string[] = [];

  constructor() {
    super();
    this.on("store:down", ({ trouble }) => this.said.push(trouble));
    this.on("store:up", () => this.said.push("up"));
    this.on("store:moved-aside", ({ path }) => {
      this.said.push("moved aside");
      this.aside.push(path);
    });
    this.on("store:warning", ({ warning }) => this.warnings.push(warning));
    this.on("paused", ({ node, pause }) => this.pauses.push(`${node} ${pause}`));
    this.on("resumed", ({ node }) => this.pauses.push(`${node} undefined`));
  }
}
