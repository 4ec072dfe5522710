/** Hears how a store fares. */
import type { StoreEvents, StoreTrouble, Warning } from "../../src/deliveries/queue";

export class Listener implements StoreEvents {
  readonly said: string[] = [];
  readonly causes: unknown[] = [];
  readonly aside: string[] = [];
  readonly warnings: Warning[] = [];
  /** How often a delivery has changed. */
  changes = 0;

  down(trouble: StoreTrouble, cause: unknown): void {
    this.said.push(trouble);
    this.causes.push(cause);
  }

  up(): void {
    this.said.push("up");
  }

  movedAside(path: string, cause: unknown): void {
    this.said.push("moved aside");
    this.aside.push(path);
    this.causes.push(cause);
  }

  warned(warning: Warning): void {
    this.warnings.push(warning);
  }

  changed(): void {
    this.changes++;
  }
}
