import { EventWebhook } from "@sendgrid/eventwebhook";
import { createHash, createHmac } from "node:crypto";
import { parse } from "node:querystring";
import twilio from "twilio";
import { type Signer, signers } from "../harness/signers";
import { type Library, oneSpelling, padding, type Sent, spelling, valueOf } from "./library";

const eventWebhook = new EventWebhook();
const { publicUrl: twilioUrl = "" } = signers.twilio;
const urlOf = ({ search }: Pick<Sent, "search">) => `${twilioUrl}?${search}`;
const twilioForm = (body: Buffer) => parse(body.toString()) as Record<string, unknown>;

/** Twilio's signature of what is no form. */
const twilioJson: Signer = {
  secrets: signers.twilio.secrets,
  publicUrl: twilioUrl,
  search: ({ body }) => `bodySHA256=${createHash("sha256").update(body).digest("hex")}`,
  headers(request, account) {
    const url = urlOf({ search: this.search?.(request) ?? "" });
    const signature = createHmac("sha1", this.secrets[account] ?? "").update(url);
    return [
      ["Content-Type", "application/json"],
      ["X-Twilio-Signature", signature.digest("base64")],
    ];
  },
};

export const carriers: readonly Library[] = [
  {
    name: "twilio",
    sender: "twilio",
    sign: ({ body }, secret) => {
      const signature = twilio.getExpectedTwilioSignature(secret, urlOf({ search: "a=1" }), twilioForm(body));
      const type: [string, string] = ["Content-Type", "application/x-www-form-urlencoded"];
      return { fields: [type, ["X-Twilio-Signature", signature]], search: "a=1" };
    },
    verify: (sent, secret) =>
      twilio.validateRequest(secret, valueOf(sent, "X-Twilio-Signature"), urlOf(sent), twilioForm(sent.body)),
    unlike: padding,
  },
  {
    name: "twilio, of JSON",
    sender: "twilio",
    signer: twilioJson,
    sign: ({ body }, secret) => {
      const search = `bodySHA256=${twilio.getExpectedBodyHash(body.toString())}`;
      const signature = twilio.getExpectedTwilioSignature(secret, urlOf({ search }), {});
      return { fields: [["X-Twilio-Signature", signature]], search };
    },
    verify: (sent, secret) =>
      twilio.validateRequestWithBody(secret, valueOf(sent, "X-Twilio-Signature"), urlOf(sent), sent.body.toString()),
    unlike: padding,
  },
  {
    name: "@sendgrid/eventwebhook",
    sender: "sendgrid",
    verify: (sent, secret) => {
      const [signature, time] = ["Signature", "Timestamp"].map((name) =>
        valueOf(sent, `X-Twilio-Email-Event-Webhook-${name}`),
      );
      const key = eventWebhook.convertPublicKeyToECDSA(secret);
      return eventWebhook.verifySignature(key, sent.body.toString(), signature ?? "", time ?? "");
    },
    unlike: { ...spelling, "another length in its DER": oneSpelling },
  },
];
