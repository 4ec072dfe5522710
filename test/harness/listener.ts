/** Hears how a store fares. */
import type { Pause } from "../../src/deliveries/delivery";
import type { StoreEvents, StoreTrouble, Warning } from "../../src/deliveries/queue";

export class Listener implements StoreEvents {
  readonly said: string[] = [];
  readonly aside: string[] = [];
  readonly warnings: Warning[] = [];
  /** The ids of the deliveries that have changed. */
  readonly changes: string[] = [];

  /** Each node that was paused or resumed, with why it is paused now. */
  readonly pauses: string[] = [];

  down(trouble: StoreTrouble): void {
    this.said.push(trouble);
  }

  up(): void {
    this.said.push("up");
  }

  movedAside(path: string): void {
    this.said.push("moved aside");
    this.aside.push(path);
  }

  warned(warning: Warning): void {
    this.warnings.push(warning);
  }

  paused(node: string, pause: Pause | undefined): void {
    this.pauses.push(`${node} ${pause}`);
  }

  changed(id: string): void {
    this.changes.push(id);
  }
}
