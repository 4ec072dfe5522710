// Senders that take a URL, a header or a password of the user's choice: how the form is filled in, and where the
// values are entered. The runtime treats them as "any sender".

import type { SavedFields } from "../../config/fields";

export interface Recipe {
  /** Not translated. */
  readonly name: string;
  /** The sender's documentation. */
  readonly docs: string;
  /** What is filled in besides the defaults. */
  readonly fields: { readonly verificationMethod: "header" | "query" | "basic" } & Partial<
    Pick<SavedFields, "headerParameter" | "queryParameter" | "methods" | "replyBody">
  >;
  /** Whether the sender writes `Bearer` itself. */
  readonly tokenAlone?: true;
  /** Where the values are entered, in the sender's own words. */
  readonly where: string;
}

const rows = {
  alertmanager: {
    name: "Alertmanager (Prometheus)",
    docs: "https://prometheus.io/docs/alerting/latest/configuration/#webhook_config",
    tokenAlone: true,
    fields: { verificationMethod: "header" },
    where: "receivers → webhook_configs: url, http_config → authorization → credentials",
  },
  auth0: {
    name: "Auth0 log streams",
    docs: "https://auth0.com/docs/customize/log-streams/custom-log-streams",
    fields: { verificationMethod: "header" },
    where: "Monitoring → Streams → Create Stream → Custom Webhook: Payload URL, Authorization Token",
  },
  chirpstack: {
    name: "ChirpStack",
    docs: "https://www.chirpstack.io/docs/chirpstack/integrations/http.html",
    fields: { verificationMethod: "header" },
    where: "Applications → Integrations → HTTP: Payload encoding JSON, Event endpoint URL(s), Headers",
  },
  ecowitt: {
    name: "Ecowitt weather stations",
    docs: "https://www.home-assistant.io/integrations/ecowitt/",
    fields: { verificationMethod: "query" },
    where: "Weather Services → Customized → Ecowitt: Server, Path (up to the end of the URL), Port",
  },
  esphome: {
    name: "ESPHome",
    docs: "https://esphome.io/components/http_request/",
    fields: { verificationMethod: "header" },
    where: "http_request.post: url, request_headers",
  },
  "home-assistant": {
    name: "Home Assistant",
    docs: "https://www.home-assistant.io/integrations/rest_command/",
    fields: { verificationMethod: "header" },
    where: "configuration.yaml → rest_command: url, method: post, headers",
  },
  ifttt: {
    name: "IFTTT",
    docs: "https://ifttt.com/maker_webhooks",
    fields: { verificationMethod: "query" },
    where: "Webhooks → Make a web request: URL, Method POST",
  },
  jellyfin: {
    name: "Jellyfin",
    docs: "https://github.com/jellyfin/jellyfin-plugin-webhook",
    fields: { verificationMethod: "header" },
    where: "Dashboard → Plugins → Webhook → Add Generic Destination: Webhook Url, Request Header",
  },
  make: {
    name: "Make",
    docs: "https://apps.make.com/http",
    fields: { verificationMethod: "header" },
    where: "HTTP → Make a request: URL, Method POST, Headers",
  },
  nextcloud: {
    name: "Nextcloud",
    docs: "https://docs.nextcloud.com/server/latest/admin_manual/webhook_listeners/index.html",
    fields: { verificationMethod: "header" },
    where: "Webhook Listeners API: uri, httpMethod POST, authMethod header, authData",
  },
  owntracks: {
    name: "OwnTracks",
    docs: "https://owntracks.org/booklet/tech/http/",
    fields: { verificationMethod: "basic", replyBody: "[]" },
    where: "Mode HTTP: URL; Identification: username, password",
  },
  plex: {
    name: "Plex",
    docs: "https://support.plex.tv/articles/115002267687-webhooks/",
    fields: { verificationMethod: "query" },
    where: "Account → Webhooks: URL",
  },
  shelly: {
    name: "Shelly",
    docs: "https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Webhook/",
    fields: { verificationMethod: "query", methods: ["GET"] },
    where: "Output or Input → Actions: URL",
  },
  sonarr: {
    name: "Sonarr / Radarr",
    docs: "https://wiki.servarr.com/sonarr/settings#connections",
    fields: { verificationMethod: "basic" },
    where: "Settings → Connect → + → Webhook: URL, Method POST, Username, Password",
  },
  supabase: {
    name: "Supabase Database Webhooks",
    docs: "https://supabase.com/docs/guides/database/webhooks",
    fields: { verificationMethod: "header" },
    where: "Integrations → Database Webhooks: POST, URL, HTTP Headers",
  },
  tasmota: {
    name: "Tasmota",
    docs: "https://tasmota.github.io/docs/Commands/",
    fields: { verificationMethod: "header", headerParameter: "X-Token" },
    where: "Console → WebQuery URL POST [Header] body",
  },
  "the-things-stack": {
    name: "The Things Stack (The Things Network)",
    docs: "https://www.thethingsindustries.com/docs/integrations/webhooks/creating-webhooks/",
    fields: { verificationMethod: "header" },
    where: "Integrations → Webhooks → Add Webhook → Custom webhook: Base URL, headers",
  },
  unifi: {
    name: "UniFi Alarm Manager",
    docs: "https://help.ui.com/hc/en-us/articles/27721287753239",
    fields: { verificationMethod: "query", methods: ["POST", "GET"] },
    where: "Alarm Manager → Create Alarm → Action → Webhook: URL",
  },
  "uptime-kuma": {
    name: "Uptime Kuma",
    docs: "https://github.com/louislam/uptime-kuma/wiki",
    fields: { verificationMethod: "header" },
    where: "Settings → Notifications → Webhook: Post URL, Content Type application/json, Additional Headers",
  },
  wunderground: {
    name: "Weather stations (Wunderground protocol)",
    docs: "https://support.weather.com/s/article/PWS-Upload-Protocol",
    fields: { verificationMethod: "query", queryParameter: "PASSWORD", methods: ["GET"] },
    where:
      "Weather Services → Customized → Wunderground: Server, Path (up to the ?), Port, Station Key (after PASSWORD=)",
  },
  zapier: {
    name: "Zapier",
    docs: "https://zapier.com/apps/webhook/integrations",
    fields: { verificationMethod: "header" },
    where: "Webhooks by Zapier → POST: URL, Headers",
  },
} as const satisfies Record<string, Recipe>;

export type RecipeId = keyof typeof rows;

export const recipes: Readonly<Record<RecipeId, Recipe>> = rows;

export const recipeIds: readonly RecipeId[] = Object.keys(rows).filter(isRecipeId);

/** Whether a saved value is the id of a recipe. */
export function isRecipeId(value: unknown): value is RecipeId {
  return typeof value === "string" && Object.hasOwn(recipes, value);
}
