import { NodeRuntime, Webhooks } from "@paddle/paddle-node-sdk";
import Stripe from "stripe";
import { ahead, anyOfThem, digits, type Library, loose, valueOf } from "./library";

NodeRuntime.initialize();

export const commerce: readonly Library[] = [
  {
    name: "stripe",
    sender: "stripe",
    sign: ({ body, at }, secret) => {
      const header = Stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret, timestamp: at });
      return { fields: [["Stripe-Signature", header]] };
    },
    verify: (sent, secret) => {
      Stripe.webhooks.constructEvent(sent.body.toString(), valueOf(sent, "Stripe-Signature"), secret);
    },
    unlike: { ...digits, ...ahead, ...loose },
  },
  {
    name: "@paddle/paddle-node-sdk",
    sender: "paddle",
    verify: (sent, secret) =>
      new Webhooks().isSignatureValid(sent.body.toString(), secret, valueOf(sent, "Paddle-Signature")),
    unlike: { ...digits, ...ahead, ...loose, "a wrong signature behind it": anyOfThem },
  },
];
