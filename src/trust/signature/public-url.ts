// The URL that a sender has signed: the operator's, as what a request says of its host is the caller's.

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

/** The forms in which Twilio may have signed a URL: as it is, with the port of its scheme, and without any port. */
export function twilioUrls(publicUrl: string, search: string): Set<string> {
  const url = withQuery(publicUrl, search);
  const [, origin = "", port, rest = ""] = /^(https?:\/\/(?:\[[^\]]*\]|[^/?#:]*))(:\d*)?([^]*)$/i.exec(url) ?? [];
  const withPort = port ?? (/^https/i.test(origin) ? ":443" : ":80");
  return new Set([url, origin + withPort + rest, origin + rest]);
}
