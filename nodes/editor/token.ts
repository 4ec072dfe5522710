// The token in the form: made, shown, and missing.

import { isEnvironmentValue, rules, tokenLength } from "../../src/config/rules";
import { input, inputValue, keptPassword, prepareCopyButton, type WebhookNode } from "./fields";
import type { Editor } from "./host";

declare const RED: Editor;

/** The token that the form knows: one that is new. Nothing when none is set, or when it is saved and kept. */
export function knownToken(): string | undefined {
  const token = inputValue("token");
  return token === "" || token === keptPassword ? undefined : token;
}

/** What the form opened with: the sign for a kept token, one that is not deployed yet, or none. */
const openedWith = "opened-with";

/** Whether the token is another one than when the form was opened. */
export function isTokenChanged(): boolean {
  return inputValue("token") !== input("token").data(openedWith);
}

/** A token can be shown and copied only while it is new: once it is deployed, the editor does not know it. */
export function prepareToken(node: WebhookNode): void {
  const token = input("token").data(openedWith, inputValue("token"));
  const make = $("#webhook-trigger-token-make");
  const show = $("#webhook-trigger-token-show");
  const copy = $("#webhook-trigger-token-copy");
  const reveal = (visible: boolean) => {
    token.attr("type", visible ? "text" : "password");
    show.attr("aria-label", node._(visible ? "token.hide" : "token.show"));
    show.find("i").toggleClass("fa-eye", !visible).toggleClass("fa-eye-slash", visible);
  };
  const update = () => {
    const isNew = knownToken() !== undefined;
    show.add(copy).prop("disabled", !isNew);
    if (!isNew) reveal(false);
    const state = stateOf(node);
    $("#webhook-trigger-token-hint").text(state ? node._(`token.${state}`) : "");
  };

  make.on("click", () => {
    token.val(makeToken()).trigger("change");
    reveal(true);
  });
  show.on("click", () => reveal(token.attr("type") === "password"));
  RED.popover.tooltip(show, () => show.attr("aria-label") ?? "");
  prepareCopyButton(copy, () => inputValue("token"), node._("token.copied"));
  // What is typed replaces a kept token as a whole: it cannot be edited.
  token.on("focus", () => {
    if (inputValue("token") === keptPassword) token.trigger("select");
  });
  token.on("input change", update);
  update();
}

/** What there is to say of the token; nothing of one that breaks a rule, or is the name of an environment variable. */
function stateOf(node: WebhookNode): "kept" | "new" | "lost" | "none" | undefined {
  const token = knownToken();
  if (token !== undefined) return isEnvironmentValue(token) || rules.token(token) ? undefined : "new";
  if (inputValue("token") === keptPassword) return "kept";
  // A node that was set up before has lost its token when it was copied or imported.
  return node.relativePath === "" ? "none" : "lost";
}

/** 30 random bytes are exactly 40 characters of base64url (RFC 4648 §5). */
function makeToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array((tokenLength * 3) / 4));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
