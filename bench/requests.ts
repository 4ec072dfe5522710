/** The requests that are measured. */
import { createHmac } from "node:crypto";
import { bearer, token } from "../test/harness/flow";
import { requestBytes } from "./load";

const headers = { ...bearer, "Content-Type": "application/json", "User-Agent": "bench" };
const wrong = { ...headers, Authorization: `Bearer ${"x".repeat(token.length)}` };

/** 100 B of JSON. */
export const small = JSON.stringify({ text: "x".repeat(89) });

/** Some 6 kB of JSON. */
export const large = JSON.stringify({
  orders: Array.from({ length: 61 }, (_, id) => ({ id, item: `item ${id}`, price: id * 1.1, tags: ["a", "b"], note: "please ring twice, thanks" })),
}); // prettier-ignore

/** A request with the right token, to one of the endpoints. */
export function accepted(body: string, endpoint = 0): Buffer {
  return requestBytes(`/hook/${endpoint}`, headers, body);
}

/** The secret of the webhooks that are signed. */
export const secret = "It's a Secret to Everybody";

/** 5 kB of JSON. */
export const fiveKilobytes = JSON.stringify({ text: "x".repeat(4989) });

/** A request that GitHub has signed by a secret. */
export function signed(body: string, { key = secret, endpoint = 0 } = {}): Buffer {
  const signature = createHmac("sha256", key).update(body).digest("hex");
  const fields = { "X-GitHub-Event": "push", "X-Hub-Signature-256": `sha256=${signature}` };
  return requestBytes(
    `/hook/${endpoint}`,
    { "Content-Type": "application/json", "User-Agent": "bench", ...fields },
    body,
  );
}

export function withWrongToken(body: string | Buffer): Buffer {
  return requestBytes("/hook/0", wrong, body);
}
