import should from "should";
import catalog from "../../../../locales/en-US/webhook-trigger.json";
import { explainFindings, explainedByWhy, type Finding } from "../../../../src/auth/diagnosis";
import type { Reason, RefusalReason } from "../../../../src/auth/result";

const head = { method: "POST", rawHeaders: [], search: "" };
const [header, query, json] = ["header:X-Signature", "query:state", "json:a.b"] as const;

/** Each of a kind: one that comes to it is missed here by the compiler. */
const findings: Record<Finding["kind"], Finding[]> = {
  tokenElsewhere: [{ kind: "tokenElsewhere", source: query }],
  tokenLength: [{ kind: "tokenLength", length: 39, expected: 40 }],
  tokenBlank: [{ kind: "tokenBlank" }],
  tokenScheme: [{ kind: "tokenScheme" }],
  secretBlank: [{ kind: "secretBlank" }],
  secretPrefixTooMuch: [{ kind: "secretPrefixTooMuch", prefix: "whsec_" }],
  secretPrefixMissing: [{ kind: "secretPrefixMissing", prefix: "whsec_" }],
  otherSender: [{ kind: "otherSender", sender: "stripe" }],
  clock: [420, -420].map((seconds) => ({ kind: "clock", seconds, tolerance: 300 })),
  bodyChanged: (["trailingNewline", "lineEndings", "byteOrderMark", "json"] as const).map((change) => ({
    kind: "bodyChanged",
    change,
  })),
  publicUrl: [{ kind: "publicUrl", url: "https://user:pass@hooks.example/hook?token=1" }],
  signedUrl: [{ kind: "signedUrl" }],
};
const whys: Record<RefusalReason["kind"], RefusalReason> = {
  missing: { kind: "missing", source: header },
  repeated: { kind: "repeated", source: json },
  timeMalformed: { kind: "timeMalformed", source: header },
  signatureMalformed: { kind: "signatureMalformed", source: header },
  signatureLength: { kind: "signatureLength", source: header, bytes: 20, expected: 32 },
  tooManySignatures: { kind: "tooManySignatures", count: 17, most: 16 },
  timeOutside: { kind: "timeOutside", source: header, seconds: 420, tolerance: 300 },
  signatureWrong: { kind: "signatureWrong" },
  tokenWrong: { kind: "tokenWrong" },
  bodyDigestWrong: { kind: "bodyDigestWrong" },
};

const reasons = [
  ...explainFindings(Object.values(findings).flat(), head).reasons,
  ...Object.values(whys).flatMap((why) => explainedByWhy(why, head).reasons),
];

function textOf({ key }: Reason): unknown {
  return key.split(".").reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], catalog.whyNot);
}

describe("reasons of refusals", () => {
  for (const reason of reasons) {
    it(`${reason.key} has a text, in which all that it knows stands`, () => {
      const placeholders = [...String(textOf(reason)).matchAll(/__(\w+)__/g)].map(([, name]) => name);
      should(textOf(reason)).be.a.String();
      [...new Set(placeholders)].sort().should.eql(Object.keys(reason.values).sort());
    });
  }

  it("are all that the catalog has texts for, besides whom a request looks like, and where it went astray", () => {
    const keys = Object.entries<unknown>(catalog.whyNot).flatMap(([key, text]) =>
      typeof text === "string" ? [key] : Object.keys(text as object).map((step) => `${key}.${step}`),
    );
    const known = [...reasons.map(({ key }) => key), "looksLike"];
    const ofEndpoints = keys.filter((key) => !/^(?:path|front)[A-Z]/.test(key));
    ofEndpoints.sort().should.eql([...new Set(known)].sort());
  });

  it("tell places, times and URLs as they are written, and nothing of a URL that may be secret", () => {
    const valuesOf = (key: string) => reasons.find((reason) => reason.key === key)?.values;
    should(valuesOf("tokenElsewhere")).eql({ place: "?state=" });
    should(valuesOf("missing")).eql({ place: "X-Signature" });
    should(valuesOf("repeated")).eql({ place: "a.b" });
    should(valuesOf("clockBehind")).eql({ distance: "7 min", tolerance: "5 min" });
    should(valuesOf("publicUrl")).eql({ url: "https://hooks.example/hook" });
  });
});
