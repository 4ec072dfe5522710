// Signed URLs: the configured one, since a sender chooses the Host field.

import { parse, stringify } from "node:querystring";
import { readForm } from "./fields";

/** Replaces the configured query by the request's. */
function withQuery(publicUrl: string, search: string): string {
  return publicUrl.replace(/[?#][^]*$/, "") + (search === "" ? "" : `?${search}`);
}

/** The escapes that HubSpot's signature v3 decodes, once. */
const hubspotEscapes = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The URL as HubSpot signs it. */
export function toHubspotUrl(publicUrl: string, search: string): string {
  return withQuery(publicUrl, search).replace(hubspotEscapes, decodeURIComponent);
}

/**
 * The messages that Twilio may have signed: its URL, followed by name and value of each field of a form.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security
 *
 * @param form missing where the body is none
 */
export function listTwilioMessages(publicUrl: string, search: string, form: string | undefined): Buffer[][] {
  const fields = form === undefined ? Buffer.alloc(0) : sortFields(form);
  return fields ? [...listTwilioUrls(publicUrl, search)].map((url) => [Buffer.from(url), fields]) : [];
}

/**
 * The forms of a URL that Twilio's own library tries: as sent, or escaped by a URL parser or Node.js's
 * `querystring`; each as it is, with its default port, and without a port.
 */
function listTwilioUrls(publicUrl: string, search: string): Set<string> {
  const url = withQuery(publicUrl, search);
  const parsed = URL.canParse(url) ? new URL(url).href : url;
  // Without a limit of parameters: those beyond would not be signed.
  const escaped = parsed.replace(/(?<=\?)[^]+$/, (query) => stringify(parse(query, "&", "=", { maxKeys: 0 })));
  return new Set([url, parsed, escaped].flatMap(withPorts));
}

function withPorts(url: string): string[] {
  const [, origin = "", port, rest = ""] =
    /^(https?:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*))(:\d*)?([^]*)$/i.exec(url) ?? [];
  const withPort = port ?? (/^https/i.test(origin) ? ":443" : ":80");
  return [url, origin + withPort + rest, origin + rest];
}

/** Fields by their names; the values of a repeated one sorted, each once. Nothing for a form that is not read. */
function sortFields(text: string): Buffer | undefined {
  const form = readForm(text);
  if (!form) return undefined;
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of form) fields.set(name, (fields.get(name) ?? new Set()).add(value));
  const names = [...fields.keys()].sort();
  const sorted = names.flatMap((name) => [...(fields.get(name) ?? [])].sort().map((value) => name + value));
  return Buffer.from(sorted.join(""));
}
