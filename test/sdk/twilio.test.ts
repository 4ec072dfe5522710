import fc from "fast-check";
import should from "should";
import { parse, stringify } from "node:querystring";
import twilio from "twilio";
import { seed } from "../harness/property";
import { outcomeOf, schemeOf } from "../harness/verification";

const secret = "a token";
const bases = [
  "https://example.com/hook",
  "https://example.com:443/hook",
  "https://example.com:8443/it's",
  "http://user:pass@example.com/hook",
  "http://user:pass@example.com:8080/hook",
  "https://[2001:db8::1]:8443/hook",
];
/** What may stand in a query as it comes over the wire, and what it may be escaped to. */
const piece = fc.constantFrom(..."a B 1 & = + %20 %27 ' ( %c3%a9 %C3%A9 %zz ~ ? /".split(" "));
const search = fc.string({ unit: piece, minLength: 1, maxLength: 12 });

/** How Twilio may have written the URL that it has signed. */
const spellings: readonly ((url: string) => string)[] = [
  (url) => url,
  (url) => url.replace(/(example\.com|\])(:\d+)?/, "$1"),
  (url) => url.replace(/^(https:[^?]*example\.com)(?!:)/, "$1:443").replace(/^(http:[^?]*example\.com)(?!:)/, "$1:80"),
  (url) => new URL(url).href,
  (url) => new URL(url).href.replace(/\?(.+)$/, (_, query: string) => `?${stringify(parse(query))}`),
  (url) => url.replace("hook", "other"),
  (url) => `${url}&a=1`,
];

function verdicts(signed: string, base: string, query: string) {
  const signature = twilio.getExpectedTwilioSignature(secret, signed, { A: "1" });
  const rawHeaders = ["Content-Type", "application/x-www-form-urlencoded", "X-Twilio-Signature", signature];
  const head = { method: "POST", rawHeaders, search: query };
  const setup = { scheme: schemeOf("twilio", base), secrets: { first: secret }, publicUrl: base };
  return {
    library: twilio.validateRequest(secret, signature, `${base}?${query}`, { A: "1" }),
    ours: outcomeOf(setup, { head, body: Buffer.from("A=1"), at: 0 }) === "first",
  };
}

describe("the URL that Twilio signs", () => {
  it("is taken in each way of writing it that Twilio's own library takes, and in no other", () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom(...bases), search, fc.constantFrom(...spellings), (base, query, spelling) => {
        const { library, ours } = verdicts(spelling(`${base}?${query}`), base, query);
        taken += Number(library);
        should(ours).equal(library);
      }),
      { seed, numRuns: 500 },
    );
    taken.should.be.within(100, 490);
  });
});
