/** Hears how a store fares. */
import type { StoreEvents, StoreTrouble, Warning } from "../../src/deliveries/queue";

export class Listener implements StoreEvents {
  readonly said: string[] = [];
  readonly aside: string[] = [];
  readonly warnings: Warning[] = [];
  /** The ids of the deliveries that have changed. */
  readonly changes: string[] = [];

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

  changed(id: string): void {
    this.changes.push(id);
  }
}
