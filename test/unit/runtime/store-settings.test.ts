import "should";
import { chooseStore, parseStoreSettings } from "../../../src/config/stores";

const url = "redis://user:password@127.0.0.1:6379";

describe("where deliveries are kept", () => {
  for (const [what, given, parsed, withFile, without] of [
    ["nothing", undefined, { type: "sqlite" }, "file", "none"],
    ["a file", { type: "sqlite" }, { type: "sqlite" }, "file", "none"],
    ["a folder", { type: "sqlite", folder: "/d" }, { type: "sqlite", folder: "/d" }, "file", "none"],
    ["a folder that is none", { type: "sqlite", folder: 1 }, { field: "folder" }, "none", "none"],
    ["a server", { type: "bullmq", url }, { type: "bullmq", url }, "server", "server"],
    [
      "a namespace",
      { type: "bullmq", url, namespace: "a" },
      { type: "bullmq", url, namespace: "a" },
      "server",
      "server",
    ],
    [
      "options of a connection",
      { type: "bullmq", connection: { host: "h" } },
      { type: "bullmq", connection: { host: "h" } },
      "server",
      "server",
    ],
    [
      "a URL with options",
      { type: "bullmq", url, connection: { tls: {} } },
      { type: "bullmq", url, connection: { tls: {} } },
      "server",
      "server",
    ],
    [
      "a cluster",
      { type: "bullmq", cluster: [{ host: "h" }] },
      { type: "bullmq", cluster: [{ host: "h" }] },
      "server",
      "server",
    ],
    ["a URL that is none", { type: "bullmq", url: 1 }, { field: "url" }, "none", "none"],
    ["options that are none", { type: "bullmq", connection: "h" }, { field: "connection" }, "none", "none"],
    ["a cluster without nodes", { type: "bullmq", cluster: [] }, { field: "cluster" }, "none", "none"],
    ["an empty namespace", { type: "bullmq", url, namespace: "" }, { field: "namespace" }, "none", "none"],
    ["a server without a place", { type: "bullmq" }, { field: "url" }, "none", "none"],
    ["a server of a kind that is not known", { type: "mysql", url }, { field: "type" }, "none", "none"],
    ["null", null, { field: "type" }, "none", "none"],
    ["a text", "bullmq", { field: "type" }, "none", "none"],
  ] as const) {
    it(`with ${what} in the settings file: ${withFile}, or ${without} where this Node.js has no SQLite`, () => {
      const settings = parseStoreSettings(given);
      settings.should.eql(parsed);
      [true, false].map((hasFile) => chooseStore(settings, hasFile)).should.eql([withFile, without]);
    });
  }
});
