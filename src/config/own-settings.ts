// The settings of this package: from Node-RED's settings file, or from the environment, for places without a settings
// file, such as Docker, FlowFuse and Home Assistant.

import bytes from "bytes";
import type { NodeAPI } from "node-red";
import { parseBaseUrl } from "./paths";
import { type DeliverySettings, parseDeliverySettings, parseStoreSettings, type StoreSettings } from "./stores";
import { tryParseJson } from "./values";

/** The settings that are given and valid. */
interface OwnSettings {
  /** How many deliveries are kept, and whether with their bodies. */
  readonly webhookTriggerDeliveries?: DeliverySettings;
  /** The address that senders use, for the form. */
  readonly webhookTriggerBaseUrl?: string;
  /** The memory that bodies may take before they are a message, in bytes. */
  readonly webhookTriggerMemory?: number;
  /** Where deliveries are stored. It may have a password, so the editor must not get it. */
  readonly webhookTriggerStore?: StoreSettings;
}

type OwnSettingName = keyof OwnSettings;

/** A setting that is not valid, and so not used. Without its value, which may have a password. */
interface InvalidSetting {
  readonly setting: OwnSettingName;
  /** As the user has set it: the name of the setting, with the field that is wrong, or of the environment variable. */
  readonly name: string;
  /** Valid values, as one writes them in the same place. */
  readonly examples: string;
}

type Environment = Readonly<Record<string, string | undefined>>;
type SettingsSource = Pick<NodeAPI, "settings">;

interface SettingRow<Value> {
  readonly variable: string;
  /** The value that the settings file would have for the text of the variable. */
  readonly read: (text: string) => unknown;
  /** @returns the field that is wrong (empty: all of it) where the value is not valid */
  readonly parse: (given: unknown) => Value | { readonly field: string };
  /** How it is described, without secrets; missing: all of it. */
  readonly describe?: (given: unknown) => unknown;
  /** Valid values in the settings file and of the variable. */
  readonly examples: readonly [inFile: string, ofVariable: string];
}

const rows: { readonly [Name in OwnSettingName]-?: SettingRow<NonNullable<OwnSettings[Name]>> } = {
  webhookTriggerStore: {
    variable: "WEBHOOK_TRIGGER_STORE",
    read: readStore,
    parse: parseStoreSettings,
    describe: describeStore,
    examples: [
      '{ type: "sqlite", folder: "/data" }, { type: "bullmq", url: "redis://host:6379" }',
      "sqlite:///data, redis://host:6379, rediss://host:6379",
    ],
  },
  webhookTriggerBaseUrl: {
    variable: "WEBHOOK_TRIGGER_BASE_URL",
    read: String,
    parse: (given) => parseBaseUrl(given) ?? { field: "" },
    examples: ['"https://hooks.example.com"', "https://hooks.example.com"],
  },
  webhookTriggerDeliveries: {
    variable: "WEBHOOK_TRIGGER_DELIVERIES",
    read: (text) => tryParseJson(text) ?? text,
    parse: parseDeliverySettings,
    examples: ["{ keep: 50, bodies: false }", '{"keep":50,"bodies":false}'],
  },
  webhookTriggerMemory: {
    variable: "WEBHOOK_TRIGGER_MEMORY",
    read: String,
    parse: (given) => parseMemory(given) ?? { field: "" },
    examples: ['"32mb"', "32mb"],
  },
};

/** The settings in force, those that are not valid, and a description of the former. */
interface ReadSettings {
  readonly valid: OwnSettings;
  readonly invalid: readonly InvalidSetting[];
  /** Each setting in force with the name that it has where it is from, without secrets. */
  readonly given: readonly string[];
}

/** The settings file comes first, setting by setting; an empty text is no setting. */
export function readOwnSettings(
  { settings: file }: SettingsSource,
  environment: Environment = process.env,
): ReadSettings {
  const valid: Record<string, unknown> = {};
  const invalid: InvalidSetting[] = [];
  const given: string[] = [];
  for (const setting of Object.keys(rows) as OwnSettingName[]) {
    const { variable, read, parse, describe = (value) => value, examples }: SettingRow<unknown> = rows[setting];
    const inFile = (file as Partial<Record<OwnSettingName, unknown>>)[setting];
    const text = environment[variable] ?? "";
    const isInFile = inFile !== undefined && inFile !== "";
    if (!isInFile && text === "") continue;
    const value = isInFile ? inFile : read(text);
    const parsed = parse(value);
    if (isInvalid(parsed)) {
      const name = !isInFile ? variable : parsed.field === "" ? setting : `${setting}.${parsed.field}`;
      invalid.push({ setting, name, examples: examples[isInFile ? 0 : 1] });
      continue;
    }
    valid[setting] = parsed;
    const described = toText(describe(value));
    given.push(isInFile ? `${setting}: ${described}` : `${variable}=${described}`);
  }
  return { valid, invalid, given };
}

function isInvalid(parsed: unknown): parsed is { readonly field: string } {
  return typeof parsed === "object" && parsed !== null && "field" in parsed;
}

/** Only what has no password. */
function describeStore(value: unknown): unknown {
  const { type, folder, url, namespace } = { ...(value as Readonly<Record<string, unknown>>) };
  const server = typeof url === "string" ? url.replace(/\/\/.*@/s, "//[redacted]@").replace(/\?.*/s, "") : undefined;
  return { type, folder, url: server, namespace };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `sqlite:///folder`, or the URL of a Valkey or Redis server. */
function readStore(text: string): unknown {
  if (text.startsWith("sqlite://")) return { type: "sqlite", folder: text.slice("sqlite://".length) };
  return /^rediss?:\/\//.test(text) ? { type: "bullmq", url: text } : undefined;
}

/** With less, hardly a body would fit: most likely a unit is missing. */
const minMemoryBytes = 1024 * 1024;

/**
 * A number of bytes, or a size with a unit as body-parser ("32mb") or Docker ("32m") writes it.
 *
 * @returns in bytes; nothing for what is neither, or too little
 */
function parseMemory(given: unknown): number | undefined {
  const [, number = "", unit = ""] = /^ *(\d+(?:\.\d+)?) *([kmg]?)(?:i?b)? *$/i.exec(String(given)) ?? [];
  const size = number === "" ? null : bytes.parse(`${number}${unit}b`);
  return size !== null && size >= minMemoryBytes ? size : undefined;
}
