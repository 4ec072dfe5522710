import should from "should";
import type { Authenticated, Authenticator } from "../../../src/auth/authenticator";
import { createAuthenticator } from "../../../src/auth/create-authenticator";
import { findJwtPreset, isRecipeId, isSenderId, type KnownId, recipeIds, recipes, senderIds, senders } from "../../../src/auth/senders/table"; // prettier-ignore
import { readSenderDelivery, RequestValues } from "../../../src/auth/request-values";
import { parseConfig } from "../../../src/config/parse";
import { DecodedBody } from "../../../src/request/decode";
import { useFetch } from "../../harness/fetching";
import { judgeRequest } from "../../harness/verification";
import { awaited, requests } from "../../data/requests.json";
import { accepted } from "../../data/signatures.json";
import tokens from "../../data/tokens.json";

/** A request as the documentation of its sender says, made by other tools than ours. */
interface NamedRequest {
  /** The names in the list whose request it is. */
  of: string[];
  /** The id of the row. */
  sender: string;
  /** Where it is documented. */
  docs: string;
  /** What the node and the sender share: a secret, a token, a password; or a public key. */
  secret: string;
  /** When it comes, in seconds since the epoch. */
  at: number;
  method?: string;
  search?: string;
  headers: string[];
  body: string;
  /** Saved fields of the node besides those of the sender. */
  fields?: Record<string, unknown>;
  /** What the sender publishes: its key set, or a certificate. */
  published?: string;
  /** What the flow gets of it. */
  events?: string[];
  id?: string;
}

const all: NamedRequest[] = requests;

describe("a request of each name in the list of senders", () => {
  let published = "";
  useFetch(() => Promise.resolve(new Response(published)));

  it("is in test/data, unless it is awaited", () => {
    const made = [...all.flatMap(({ of }) => of), ...[...accepted, ...tokens].flatMap(({ sender }) => nameOf(sender))];
    const missing = listNames().filter((name) => !made.includes(name));
    missing.should.eql(awaited);
  });

  for (const request of all) {
    it(`is accepted, and not with another credential: ${request.of.join(", ")}`, async () => {
      for (const name of request.of) namesOf(request.sender).should.containEql(name);
      new URL(request.docs).protocol.should.equal("https:");
      published = request.published ?? "";
      should(await credentialOf(request, request.secret)).equal("first");
      published = change(published);
      should(await credentialOf(request, change(request.secret))).not.equal("first");
    });

    it(`is what the node makes of it by the same key: ${request.of.join(", ")}`, async () => {
      const { at, secret, body, headers, method = "POST", search = "" } = request;
      const fields = headers.flatMap((name, index): [string, string][] => index % 2 ? [] : [[name, headers[index + 1] ?? ""]]);
      const sent = { method, search, headers: Object.fromEntries(fields), body: Buffer.from(body) };
      const made = await authenticatorOf(request, secret)?.sign(sent, at * 1000);
      // Only the sender has the key, or each token is another one.
      if (!made || findJwtPreset(request.sender)) return;
      if ("kind" in made) throw new Error(made.kind);
      should({ search: made.search, body: String(made.body) }).eql({ search, body });
      // A time may be written in several ways.
      if (isSenderId(request.sender) && senders[request.sender].scheme.ts?.unit === "iso8601") return;
      // Hexadecimal digits have no letter case, a list may have blanks; besides, it may have signed by another secret.
      const all = Object.values(sent.headers).join("\n").toLowerCase().replaceAll(", ", ",");
      const isOther = (value: string) => !all.includes(value.toLowerCase().replaceAll(", ", ","));
      Object.values(made.headers).filter(isOther).should.eql([]);
    }); // prettier-ignore

    it(`has its events and its id where the row says: ${request.of.join(", ")}`, () => {
      const { sender, body, events = [], id } = request;
      const head = toHead(request);
      const row = isSenderId(sender) ? senders[sender] : {};
      const told = readSenderDelivery(row, new RequestValues(head, DecodedBody.of(head, Buffer.from(body))));
      should({ events: told.events, id: told.id }).eql({ events, id });
    });
  }
});

/** What a user may look for: names, and those in brackets or found by a search. That of a custom sender is none's. */
function listNames(): string[] {
  return [...senderIds, ...recipeIds].filter((id) => id !== "custom").flatMap(namesOf);
}

function namesOf(id: string): string[] {
  if (!isSenderId(id) && !isRecipeId(id)) throw new Error(id);
  const { name, aliases = [] } = isSenderId(id) ? senders[id] : recipes[id];
  return [name, ...aliases];
}

function nameOf(id: string): string[] {
  return isSenderId(id) ? namesOf(id).slice(0, 1) : [];
}

function toHead({ method = "POST", search = "", headers }: NamedRequest) {
  return { method, rawHeaders: headers, search };
}

/** The credential of the node by which it accepts a request; nothing where it refuses it. */
async function credentialOf(request: NamedRequest, secret: string): Promise<string | undefined> {
  const { at, body } = request;
  const authenticator = authenticatorOf(request, secret);
  const verdict = authenticator && (await judgeRequest(authenticator, toHead(request), body, at * 1000));
  return (verdict as Partial<Authenticated> | undefined)?.credential;
}

/** Nothing where the secret has not the format of the sender's. */
function authenticatorOf(request: NamedRequest, secret: string): Authenticator | undefined {
  const config = parseConfig(
    { relativePath: "/a", sender: request.sender, ...methodOf(request.sender as KnownId), ...request.fields },
    { token: secret, secret, user: "user", password: secret },
    { roots: { admin: "/", node: "/" } },
  );
  if ("rule" in config) throw new Error(config.rule);
  const authenticator = createAuthenticator(config);
  return "rule" in authenticator ? undefined : authenticator;
}

/** As the form fills it in. */
function methodOf(sender: KnownId): object {
  if (isRecipeId(sender)) return recipes[sender].fields;
  return { verificationMethod: findJwtPreset(sender) ? "jwt" : "signature" };
}

/** Another credential of the same form; an empty one stays. */
function change(secret: string): string {
  if (secret === "") return "";
  const middle = secret.length >> 1;
  return secret.slice(0, middle) + (secret[middle] === "b" ? "c" : "b") + secret.slice(middle + 1);
}
