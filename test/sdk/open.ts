import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import type { Unsigned } from "../harness/signers";
import { type Library, loose, padding } from "./library";

const standardFields = (prefix: string, { id, at }: Unsigned, signature: string): [string, string][] => [
  [`${prefix}-id`, id],
  [`${prefix}-timestamp`, String(at)],
  [`${prefix}-signature`, signature],
];

export const open: readonly Library[] = [
  {
    name: "standardwebhooks",
    sender: "standard-webhooks",
    sign: (request, secret) => {
      const signature = new StandardWebhook(secret).sign(
        request.id,
        new Date(request.at * 1000),
        request.body.toString(),
      );
      return { fields: standardFields("webhook", request, signature) };
    },
    verify: ({ fields, body }, secret) => {
      new StandardWebhook(secret).verify(body.toString(), Object.fromEntries(fields));
    },
    unlike: { ...padding, ...loose },
  },
  {
    name: "svix",
    sender: "svix",
    sign: (request, secret) => {
      const signature = new SvixWebhook(secret).sign(request.id, new Date(request.at * 1000), request.body.toString());
      return { fields: standardFields("svix", request, signature) };
    },
    verify: ({ fields, body }, secret) => {
      new SvixWebhook(secret).verify(body.toString(), Object.fromEntries(fields));
    },
    unlike: { ...padding, ...loose },
  },
];
