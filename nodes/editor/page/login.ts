// The login of the page: Node-RED's own, by user and password; an access token where Node-RED logs in by another service.

import type { Translate } from "../../../src/admin/summary";
import { classifyError } from "../deliveries/api";
import { createNote, smallButton } from "../deliveries/content";
import { ApiError } from "../deliveries/host";
import { create } from "../dom";
import { askForSession, forgetToken, logIn, type LoginForm, saveToken, unknownToken } from "./session";

export class LoginView {
  readonly element: HTMLFormElement;
  readonly #inputs: readonly HTMLInputElement[];

  /**
   * @param done called when the user may see deliveries
   * @param cancel called when the user does not want to log in; missing where that leads nowhere
   */
  constructor(
    { type, prompts = [] }: LoginForm,
    hasEditor: boolean,
    translate: Translate,
    done: () => void,
    cancel: (() => void) | undefined,
  ) {
    const byPassword = type === "credentials" && prompts.some((prompt) => prompt.type === "password");
    const createInput = (name: string, label: string, isHidden: boolean, autocomplete: string) => {
      const id = `webhook-page-${name}`;
      const input = create("input", { id, name, type: isHidden ? "password" : "text", autocomplete, required: true });
      return [create("label", { for: id }, label), input] as const;
    };
    const rows = byPassword
      ? [
          createInput("username", translate("page.user"), false, "username"),
          createInput("password", translate("page.password"), true, "current-password"),
        ]
      : [createInput("token", translate("page.token"), true, "off")];
    this.#inputs = rows.map(([, input]) => input);
    const failure = create("p", { class: "webhook-delivery-error", role: "alert" });
    const intro = byPassword ? "page.needed" : hasEditor ? "page.elsewhere" : "page.noEditor";
    const buttons = create("div", {}, create("button", { class: smallButton }, translate("page.logIn")));
    if (cancel) {
      const button = create("button", { type: "button", class: smallButton }, translate("delivery.cancel"));
      button.addEventListener("click", cancel);
      buttons.append(" ", button);
    }
    this.element = create(
      "form",
      { class: "webhook-page-login" },
      createNote(translate(intro)),
      ...rows.flat(),
      failure,
      buttons,
    );
    let isBusy = false;
    const submit = async () => {
      const [first, second] = this.#inputs.map(({ value }) => value);
      failure.textContent = "";
      try {
        if (second === undefined) saveToken({ access_token: first ?? "" });
        else await logIn({ username: first ?? "", password: second });
      } catch (error) {
        const isWrong = error instanceof ApiError && error.status >= 400;
        failure.textContent = translate(isWrong ? "page.wrong" : `tab.trouble.${classifyError(error)}`);
        this.#inputs.at(-1)?.select();
        return;
      }
      try {
        await askForSession();
        done();
      } catch (error) {
        forgetToken();
        // Each Node-RED knows its own logins only.
        const isElsewhere = byPassword && error instanceof ApiError && error.code === unknownToken;
        failure.textContent = translate(isElsewhere ? "page.otherInstance" : `tab.trouble.${classifyError(error)}`);
      }
    };
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      if (isBusy) return;
      isBusy = true;
      void submit().finally(() => (isBusy = false));
    });
  }

  focus(): void {
    this.#inputs[0]?.focus();
  }
}
