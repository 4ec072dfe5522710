import should from "should";
import { bearer, token, webhookFlow } from "../harness/flow";
import { send } from "../harness/http";
import { inEveryLayout } from "../harness/layouts";

const rows = ["\\", "\\\\6{", "&;%5c", "%25"].map((piece) => ({
  piece,
  row: (length: number) => piece.repeat(length / piece.length),
}));
const encoded = encodeURIComponent(token);
/** Of an error, the log gets so many characters at most. */
const mostLogged = 10_000;

/** The middleware of an operator who has errors quote what callers send, as parsers do it. */
const quoting = `httpNodeMiddleware: async (request, response, next) => {
  if (!request.headers["x-quoted"]) return next();
  let body = "";
  for await (const chunk of request) body += chunk;
  next(new Error("Cannot take «" + body + "»"));
}`;

inEveryLayout("rows of escapes", { code: quoting, flow: webhookFlow({}) }, (nodeRed) => {
  /** What the log says of the next error, whose interval is over then. */
  async function loggedFor(body: string): Promise<string> {
    await nodeRed().putClockForward();
    nodeRed().log = "";
    const { status, body: told } = await send(nodeRed().node("/hook"), { headers: { "X-Quoted": "yes" }, body });
    status.should.equal(500);
    told.should.not.containEql("Cannot take");
    const [line] = await nodeRed().logged(/Cannot take «[^]*\n$/);
    return line;
  }

  for (const { piece, row } of rows) {
    it(`in fields of a caller with the token are read within bounds, and never tell it: ${piece}`, async () => {
      const headers = {
        ...bearer,
        "X-First": row(4000),
        "X-Second": `${row(4000)}${encoded}`,
        "X-Url": `/hook?state=${encoded}`,
        "X-Plain": "without an escape, and longer than a token is",
      };
      const { json } = await send(nodeRed().node("/hook"), { headers, body: "x" });
      const { payload, req } = await nodeRed().message(json.id);
      should(payload).equal("x");
      should(req.headers).have.property("x-plain", headers["X-Plain"]);
      should(req.headers).not.have.property("x-second");
      should(req.headers).not.have.property("x-url");
      // So many backslashes have more readings than the budget of a request is.
      should(Object.keys(req.headers as object).includes("x-first")).equal(piece !== "\\");
      JSON.stringify(req).should.not.containEql(token.slice(0, 10));
    });

    it(`in a body that an error quotes make no long line in the log, and tell no token: ${piece}`, async () => {
      for (const body of [row(500_000), `${row(200)}${token}${row(500_000)}${encoded}`, `${row(9_960)}${token}`]) {
        const line = await loggedFor(body);
        line.length.should.be.belowOrEqual(mostLogged + 100);
        line.should.not.containEql(token.slice(0, 5));
      }
    });
  }

  it("leave errors of ordinary length as they are, but for the token", async () => {
    (await loggedFor(`{"url":"https://host/hook?state=${encoded}"}`)).should.match(/«\{"url":"https:\/\/host\/hook\?state=…"\}»\s+at /);
  });
}); // prettier-ignore
