import { carriers } from "./carriers";
import { chats } from "./chats";
import { commerce } from "./commerce";
import type { Library } from "./library";
import { open } from "./open";
import { work } from "./work";

/** The libraries that senders publish for those who receive their webhooks. */
export const libraries: readonly Library[] = [...commerce, ...open, ...work, ...chats, ...carriers];
