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
export function accepted(body: string, endpoint: number | string = 0): Buffer {
  return requestBytes(`/hook/${endpoint}`, headers, body);
}

/** A request with the right token that is another one each time, as the digits in its field `X-Count` tell. */
export function counted(): () => Buffer {
  const digits = 12;
  const template = requestBytes("/hook/0", { ...headers, "X-Count": "0".repeat(digits) }, small);
  const at = template.indexOf("X-Count: ") + "X-Count: ".length;
  let count = 0;
  return () => {
    const request = Buffer.from(template);
    request.write(String(++count).padStart(digits, "0"), at, "latin1");
    return request;
  };
}

/** The secret of the webhooks that are signed. */
export const secret = "It's a Secret to Everybody";

/** 5 kB of JSON. */
export const fiveKilobytes = JSON.stringify({ text: "x".repeat(4989) });

/** A request that GitHub has signed, with the webhook's secret or another. */
export function signed(body: string, event = "push", key = secret): Buffer {
  const signature = createHmac("sha256", key).update(body).digest("hex");
  const fields = { "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${signature}` };
  return requestBytes("/hook/0", { "Content-Type": "application/json", "User-Agent": "bench", ...fields }, body);
}

export function withWrongToken(body: string | Buffer): Buffer {
  return requestBytes("/hook/0", wrong, body);
}
