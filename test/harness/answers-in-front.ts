/** What stands in front of Node-RED, such as a login page or a broken proxy, may answer in its place. */
import type { Route } from "playwright-core";

interface AnswerInFront {
  readonly name: string;
  /** What is then said: a key under `tab.trouble` in the catalog. */
  readonly trouble: "inFront" | "unreachable" | "failed";
  readonly answer: (route: Route) => Promise<void>;
}

const page = { contentType: "text/html", body: "<!doctype html><title>Log in</title><form></form>" };
const members = { deliveries: [{}], nodes: [{}], queues: [{}], groups: [{}], id: {}, texts: [], permissions: 1 };

export const answersInFront: readonly AnswerInFront[] = [
  { name: "a login page", trouble: "inFront", answer: (route) => route.fulfill(page) },
  { name: "other JSON", trouble: "inFront", answer: (route) => route.fulfill({ json: members }) },
  {
    name: "a redirect to a login page",
    trouble: "inFront",
    // Any page: what it leads to is not asked here.
    answer: (route) => route.fulfill({ status: 302, headers: { location: "/webhook-trigger/" } }),
  },
  { name: "nothing", trouble: "inFront", answer: (route) => route.fulfill({ body: "" }) },
  { name: "an error page", trouble: "failed", answer: (route) => route.fulfill({ ...page, status: 502 }) },
  { name: "a cut connection", trouble: "unreachable", answer: (route) => route.abort("connectionreset") },
];

/** Whether a call is one of the admin API. */
export function isOfApi(url: URL): boolean {
  return /^(?:\/\w+)?\/webhook-trigger\//.test(url.pathname);
}
