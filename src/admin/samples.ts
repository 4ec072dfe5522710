// What senders send, for tests before they do. Data files beside this one, which are read when they are asked for.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isKnownId } from "../auth/senders/table";
import { isObject } from "../config/values";

/** A request as the sender's documentation shows it, without its signature. Names and numbers are made up. */
export interface Sample {
  /** In English; of a sender, each once. */
  readonly name: string;
  /** `null` where the sender names none. */
  readonly event: string | null;
  readonly method: string;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The body as it is sent: a text, or the value of its JSON. */
type StoredSample = Omit<Sample, "body"> & { readonly body: unknown };

/** Senders that send what another one does. */
const alike: Readonly<Record<string, string>> = { "gitlab-signed": "gitlab", "grafana-timestamp": "grafana" };

/** @returns nothing for a sender that has none, or is not known */
export async function readSamples(sender: string): Promise<readonly Sample[] | undefined> {
  if (!isKnownId(sender)) return undefined;
  try {
    const text = await readFile(join(__dirname, "samples", `${alike[sender] ?? sender}.json`), "utf8");
    const samples = JSON.parse(text) as readonly StoredSample[];
    return samples.map((sample) => ({ ...sample, body: toText(sample.body) }));
  } catch (error) {
    if (isObject(error) && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function toText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
