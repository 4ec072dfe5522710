// The page of deliveries outside the editor: its heading, its login, and the list.

import type { PageChanges, PageSession, PageSetup } from "../../../src/admin/page";
import { createButton } from "../deliveries/content";
import { ApiFailure, useHost } from "../deliveries/host";
import { Deliveries } from "../deliveries/view";
import { create, toggle } from "../dom";
import { LoginView } from "./login";
import { PageHost } from "./page-host";
import { askForLogin, askForSession, call, type LoginForm, logOut } from "./session";

/** How often it asks whether anything has changed, in ms. */
const pollMs = 2000;
/** How long it waits where Node-RED does not answer, in ms. */
const retryMs = 5000;
/** How long an error is shown, in ms. */
const errorMs = 10_000;

class Page {
  readonly #host: PageHost;
  readonly #hasEditor: boolean;
  readonly #login: LoginForm;
  readonly #user = create("span");
  readonly #logIn: HTMLButtonElement;
  readonly #logOut: HTMLButtonElement;
  readonly #error = create("div", { class: "webhook-page-error", role: "alert" });
  readonly #main = create("main");
  #errorTimer: ReturnType<typeof setTimeout> | undefined;
  #deliveries: Deliveries | undefined;
  #changes: PageChanges | undefined;

  constructor(setup: PageSetup, login: LoginForm) {
    this.#host = new PageHost(
      setup,
      (message) => this.#report(message),
      () => void this.#begin(),
    );
    useHost(this.#host);
    this.#hasEditor = setup.hasEditor;
    this.#login = login;
    const { translate } = this.#host;
    document.documentElement.lang = setup.language;
    document.title = translate("tab.label");
    this.#logIn = createButton("fa-user", translate("page.logIn"));
    this.#logIn.addEventListener("click", () => this.#showLogin(() => void this.#begin()));
    this.#logOut = createButton("fa-sign-out", translate("page.logOut"));
    this.#logOut.addEventListener("click", () => void logOut().then(() => location.reload()));
    const header = create(
      "header",
      {},
      create("h1", {}, translate("tab.label")),
      this.#user,
      this.#logIn,
      this.#logOut,
    );
    if (setup.hasEditor) header.append(create("a", { href: "../" }, translate("page.editor")));
    document.body.replaceChildren(header, this.#error, this.#main);
    this.#showUser(undefined);
    void this.#begin();
    setInterval(() => void this.#poll(), pollMs);
  }

  /** Shows the list, or the login where the user may not see it. */
  async #begin(): Promise<void> {
    let session: PageSession;
    try {
      session = await askForSession();
      this.#host.session = session;
      this.#changes = (await call("changes")) as PageChanges;
      await this.#host.fetchNodes();
    } catch (error) {
      if (error instanceof ApiFailure && [401, 403].includes(error.status)) return this.#showLogin();
      this.#report(this.#host.translate("tab.trouble.unreachable"));
      setTimeout(() => void this.#begin(), retryMs);
      return;
    }
    this.#showUser(session);
    if (this.#deliveries) return;
    this.#deliveries = new Deliveries();
    this.#main.replaceChildren(this.#deliveries.element);
  }

  /** @param cancel shows what can be seen without a login */
  #showLogin(cancel?: () => void): void {
    if (this.#main.querySelector("form")?.classList.contains("webhook-page-login")) return;
    this.#deliveries?.stop();
    this.#deliveries = undefined;
    this.#showUser(undefined);
    const done = () => void this.#begin();
    const login = new LoginView(this.#login, this.#hasEditor, this.#host.translate, done, cancel);
    this.#main.replaceChildren(login.element);
    login.focus();
  }

  #showUser(session: PageSession | undefined): void {
    this.#user.textContent = session?.user ?? "";
    toggle(this.#logIn, session?.user === null && this.#login.type !== undefined);
    toggle(this.#logOut, typeof session?.user === "string");
  }

  #report(message: string): void {
    clearTimeout(this.#errorTimer);
    this.#error.textContent = message;
    this.#errorTimer = setTimeout(() => this.#error.replaceChildren(), errorMs);
  }

  async #poll(): Promise<void> {
    const shown = this.#deliveries;
    if (!shown || document.hidden) return;
    try {
      const changes = (await this.#host.call("changes")) as PageChanges;
      const before = this.#changes;
      if (before && before.nodes !== changes.nodes) {
        await this.#host.fetchNodes();
        shown.renew();
      } else if (before && before.deliveries !== changes.deliveries) shown.changed();
      this.#changes = changes;
    } catch {
      // The list says why.
    }
  }
}

async function start(): Promise<void> {
  try {
    new Page((await call("page.json")) as PageSetup, await askForLogin());
  } catch {
    setTimeout(() => void start(), retryMs);
  }
}

void start();
