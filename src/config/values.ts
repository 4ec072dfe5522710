// What a value of a saved field, a setting or a scheme is.

/**
 * Whether Node-RED puts an environment variable in the place of a value when it starts a node. Seen at run time, it means
 * that the variable is not set.
 */
export function isEnvironmentValue(value: unknown): boolean {
  return /^\$(?:\{\S+\}|\(\S+\))$/.test(text(value));
}

/** Environment variables may resolve to numbers; everything else that is no string counts as not given. */
export function text(value: unknown): string {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}

/** Whether a value is an object with named members. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

/** RFC 9110 §5.6.2: field-name = token = 1*tchar */
export function isFieldName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

/** A decimal number, as JSON writes it (RFC 8259 §6). */
export function parseNumber(given: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(given) ? Number(given) : undefined;
}

/** RFC 9110 §15.3.5 and §15.3.6: 204 and 205 have no content. */
export function isWithoutContent(status: unknown): boolean {
  return ["204", "205"].includes(text(status));
}

/** The value of a text in JSON; nothing where it is none. What a flow gets is parsed by `request/json.ts`. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Anything may be thrown. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
