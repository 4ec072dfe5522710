import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { problems } from "../../src/request/problem";

describe("problems", () => {
  const texts: Record<string, string> = catalog.refused;
  for (const [key, { name, status }] of Object.entries(problems)) {
    it(`${key}: the operator's log has a text for it, which tells its status`, () => {
      name.should.equal(key);
      // Each sender has a status of its own for a handshake that is none.
      const end = key === "handshakeRefused" ? /[^)]$/ : new RegExp(`\\(${status}\\)(?:$|: )`);
      should(texts[name]).be.a.String().and.match(end);
    });
  }
});
