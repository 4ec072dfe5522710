// What senders of JSON Web Tokens document of them, so that the user need not enter it.

/** Where the key of a token is from: the issuer's key set (RFC 7517 §5), a public key in PEM, or a shared secret. */
export const keySources = ["jwks", "publicKey", "secret"] as const;
export type KeySource = (typeof keySources)[number];

/** Takes the place of saved fields; an empty value is not checked. */
export interface JwtPreset {
  readonly keySource: KeySource;
  readonly jwksUrl?: string;
  readonly headerParameter: string;
  readonly issuer: string;
  /** Missing where the user enters it. */
  readonly audience?: "";
  /** The claims that each token has, with their values as texts. */
  readonly claims?: Readonly<Record<string, string>>;
  /** The claim that the user must require, as anybody may get a token of this issuer for any audience. */
  readonly identity?: string;
  /** Empty where no claim is to be required. */
  readonly requiredClaim?: "";
  /** The claim with the digest of the body. */
  readonly bodyDigest?: string;
}

const google = {
  keySource: "jwks",
  jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
  headerParameter: "Authorization",
  issuer: "https://accounts.google.com",
  claims: { email_verified: "true" },
  identity: "email",
} as const;

export const jwtPresets = {
  // https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
  "google-pubsub": google,
  // https://cloud.google.com/scheduler/docs/http-target-auth
  "google-scheduler": google,
  // https://developers.google.com/workspace/chat/verify-requests-from-chat
  "google-chat": {
    keySource: "jwks",
    jwksUrl: google.jwksUrl,
    headerParameter: "Authorization",
    issuer: google.issuer,
    claims: { email: "chat@system.gserviceaccount.com", email_verified: "true" },
    requiredClaim: "",
  },
  // https://docs.netlify.com/deploy/deploy-notifications/#payload-signature
  netlify: {
    keySource: "secret",
    headerParameter: "X-Webhook-Signature",
    issuer: "netlify",
    audience: "",
    requiredClaim: "",
    bodyDigest: "sha256",
  },
  // https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
  vonage: {
    keySource: "secret",
    headerParameter: "Authorization",
    issuer: "",
    audience: "",
    requiredClaim: "",
    bodyDigest: "payload_hash",
  },
  // https://developer.monday.com/apps/docs/authorization-header
  monday: { keySource: "secret", headerParameter: "Authorization", issuer: "", requiredClaim: "" },
} as const satisfies Record<string, JwtPreset>;

export type JwtSenderId = keyof typeof jwtPresets;

/** @returns nothing for other senders, and for an environment variable */
export function findJwtPreset(sender: unknown): JwtPreset | undefined {
  const isKnown = typeof sender === "string" && Object.hasOwn(jwtPresets, sender);
  return isKnown ? jwtPresets[sender as JwtSenderId] : undefined;
}
