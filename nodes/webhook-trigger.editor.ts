// The type, as the editor knows it.

import { defaults, type SavedFields } from "../src/config/fields";
import {
  form,
  prepareEnvironmentValues,
  showMessages,
  showPlacement,
  validator,
  type WebhookNode,
} from "./editor/fields";
import type { Editor } from "./editor/host";
import { prepareToken } from "./editor/token";
import { hideResult, prepareTrial, showCommand, showPicture } from "./editor/trial";
import { prepareUrl, showUrl } from "./editor/url";

declare const RED: Editor;

RED.nodes.registerType<SavedFields>("webhook-trigger", {
  category: "network",
  color: "#E7E7AE",
  inputs: 0,
  outputs: 1,
  icon: "webhook-trigger.svg",
  defaults: {
    name: { value: defaults.name },
    relativePath: { value: defaults.relativePath, validate: validator("relativePath") },
    returnQueryParams: { value: defaults.returnQueryParams, validate: validator("returnQueryParams") },
    verificationMethod: { value: defaults.verificationMethod, validate: validator("verificationMethod") },
    queryParameter: { value: defaults.queryParameter, validate: validator("queryParameter") },
    headerParameter: { value: defaults.headerParameter, validate: validator("headerParameter") },
  },
  credentials: {
    token: { type: "password", validate: validator("token") },
  },
  paletteLabel() {
    return this._("paletteLabel");
  },
  outputLabels() {
    return this._("outputLabel");
  },
  label() {
    return this.name || this.relativePath || this._("paletteLabel");
  },
  labelStyle() {
    return this.name ? "node_label_italic" : "";
  },
  oneditprepare() {
    form().data("node", this.id);
    prepareEnvironmentValues(this);
    prepareUrl(this);
    prepareToken(this);
    prepareTrial(this);
    form().on("input change", () => {
      hideResult();
      showState(this);
    });
    showState(this);
  },
});

/** Shows all that follows from what the form holds: every field may bear on the others. */
function showState(node: WebhookNode): void {
  showPlacement();
  showMessages(node);
  showUrl(node);
  showPicture();
  showCommand(node);
}
