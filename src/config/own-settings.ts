// The settings of this package: from Node-RED's settings file, or from the environment, for places without a settings
// file, such as Docker, FlowFuse and Home Assistant.

import type { NodeAPI } from "node-red";

/** Unchecked, as they are given. */
export interface OwnSettings {
  /** How many deliveries are kept, and whether with their bodies. */
  webhookTriggerDeliveries?: unknown;
  /** The address that senders use, for the form. */
  webhookTriggerBaseUrl?: unknown;
  /** The memory that bodies may take before they are a message, in bytes or such as "32mb". */
  webhookTriggerMemory?: unknown;
  /** Where deliveries are stored. It may have a password, so the editor must not get it. */
  webhookTriggerStore?: unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variable of each setting, and how it is read. What is not understood stays a text, which is reported as such. */
const variables: Readonly<Record<keyof OwnSettings, [name: string, parse: (text: string) => unknown]>> = {
  webhookTriggerStore: ["WEBHOOK_TRIGGER_STORE", parseStore],
  webhookTriggerBaseUrl: ["WEBHOOK_TRIGGER_BASE_URL", String],
  webhookTriggerDeliveries: ["WEBHOOK_TRIGGER_DELIVERIES", parseJson],
  webhookTriggerMemory: ["WEBHOOK_TRIGGER_MEMORY", String],
};
const names = Object.keys(variables) as (keyof OwnSettings)[];

/** The settings file comes first, setting by setting. */
export function getOwnSettings(RED: Pick<NodeAPI, "settings">, environment: Environment = process.env): OwnSettings {
  const file = RED.settings as OwnSettings;
  const settings: OwnSettings = {};
  for (const name of names) {
    const value = file[name] ?? readVariable(name, environment);
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}

/** The settings in force that are given, each with the name that it has where it is from, without secrets. */
export function describeOwnSettings(RED: Pick<NodeAPI, "settings">, environment: Environment = process.env): string[] {
  const file = RED.settings as OwnSettings;
  return Object.entries(getOwnSettings(RED, environment)).map(([given, value]) => {
    const name = given as keyof OwnSettings;
    const [variable] = variables[name];
    const text = name === "webhookTriggerStore" ? describeStore(value) : toText(value);
    return file[name] === undefined ? `${variable}=${text}` : `${name}: ${text}`;
  });
}

/** Only what has no password. */
function describeStore(value: unknown): string {
  const { type, folder, url, namespace } = { ...(value as Readonly<Record<string, unknown>>) };
  const server = typeof url === "string" ? url.replace(/\/\/.*@/s, "//[redacted]@").replace(/\?.*/s, "") : undefined;
  return toText({ type, folder, url: server, namespace });
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readVariable(name: keyof OwnSettings, environment: Environment): unknown {
  const [variable, parse] = variables[name];
  const text = environment[variable] ?? "";
  return text === "" ? undefined : parse(text);
}

/** `sqlite:///folder`, or the URL of a Valkey or Redis server. */
function parseStore(text: string): unknown {
  if (text.startsWith("sqlite://")) return { type: "sqlite", folder: text.slice("sqlite://".length) };
  return /^rediss?:\/\//.test(text) ? { type: "bullmq", url: text } : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
