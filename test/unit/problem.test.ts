import should from "should";
import catalog from "../../locales/en-US/webhook-trigger.json";
import { problems } from "../../src/problem";

describe("problems", () => {
  const texts: Record<string, string> = catalog.refused;
  for (const [key, { name, status }] of Object.entries(problems)) {
    it(`${key}: the operator's log has a text for it, which tells its status`, () => {
      name.should.equal(key);
      should(texts[name])
        .be.a.String()
        .and.match(new RegExp(`\\(${status}\\)$`));
    });
  }
});
