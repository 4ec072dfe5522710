import "should";
import { keepingBy, parseStoreSettings } from "../../../nodes/runtime/store-settings";

const url = "redis://user:password@127.0.0.1:6379";

describe("where deliveries are kept", () => {
  for (const [what, given, parsed, withFile, without] of [
    ["nothing", undefined, { type: "sqlite" }, "file", "none"],
    ["a file", { type: "sqlite" }, { type: "sqlite" }, "file", "none"],
    ["a folder", { type: "sqlite", folder: "/d" }, { type: "sqlite", folder: "/d" }, "file", "none"],
    ["a folder that is none", { type: "sqlite", folder: 1 }, { field: "folder" }, "none", "none"],
    ["a server", { type: "valkey", url }, { type: "valkey", url }, "server", "server"],
    [
      "a namespace",
      { type: "valkey", url, namespace: "a" },
      { type: "valkey", url, namespace: "a" },
      "server",
      "server",
    ],
    ["an empty namespace", { type: "valkey", url, namespace: "" }, { field: "namespace" }, "none", "none"],
    ["a server without a URL", { type: "valkey" }, { field: "url" }, "none", "none"],
    ["a server of a kind that is not known", { type: "mysql", url }, { field: "type" }, "none", "none"],
    ["null", null, { field: "type" }, "none", "none"],
    ["a text", "valkey", { field: "type" }, "none", "none"],
  ] as const) {
    it(`with ${what} in the settings file: ${withFile}, or ${without} where this Node.js has no SQLite`, () => {
      const settings = parseStoreSettings(given);
      settings.should.eql(parsed);
      [true, false].map((hasFile) => keepingBy(settings, hasFile)).should.eql([withFile, without]);
    });
  }
});
