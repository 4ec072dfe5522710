import { defaults, fieldNames, type SavedFields } from "../../src/config/fields";
import type { Flow } from "./node-red";

/** Every character class a token may have. */
export const token = "0123456789abcdefghijABCDEFGHIJ-_~.!$*+,=";
export const bearer = { Authorization: `Bearer ${token}` };

/** The fields that have specs of their own. All others, new ones too, are tried by the specs that use `handlingFields`. */
const fieldsWithOwnSpecs = ["name", "relativePath", "methods", "events", "conditions", "outputPerEvent", "outputs", "returnQueryParams", "verificationMethod", "queryParameter", "headerParameter", "keySource", "jwksUrl", "publicKey", "issuer", "audience", "requiredClaim", "sender", "scheme", "senderSettings"] as const; // prettier-ignore
export type HandlingField = Exclude<keyof SavedFields, (typeof fieldsWithOwnSpecs)[number]>;

/** The fields that say what becomes of requests. */
export const handlingFields = fieldNames.filter(
  (name): name is HandlingField => !fieldsWithOwnSpecs.some((each) => each === name),
);

/** A tab of nodes, each on the canvas. */
export function tab(...nodes: Record<string, unknown>[]): Flow {
  return [
    { id: "tab", type: "tab", label: "Test" },
    ...nodes.map((node, index) => ({ z: "tab", x: 200, y: 40 * index, wires: [["sink"]], ...node })),
    { id: "sink", type: "sink", z: "tab", x: 500, y: 40, wires: [] },
  ];
}

export function webhook(id: string, relativePath: string, fields: Record<string, unknown> = {}) {
  return { id, type: "webhook-trigger", ...defaults, relativePath, credentials: { token }, ...fields };
}

/** A tab of webhook triggers, each wired to the one sink. */
export function webhookFlow(...webhooks: Record<string, unknown>[]): Flow {
  return tab(...webhooks.map((fields, index) => ({ ...webhook(`webhook${index}`, "/hook"), ...fields })));
}
