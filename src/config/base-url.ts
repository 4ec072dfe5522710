// The address that callers use.

/**
 * Reads `webhookTriggerBaseUrl`, the address that callers use when it is not the one that the browser uses.
 *
 * @returns the address without a slash at its end; nothing when it is not that of a web server
 */
export function parseBaseUrl(setting: unknown): string | undefined {
  const url = typeof setting === "string" ? parseUrl(setting) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.search + url.hash !== "") return undefined;
  return url.href.replace(/\/+$/, "");
}

/** `URL.canParse` is too new for browsers that Node-RED's editor still runs in. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
