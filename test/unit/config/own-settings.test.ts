import should from "should";
import { readOwnSettings } from "../../../src/config/own-settings";

const read = (environment: Record<string, string>, file: object = {}) =>
  readOwnSettings({ settings: file } as Parameters<typeof readOwnSettings>[0], environment);

describe("settings of this package", () => {
  const environment = {
    WEBHOOK_TRIGGER_STORE: "rediss://user:p%40ss@redis.example:6380/1?password=x",
    WEBHOOK_TRIGGER_BASE_URL: "https://hooks.example/",
    WEBHOOK_TRIGGER_DELIVERIES: '{"keep":5}',
    WEBHOOK_TRIGGER_MEMORY: "8mb",
  };

  it("are read from the environment", () => {
    should(read(environment).valid).eql({
      webhookTriggerStore: { type: "bullmq", url: environment.WEBHOOK_TRIGGER_STORE },
      webhookTriggerBaseUrl: "https://hooks.example",
      webhookTriggerDeliveries: { keep: 5, bytes: undefined, bodies: true },
      webhookTriggerMemory: 8 * 1024 * 1024,
    });
    const { webhookTriggerStore } = read({ WEBHOOK_TRIGGER_STORE: "sqlite:///data/hooks" }).valid;
    should(webhookTriggerStore).eql({ type: "sqlite", folder: "/data/hooks" });
    should(read({ WEBHOOK_TRIGGER_STORE: "" })).eql({ valid: {}, invalid: [], given: [] });
  });

  it("are those of the settings file where it has them, one by one", () => {
    const file = {
      webhookTriggerMemory: 2_000_000,
      webhookTriggerStore: { type: "sqlite" },
      webhookTriggerBaseUrl: "",
    };
    should(read(environment, file).valid).containEql({
      webhookTriggerMemory: 2_000_000,
      webhookTriggerStore: { type: "sqlite" },
      webhookTriggerBaseUrl: "https://hooks.example",
    });
  });

  it("take a size as body-parser and as Docker write it, and no number that is too small to be one", () => {
    const mega = 1024 * 1024;
    for (const [text, size] of [
      ["32mb", 32 * mega],
      ["32m", 32 * mega],
      ["32M", 32 * mega],
      ["32MiB", 32 * mega],
      ["1.5 GB", 1536 * mega],
      ["2048k", 2 * mega],
      ["8388608", 8 * mega],
      ["8388608b", 8 * mega],
    ] as const) {
      should(read({ WEBHOOK_TRIGGER_MEMORY: text }).valid.webhookTriggerMemory).equal(size, text);
      should(read({}, { webhookTriggerMemory: text }).valid.webhookTriggerMemory).equal(size, text);
    }
    should(read({}, { webhookTriggerMemory: 8 * mega }).valid.webhookTriggerMemory).equal(8 * mega);
    for (const text of ["32", "32x", "32 mega", "-32mb", "0", "mb", "1e9", "1023k"]) {
      should(read({ WEBHOOK_TRIGGER_MEMORY: text }).valid).eql({}, text);
    }
  });

  it("are reported where they are not valid, as the user has named them and without their values, and are not in force", () => {
    const invalid = {
      WEBHOOK_TRIGGER_STORE: ["postgres://user:secret@db", "sqlite", "sqlite://", '{"type":"sqlite"}', "nonsense"],
      WEBHOOK_TRIGGER_BASE_URL: ["hooks.example", "ftp://hooks.example"],
      WEBHOOK_TRIGGER_DELIVERIES: ["none", "5", "{keep:5}", "null", "[]"],
      WEBHOOK_TRIGGER_MEMORY: ["32", "much"],
    };
    for (const [variable, texts] of Object.entries(invalid)) {
      for (const text of texts) {
        const settings = read({ [variable]: text });
        should(settings).containEql({ valid: {}, given: [] });
        settings.invalid.map(({ name }) => name.split(".")[0]).should.eql([variable]);
        JSON.stringify(settings).should.not.containEql("secret");
      }
    }
    const file = {
      webhookTriggerStore: { type: "sqlite", folder: 5 },
      webhookTriggerBaseUrl: 5,
      webhookTriggerDeliveries: { keep: "all" },
      webhookTriggerMemory: {},
    };
    read(environment, file)
      .invalid.map(({ name }) => name)
      .should.eql(["webhookTriggerStore.folder", "webhookTriggerBaseUrl", "webhookTriggerDeliveries.keep", "webhookTriggerMemory"]); // prettier-ignore
  });

  it("are reported with examples that are valid in the same place", () => {
    const variables = ["STORE", "BASE_URL", "DELIVERIES", "MEMORY"].map((name) => `WEBHOOK_TRIGGER_${name}`);
    for (const variable of variables) {
      const examples = read({ [variable]: "?" })
        .invalid.map((invalid) => invalid.examples)
        .join();
      for (const example of variable.endsWith("DELIVERIES") ? [examples] : examples.split(", ")) {
        should(read({ [variable]: example }).invalid).eql([], `${variable}=${example}`);
      }
    }
  });

  it("are described without secrets, and with the place where they are from", () => {
    should(read(environment).given).eql([
      'WEBHOOK_TRIGGER_STORE={"type":"bullmq","url":"rediss://[redacted]@redis.example:6380/1"}',
      "WEBHOOK_TRIGGER_BASE_URL=https://hooks.example/",
      'WEBHOOK_TRIGGER_DELIVERIES={"keep":5}',
      "WEBHOOK_TRIGGER_MEMORY=8mb",
    ]);
    const connection = { host: "redis.example", password: "secret" };
    const file = { webhookTriggerStore: { type: "bullmq", connection, namespace: "hooks" } };
    should(read({}, file).given).eql(['webhookTriggerStore: {"type":"bullmq","namespace":"hooks"}']);
    should(read({}).given).eql([]);
  });
});
