import should from "should";
import { describeOwnSettings, getOwnSettings } from "../../../src/config/own-settings";
import { parseDeliverySettings, parseStoreSettings } from "../../../src/config/stores";

const read = (environment: Record<string, string>, file: object = {}) =>
  getOwnSettings({ settings: file } as Parameters<typeof getOwnSettings>[0], environment);
const describeGiven = (environment: Record<string, string>, file: object = {}) =>
  describeOwnSettings({ settings: file } as Parameters<typeof getOwnSettings>[0], environment);

describe("settings of this package", () => {
  const environment = {
    WEBHOOK_TRIGGER_STORE: "rediss://user:p%40ss@redis.example:6380/1?password=x",
    WEBHOOK_TRIGGER_BASE_URL: "https://hooks.example",
    WEBHOOK_TRIGGER_DELIVERIES: '{"keep":5}',
    WEBHOOK_TRIGGER_MEMORY: "8mb",
  };

  it("are read from the environment", () => {
    should(read(environment)).eql({
      webhookTriggerStore: { type: "bullmq", url: environment.WEBHOOK_TRIGGER_STORE },
      webhookTriggerBaseUrl: "https://hooks.example",
      webhookTriggerDeliveries: { keep: 5 },
      webhookTriggerMemory: "8mb",
    });
    const { webhookTriggerStore } = read({ WEBHOOK_TRIGGER_STORE: "sqlite:///data/hooks" });
    should(parseStoreSettings(webhookTriggerStore)).eql({ type: "sqlite", folder: "/data/hooks" });
    should(read({ WEBHOOK_TRIGGER_STORE: "" })).eql({});
  });

  it("are those of the settings file where it has them, one by one", () => {
    const file = { webhookTriggerMemory: 1000, webhookTriggerStore: { type: "sqlite" } };
    should(read(environment, file)).have.properties({ ...file, webhookTriggerBaseUrl: "https://hooks.example" });
  });

  it("are reported by their rules where they are not understood", () => {
    for (const store of ["postgres://db", "sqlite", "sqlite://", '{"type":"sqlite"}']) {
      const { webhookTriggerStore } = read({ WEBHOOK_TRIGGER_STORE: store });
      should(parseStoreSettings(webhookTriggerStore)).have.property("field");
    }
    for (const deliveries of ["none", "5", "{keep:5}", "null"]) {
      const { webhookTriggerDeliveries } = read({ WEBHOOK_TRIGGER_DELIVERIES: deliveries });
      should(parseDeliverySettings(webhookTriggerDeliveries)).have.property("field");
    }
  });

  it("are described without secrets, and with the place where they are from", () => {
    should(describeGiven(environment)).eql([
      'WEBHOOK_TRIGGER_STORE={"type":"bullmq","url":"rediss://[redacted]@redis.example:6380/1"}',
      "WEBHOOK_TRIGGER_BASE_URL=https://hooks.example",
      'WEBHOOK_TRIGGER_DELIVERIES={"keep":5}',
      "WEBHOOK_TRIGGER_MEMORY=8mb",
    ]);
    const connection = { host: "redis.example", password: "secret" };
    const file = { webhookTriggerStore: { type: "bullmq", connection, namespace: "hooks" } };
    should(describeGiven({}, file)).eql(['webhookTriggerStore: {"type":"bullmq","namespace":"hooks"}']);
    should(describeGiven({ WEBHOOK_TRIGGER_STORE: "redis:/user:secret@host" })).eql(["WEBHOOK_TRIGGER_STORE={}"]);
    should(describeGiven({})).eql([]);
  });
});
