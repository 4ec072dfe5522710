import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import should from "should";
import type { Scheme } from "../../../../src/auth/senders/sender";
import { senders } from "../../../../src/auth/senders/table";
import { settleScheme } from "../../../../src/auth/signature/scheme";
import { Verifier } from "../../../../src/auth/signature/verifier";
import { parseTime } from "../../../../src/auth/signature/time";
import { formOf, typeOf } from "../../../harness/forms";
import { seed } from "../../../harness/property";
import { signers } from "../../../harness/signers";
import { outcomeOf, schemeOf, type Setup } from "../../../harness/verification";

const at = 1_767_225_600;
const body = Buffer.from('{"a":1}');
const mac = (...parts: (string | Buffer)[]) => {
  const hmac = createHmac("sha256", "secret");
  for (const part of parts) hmac.update(part);
  return hmac.digest();
};
const right = mac(body);
const hex = right.toString("hex");
const wrong = "0".repeat(64);

/** A scheme of the body alone, but for what a case says. */
const plain: Scheme = {
  alg: "hmac-sha256",
  key: { format: "utf8" },
  sig: { headers: ["X-Signature"], enc: "hex" },
  content: ["body"],
};

function outcome(
  scheme: Scheme,
  rawHeaders: string[],
  secrets: Setup["secrets"] = { first: "secret" },
  sent: Buffer = body,
) {
  return outcomeOf({ scheme, secrets }, { head: { method: "POST", rawHeaders, search: "" }, body: sent, at });
}

describe("a signature's rules", () => {
  describe("of secrets", () => {
    const key = Buffer.alloc(32, 7);
    const pair = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64");
    const cases: [string, Scheme["alg"], Scheme["key"], string, string][] = [
      ["an empty one", "hmac-sha256", { format: "utf8" }, "", "secret.required"],
      ["nothing behind its prefix", "hmac-sha256", { format: "base64", strip: "whsec_" }, "whsec_", "secret.format"],
      ["no base64", "hmac-sha256", { format: "base64" }, "whsec_AAAA", "secret.format"],
      ["base64 of the other alphabet", "hmac-sha256", { format: "base64" }, "AA-_", "secret.format"],
      ["base64 that is cut off", "hmac-sha256", { format: "base64" }, "AAAAA", "secret.format"],
      ["base64 with a padding that is wrong", "hmac-sha256", { format: "base64" }, "AAA==", "secret.format"],
      ["base64 with a blank", "hmac-sha256", { format: "base64" }, "AAAA ", "secret.format"],
      ["hexadecimal digits, one missing", "hmac-sha256", { format: "hex" }, "abc", "secret.format"],
      ["no hexadecimal digits", "hmac-sha256", { format: "hex" }, "wxyz", "secret.format"],
      ["a public key that is too short", "ed25519", { format: "ed25519-hex" }, "00".repeat(31), "secret.format"],
      ["a public key in base64 that is too long", "ed25519", { format: "ed25519-base64" }, key.toString("base64") + "AAAA", "secret.format"],
      ["no DER", "ecdsa-p256-sha256", { format: "spki-base64" }, key.toString("base64"), "secret.format"],
      ["a key of another algorithm", "ecdsa-p256-sha256", { format: "spki-base64" }, pair, "secret.format"],
      ["a text where a public key is due", "ed25519", { format: "utf8" }, "secret", "secret.format"],
      ["a public key where a text is due", "hmac-sha256", { format: "ed25519-hex" }, key.toString("hex"), "secret.format"],
      ["a public key where a secret is due", "hmac-sha256", { format: "spki-base64" }, pair, "secret.format"],
    ]; // prettier-ignore
    for (const [name, alg, format, first, rule] of cases) {
      it(`${name}: ${rule}`, () => {
        const verifier = Verifier.of({ ...plain, alg, key: format }, { first });
        should(verifier).eql({ rule });
      });
    }

    it("are refused where the first of two is missing, or the second malformed", () => {
      const scheme: Scheme = { ...plain, key: { format: "hex" } };
      should(Verifier.of(plain, { first: "", second: "secret" })).eql({ rule: "secret.required" });
      should(Verifier.of(scheme, { first: "abcd", second: "abc" })).eql({ rule: "secondSecret.format" });
    });

    it("are used as they were typed, and do not include an empty second one", () => {
      for (const first of ["secret ", "\tsecret"])
        outcome(plain, ["X-Signature", hex], { first }).should.equal("signatureWrong");
      const empty = createHmac("sha256", "").update(body).digest("hex");
      outcome(plain, ["X-Signature", empty], { first: "secret", second: "" }).should.equal("signatureWrong");
    });

    it("may lack their padding, or the prefix that is taken off", () => {
      const scheme: Scheme = { ...plain, key: { format: "base64", strip: "whsec_" } };
      const signature = createHmac("sha256", Buffer.from("secrets!")).update(body).digest("hex");
      for (const first of ["whsec_c2VjcmV0cyE=", "c2VjcmV0cyE=", "c2VjcmV0cyE"]) {
        outcome(scheme, ["X-Signature", signature], { first }).should.equal("first");
      }
    });
  });

  describe("of what is signed", () => {
    const scheme: Scheme = {
      ...plain,
      content: ["header:X-Id", "lit:.", "ts", "lit:.", "body"],
      ts: { source: "header:X-Time", unit: "s", tolerance: 10 },
    };
    const headers = (id: string, time: string, ...parts: (string | Buffer)[]) =>
      ["X-Id", id, "X-Time", time, "X-Signature", mac(...parts).toString("hex")]; // prettier-ignore

    it("are that every part is there, and has something in it", () => {
      outcome(scheme, headers("1", String(at), `1.${at}.`, body)).should.equal("first");
      outcome(scheme, headers("", String(at), `.${at}.`, body)).should.equal("missing");
      outcome(scheme, headers("1", "", "1..", body)).should.equal("missing");
      outcome(plain, ["X-Signature", mac("").toString("hex")], undefined, Buffer.alloc(0)).should.equal("first");
      const inBody: Scheme = { ...plain, content: ["json:a.b", "body"] };
      for (const text of ["{}", '{"a":{"b":""}}', '{"a":{"b":null}}', '{"a":[]}']) {
        outcome(inBody, ["X-Signature", hex], undefined, Buffer.from(text)).should.equal("missing", text);
      }
      for (const part of ["url", "query:a"] as const) {
        outcome({ ...plain, content: [part, "body"] }, ["X-Signature", hex]).should.equal("missing", part);
      }
    });

    it("are texts or exact numbers in JSON, also where a part may be absent", () => {
      const signed = ["X-Signature", mac("v:").toString("hex")];
      const scheme: Scheme = { ...plain, content: ["json:v", "lit::", "json?:a"] };
      const sent = (text: string, rawHeaders = signed) => outcome(scheme, rawHeaders, undefined, Buffer.from(text));
      for (const text of ['{"v":"v"}', '{"v":"v","a":null}', '{"v":"v","a":""}'])
        sent(text).should.equal("first", text);
      const others = ["[]", '["x"]', "{}", "true", "false", "9007199254740993", "-9007199254740993", "1e400", "-1e400"];
      for (const other of others) {
        sent(`{"v":"v","a":${other}}`).should.equal("valueMalformed", other);
        sent(`{"v":${other},"a":"a"}`).should.equal("valueMalformed", other);
      }
      sent('{"v":"v","a":9007199254740991}', ["X-Signature", mac("v:9007199254740991").toString("hex")]).should.equal(
        "first",
      );
    });

    it("are read in the body as what the flow gets, and in nothing else", () => {
      const json: Scheme = { ...plain, content: ["json:id"] };
      const form: Scheme = { ...plain, content: ["form:id"] };
      const signed = ["X-Signature", mac("7").toString("hex")];
      const formType = ["Content-Type", "application/x-www-form-urlencoded"];
      const jsonType = ["Content-Type", "application/json"];
      const inForm = Buffer.from("id=7&x=1");
      const inJson = Buffer.from('{"id":"7"}');
      const partsType = ["Content-Type", typeOf()];
      const partsOf = (name: string, content: string) => formOf([{ disposition: `; name="${name}"`, content }]);
      const cases: [string, Scheme, string[], Buffer, string][] = [
        ["a form", form, formType, inForm, "first"],
        ["a form in its charset", form, ["Content-Type", `${formType[1]}; charset=utf-16le`], Buffer.from("id=7", "utf16le"), "first"],
        ["a field twice", form, formType, Buffer.from("id=7&id=7"), "repeated"],
        ["a form labelled as JSON", form, jsonType, Buffer.from('{"x":"&id=7&"}'), "bodyNoForm"],
        ["a form labelled as a text", form, ["Content-Type", "text/plain"], inForm, "bodyNoForm"],
        ["a form without a type", form, [], inForm, "bodyNoForm"],
        ["a form with two types", form, [...formType, ...formType], inForm, "repeated"],
        ["a form in parts", form, partsType, partsOf("id", "7"), "first"],
        ["a form in another part", form, partsType, partsOf("x", "&id=7&"), "missing"],
        ["a form in parts that break off", form, partsType, partsOf("id", "7").subarray(0, -4), "bodyNoForm"],
        ["a field that is no text", form, formType, Buffer.from("id=%ff"), "valueMalformed"],
        ["JSON labelled as a form", form, formType, Buffer.from('{"x":"&id=7&"}'), "bodyNoForm"],
        ["a form with very many fields", form, formType, Buffer.from(`id=7${"&a".repeat(1000)}`), "bodyNoForm"],
        ["a packed form", form, [...formType, "Content-Encoding", "gzip"], gzipSync(inForm), "bodyPacked"],
        ["a form that is said to be packed", form, [...formType, "Content-Encoding", "br"], inForm, "bodyPacked"],
        ["a coding that changes nothing", form, [...formType, "Content-Encoding", "identity"], inForm, "first"],
        ["JSON", json, jsonType, inJson, "first"],
        ["JSON of a type of its own", json, ["Content-Type", "application/vnd.api+json"], inJson, "first"],
        ["JSON in a text", json, ["Content-Type", "text/plain"], inJson, "first"],
        ["JSON without a type", json, [], inJson, "first"],
        ["JSON in its charset", json, ["Content-Type", "application/json; charset=utf-16le"], Buffer.from('{"id":"7"}', "utf16le"), "first"],
        ["JSON in another charset", json, ["Content-Type", "application/json; charset=utf-16le"], inJson, "bodyNoJson"],
        ["an unknown charset", json, ["Content-Type", "application/json; charset=klingon"], inJson, "bodyNoJson"],
        ["a form for JSON", json, formType, inForm, "bodyNoJson"],
        ["JSON in a field of a form", json, formType, Buffer.from('payload={"id":"7"}'), "bodyNoJson"],
        ["broken JSON", json, jsonType, Buffer.from('{"id":"7"'), "bodyNoJson"],
        ["no body", json, jsonType, Buffer.alloc(0), "bodyNoJson"],
        ["packed JSON", json, [...jsonType, "Content-Encoding", "gzip"], gzipSync(inJson), "bodyPacked"],
      ]; // prettier-ignore
      for (const [name, scheme, type, sent, expected] of cases) {
        outcome(scheme, [...type, ...signed], undefined, sent).should.equal(expected, name);
      }
    });

    it("are bytes, also where they are no text", () => {
      const bytes = Buffer.from([0xff, 0x00, 0xef, 0xbb, 0xbf, 0xc3]);
      outcome(plain, ["X-Signature", mac(bytes).toString("hex")], undefined, bytes).should.equal("first");
      // Node gives fields as Latin-1; the sender has signed what it sent.
      const id = Buffer.from("ü");
      outcome(scheme, headers(id.toString("latin1"), String(at), id, `.${at}.`, body)).should.equal("first");
    });

    it("have a time that is strictly written", () => {
      for (const time of ["+1", "-1", "1e9", "1.0", "0x1", "1 ", "١", `${at}.`, "1".repeat(17), "a"]) {
        const from = { ...plain, ts: { source: "query:t", unit: "s", tolerance: null } } as const;
        const search = new URLSearchParams({ t: time }).toString();
        const head = { method: "POST", rawHeaders: ["X-Signature", hex], search };
        const outcome = outcomeOf({ scheme: from, secrets: { first: "secret" } }, { head, body, at });
        outcome.should.equal("timeMalformed", time);
      }
      outcome(scheme, headers("1", ` ${at}\t`, `1.${at}.`, body)).should.equal("first");
    });

    it("say by how much a time is off, without the body", () => {
      const verifier = Verifier.of(scheme, { first: "secret" });
      if (!(verifier instanceof Verifier)) throw new Error(verifier.rule);
      for (const seconds of [420, -420]) {
        const head = { method: "POST", rawHeaders: headers("1", String(at - seconds), "any"), search: "" };
        const why = { kind: "timeOutside", source: "header:X-Time", seconds, tolerance: 10 };
        should(verifier.checkHead(head, at * 1000)).eql(why);
      }
    });

    it("may have the body in them twice, or in front", () => {
      const twice: Scheme = { ...plain, content: ["body", "lit:é", "body"] };
      outcome(twice, ["X-Signature", mac(body, "é", body).toString("hex")]).should.equal("first");
      const front: Scheme = { ...plain, content: ["body", "method", "header:X-Id"] };
      outcome(front, ["X-Id", "1", "X-Signature", mac(body, "POST1").toString("hex")]).should.equal("first");
    });
  });

  describe("of fields", () => {
    const list = (split: string, pick: NonNullable<Scheme["sig"]["pick"]> | null): Scheme => ({
      ...plain,
      sig: { ...plain.sig, split, pick },
    });
    const severally: Scheme = { ...plain, sig: { ...plain.sig, split: [", ", " "] } };
    const names = Array.from({ length: 100 }, (_, index) => `X-Signature-${index + 1}`);
    const hundred: Scheme = { ...plain, sig: { ...plain.sig, headers: names } };
    const cases: [string, Scheme, string[], string][] = [
      ["the field twice", plain, ["X-Signature", hex, "x-signature", hex], "repeated"],
      ["the field twice, once empty", plain, ["X-Signature", hex, "x-signature", ""], "repeated"],
      ["an empty field", plain, ["X-Signature", ""], "missing"],
      ["another field", plain, ["X-Signature-2", hex], "missing"],
      ["the name as a value", plain, ["A", "X-Signature", "B", hex], "missing"],
      ["blanks around it", plain, ["X-Signature", `\t ${hex} `], "first"],
      ["capital digits", plain, ["X-Signature", hex.toUpperCase()], "first"],
      ["a byte too few", plain, ["X-Signature", hex.slice(2)], "signatureLength"],
      ["a byte too many", plain, ["X-Signature", `${hex}00`], "signatureLength"],
      ["a digit too few", plain, ["X-Signature", hex.slice(1)], "signatureMalformed"],
      ["something behind it", plain, ["X-Signature", `${hex}!`], "signatureMalformed"],
      ["something before it", plain, ["X-Signature", `0x${hex}`], "signatureMalformed"],
      ["a list by commas", list(",", null), ["X-Signature", `${wrong}, ${hex}`], "first"],
      ["a list in lines", list(",", null), ["X-Signature", wrong, "X-Signature", hex], "first"],
      ["a list by other signs in lines", list(";", null), ["X-Signature", wrong, "X-Signature", hex], "repeated"],
      ["pairs in lines", list(",", { kv: "v" }), ["X-Signature", `v=${wrong}`, "X-Signature", `v=${hex}`], "repeated"],
      ["empty items", list(" ", null), ["X-Signature", `  ${wrong}   ${hex} `], "first"],
      ["malformed items beside it", list(" ", null), ["X-Signature", `zz ${hex.slice(2)} ${hex}`], "first"],
      ["a list by commas or blanks", severally, ["X-Signature", `${wrong}, ${wrong} ${hex}`], "first"],
      ["more by commas and blanks than are compared", severally, ["X-Signature", `${`${wrong}, ${wrong} `.repeat(8)}${hex}`], "tooManySignatures"],
      ["a hundred fields of one each", hundred, names.flatMap((name) => [name, name === "X-Signature-100" ? hex : wrong]), "first"],
      ["a hundred fields, one of them twice", hundred, [...names, "X-Signature-7"].flatMap((name) => [name, hex]), "repeated"],
      ["sixteen", list(" ", null), ["X-Signature", `${`${wrong} `.repeat(15)}${hex}`], "first"],
      ["seventeen", list(" ", null), ["X-Signature", `${hex}${` ${wrong}`.repeat(16)}`], "tooManySignatures"],
      ["more items than could be", list(" ", { prefix: "v1," }), ["X-Signature", `${"v2,00 ".repeat(1001)}v1,${hex}`], "tooManySignatures"],
      ["an item longer than any signature", list(" ", null), ["X-Signature", `${hex} ${"0".repeat(2049)}`], "signatureMalformed"],
      ["other items beside sixteen", list(" ", { prefix: "v1," }), ["X-Signature", `${"v2,00 ".repeat(99)}v1,${hex}`], "first"],
      ["another prefix", list(" ", { prefix: "v1," }), ["X-Signature", `v2,${hex} V1,${hex} ${hex}`], "signatureMalformed"],
      ["another key", list(",", { kv: "v1" }), ["X-Signature", `v0=${hex},xv1=${hex},v1`], "signatureMalformed"],
      ["a key with blanks", list(",", { kv: "v1" }), ["X-Signature", `t=1, v1=${hex}`], "first"],
    ]; // prettier-ignore
    for (const [name, scheme, headers, expected] of cases) {
      it(`${name}: ${expected}`, () => outcome(scheme, headers).should.equal(expected));
    }

    it("are read in base64 strictly", () => {
      const scheme: Scheme = { ...plain, sig: { ...plain.sig, enc: "base64" } };
      const text = right.toString("base64");
      const last = text.charCodeAt(42);
      const other = text.slice(0, 42) + String.fromCharCode(last + 1) + "=";
      Buffer.from(other, "base64").should.eql(right);
      const cases: [string, string][] = [
        [text, "first"],
        [text.slice(0, -1), "first"],
        [`${text}=`, "signatureMalformed"],
        [other, "signatureMalformed"],
        [` ${text}`, "first"],
        [text.slice(0, 20) + " " + text.slice(20), "signatureMalformed"],
        [right.toString("base64url"), /[+/]/.test(text) ? "signatureMalformed" : "first"],
        [`${text.slice(0, -4)}====`, "signatureMalformed"],
      ];
      for (const [signature, expected] of cases)
        outcome(scheme, ["X-Signature", signature]).should.equal(expected, signature);
      const url: Scheme = { ...plain, sig: { ...plain.sig, enc: "base64url" } };
      outcome(url, ["X-Signature", right.toString("base64url")]).should.equal("first");
    });

    for (const [name, sender, headers, expected] of [
      ["its time", "stripe", ["Stripe-Signature", `t=${at},v1=${mac(`${at}.`, body).toString("hex")}`], "first"],
      ["its time twice", "stripe", ["Stripe-Signature", `t=${at},t=${at},v1=${mac(`${at}.`, body).toString("hex")}`], "first"],
      ["two times", "stripe", ["Stripe-Signature", `t=${at},t=${at + 1},v1=${mac(`${at}.`, body).toString("hex")}`], "repeated"],
      ["no time", "stripe", ["Stripe-Signature", `v1=${mac(`${at}.`, body).toString("hex")}`], "missing"],
      ["an id twice, which is not signed", "github", ["X-GitHub-Delivery", "1", "X-Hub-Signature-256", `sha256=${hex}`, "x-github-delivery", "2"], "repeated"],
    ] as const) {
      it(`${name}: ${expected}`, () => {
        const setup: Setup = { scheme: schemeOf(sender), secrets: { first: "secret" }, sender };
        outcomeOf(setup, { head: { method: "POST", rawHeaders: [...headers], search: "" }, body, at }).should.equal(expected);
      });
    } // prettier-ignore
  });

  describe("of lists in the body", () => {
    const adyen = schemeOf("adyen");
    const [key = ""] = signers.adyen.secrets;
    const genuine = String(signers.adyen.body?.(Buffer.from("order 1"), 0, at));
    const notification = JSON.parse(genuine) as { notificationItems: { NotificationRequestItem: object }[] };
    const [item] = notification.notificationItems;
    const judge = (notificationItems: unknown) =>
      outcome(adyen, [], { first: key }, Buffer.from(JSON.stringify({ ...notification, notificationItems })));

    it("are that an asterisk is each element of an array, and never a member of that name", () => {
      judge([item]).should.equal("first");
      const forged = { NotificationRequestItem: { ...item?.NotificationRequestItem, pspReference: "forged" } };
      for (const items of [{ "*": item }, { "*": item, 0: forged }, { "*": [item] }, [{ "*": item }], [[item]]]) {
        judge(items).should.equal("missing", JSON.stringify(items));
      }
      judge([forged]).should.equal("signatureWrong");
      judge([item, forged]).should.equal("repeated");
    });

    it("hold for a user's scheme as well", () => {
      const scheme: Scheme = { ...plain, sig: { headers: [], source: "json:*.s", enc: "hex" }, content: ["json:*.a"] };
      const sent = (value: unknown) => outcome(scheme, [], undefined, Buffer.from(JSON.stringify(value)));
      const signed = { s: mac("1").toString("hex"), a: "1" };
      sent([signed]).should.equal("first");
      sent({ "*": signed, 0: { ...signed, a: "2" } }).should.equal("missing");
    });
  });

  it("of ecdsa-p256-sha256 are that it takes DER, and nothing else", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const scheme: Scheme = { ...plain, alg: "ecdsa-p256-sha256", key: { format: "spki-base64" } };
    const secrets = { first: publicKey.export({ format: "der", type: "spki" }).toString("base64") };
    outcome(scheme, ["X-Signature", sign("sha256", body, privateKey).toString("hex")], secrets).should.equal("first");
    const flat = sign("sha256", body, { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("hex");
    for (const signature of [flat, "00", hex]) {
      outcome(scheme, ["X-Signature", signature], secrets).should.equal("signatureWrong");
    }
  });

  describe("of tokens", () => {
    const token: Scheme = { alg: "token", key: { format: "utf8" }, sig: { headers: ["X-Token"] }, content: [] };
    const bearer: Scheme = { ...token, sig: { headers: ["Authorization"], pick: { prefix: "Bearer " } } };
    const cases: [string, Scheme, string[], string][] = [
      ["the secret", token, ["x-token", "secret"], "first"],
      ["another", token, ["X-Token", "Secret"], "tokenWrong"],
      ["its beginning", token, ["X-Token", "secre"], "tokenWrong"],
      ["none", token, ["X-Other", "secret"], "missing"],
      ["twice", token, ["X-Token", "secret", "X-Token", "secret"], "repeated"],
      ["a prefix that nobody asked for", token, ["X-Token", "Bearer secret"], "tokenWrong"],
      ["a prefix that is asked for", bearer, ["Authorization", "Bearer secret"], "first"],
      ["without that prefix", bearer, ["Authorization", "secret"], "signatureMalformed"],
      ["another prefix", bearer, ["Authorization", "Basic secret"], "signatureMalformed"],
    ];
    for (const [name, scheme, headers, expected] of cases) {
      it(`${name}: ${expected}`, () => outcome(scheme, headers).should.equal(expected));
    }

    it("are known by their bytes", () => {
      const sent = Buffer.from("sécret").toString("latin1");
      outcome(token, ["X-Token", sent], { first: "sécret" }).should.equal("first");
    });

    it("must fit in each element of a body that has several, up to a thousand", () => {
      const graph = schemeOf("microsoft-graph");
      const sent = (...states: unknown[]) => {
        const value = states.map((clientState) => ({ clientState }));
        return outcome(graph, [], { first: "secret", second: "other" }, Buffer.from(JSON.stringify({ value })));
      };
      sent("secret").should.equal("first");
      sent("other", "other").should.equal("second");
      sent(...Array.from({ length: 1000 }, () => "secret")).should.equal("first");
      sent(...Array.from({ length: 1001 }, () => "secret")).should.equal("tooManySignatures");
      sent("secret", "wrong").should.equal("tokenWrong");
      sent("secret", "other").should.equal("tokenWrong");
      for (const missing of [undefined, null, ""]) sent("secret", missing).should.equal("missing");
      for (const other of [{}, ["secret"], true]) sent("secret", other).should.equal("signatureMalformed");
      sent().should.equal("missing");
      outcome(graph, [], { first: "secret" }, Buffer.from('{"value":{"0":{"clientState":"secret"}}}')).should.equal(
        "missing",
      );
    });
  });
});

describe("a sender's settings", () => {
  it("fill in the names of fields, and the hash with its prefix", () => {
    const grafana = settleScheme(senders["grafana-timestamp"], {
      signatureHeader: "X-Sig",
      timestampHeader: "X-Time",
    });
    if ("rule" in grafana) throw new Error(grafana.rule);
    const signed = mac(`${at}:`, body).toString("hex");
    outcome(grafana, ["X-Time", String(at), "X-Sig", signed]).should.equal("first");
    const websub = settleScheme(senders.websub, { alg: "sha512" });
    if ("rule" in websub) throw new Error(websub.rule);
    const signature = createHmac("sha512", "secret").update(body).digest("hex");
    outcome(websub, ["X-Hub-Signature", `sha512=${signature}`]).should.equal("first");
    outcome(websub, ["X-Hub-Signature", `sha256=${hex}`]).should.equal("signatureMalformed");
  });

  it("that are empty leave the scheme as it is, and those that a sender does not have do nothing", () => {
    settleScheme(senders.grafana, { signatureHeader: "" }).should.eql(senders.grafana.scheme);
    settleScheme(senders.github, { signatureHeader: "X", timestampHeader: "X", alg: "sha1" }).should.eql(
      senders.github.scheme,
    );
  });

  it("are refused where they lack a URL that is signed", () => {
    for (const publicUrl of ["", "hooks.example.com", "ftp://x/", "https://", "https:///a"]) {
      settleScheme(senders.square, { publicUrl }).should.eql({ rule: "publicUrl" }, publicUrl);
    }
  });
});

describe("Twilio's signature", () => {
  const url = "https://example.com/hook";
  const form = "application/x-www-form-urlencoded; charset=utf-8";
  const sha1 = (text: string) => createHmac("sha1", "secret").update(text).digest("base64");
  const outcome = (signed: string, search: string, sent: string, type = form, publicUrl = url) => {
    const rawHeaders = ["Content-Type", type, "X-Twilio-Signature", sha1(signed)];
    const setup: Setup = { scheme: schemeOf("twilio", publicUrl), secrets: { first: "secret" }, publicUrl };
    return outcomeOf(setup, { head: { method: "POST", rawHeaders, search }, body: Buffer.from(sent), at });
  };
  const digest = createHash("sha256").update(`{"a":1}`).digest("hex");

  it("covers another body by its digest in the query", () => {
    outcome(`${url}?bodySHA256=${digest}`, `bodySHA256=${digest}`, '{"a":1}', "application/json").should.equal("first");
    outcome(`${url}?bodySHA256=${digest}`, `bodySHA256=${digest}`, '{"a":2}', "application/json").should.equal("bodyDigestWrong");
    outcome(`${url}?bodySHA256=00`, `bodySHA256=00`, '{"a":1}', "application/json").should.equal("bodyDigestWrong");
    outcome(url, "", '{"a":1}', "application/json").should.equal("missing");
  }); // prettier-ignore

  it("covers a request without a body by its URL alone, whatever its type", () => {
    for (const type of [form, "application/json", "text/plain", ""]) {
      outcome(`${url}?Digits=1&From=%2B1`, "Digits=1&From=%2B1", "", type).should.equal("first", type);
      outcome(`${url}?Digits=1&From=%2B1`, "Digits=2&From=%2B1", "", type).should.equal("signatureWrong", type);
    }
  });

  it("covers no body that is neither a form nor has a digest, and is refused with any digest of another body", () => {
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=b", ""]) {
      outcome(`${url}?a=1`, "a=1", "forged=1", type).should.equal("missing", type);
    }
    const own = (text: string) => `bodySHA256=${createHash("sha256").update(text).digest("hex")}`;
    for (const [query, sent, type, expected] of [
      [own(""), "", "text/plain", "first"],
      [own("x"), "", "text/plain", "bodyDigestWrong"],
      [`${own("")}&${own("x")}`, "", "text/plain", "bodyDigestWrong"],
      [`${own("x")}&${own("")}`, "", "text/plain", "bodyDigestWrong"],
      [`${own("x")}&${own("x")}`, "x", "text/plain", "first"],
      [`${own("x")}&${own("y")}`, "x", "text/plain", "bodyDigestWrong"],
      ["bodySHA256=", "", "text/plain", "bodyDigestWrong"],
      ["bodySHA256", "x", "text/plain", "bodyDigestWrong"],
    ] as const) {
      outcome(`${url}?${query}`, query, sent, type).should.equal(expected, `${query} ${sent}`);
    }
    outcome(`${url}?${own("A=1")}A1`, own("A=1"), "A=1").should.equal("first");
    outcome(`${url}?${own("A=2")}A1`, own("A=2"), "A=1").should.equal("bodyDigestWrong");
  });

  it("may be over the URL as it was entered, if the request has its parameters in another order and no others", () => {
    const entered = `${url}?b=4%205&a=1&a=2#top`;
    const signed = `${url}?b=4%205&a=1&a=2CallSidCA01`;
    for (const [search, expected] of [
      ["b=4%205&a=1&a=2", "first"],
      ["a=1&a=2&b=4%205", "first"],
      ["a=1&b=4%205&a=2", "first"],
      ["a=2&a=1&b=4%205", "signatureWrong"],
      ["a=1&b=4%205", "signatureWrong"],
      ["a=1&a=2&b=4%206", "signatureWrong"],
      ["a=1&a=2&b=4%205&c=", "signatureWrong"],
      ["a=1&a=2&a=2&b=4%205", "signatureWrong"],
      ["", "signatureWrong"],
    ] as const) {
      outcome(signed, search, "CallSid=CA01", form, entered).should.equal(expected, search);
    }
    outcome(`${url}CallSidCA01`, "", "CallSid=CA01", form, `${url}?`).should.equal("first");
  });

  it("fits no other query than one that gives the flow the same parameters", () => {
    const units = ["a", "b", "%41", "%ff", "%", "+", "%2B", "%3d", "%26", "ü", "'"];
    const text = fc.string({ unit: fc.constantFrom(...units), maxLength: 3 });
    const piece = fc.oneof(
      text,
      fc.tuple(text, text).map((pair) => pair.join("=")),
    );
    // The same pieces in several orders, and now and then other ones.
    const queries = fc.array(piece, { maxLength: 4 }).chain((pieces) => {
      const one = fc.shuffledSubarray(pieces, { minLength: pieces.length });
      const any = fc
        .oneof({ arbitrary: one, weight: 5 }, fc.array(piece, { maxLength: 4 }))
        .map((all) => all.join("&"));
      return fc.tuple(any, any, any);
    });
    const received = (search: string) => {
      const parameters = new URLSearchParams(`&${search}`);
      parameters.sort();
      return parameters.toString();
    };
    let fitting = 0;
    fc.assert(
      fc.property(queries, ([given, signed, search]) => {
        if (outcome(`${url}?${signed}`, search, "", form, `${url}?${given}`) !== "first") return;
        fitting++;
        received(search).should.equal(received(signed));
      }),
      { seed, numRuns: 3000 },
    );
    fitting.should.be.above(300);
  });

  it("may be made by HMAC-SHA256 with a shared key, over the same", () => {
    const rawHeaders = (signature: string) => ["Content-Type", form, "X-Twilio-Signature", signature];
    const setup: Setup = {
      scheme: schemeOf("twilio", url),
      secrets: { first: "other", second: "secret" },
      publicUrl: url,
    };
    const sha256 = (text: string, key = "secret") => createHmac("sha256", key).update(text).digest("base64");
    for (const [signature, expected] of [
      [sha256(`${url}CallSidCA01`), "second"],
      [sha256(`${url}CallSidCA02`), "signatureWrong"],
      [sha256(`${url}CallSidCA01`, ""), "signatureWrong"],
      [createHmac("sha512", "secret").update(`${url}CallSidCA01`).digest("base64"), "signatureWrong"],
    ] as const) {
      const head = { method: "POST", rawHeaders: rawHeaders(signature), search: "" };
      outcomeOf(setup, { head, body: Buffer.from("CallSid=CA01"), at }).should.equal(expected);
    }
  });

  it("covers each of 1,500 parameters", () => {
    const many = Array.from({ length: 1500 }, (_, index) => `p${index}=`);
    outcome(`${url}?${many.join("&")}A1`, many.join("&"), "A=1").should.equal("first");
    outcome(`${url}?${many.slice(0, 1000).join("&")}A1`, many.join("&"), "A=1").should.equal("signatureWrong");
  });
});

describe("a time", () => {
  const epoch = Date.UTC(2026, 0, 1);
  for (const [text, expected] of [
    ["2026-01-01T00:00:00Z", epoch],
    ["2026-01-01t00:00:00z", epoch],
    ["2026-01-01T00:00:00.5Z", epoch + 500],
    ["2026-01-01T00:00:00.123456789Z", epoch + 123.456789],
    ["2026-01-01T01:30:00+01:30", epoch],
    ["2025-12-31T23:00:00-01:00", epoch],
    ["2025-12-31T23:59:60Z", epoch],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["2026-02-29T00:00:00Z", undefined],
    ["2026-04-31T00:00:00Z", undefined],
    ["2026-01-01T24:00:00Z", undefined],
    ["2026-13-01T00:00:00Z", undefined],
    ["2026-01-01T00:00:00", undefined],
    ["2026-01-01 00:00:00Z", undefined],
    ["2026-01-01", undefined],
    ["2026-01-01T00:00:00.Z", undefined],
    ["2026-01-01T00:00:00.1234567890Z", undefined],
    ["2026-01-01T00:00:00+0100", undefined],
    ["+002026-01-01T00:00:00Z", undefined],
    ["1767225600", undefined],
  ] as const) {
    it(`${text}: ${expected ?? "malformed"}`, () => should(parseTime(text, "iso8601")).equal(expected));
  }
});
