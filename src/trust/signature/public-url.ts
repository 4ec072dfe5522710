// The URL that a sender has signed: the operator's, as what a request says of its host is the caller's.

import { parse, stringify } from "node:querystring";

/** Takes the query of the request in the place of the configured URL's own. */
export function withQuery(publicUrl: string, search: string): string {
  return publicUrl.replace(/[?#][^]*$/, "") + (search === "" ? "" : `?${search}`);
}

/** HubSpot's documentation of its signature v3 lists the escapes that are decoded: once, and no others. */
const hubspotEscapes = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The URL as HubSpot signs it. */
export function hubspotUrl(publicUrl: string, search: string): string {
  return withQuery(publicUrl, search).replace(hubspotEscapes, decodeURIComponent);
}

/**
 * The forms in which Twilio may have signed a URL, as its own library tries them: as it came, or as a URL parser or
 * Node.js's `querystring` escapes it; and each as it is, with the port of its scheme, and without any port.
 */
export function twilioUrls(publicUrl: string, search: string): Set<string> {
  const url = withQuery(publicUrl, search);
  const parsed = URL.canParse(url) ? new URL(url).href : url;
  const escaped = parsed.replace(/(?<=\?)[^]+$/, escapedQuery);
  return new Set([url, parsed, escaped].flatMap(withPorts));
}

/** With no limit to how many parameters: those beyond one would not be signed. */
function escapedQuery(query: string): string {
  return stringify(parse(query, "&", "=", { maxKeys: 0 }));
}

function withPorts(url: string): string[] {
  const [, origin = "", port, rest = ""] =
    /^(https?:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*))(:\d*)?([^]*)$/i.exec(url) ?? [];
  const withPort = port ?? (/^https/i.test(origin) ? ":443" : ":80");
  return [url, origin + withPort + rest, origin + rest];
}
