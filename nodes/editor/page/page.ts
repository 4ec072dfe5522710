// The page of deliveries outside the editor: its heading, its login, and the list.

import type { PageChanges, PageSession, PageSetup } from "../../../src/admin/page";
import { classifyError, isForbidden } from "../deliveries/api";
import { createButton } from "../deliveries/content";
import { ApiError, useHost } from "../deliveries/host";
import { Deliveries } from "../deliveries/view";
import { create, toggle } from "../dom";
import { LoginView } from "./login";
import { PageHost } from "./page-host";
import { askForChanges, askForLogin, askForSession, askForSetup, type LoginForm, logOut } from "./session";

/** From one question whether anything has changed to the next, in ms; and how long it waits for an answer. */
const [pollMs, pollAnswerMs] = [2000, 5000];
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
  /** What each Node-RED has answered last: behind a load balancer there may be several. */
  readonly #changes = new Map<string, PageChanges>();
  /** Whether the last question had no answer. */
  #isAway = false;

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
    this.#pollSoon();
  }

  /** Shows the list, or the login where the user may not see it. */
  async #begin(): Promise<void> {
    let session: PageSession;
    try {
      session = await askForSession();
      this.#host.session = session;
      const changes = await askForChanges();
      await this.#host.fetchNodes();
      this.#changes.set(changes.instance, changes);
    } catch (error) {
      if (isForbidden(error)) return this.#showLogin();
      this.#report(this.#host.translate(`tab.trouble.${classifyError(error)}`));
      setTimeout(() => void this.#begin(), retryMs);
      return;
    }
    this.#error.replaceChildren();
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

  #pollSoon(): void {
    setTimeout(() => void this.#poll().finally(() => this.#pollSoon()), pollMs);
  }

  /** Has the list fetched again where anything has changed. */
  async #poll(): Promise<void> {
    const shown = this.#deliveries;
    if (!shown || document.hidden) return;
    try {
      const changes = await askForChanges(pollAnswerMs);
      // One that is not known yet may have been started anew.
      const before = this.#changes.get(changes.instance);
      const hasOtherNodes = before?.nodes !== changes.nodes;
      if (hasOtherNodes) await this.#host.fetchNodes();
      this.#changes.set(changes.instance, changes);
      if (hasOtherNodes || this.#isAway) shown.renew();
      else if (before.deliveries !== changes.deliveries) shown.changed();
      this.#isAway = false;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return this.#begin();
      this.#isAway = true;
      shown.miss(error);
    }
  }
}

/** Before the texts have come. */
const noTexts = "Node-RED does not answer, or something in front of it does: log in there, or reload this page.";

async function start(): Promise<void> {
  try {
    new Page(await askForSetup(), await askForLogin());
  } catch (error) {
    document.body.replaceChildren(create("p", { role: "alert" }, noTexts));
    setTimeout(() => void start(), retryMs);
    if (!(error instanceof ApiError)) throw error;
  }
}

void start();
