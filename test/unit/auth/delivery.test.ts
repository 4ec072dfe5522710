import should from "should";
import { makeTestRequest } from "../../../src/auth/present";
import type { Sender } from "../../../src/auth/senders/sender";
import { type SenderId, senderIds, senders } from "../../../src/auth/senders/table";
import { readSenderDelivery, RequestValues } from "../../../src/auth/request-values";
import { DecodedBody } from "../../../src/request/decode";

function valuesOf(rawHeaders: string[], body: string): RequestValues {
  const head = { method: "POST", rawHeaders, search: "" };
  return new RequestValues(head, DecodedBody.of(head, Buffer.from(body)));
}

function told(sender: SenderId, headers: string[], body: unknown) {
  const content = typeof body === "string" ? body : JSON.stringify(body);
  const { events, id } = readSenderDelivery(senders[sender], valuesOf(headers, content));
  const [event] = events;
  return { ...(event !== undefined && { event }), ...(id !== undefined && { id }) };
}

describe("what a sender tells of a delivery", () => {
  const cases: [string, SenderId, string[], unknown, object][] = [
    ["in fields", "github", ["x-github-event", "push", "X-GitHub-Delivery", "1"], "", { event: "push", id: "1" }],
    ["in the body", "stripe", [], { id: "evt_1", type: "charge.failed" }, { event: "charge.failed", id: "evt_1" }],
    ["behind a byte-order mark", "stripe", [], '\ufeff{"id":"evt_1"}', { id: "evt_1" }],
    ["in the first element", "hubspot", [], [{ subscriptionType: "contact.creation" }], { event: "contact.creation" }],
    [
      "in the only element",
      "adyen",
      [],
      { notificationItems: [{ NotificationRequestItem: { eventCode: "REFUND", pspReference: "A1" } }] },
      { event: "REFUND", id: "A1" },
    ],
    ["as a number", "telegram", [], { update_id: 10_000 }, { id: "10000" }],
    ["as a number that is not whole", "telegram", [], { update_id: 1.5 }, { id: "1.5" }],
    ["as a number that JSON has rounded", "telegram", [], '{"update_id":12345678901234567890}', {}],
    ["as anything else", "stripe", [], { id: { a: 1 }, type: true }, {}],
    ["as an empty text", "stripe", [], { id: "", type: "" }, {}],
    ["at a name of an object's prototype", "slack", [], { event: "text" }, {}],
    ["in a text, by position", "hubspot", [], "text", {}],
    ["in no JSON", "stripe", [], "id=1", {}],
    ["in a field that is repeated", "github", ["X-GitHub-Event", "a", "X-GitHub-Event", "b"], "", {}],
    ["in one of two places", "bitbucket", ["X-Event-Key", "a", "X-Request-Id", "2"], "", { event: "a", id: "2" }],
    ["in both of two places", "bitbucket", ["X-Request-Id", "2", "X-Request-UUID", "1"], "", { id: "1" }],
    ["nowhere", "dropbox", ["X-GitHub-Event", "push"], { id: "1", type: "a" }, {}],
  ];
  for (const [name, sender, headers, body, expected] of cases) {
    it(name, () => should(told(sender, headers, body)).eql(expected));
  }

  it("is at the first place that has a value", () => {
    const events = ["header:X-Event", "json:type", "json:event.type"] as const;
    const eventOf = (headers: string[], body: unknown) =>
      readSenderDelivery({ events }, valuesOf(headers, JSON.stringify(body))).events[0];
    should(eventOf(["X-Event", "a"], { type: "b" })).equal("a");
    should(eventOf([], { type: "b", event: { type: "c" } })).equal("b");
    should(eventOf([], { type: "", event: { type: "c" } })).equal("c");
    should(eventOf([], {})).be.undefined();
  });

  it("is no member of a prototype", () => {
    const fields = valuesOf([], '{"a":[1]}');
    for (const event of ["json:constructor.name", "json:__proto__.constructor.name", "json:a.length"] as const) {
      readSenderDelivery({ events: [event] }, fields).events.should.eql([]);
    }
    for (const path of ["__proto__", "toString", "a.length", "a.-1", "a.1"]) {
      fields.values(`json:${path}`).should.eql([], path);
    }
  });

  it("is in a test request, for every sender", () => {
    for (const id of senderIds) {
      const row: Sender = senders[id];
      const { body, headers } = makeTestRequest(row);
      const { event } = told(id, Object.entries(headers).flat(), body);
      should(event).equal(row.events && "test", id);
    }
    should(makeTestRequest({})).eql({ body: "hello world", headers: { "Content-Type": "text/plain" } });
  });
});

const form = (fields: Record<string, string>) => String(new URLSearchParams(fields));

/** As each sender's documentation shows them. */
describe("what a sender says in each kind of its deliveries", () => {
  const asForm = ["Content-Type", "application/x-www-form-urlencoded"];
  const asJson = ["Content-Type", "application/json"];
  const interaction = { type: "block_actions", user: { id: "U1" }, actions: [{ action_id: "go" }] };
  const cases: [string, SenderId, string[], unknown, object][] = [
    ["an event of Slack", "slack", asJson, { type: "event_callback", event_id: "Ev1", event: { type: "message" } }, { event: "message", id: "Ev1" }],
    ["an interaction of Slack", "slack", asForm, form({ payload: JSON.stringify(interaction) }), { event: "block_actions" }],
    ["a slash command of Slack", "slack", asForm, form({ command: "/weather", text: "Rome" }), { event: "/weather" }],
    ["Slack's note that there were too many events", "slack", asJson, { type: "app_rate_limited", team_id: "T1" }, { event: "app_rate_limited" }],
    ["an interaction of Discord", "discord", asJson, { id: "1", type: 2, data: { name: "hello" } }, { event: "2", id: "1" }],
    ["an event of Discord", "discord", asJson, { version: 1, type: 1, event: { type: "APPLICATION_AUTHORIZED" } }, { event: "APPLICATION_AUTHORIZED" }],
    ["a call of Twilio", "twilio", asForm, form({ CallSid: "CA1", CallStatus: "ringing" }), { event: "ringing" }],
    ["a message of Twilio", "twilio", asForm, form({ SmsStatus: "sent", MessageStatus: "delivered" }), { event: "delivered" }],
    ["a conference of Twilio", "twilio", asForm, form({ StatusCallbackEvent: "participant-join", CallStatus: "in-progress" }), { event: "participant-join" }],
    ["Twilio's Event Streams", "twilio", asJson, [{ type: "com.twilio.messaging.message.sent", source: "/a", id: "EZ1" }], { event: "com.twilio.messaging.message.sent", id: "EZ1" }],
    ["an event of Mailgun", "mailgun", asJson, { signature: { token: "t" }, "event-data": { event: "opened" } }, { event: "opened", id: "t" }],
    ["a form of Mailgun", "mailgun", asForm, form({ token: "t", timestamp: "1", sender: "a@example.com" }), { id: "t" }],
    ["a call of Telnyx", "telnyx", asForm, form({ CallSid: "v3:1", CallStatus: "initiated" }), { event: "initiated" }],
    ["a recording of Telnyx", "telnyx", asForm, form({ CallSid: "v3:1", CallStatus: "completed", RecordingStatus: "absent" }), { event: "absent" }],
    ["DocuSign, aggregate", "docusign", asJson, { status: "completed", envelopeId: "1" }, { event: "completed" }],
    ["an activation of Netatmo", "netatmo", asJson, { user_id: "1", push_type: "webhook_activation" }, { event: "webhook_activation" }],
    ["an event of Netatmo", "netatmo", asJson, { event_type: "person", push_type: "NACamera-person" }, { event: "person" }],
    ["an action of Nuki", "nuki", asJson, { type: "UnlockAction", requestId: "1" }, { event: "UnlockAction", id: "1" }],
    ["a device of Nuki", "nuki", asJson, { feature: "DEVICE_STATUS", type: 4 }, { event: "DEVICE_STATUS" }],
    ["an older webhook of Smartcar", "smartcar", asJson, { version: "2.0", eventName: "schedule" }, { event: "schedule" }],
    ["X Activity", "x", asJson, { data: { event_uuid: "2", event_type: "post.create" } }, { event: "post.create", id: "2" }],
    ["Brex", "standard-webhooks", ["Webhook-Id", "m1"], { event_type: "TRANSFER_PROCESSED" }, { event: "TRANSFER_PROCESSED", id: "m1" }],
    ["a hook of Supabase", "supabase-auth", ["webhook-id", "m1"], { metadata: { uuid: "u1", name: "send-sms" }, user: {} }, { event: "send-sms", id: "u1" }],
    ["a hook of an older Supabase", "supabase-auth", ["webhook-id", "m1"], { user: {} }, { id: "m1" }],
    ["Anthropic", "anthropic", ["webhook-id", "m1"], { type: "event", id: "event_1", data: { type: "session.status_idled" } }, { event: "session.status_idled", id: "m1" }],
    ["Replicate", "standard-webhooks", ["webhook-id", "m1"], { id: "p1", status: "succeeded" }, { event: "succeeded", id: "m1" }],
    ["OpenAI", "standard-webhooks", ["webhook-id", "m1"], { type: "batch.completed", data: { id: "b" } }, { event: "batch.completed", id: "m1" }],
    ["Grafana with a template", "grafana", asJson, { state: "alerting" }, { event: "alerting" }],
    ["an installation at monday.com", "monday", asJson, { type: "install", data: {} }, { event: "install" }],
    ["Pub/Sub, wrapped", "google-pubsub", asJson, { message: { data: "", messageId: "7" } }, { id: "7" }],
    ["Pub/Sub, unwrapped", "google-pubsub", ["x-goog-pubsub-message-id", "7"], { message: { messageId: "of the data" } }, { id: "7" }],
    ["Cloud Scheduler", "google-scheduler", ["X-CloudScheduler-JobName", "nightly", "X-CloudScheduler-ScheduleTime", "2026-10-05T01:41:00-07:00"], "", { event: "nightly", id: "2026-10-05T01:41:00-07:00" }],
    ["Cloud Tasks", "google-scheduler", ["X-CloudTasks-QueueName", "mail", "X-CloudTasks-TaskName", "t1"], "", { event: "mail", id: "t1" }],
    ["Google Chat", "google-chat", asJson, { type: "MESSAGE" }, { event: "MESSAGE" }],
    ["Netlify", "netlify", ["X-Netlify-Event", "deploy_created"], { id: "d", state: "ready" }, { event: "deploy_created" }],
    ["a status of Vonage", "vonage", asJson, { message_uuid: "a", status: "delivered" }, { event: "delivered" }],
    ["a message of Vonage", "vonage", asJson, { message_uuid: "a", message_type: "text" }, { event: "text" }],
    ["SharePoint", "microsoft-graph", asJson, { value: [{ subscriptionId: "s", resource: "r" }] }, {}],
    ["Azure Event Grid in CloudEvents", "azure-eventgrid", ["Content-Type", "application/cloudevents+json; charset=utf-8"], { type: "a", source: "/s", id: "1" }, { event: "a", id: "1" }],
  ]; // prettier-ignore
  for (const [name, sender, headers, body, expected] of cases) {
    it(name, () => should(told(sender, headers, body)).eql(expected));
  }
});

describe("a call of Twilio by GET", () => {
  it("has its event in the query, which is signed", () => {
    const head = { method: "GET", rawHeaders: [], search: "CallSid=CA1&CallStatus=in%2Dprogress&Digits=1" };
    const fields = new RequestValues(head, DecodedBody.of(head, Buffer.alloc(0)));
    readSenderDelivery(senders.twilio, fields).events.should.eql(["in-progress"]);
  });
});

describe("a batch of events", () => {
  const read = (sender: SenderId, body: unknown, headers: string[] = []) =>
    readSenderDelivery(senders[sender], valuesOf(headers, JSON.stringify(body)));

  it("has the events of all its elements, in their order, wherever each has its own", () => {
    const value = [
      { changeType: "created", id: "1" },
      { lifecycleEvent: "missed" },
      { id: "3" },
      { changeType: "deleted" },
    ];
    should(read("microsoft-graph", { value })).match({ events: ["created", "missed", "deleted"], id: "1" });
  });

  it("has no key where one of its events has no id of its own, since that one may be new", () => {
    const ids = (...all: unknown[]) => read("line", { events: all.map((webhookEventId) => ({ webhookEventId })) });
    should(ids("a", "b").key).be.a.String();
    for (const unknown of ["", undefined, null, {}, true, 2 ** 53])
      should(ids("a", unknown)).match({ id: "a", key: undefined });
    should(ids().key).be.undefined();
  });

  it("has the key of its item's reference, event and success at Adyen, which sends the same again", () => {
    const key = (success: string, eventCode = "AUTHORISATION", more = {}) =>
      read("adyen", {
        notificationItems: [{ NotificationRequestItem: { pspReference: "A1", eventCode, success, ...more } }],
      }).key;
    should(key("true", "AUTHORISATION", { eventDate: "2026" }))
      .be.a.String()
      .and.equal(key("true"));
    new Set([key("true"), key("false"), key("true", "CAPTURE")]).size.should.equal(3);
  });

  it("has the id of the whole request where its events have none", () => {
    const data = { events: [{ eventType: "a" }, { eventType: "b" }] };
    should(read("okta", { eventId: "e", data })).match({ events: ["a", "b"], id: "e", key: /e/ });
  });
});

describe("a CloudEvent", () => {
  const structured = ["Content-Type", "application/cloudevents+json"];
  const binary = (...more: string[]) => [
    "Content-Type",
    "application/json",
    "ce-type",
    "a",
    "ce-source",
    "/s",
    ...more,
  ];
  const read = (headers: string[], body: unknown = {}) =>
    readSenderDelivery(senders.cloudevents, valuesOf(headers, typeof body === "string" ? body : JSON.stringify(body)));
  const event = { specversion: "1.0", type: "a", source: "/s", id: "1" };

  it("has its attributes where the content type says, in any letter case, whatever else repeats them", () => {
    const other = ["ce-type", "b", "ce-source", "/b", "ce-id", "2"];
    const { key } = read(binary("ce-id", "1"), { ...event, type: "b", id: "2" });
    should(key).be.a.String();
    for (const type of ["application/cloudevents+json", "Application/CloudEvents+JSON; charset=UTF-8"]) {
      should(read(["content-type", type, ...other], event)).eql({ events: ["a"], id: "1", key });
    }
    for (const type of ["application/cloudevents-batch+json", "APPLICATION/CLOUDEVENTS-BATCH+JSON;charset=utf-8"]) {
      should(read(["content-type", type, ...other], [event])).eql({ events: ["a"], id: "1", key });
    }
  });

  it("has none where the format is another than JSON, or the JSON another than its type says", () => {
    const none = { events: [], id: undefined, key: undefined };
    should(read(["Content-Type", "application/cloudevents+xml", "ce-type", "a"], "<event/>")).eql(none);
    should(read(["Content-Type", "application/cloudevents-batch+json"], event)).eql(none);
    should(read(["Content-Type", "application/cloudevents-batch+json"], [])).eql(none);
    should(read(structured, [event])).eql(none);
  });

  it("is another one with the same id from another source, also in a batch", () => {
    const from = (...sources: string[]) =>
      read(
        ["Content-Type", "application/cloudevents-batch+json"],
        sources.map((source) => ({ ...event, source })),
      ).key;
    const keys = [from("/a"), from("/b"), from("/a", "/b")];
    new Set(keys).size.should.equal(3);
    should(from("/b", "/a", "/b")).equal(keys[2]);
  });

  for (const [sent, wanted] of [
    ["A%201", "A 1"],
    ["%C3%BCber", "über"],
    ["\xc3\xbcber", "über"],
    ["%e2%82%AC%25", "€%"],
    ["%2541", "%41"],
    ["100%", "100%"],
    ["%4", "%4"],
    ["%zz", "%zz"],
    ['"a b"', "a b"],
    ['"a\\"b\\\\%41"', 'a"b\\A'],
    ['5" pipe', '5" pipe'],
    ['"a" b "c"', '"a" b "c"'],
    ['"a\\"', '"a\\"'],
    ["%22a%22", '"a"'],
  ] as const) {
    it(`has the id ${wanted} where ce-id is ${sent}`, () => should(read(binary("ce-id", sent)).id).equal(wanted));
  }

  it("has no id where ce-id is no UTF-8, empty or repeated", () => {
    for (const sent of ["%C0%A0", "%ff", "\xfc", "", '""']) should(read(binary("ce-id", sent)).id).be.undefined();
    should(read(binary("ce-id", "1", "CE-ID", "1")).id).be.undefined();
  });
});
