// The login of the page: Node-RED's own, by user and password; an access token where Node-RED logs in by another service.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { troubleText } from "../deliveries/api";
import { isApiError } from "../deliveries/host";
import { Button, Note } from "../deliveries/parts";
import { text } from "../deliveries/texts";
import { askForSession, forgetToken, logIn, type LoginForm, saveToken, unknownToken } from "./session";

interface LoginProps {
  readonly login: LoginForm;
  readonly hasEditor: boolean;
  /** The user may see deliveries. */
  readonly done: () => void;
  /** The user does not want to log in; missing where that leads nowhere. */
  readonly cancel: (() => void) | undefined;
}

export function Login({ login: { type, prompts = [] }, hasEditor, done, cancel }: LoginProps) {
  const form = useRef<HTMLFormElement>(null);
  const isBusy = useRef(false);
  const [failure, setFailure] = useState("");
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  const byPassword = type === "credentials" && prompts.some((prompt) => prompt.type === "password");

  const submit = async (entered: readonly string[]) => {
    const [first = "", password] = entered;
    setFailure("");
    try {
      if (password === undefined) saveToken({ access_token: first });
      else await logIn({ username: first, password });
    } catch (error) {
      const isWrong = isApiError(error) && error.status >= 400;
      setFailure(isWrong ? text("page.wrong") : troubleText(error));
      form.current?.querySelector<HTMLInputElement>("[type=password]")?.select();
      return;
    }
    try {
      await askForSession();
      done();
    } catch (error) {
      forgetToken();
      // Each Node-RED knows its own logins only.
      const isElsewhere = byPassword && isApiError(error) && error.code === unknownToken;
      setFailure(isElsewhere ? text("page.otherInstance") : troubleText(error));
    }
  };
  return (
    <form
      ref={form}
      class="webhook-page-login"
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy.current) return;
        isBusy.current = true;
        void submit(Array.from(event.currentTarget.querySelectorAll("input"), ({ value }) => value)).finally(
          () => (isBusy.current = false),
        );
      }}
    >
      <Note>{text(byPassword ? "page.needed" : hasEditor ? "page.elsewhere" : "page.noEditor")}</Note>
      {byPassword ? (
        <>
          <label for="webhook-page-user">{text("page.user")}</label>
          <input id="webhook-page-user" name="username" autocomplete="username" required />
          <label for="webhook-page-password">{text("page.password")}</label>
          <input id="webhook-page-password" name="password" type="password" autocomplete="current-password" required />
        </>
      ) : (
        <>
          <label for="webhook-page-token">{text("page.token")}</label>
          <input id="webhook-page-token" name="token" type="password" autocomplete="off" required />
        </>
      )}
      <p class="webhook-delivery-error" role="alert">
        {failure}
      </p>
      <div>
        <Button type="submit" class="webhook-delivery-first">
          {text("page.logIn")}
        </Button>{" "}
        {cancel && <Button onClick={cancel}>{text("delivery.cancel")}</Button>}
      </div>
    </form>
  );
}
