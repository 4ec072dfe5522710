import fc from "fast-check";
import "should";
import type { Authenticator } from "../../src/auth/authenticator";
import { createAuthenticator } from "../../src/auth/create-authenticator";
import { Problem } from "../../src/request/problem";
import { createKeyPair, sharedKey, signToken, type TokenKey } from "../harness/jwt";
import { seed } from "../harness/property";

/** How many tokens are changed in all: `MUTATIONS=1000000 npm test -- --grep "JSON Web Token"` takes minutes. */
const mutations = Number(process.env.MUTATIONS ?? 3000);
const at = 1_767_225_600_000;
const [issuer, audience, secret] = ["issuer", "audience", "a-shared-secret-of-more-than-32-bytes"];
const claims = { iss: issuer, aud: audience, exp: at / 1000 + 600, sub: "4711" };

function create(keySource: "publicKey" | "secret", publicKey: string): Authenticator {
  const access = {
    ...({ method: "jwt", name: "Authorization", keySource, jwksUrl: "", publicKey, bodyDigest: undefined } as const),
    ...{ first: keySource === "secret" ? secret : "", callers: [], issuer, audience, claims: {} },
  };
  const authenticator = createAuthenticator({ sender: "", access });
  if ("rule" in authenticator) throw new Error(authenticator.rule);
  return authenticator;
}

async function isAccepted(authenticator: Authenticator, value: string): Promise<boolean> {
  const head = { method: "POST", rawHeaders: ["Authorization", value], search: "" };
  const result = authenticator.checkHead(head, at);
  const known = "authenticate" in result ? await result.authenticate() : result;
  if (!(known instanceof Problem)) return true;
  known.name.should.match(/^token(Missing|Invalid)$/);
  // Whatever it is, the operator can be told why.
  authenticator.explain({ head, at }).reasons.should.be.an.Array();
  return false;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. é";

/** A character is another one, some are missing, or one is too many; or two have changed places. */
function mutate(text: string, where: number, what: number, how: number): string {
  const place = where % text.length;
  const before = text.slice(0, place);
  const character = alphabet.charAt(what % alphabet.length);
  if (how === 0) return before + character + text.slice(place + 1);
  if (how === 1) return before + text.slice(place + 1 + (what % 3));
  if (how === 2) return before + character + text.slice(place);
  return before + text.charAt(place + 1) + text.charAt(place) + text.slice(place + 2);
}

/** The bytes of a part, which may be written in more than one way. */
const bytesOf = (token: string) => token.trim().split(".").map((part) => Buffer.from(part, "base64url").toString("hex")); // prettier-ignore

describe("a JSON Web Token", () => {
  const kinds: [string, () => Promise<{ authenticator: Authenticator; key: TokenKey }>][] = [
    ["HS256", () => Promise.resolve({ authenticator: create("secret", ""), key: sharedKey(secret) })],
    ...["RS256", "ES256", "EdDSA"].map((alg): (typeof kinds)[number] => [
      alg,
      async () => {
        const { key, pem } = await createKeyPair(alg, "1");
        return { authenticator: create("publicKey", pem), key };
      },
    ]),
  ];
  for (const [alg, make] of kinds) {
    it(`that was changed in any way is never accepted: ${alg}`, async () => {
      const { authenticator, key } = await make();
      const token = await signToken(claims, key);
      (await isAccepted(authenticator, `Bearer ${token}`)).should.be.true();
      const random = fc.nat(1_000_000);
      const change = fc.asyncProperty(random, random, fc.nat(3), async (where, what, how) => {
        const changed = mutate(token, where, what, how);
        const isSame = JSON.stringify(bytesOf(changed)) === JSON.stringify(bytesOf(token));
        if (!isSame) (await isAccepted(authenticator, `Bearer ${changed}`)).should.be.false(changed);
      });
      await fc.assert(change, { seed, numRuns: Math.ceil(mutations / kinds.length) });
    });
  }

  it("of any header and claims is refused without an error, unless its signature is right", async () => {
    const authenticator = create("secret", "");
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const header = fc.oneof(
      fc.record({ alg: fc.constantFrom<unknown>("none", "HS256", "hs256", "RS256", "", null, 1), typ: fc.anything() }),
      fc.jsonValue(),
    );
    const part = fc.oneof(header, fc.jsonValue(), fc.constant(claims)).map(encode);
    const any = fc.oneof(
      fc.tuple(part, part, part).map((parts) => parts.join(".")),
      fc.string(),
    );
    const property = fc.asyncProperty(any, async (token) => {
      (await isAccepted(authenticator, token)).should.be.false();
    });
    await fc.assert(property, { seed, numRuns: 1000 });
  });
});
