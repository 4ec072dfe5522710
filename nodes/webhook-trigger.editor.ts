// The node type in the editor.

import { type SavedFields, withDefaults } from "../src/config/fields";
import { editorHost } from "./editor/deliveries/editor-host";
import { useHost } from "./editor/deliveries/host";
import { addTab, removeTab } from "./editor/deliveries/tab";
import { generatePath, prepareCredentials, showCredentials } from "./editor/form/credentials";
import { showCustom } from "./editor/form/custom";
import {
  credentialDefinitions,
  fieldDefinitions,
  fillInDefaults,
  fillInFields,
  form,
  input,
  operatorDefaults,
  prepareMethods,
  readForm,
  removeDefaults,
  saveOwnFields,
  showMessages,
  showRows,
  updateEvent,
  updateForm,
  type WebhookNode,
} from "./editor/form/form-state";
import { namesOfOutputs, prepareFilter, writeOutputs } from "./editor/form/filter";
import { showCommand, showHandover } from "./editor/form/handover";
import { prepareSections, showSections } from "./editor/form/sections";
import { fillInNew, prepareSender, showSender } from "./editor/form/sender";
import { showStatus, watchReport } from "./editor/form/status";
import { showTestRequest } from "./editor/form/test-request";
import { RED, fitTray } from "./editor/node-red";
import { registerWatch } from "./editor/watch";

useHost(editorHost);
registerWatch();

/** What the form shows of its state: every field may affect the others. */
const parts = [
  showRows,
  showCustom,
  showSender,
  showMessages,
  showCredentials,
  showHandover,
  showCommand,
  showTestRequest,
  showStatus,
  showSections,
  writeOutputs,
];

RED.nodes.registerType<SavedFields>("webhook-trigger", {
  category: "network",
  color: "#E7E7AE",
  inputs: 0,
  outputs: 1,
  icon: "webhook-trigger.svg",
  // The build spells them out: the flow library reads the names in this text.
  defaults: fieldDefinitions,
  credentials: credentialDefinitions,
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
    form().on(
      "input change",
      ({ target, originalEvent }: JQuery.TriggeredEvent<unknown, unknown, unknown, Element>) => {
        // Node-RED's own event of each field while it opens the form, in which nothing has changed.
        if (target.hasAttribute("skipValidation")) return;
        // Only what the user does is an event of the browser.
        updateForm(this, parts, originalEvent && target);
      },
    );
    form().on(updateEvent, () => updateForm(this, parts));
    updateForm(this, parts);
  },
  oneditresize() {
    fitTray();
  },
  oneditsave() {
    saveOwnFields(this);
  },
  oneditcancel() {
    removeDefaults(this);
  },
});

function prepare(node: WebhookNode): void {
  fillInDefaults(node);
  fillInFields(node);
  prepareMethods(node);
  prepareFilter(node);
  prepareSender(node);
  prepareSections(node);
  prepareCredentials(node);
  void watchReport(node);
  const { relativePath = "" } = operatorDefaults();
  const { values, credentials } = readForm(node);
  if (values.relativePath !== relativePath || Object.values(credentials).some(Boolean)) return;
  // It is new.
  if (relativePath === "") input("relativePath").val(generatePath());
  fillInNew(node);
}
