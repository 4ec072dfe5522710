// Fetches what others publish for verification, such as key sets.

/** Why something could not be fetched; its text is under `whyNot.fetch` in the message catalog. */
type FetchErrorKind = "unreachable" | "late" | "status" | "redirect" | "tooLarge" | "malformed" | "busy";

export class FetchError extends Error {
  constructor(
    readonly kind: FetchErrorKind,
    readonly host: string,
  ) {
    super(`${kind}: ${host}`);
  }
}

/** Some identity providers publish dozens of keys with their certificates. */
const maxBytes = 512 * 1024;
const timeoutMs = 5000;

/**
 * Fetches by https only, without following redirects, bounded in size and time. The caller bounds how often, as requests
 * of strangers are the cause.
 *
 * @returns the body
 * @throws {FetchError}
 */
export async function fetchPublished(url: URL): Promise<Buffer> {
  const { host } = url;
  if (url.protocol !== "https:") throw new FetchError("unreachable", host);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { redirect: "manual", signal });
    const { status, body } = response;
    if (status !== 200) {
      await body?.cancel();
      throw new FetchError(status >= 300 && status < 400 ? "redirect" : "status", host);
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    // Leaving the loop cancels the rest.
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxBytes) throw new FetchError("tooLarge", host);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new FetchError(signal.aborted ? "late" : "unreachable", host);
  }
}
