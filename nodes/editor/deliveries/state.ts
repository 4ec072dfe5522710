// The one state of tab and page. `DeliveriesStore` changes it.

import type { ListFilter } from "../../../src/admin/place";
import type { Detail, Summary, SummaryPage } from "../../../src/admin/summary";
import type { TrafficReport } from "../../../src/admin/traffic";
import type { FailureGroups } from "../../../src/deliveries/failures";
import { everything, type QueueSummary, type Silences } from "./api";
import type { Plan } from "./plans";

/** A key under `delivery.section` in the message catalog. */
export type DetailSection = "body" | "facts" | "answer" | "attempts" | "headers" | "query";

export interface OpenedDelivery {
  readonly id: string;
  /** As the list has it; missing where it was opened by its address. */
  readonly summary: Summary | undefined;
  /** Missing until it has come. */
  readonly detail?: Detail;
  /** Why it cannot be shown as it is now. */
  readonly trouble: string;
}

export interface DeliveriesState {
  readonly filter: ListFilter;
  /** What stands in the search field, also before it is searched for. */
  readonly typed: string;
  /** The newest page and, while the user reads on, older ones. */
  readonly deliveries: readonly Summary[];
  /** Where the next page begins; `null` on the last page. */
  readonly next: string | null;
  /** Whether there was an answer for this filter. */
  readonly isLoaded: boolean;
  /** The newest page, while the user reads. */
  readonly waiting: SummaryPage | undefined;
  /** Whether the list is below its top. */
  readonly isScrolled: boolean;
  /** The delivery that the keyboard is at, and the one where a range of selected ones begins: ids. */
  readonly active: string | undefined;
  readonly anchor: string | undefined;
  readonly selected: ReadonlyMap<string, Summary>;
  readonly failures: FailureGroups;
  readonly silences: Silences;
  /** Missing until it has come. */
  readonly traffic: TrafficReport | undefined;
  readonly queues: readonly QueueSummary[];
  /** Why the last fetch failed: a key under `tab.trouble` in the message catalog. */
  readonly trouble: string | undefined;
  readonly opened: OpenedDelivery | undefined;
  /** Open sections stay open with the next delivery. */
  readonly unfolded: ReadonlySet<DetailSection>;
  /** Asked, and shown as it goes on, in a dialog. */
  readonly plan: { readonly plan: Plan; readonly end: (done: number) => void } | undefined;
  /** For screen readers, which are told that it is another one by its number. */
  readonly announcement: { readonly said: string; readonly number: number };
  /** Nothing is fetched while it is false. */
  readonly isVisible: boolean;
  /** Whether the filter is the form's, and ends when the tab is left. */
  readonly isVisit: boolean;
}

/** Of a filter for which there was no answer yet. */
export const noDeliveries = { deliveries: [], next: null, waiting: undefined, isLoaded: false, isScrolled: false };

export const initialState: DeliveriesState = {
  ...noDeliveries,
  filter: everything,
  typed: "",
  active: undefined,
  anchor: undefined,
  selected: new Map(),
  failures: { groups: [], causes: 0, failures: 0, hasMore: false },
  silences: { nodes: [], callers: [] },
  traffic: undefined,
  queues: [],
  trouble: undefined,
  opened: undefined,
  unfolded: new Set<DetailSection>(["body"]),
  plan: undefined,
  announcement: { said: "", number: 0 },
  isVisible: false,
  isVisit: false,
};
