// What the list of deliveries needs of the page that it is in: Node-RED's editor, or a page of its own.

import type { SavedFields } from "../../../src/config/fields";
import type { SenderId } from "../../../src/auth/senders/table";
import type { PageSession } from "../../../src/admin/page";
import type { Place } from "../../../src/admin/place";
import type { Summary, Translate } from "../../../src/admin/summary";

/** A webhook trigger as the page knows it, also before it is deployed. */
export interface KnownNode {
  readonly id: string;
  readonly label: string;
  /** The name of its flow. */
  readonly flow: string;
  /** Older nodes lack some. */
  readonly saved: Partial<SavedFields>;
}

/** A request to a path that no node has. */
export interface MissedRequest extends Pick<Summary, "method"> {
  /** With `httpNodeRoot`. */
  readonly path: string;
  /** The sender that it looks like, and an event that this sender documents. */
  readonly sender: SenderId | null;
  readonly event?: string | undefined;
}

/** A call of the admin API has failed. It is told by its name: form and tab have a class each. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** Of the answer; 0 where there was none, below 400 where it was not the admin API's. */
    readonly status: number,
    /** Of the answer. */
    readonly code?: unknown,
  ) {
    super(`the admin API answered ${status}`);
  }
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === "ApiError";
}

export type ApiMethod = "GET" | "POST" | "DELETE";

export interface DeliveriesHost {
  /** BCP 47. */
  readonly language: string;
  readonly settings: Omit<PageSession, "user" | "permissions">;
  readonly translate: Translate;
  /**
   * Calls the admin API.
   *
   * @param path below `webhook-trigger`
   * @returns the JSON of the answer; nothing where it has none (204)
   * @throws {ApiError}
   */
  readonly call: (path: string, method?: ApiMethod, body?: object) => Promise<unknown>;
  /** Whether the user may replay, pause and resume. */
  readonly mayWrite: () => boolean;
  readonly reportError: (message: string) => void;
  /** In any order. */
  readonly listNodes: () => KnownNode[];
  readonly findNode: (id: string) => KnownNode | undefined;
  readonly copy: (text: string) => void;
  /** As a tree; missing where there is no such view. @param typeHint what it is called instead of its type */
  readonly showObject?: (value: object, typeHint: string) => HTMLElement;
  /** Whether this is the page of its own. */
  readonly isPage: boolean;
  /** Called with where the user is, where that has an address. */
  readonly moved?: (place: Place) => void;
  /** Shows a node in the workspace; missing where there is none. */
  readonly reveal?: (node: string) => void;
  /**
   * Makes a node for a request; missing where there is no workspace.
   *
   * @returns the function that adds the node; nothing where the user may not, or no node can have the path
   */
  readonly prepareNode?: (request: MissedRequest) => (() => void) | undefined;
  /** Has the test request of a node send the body of a delivery; missing where there are no forms. */
  readonly useInTest?: (node: string, delivery: { readonly delivery: string; readonly at: number }) => void;
}

let used: DeliveriesHost | undefined;

/** Called once, first. */
export function useHost(given: DeliveriesHost): void {
  used = given;
}

export function host(): DeliveriesHost {
  if (!used) throw new Error("no host is in use");
  return used;
}
