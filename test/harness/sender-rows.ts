import type { Source } from "../../src/auth/senders/sender";
import { type SenderId, senderIds, senders } from "../../src/auth/senders/table";

/** What the table of senders in `docs/senders.md` says of one, but for what a person has to write. */
export interface SenderRow {
  id: SenderId;
  /** The name of what lets it in, and of each setting, as the form calls them. */
  fields: string[];
  /** The cells before the one that says what to enter, and those behind it. */
  before: string;
  after: string;
}

const settingLabels = {
  publicUrl: "Public URL",
  signatureHeader: "Signature Header",
  timestampHeader: "Timestamp Header",
  topicUrl: "Topic URL",
  alg: "Hash",
  arm: "First contact",
  verifyToken: "Verify Token",
};

/** In the order of their names, as the table has them. */
export const senderRows: readonly SenderRow[] = senderIds
  .filter((id) => id !== "custom")
  .sort((one, other) => senders[one].name.localeCompare(senders[other].name, "en"))
  .map(rowOf);

function rowOf(id: SenderId): SenderRow {
  const { name, docs, scheme, settings = [], event, id: own, handshakes = [] } = senders[id];
  const isToken = scheme.alg === "token" && scheme.sig.headers.length > 0;
  const ownId = own && (own.signed ? "signed" : "not signed");
  const cells = [event ? placeText(event) : "–", ownId ?? "–", timeText(scheme.ts?.tolerance)];
  const asks = handshakes.length > 0 ? "yes" : "–";
  return {
    id,
    fields: [isToken ? "Token" : "Secret", ...settings.map((setting) => settingLabels[setting])],
    before: `| [${name}](${docs}) |`,
    after: `| ${[...cells, asks].join(" | ")} |`,
  };
}

function placeText(source: Source): string {
  const [from = "", place = ""] = source.split(/:(.*)/);
  return from === "json" ? `\`${place}\` in the JSON` : `\`${place}\``;
}

/** @param seconds nothing where any time is taken, or none is told */
function timeText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  return seconds < 120 ? `${seconds} s` : `${seconds / 60} min`;
}
