import "should";
import { chooseStore, parseStoreSettings } from "../../../src/config/stores";

const url = "redis://user:password@127.0.0.1:6379";

describe("where deliveries are kept", () => {
  for (const [what, given, parsed, withFile, without] of [
    ["a file", { type: "sqlite" }, { type: "sqlite" }, "file", "none"],
    ["a folder", { type: "sqlite", folder: "/d" }, { type: "sqlite", folder: "/d" }, "file", "none"],
    ...[{ url }, { url, namespace: "a" }, { connection: { host: "h" } }, { url, connection: { tls: {} } }, { cluster: [{ host: "h" }] }].map(
      (given) => [`a server with ${Object.keys(given).join(" and ")}`, { type: "bullmq", ...given }, { type: "bullmq", ...given }, "server", "server"] as const,
    ),
    ...[{ url: 1 }, { connection: "h" }, { cluster: [] }, { namespace: "" }].map(
      (broken) => [`a server with ${JSON.stringify(broken)}`, { type: "bullmq", ...("url" in broken ? {} : { url }), ...broken }, { field: Object.keys(broken)[0] }, "none", "none"] as const,
    ),
    ["a folder that is none", { type: "sqlite", folder: 1 }, { field: "folder" }, "none", "none"],
    ["a server without a place", { type: "bullmq" }, { field: "url" }, "none", "none"],
    ["a server of an unknown kind", { type: "mysql", url }, { field: "type" }, "none", "none"],
    ["null", null, { field: "" }, "none", "none"],
  ] as const) {
    it(`with ${what} in the settings file: ${withFile}, or ${without} where this Node.js has no SQLite`, () => {
      const settings = parseStoreSettings(given);
      settings.should.eql(parsed);
      const choose = (hasFile: boolean) => ("field" in settings ? "none" : chooseStore(settings, hasFile));
      [true, false].map(choose).should.eql([withFile, without]);
    });
  } // prettier-ignore
});
