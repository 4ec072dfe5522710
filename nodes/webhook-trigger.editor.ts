// The node type in the editor.

import { type CredentialName, defaults, type SavedFields, withDefaults } from "../src/config/fields";
import { editorHost } from "./editor/deliveries/editor-host";
import { useHost } from "./editor/deliveries/host";
import { addTab, removeTab } from "./editor/deliveries/tab";
import { generatePath, prepareCredentials, showCredentialHints } from "./editor/form/credentials";
import { showCustom } from "./editor/form/custom";
import {
  fillInDefaults,
  form,
  input,
  isSame,
  operatorDefaults,
  prepareMessages,
  prepareMethods,
  readForm,
  removeDefaults,
  settingsValidator,
  showMessages,
  showRows,
  showUnlisted,
  updateEvent,
  updateForm,
  validator,
  type WebhookNode,
} from "./editor/form/form-state";
import { namesOfOutputs, prepareFilter } from "./editor/form/filter";
import { showCommand, showHandover } from "./editor/form/handover";
import { prepareSections, showSections } from "./editor/form/sections";
import { fillInNew, prepareSender, showSettings, showWhere } from "./editor/form/sender";
import { showStatus, watchReport } from "./editor/form/status";
import { showTestRequest } from "./editor/form/test-request";
import { type Editor, fitTray } from "./editor/node-red";
import { registerWatch } from "./editor/watch";

declare const RED: Editor;

useHost(editorHost);
registerWatch();

/** What the form shows of its state: every field may affect the others. */
const parts = [
  showRows,
  showCustom,
  showWhere,
  showSettings,
  showMessages,
  showCredentialHints,
  showHandover,
  showCommand,
  showTestRequest,
  showStatus,
  showSections,
];

RED.nodes.registerType<SavedFields>("webhook-trigger", {
  category: "network",
  color: "#E7E7AE",
  inputs: 0,
  outputs: 1,
  icon: "webhook-trigger.svg",
  // Spelled out: the flow library parses this text.
  defaults: {
    name: { value: defaults.name },
    relativePath: { value: defaults.relativePath, validate: validator("relativePath") },
    methods: { value: defaults.methods, validate: validator("methods") },
    returnQueryParams: { value: defaults.returnQueryParams, validate: validator("returnQueryParams") },
    events: { value: defaults.events, validate: validator("events") },
    conditions: { value: defaults.conditions, validate: validator("conditions") },
    outputPerEvent: { value: defaults.outputPerEvent, validate: validator("outputPerEvent") },
    outputs: { value: defaults.outputs },
    verificationMethod: { value: defaults.verificationMethod, validate: validator("verificationMethod") },
    queryParameter: { value: defaults.queryParameter, validate: validator("queryParameter") },
    headerParameter: { value: defaults.headerParameter, validate: validator("headerParameter") },
    keySource: { value: defaults.keySource, validate: validator("keySource") },
    jwksUrl: { value: defaults.jwksUrl, validate: validator("jwksUrl") },
    publicKey: { value: defaults.publicKey, validate: validator("publicKey") },
    issuer: { value: defaults.issuer, validate: validator("issuer") },
    audience: { value: defaults.audience, validate: validator("audience") },
    requiredClaim: { value: defaults.requiredClaim, validate: validator("requiredClaim") },
    sender: { value: defaults.sender, validate: validator("sender") },
    scheme: { value: defaults.scheme, validate: validator("scheme") },
    senderSettings: { value: defaults.senderSettings, validate: settingsValidator() },
    reply: { value: defaults.reply, validate: validator("reply") },
    replyStatus: { value: defaults.replyStatus, validate: validator("replyStatus") },
    replyBody: { value: defaults.replyBody },
    replyType: { value: defaults.replyType, validate: validator("replyType") },
    replyTimeout: { value: defaults.replyTimeout, validate: validator("replyTimeout") },
    ignoreDuplicates: { value: defaults.ignoreDuplicates, validate: validator("ignoreDuplicates") },
    duplicateKey: { value: defaults.duplicateKey, validate: validator("duplicateKey") },
    duplicateWindow: { value: defaults.duplicateWindow, validate: validator("duplicateWindow") },
    allowFrom: { value: defaults.allowFrom, validate: validator("allowFrom") },
    rateLimit: { value: defaults.rateLimit, validate: validator("rateLimit") },
    alertWhenSilent: { value: defaults.alertWhenSilent, validate: validator("alertWhenSilent") },
    rawBody: { value: defaults.rawBody, validate: validator("rawBody") },
    guaranteed: { value: defaults.guaranteed, validate: validator("guaranteed") },
    attempts: { value: defaults.attempts, validate: validator("attempts") },
    backoffFirst: { value: defaults.backoffFirst, validate: validator("backoffFirst") },
    backoffLongest: { value: defaults.backoffLongest, validate: validator("backoffLongest") },
    concurrency: { value: defaults.concurrency, validate: validator("concurrency") },
    ratePerMinute: { value: defaults.ratePerMinute, validate: validator("ratePerMinute") },
    breaker: { value: defaults.breaker, validate: validator("breaker") },
    attemptTimeout: { value: defaults.attemptTimeout, validate: validator("attemptTimeout") },
  },
  credentials: {
    token: { type: "password", validate: validator("token") },
    secondToken: { type: "password", validate: validator("secondToken") },
    user: { type: "text", validate: validator("user") },
    password: { type: "password", validate: validator("password") },
    secondPassword: { type: "password", validate: validator("secondPassword") },
    secret: { type: "password", validate: validator("secret") },
    secondSecret: { type: "password", validate: validator("secondSecret") },
    verifyToken: { type: "password", validate: validator("verifyToken") },
  } satisfies Record<CredentialName, { type: "password" | "text"; validate: unknown }>,
  onpaletteadd: addTab,
  onpaletteremove: removeTab,
  paletteLabel() {
    return this._("paletteLabel");
  },
  outputLabels(index) {
    const event = namesOfOutputs(withDefaults(this))[index];
    return event || this._("outputLabel");
  },
  label() {
    return this.name || this.relativePath || this._("paletteLabel");
  },
  labelStyle() {
    return this.name ? "node_label_italic" : "";
  },
  oneditprepare() {
    prepare(this);
    form().on("input change", ({ target }: JQuery.TriggeredEvent<unknown, unknown, unknown, Element>) => {
      // Node-RED's own event of each field while it opens the form, in which nothing has changed.
      if (target.hasAttribute("skipValidation")) return;
      updateForm(this, parts);
    });
    form().on(updateEvent, () => updateForm(this, parts));
    updateForm(this, parts);
  },
  oneditresize() {
    fitTray();
  },
  oneditsave() {
    const saved = withDefaults(this);
    const { methods, events, conditions, scheme, senderSettings } = readForm(this).values;
    if (!isSame(methods, saved.methods)) this.methods = methods;
    if (!isSame(events, saved.events)) this.events = events;
    if (!isSame(conditions, saved.conditions)) this.conditions = conditions;
    if (!isSame(scheme, saved.scheme)) this.scheme = scheme;
    if (!isSame(senderSettings, saved.senderSettings)) this.senderSettings = senderSettings;
  },
  oneditcancel() {
    removeDefaults(this);
  },
});

function prepare(node: WebhookNode): void {
  fillInDefaults(node);
  prepareMethods(node);
  prepareFilter(node);
  prepareSender(node);
  prepareSections(node);
  for (const field of ["verificationMethod", "keySource", "reply"] as const)
    showUnlisted(field, withDefaults(node)[field]);
  prepareMessages();
  prepareCredentials(node);
  void watchReport(node);
  const { relativePath = "" } = operatorDefaults();
  const { values, credentials } = readForm(node);
  if (values.relativePath !== relativePath || Object.values(credentials).some(Boolean)) return;
  // It is new.
  if (relativePath === "") input("relativePath").val(generatePath());
  fillInNew(node);
}
