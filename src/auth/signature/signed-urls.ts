// URLs as senders sign them: the configured one, since a sender chooses the Host field.

import { parse, stringify } from "node:querystring";
import type { FormFields } from "../../request/form";
import type { Parameters } from "../../request/head";

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
 * @param form empty where the body is none
 */
export function listTwilioMessages(publicUrl: string, search: string, form: Parameters): Buffer[][] {
  const fields = sortFields(form);
  return [...listTwilioUrls(publicUrl, search)].map((url) => [Buffer.from(url), fields]);
}

/**
 * The forms of a URL that Twilio's own library tries: as sent, or escaped by a URL parser or Node.js's
 * `querystring`; each as it is, with its default port, and without a port. Some requests have the parameters in another
 * order than the URL that Twilio was given, and has signed.
 */
function listTwilioUrls(publicUrl: string, search: string): Set<string> {
  const url = withQuery(publicUrl, search);
  const [entered, query = ""] = publicUrl.replace(/#[^]*$/, "").split(/\?([^]*)/);
  const given = query !== "" && sortParameters(query) === sortParameters(search) ? [`${entered}?${query}`] : [];
  return new Set([url, ...given].flatMap(listEscapedUrls).flatMap(withPorts));
}

function listEscapedUrls(url: string): string[] {
  const parsed = URL.canParse(url) ? new URL(url).href : url;
  // Without a limit of parameters: those beyond would not be signed.
  const escaped = parsed.replace(/(?<=\?)[^]+$/, (query) => stringify(parse(query, "&", "=", { maxKeys: 0 })));
  return [url, parsed, escaped];
}

/** The parameters as they are written, by name; those of one name stay in their order. */
function sortParameters(search: string): string {
  const named = search.split("&").map((piece) => ({ piece, name: piece.split("=", 1)[0] ?? "" }));
  const sorted = named.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  return sorted.map(({ piece }) => piece).join("&");
}

function withPorts(url: string): string[] {
  const [, origin = "", port, rest = ""] =
    /^(https?:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*))(:\d*)?([^]*)$/i.exec(url) ?? [];
  const withPort = port ?? (/^https/i.test(origin) ? ":443" : ":80");
  return [url, origin + withPort + rest, origin + rest];
}

export function hasOnlyTexts(form: FormFields): form is Parameters {
  return Object.values(form).every((values) => [values].flat().every((value) => typeof value === "string"));
}

/** Fields by their names; the values of a repeated one sorted, each once. */
function sortFields(form: Parameters): Buffer {
  const names = Object.keys(form).sort();
  const sorted = names.flatMap((name) => [...new Set([form[name] ?? []].flat())].sort().map((value) => name + value));
  return Buffer.from(sorted.join(""));
}
