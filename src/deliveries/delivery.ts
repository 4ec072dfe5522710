// A delivery: one request of a sender and what became of it.

import { type ByteRange, redacted, redactHeaders, redactRanges } from "../auth/redactor";
import type { Authenticated, Credential } from "../auth/authenticator";
import { formatCallerSearch } from "../config/callers";
import type { Operator } from "../config/fields";
import type { Reason } from "../request/problem";
import type { SenderId } from "../auth/senders/table";
import type { Body } from "../request/decode";
import type { RequestInfo } from "../request/request-info";

/** The first four start no flow. `queued` waits for its first attempt, or for another after an interruption. */
export type State =
  ("refused" | "duplicate" | "handshake" | "filtered") | ("queued" | "running" | "retrying" | "succeeded" | "failed");

/** Paused by a person, or by the circuit breaker. */
export type Pause = "manual" | "breaker";

export interface Attempt {
  /** In ms since the epoch. */
  readonly at: number;
  /** In ms since the epoch; missing while it runs, or where its end is unknown. */
  readonly ended?: number;
  /** Missing where it has not failed. */
  readonly error?: string;
}

/** Never dropped. */
export const unfinished: readonly State[] = ["queued", "running", "retrying"];
/** Dropped when too old, or when there is no room. */
export const droppable: readonly State[] = ["refused", "duplicate", "handshake", "succeeded"];
/** Dropped first when there is no room: anybody can cause any number of them. */
export const firstToGo: readonly State[] = ["refused", "handshake"];
/** Kept until somebody has looked at them; dropped last when there is no room. */
export const lastToGo: State = "failed";
export const finished: readonly State[] = [...droppable, lastToGo];

/** Why a filter let a request not pass. */
export interface FilterReason {
  /** As that of a condition. */
  readonly place: string;
  /** `listed`: the events were compared with those of the list. */
  readonly operator: Operator | "listed";
  /** What the value was compared with; empty for `exists` and `missing`. */
  readonly value: string;
  /** The value, or several; `null` where there is none. */
  readonly found: string | null;
}

/** Of the name of an event, or of a sender's id, as shown, in characters. */
export const maxEventLength = 200;

export interface StoredHead {
  readonly method: string;
  /** Below `httpNodeRoot`, as sent. */
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Of a path with parameters: their decoded values. */
  readonly params?: Readonly<Record<string, string>>;
  readonly ip: string;
}

/** What is stored of `msg.webhook`: `sendMessage` takes it as it is, also for a retry and a replay. */
export interface Webhook {
  sender?: SenderId;
  event?: string;
  /** The sender's own id. */
  id?: string;
  /** When it was signed, in ms since the epoch. */
  sentAt?: number;
  credential: Credential;
  /** The name that the caller had whose token was used. */
  caller?: string;
  /** Those of a JSON Web Token. */
  claims?: Authenticated["claims"];
  /** The number of this start of the flow; missing without retries. */
  attempt?: number;
  replay?: true;
}

export interface Delivery {
  /** The id of its message. */
  readonly id: string;
  readonly node: string;
  /** When it came, in ms since the epoch. */
  readonly at: number;
  readonly state: State;
  readonly head: StoredHead;
  /** Of a refused one only its caller, if that is known; else missing. */
  readonly webhook?: Webhook;
  /** Bytes of the body as sent. */
  readonly size: number;
  /** Of the reply; missing while there is none. */
  readonly status?: number;
  /** From the head of the request to the reply; missing while there is none. */
  readonly milliseconds?: number;
  /** The beginning of the reply's body, if it is text and no problem. */
  readonly answer?: string;
  /** Why it was refused: a key under `refused` in the message catalog. */
  readonly problem?: string;
  /** What was wrong and how to fix it, the most certain first. */
  readonly reasons?: readonly Reason[];
  /** Why it was filtered; redacted. */
  readonly why?: FilterReason;
  /** The sender that a refused request looks like. */
  readonly looksLike?: SenderId;
  /** The error of the last attempt, or the one behind an unforeseen problem. */
  readonly error?: string;
  /** What says most in its JSON, or the first words of its body, where no event is known. */
  readonly words?: string;
  readonly replayOf?: string;
  /** The id of the replay that has taken the place of a failed one. */
  readonly replayedBy?: string;
  /** The id of the delivery that came before with the same key. */
  readonly duplicateOf?: string;
  readonly isTest?: boolean;
  /** Whether the body, as JSON, is the whole payload, since a user has edited it. */
  readonly isPayload?: boolean;
  readonly attempt: number;
  /** While `retrying`: when the flow is started again (ms since the epoch), and how often in all. */
  readonly nextAt?: number;
  readonly maxAttempts?: number;
  /** Whether the body is stored as JSON, because a parser in front had read it. */
  readonly isJson?: boolean;
  /** Where the unpacked body has what were secrets of the node when it came: nobody is shown these. */
  readonly hidden?: readonly ByteRange[];
  /** The values of `webhook` that have such a secret in them. */
  readonly hiddenValues?: readonly TextValue[];
}

/** The values of `webhook` that are shown as text. */
export const textValues = ["event", "id", "caller"] as const;
type TextValue = (typeof textValues)[number];

export interface StoredDelivery {
  readonly delivery: Delivery;
  /** As sent; empty where it was not kept, as of refused requests. */
  readonly body: Buffer;
  readonly attempts: readonly Attempt[];
}

/** As shown; shortened, as it may be as long as a body. @returns nothing where there is none */
export function readText({ webhook, hiddenValues = [] }: Delivery, name: TextValue): string | undefined {
  return hiddenValues.includes(name) ? redacted : webhook?.[name]?.slice(0, maxEventLength);
}

/** Whether the stored body has content codings. */
export function isPacked({ head }: Pick<Delivery, "head">): boolean {
  return head.headers["content-encoding"] !== undefined;
}

/**
 * The lower-case text that a search looks through: caller, method, path, event or first words, ids, address, header
 * fields, error. Masked values are left out: a search must not reveal them letter by letter.
 */
export function searchedIn(delivery: Delivery): string {
  const { id, head, words, error } = delivery;
  const fields = Object.entries(redactHeaders(head.headers)).map(([name, value]) => `${name}: ${String(value)}`);
  const [event, senderId, caller] = textValues.map((name) => readText(delivery, name));
  const called = caller === undefined ? undefined : formatCallerSearch(caller);
  const texts = [id, senderId, called, event, words, `${head.method} ${head.path}`, head.ip, error, ...fields];
  return texts.join("\n").toLowerCase();
}

// What describes a delivery without an event: members of its JSON, or the first words of its body.

const maxWordsBytes = 400;
const maxWordsLength = 80;
/** So many members are looked at; what they are called that say most, the most telling first. */
const maxMembers = 12;
const tellingNames = ["number", "name", "title", "subject", "order", "event", "type", "id"];
/** A member of JSON whose value is a text that is not empty, a number or a boolean. */
const jsonMember = /"([\w-]{1,40})"\s*:\s*(?:"((?:[^"\\]|\\.)+)"|(-?\d[\d.eE+-]*|true|false))/g;
/** Bytes that are no text become U+FFFD; at the end, a character may be incomplete. */
const [noText, incompleteEnd] = [/[\p{Cc}\uFFFD]/u, /\uFFFD+$/];

export function withWords(delivery: Delivery, body: Buffer): Delivery {
  const { webhook, hidden = [] } = delivery;
  if (webhook?.event !== undefined || (hidden.length > 0 && isPacked(delivery))) return delivery;
  const words = listWords(redactRanges(body.subarray(0, maxWordsBytes), hidden));
  return words === undefined ? delivery : { ...delivery, words };
}

/** @returns nothing where it is empty, or no text */
export function listWords(body: Buffer): string | undefined {
  const text = body.toString("utf8", 0, maxWordsBytes).replace(incompleteEnd, "");
  const words = (listMembers(text) ?? text).replace(/\s+/g, " ").trim().slice(0, maxWordsLength);
  return words === "" || noText.test(words) ? undefined : words;
}

/** Such as "name: #1001, id: 5"; nothing where it is no object of JSON, or has only objects and arrays in it. */
function listMembers(text: string): string | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const members: { said: string; rank: number }[] = [];
  for (const [, name = "", value, literal] of text.matchAll(jsonMember)) {
    // The last word of `order_number` and `orderNumber`.
    const [lastWord = ""] = /[A-Za-z][a-z]*$/.exec(name) ?? [];
    const rank = tellingNames.indexOf(lastWord.toLowerCase());
    members.push({ said: `${name}: ${value ?? literal ?? ""}`, rank: rank === -1 ? Infinity : rank });
    if (members.length === maxMembers) break;
  }
  members.sort((one, other) => (one.rank === other.rank ? 0 : one.rank - other.rank));
  return members.length > 0 ? members.map(({ said }) => said).join(", ") : undefined;
}

/** A small slice would keep its whole buffer in memory. */
export function ownMemory(body: Buffer): Buffer {
  if (4 * body.length >= body.buffer.byteLength) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

/** A delivery on its way to the flow. */
export interface IncomingDelivery {
  id: string;
  body: Body;
  /** As sent, where the node is set to hand it over. */
  rawBody?: Buffer;
  /** Whether the body is the whole payload, whatever the node is set to. */
  isPayload?: boolean;
  req: RequestInfo;
  webhook: Webhook;
}
