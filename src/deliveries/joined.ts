// Several stores, as one for whoever looks at deliveries.

import type { Delivery, Kept } from "./delivery";
import type { Page, Query, Store } from "./store";

/** What can be looked at, and be told how it fared. */
export type Shelf = Pick<Store, "page" | "find" | "look" | "change">;

/** So many are asked for in one go where those since a time are wanted. */
const step = 500;

/** Where the next page goes on in one of them: `null` at its beginning, `false` where there is nothing more. */
type Place = string | null | false;

/** What is looked for. */
type Sought = Pick<Query, "node" | "state" | "text">;

/** A place in the list that no page has named. */
export class UnknownPlace extends Error {}

export class JoinedStores {
  readonly #shelves: () => readonly Shelf[];

  /** @param shelves those that there are at the moment, always in the same order */
  constructor(shelves: () => readonly Shelf[]) {
    this.#shelves = shelves;
  }

  /**
   * The newest of all first.
   *
   * @throws {UnknownPlace}
   * @throws {StoreError}
   */
  async page(query: Query): Promise<Page> {
    const shelves = this.#shelves();
    const places = read(query.before, shelves.length);
    const pages = await Promise.all(shelves.map((shelf, index) => pageFrom(shelf, query, places[index] ?? null)));
    const all = pages.flatMap(({ deliveries }, index) => deliveries.map((delivery) => ({ delivery, index })));
    // What one store has stays in its order, whatever the clock did meanwhile.
    const found = merged(all, pages.length).slice(0, query.limit);
    const taken = pages.map((_, index) => found.filter((each) => each.index === index).length);
    const next = await Promise.all(
      shelves.map(async (shelf, index): Promise<Place> => {
        const [place = null, page, number = 0] = [places[index], pages[index], taken[index]];
        if (number === 0 && page && page.deliveries.length > 0) return place;
        if (!page || number === page.deliveries.length) return page?.next ?? false;
        return (await pageFrom(shelf, { ...query, limit: number }, place)).next ?? false;
      }),
    );
    const isOver = next.every((place) => place === false);
    return { deliveries: found.map(({ delivery }) => delivery), next: isOver ? undefined : write(next) };
  }

  /**
   * What has come since a time, and maybe some of what came before.
   *
   * @param since in ms since the epoch
   * @param most so many of each store at most, the newest
   * @throws {StoreError}
   */
  async since(since: number, query: Sought, most: number): Promise<Delivery[]> {
    const found = await Promise.all(this.#shelves().map((shelf) => newestOf(shelf, { ...query, since }, most)));
    return found.flat();
  }

  async find(id: string): Promise<{ kept: Kept; shelf: Shelf } | undefined> {
    for (const shelf of this.#shelves()) {
      const kept = await shelf.find(id);
      if (kept) return { kept, shelf };
    }
    return undefined;
  }

  async look(id: string): Promise<Delivery | undefined> {
    for (const shelf of this.#shelves()) {
      const delivery = await shelf.look(id);
      if (delivery) return delivery;
    }
    return undefined;
  }
}

async function pageFrom(shelf: Shelf, query: Query, place: Place): Promise<Page> {
  if (place === false) return { deliveries: [], next: undefined };
  return shelf.page({ ...query, before: place ?? undefined });
}

async function newestOf(shelf: Shelf, query: Sought & { since: number }, most: number): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (let before: string | undefined; ;) {
    const page = await shelf.page({ ...query, before, limit: Math.min(step, most - found.length) });
    found.push(...page.deliveries);
    const last = found.at(-1);
    if (page.next === undefined || found.length >= most || (last && last.at < query.since)) return found;
    before = page.next;
  }
}

interface Placed {
  readonly delivery: Delivery;
  /** Which store it is in. */
  readonly index: number;
}

/** Always the newest of those that are the newest in their stores. */
function merged(all: readonly Placed[], number: number): Placed[] {
  const queues = Array.from({ length: number }, (_, index) => all.filter((each) => each.index === index).reverse());
  const inOrder: Placed[] = [];
  while (inOrder.length < all.length) {
    const heads = queues.flatMap((queue) => queue.at(-1) ?? []);
    const newest = heads.reduce((one, other) => (other.delivery.at > one.delivery.at ? other : one));
    inOrder.push(newest);
    queues[newest.index]?.pop();
  }
  return inOrder;
}

function write(places: readonly Place[]): string {
  return Buffer.from(JSON.stringify(places)).toString("base64url");
}

function read(text: string | undefined, number: number): Place[] {
  if (text === undefined) return Array.from({ length: number }, () => null);
  try {
    const places: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    // A store may have been opened since.
    if (Array.isArray(places) && places.length <= number && places.every(isPlace)) return places;
  } catch {
    // It is told below.
  }
  throw new UnknownPlace();
}

/** Each store names its places by whole numbers. */
function isPlace(place: unknown): place is Place {
  return place === null || place === false || (typeof place === "string" && /^\d{1,15}$/.test(place));
}
