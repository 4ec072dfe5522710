/** The requests that are measured. */
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

export function withWrongToken(body: string | Buffer): Buffer {
  return requestBytes("/hook/0", wrong, body);
}
