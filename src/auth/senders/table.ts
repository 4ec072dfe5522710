// All senders by id.

import { aToC } from "./a-c";
import { dToH } from "./d-h";
import { iToN } from "./i-n";
import { oToS } from "./o-s";
import type { JwtPreset, Recipe, Sender, SenderRow } from "./sender";
import { tToZ } from "./t-z";

const rows = { ...aToC, ...dToH, ...iToN, ...oToS, ...tToZ };

type Rows = typeof rows;
/** Any sender that is known by name. */
export type KnownId = keyof Rows;
export type SenderId = { [Id in KnownId]: Rows[Id] extends Sender ? Id : never }[KnownId];
export type JwtSenderId = { [Id in SenderId]: Rows[Id] extends { jwt: JwtPreset } ? Id : never }[SenderId];
export type RecipeId = Exclude<KnownId, SenderId>;

const knownIds = Object.keys(rows) as KnownId[];
export const senderIds: readonly SenderId[] = knownIds.filter(isSenderId);
export const recipeIds: readonly RecipeId[] = knownIds.filter(isRecipeId);

export const senders = select<SenderId, Sender>(senderIds, rows);
export const recipes = select<RecipeId, Recipe>(recipeIds, rows);

function select<Id extends KnownId, Row>(ids: readonly Id[], from: Readonly<Record<Id, Row>>) {
  return Object.fromEntries(ids.map((id) => [id, from[id]])) as Readonly<Record<Id, Row>>;
}

/** Whether a saved value is the id of a sender that signs, or sends a secret in a way of its own. */
export function isSenderId(value: unknown): value is SenderId {
  return isKnownId(value) && "scheme" in rows[value];
}

/** Whether a saved value is the id of a recipe. */
export function isRecipeId(value: unknown): value is RecipeId {
  return isKnownId(value) && !isSenderId(value);
}

export function isKnownId(value: unknown): value is KnownId {
  return typeof value === "string" && Object.hasOwn(rows, value);
}

/** @returns nothing without a sender, for a recipe, and for an environment variable */
export function findSender(id: unknown): Sender | undefined {
  return isSenderId(id) ? senders[id] : undefined;
}

export function findRecipe(id: unknown): Recipe | undefined {
  return isRecipeId(id) ? recipes[id] : undefined;
}

/** @returns nothing for other senders, and for an environment variable */
export function findJwtPreset(sender: unknown): JwtPreset | undefined {
  return findSender(sender)?.jwt;
}

/** Senders that a user describes: in the form, their names are translated. */
const describedIds = ["shared-secret", "custom"] as const satisfies readonly SenderId[];

/** The name of a sender or a recipe without a part in brackets; empty for any sender, and for one that a user describes. */
export function shortName(id: unknown): string {
  if (!isKnownId(id) || describedIds.some((each) => each === id)) return "";
  return rows[id].name.replace(/ \(.*\)$/, "");
}

/** The name of a sender in a list, with some of its other names in brackets: those that do not have the name in them. */
export function fullName(id: KnownId, maxAliases = 6): string {
  const { name } = rows[id];
  const aliases = listAliases(id).filter((alias) => !alias.includes(name));
  const shown = aliases.length > maxAliases ? [...aliases.slice(0, maxAliases), "…"] : aliases;
  return shown.length === 0 ? name : `${name} (${shown.join(", ")})`;
}

/** The other names of a sender, by any of which it is found. */
export function listAliases(id: unknown): readonly string[] {
  const { aliases = [] }: Partial<SenderRow> = isKnownId(id) ? rows[id] : {};
  return aliases;
}

export function findDocumentedEvents(sender: unknown): readonly string[] {
  return isSenderId(sender) ? (senders[sender].eventNames?.split(", ") ?? []) : [];
}

/**
 * The event of a request that looks like a sender's, and the header field with it. Only an event that the sender
 * documents: any other value may be a secret.
 *
 * @param read the value of a field by its name in lower case
 */
export function findEventField(
  sender: SenderId,
  read: (field: string) => unknown,
): { readonly field: string; readonly event: string } | undefined {
  const source = senders[sender].events?.find((place) => place.startsWith("header:"));
  if (source === undefined) return undefined;
  const field = source.slice("header:".length).toLowerCase();
  const event = findDocumentedEvents(sender).find((each) => each === read(field));
  return event === undefined ? undefined : { field, event };
}
