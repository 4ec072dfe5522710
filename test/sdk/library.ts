import type { SenderId } from "../../src/auth/senders/table";
import type { Signer, Unsigned } from "../harness/signers";
import type { Change } from "./changes";

/** A request as it is sent, with its fields as they are. */
export interface Sent {
  fields: [string, string][];
  /** The query of its URL, without a question mark. */
  search: string;
  body: Buffer;
}

type Signed = Pick<Sent, "fields"> & Partial<Sent>;

/** What a sender's own library makes of signatures. */
export interface Library {
  /** Its package. */
  name: string;
  sender: Exclude<SenderId, "custom">;
  /** Whether it is given the bytes of a body. The others are given text, and some of them read it as JSON. */
  takesBytes?: true;
  /** Who signs besides the library, where that is not the signer of the sender. */
  signer?: Signer;
  /** Signs as the sender does, where the library can. */
  sign?: (request: Unsigned, secret: string) => Signed | Promise<Signed>;
  /** Refuses with an error, or with `false`. */
  verify: (request: Sent, secret: string) => unknown;
  /** Which changes we judge otherwise, and why we do. */
  unlike?: Partial<Record<Change, string>>;
}

/** Reasons that several rows have. */
export const oneSpelling = "A signature is written in one way only, so that two texts are not one signature.";
const bothSides = "A time that is still to come is as wrong as one long ago: whoever has the request could keep it.";
const asItCame = "What is signed is the time as it came, and that has digits only.";
const sameBytes = "These are the same bytes, and only they count.";
export const anyOfThem = "While its secret changes, a sender may sign with both.";

export const digits = { "capital digits": sameBytes };
export const padding = { "no padding": sameBytes };
export const ahead = { "signed too far ahead": bothSides, "signed a year ahead": bothSides };
export const zero = { "time with a zero in front": asItCame };
export const loose = { ...zero, "time with something behind it": asItCame };
export const spelling = {
  "bits beside its bytes": oneSpelling,
  "the other alphabet": oneSpelling,
  "a blank inside": oneSpelling,
  "something behind it": oneSpelling,
};

export function valueOf({ fields }: Sent, name: string): string {
  return fields.find(([field]) => field === name)?.[1] ?? "";
}
