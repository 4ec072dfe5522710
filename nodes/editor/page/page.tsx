// The page of deliveries outside the editor: its heading, its login, and the list. The editor loads this script for its tab,
// and for what its form opens.

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PageChanges, PageSetup } from "../../../src/admin/page";
import { isForbidden, troubleText } from "../deliveries/api";
import { isApiError, useHost } from "../deliveries/host";
import { Button } from "../deliveries/parts";
import type { DeliveriesStore } from "../deliveries/store";
import { text } from "../deliveries/texts";
import { mountDeliveries } from "../deliveries/view";
import { showCallers } from "../form/callers";
import { showConsole } from "../form/console";
import { Login } from "./login";
import { PageHost, readPlace } from "./page-host";
import { askForChanges, askForLogin, askForSession, askForSetup, type LoginForm, logOut } from "./session";

export { mountDeliveries, showCallers, showConsole };

/** From one question whether anything has changed to the next, in ms; and how long it waits for an answer. */
const [pollMs, pollAnswerMs] = [2000, 5000];
/** How long it waits where Node-RED does not answer, in ms. */
const retryMs = 5000;
/** How long an error is shown, in ms. */
const errorMs = 10_000;

interface PageState {
  /** `login`: it is needed; `chosen`: the user wants to log in and may do less without. */
  readonly shown: "nothing" | "list" | "login" | "chosen";
  readonly error: string;
}

class Page {
  readonly #host: PageHost;
  #state: PageState = { shown: "nothing", error: "" };
  #errorTimer: ReturnType<typeof setTimeout> | undefined;
  /** That of the list while it is shown. */
  #store: DeliveriesStore | undefined;
  /** What each Node-RED has answered last: behind a load balancer there may be several. */
  readonly #changes = new Map<string, PageChanges>();
  /** Whether the last question had no answer. */
  #isAway = false;

  constructor(
    readonly setup: PageSetup,
    readonly login: LoginForm,
  ) {
    this.#host = new PageHost(
      setup,
      (message) => this.#report(message),
      () => this.#state.shown === "list" && void this.#begin(),
    );
    useHost(this.#host);
    document.documentElement.lang = setup.language;
    document.title = text("tab.label");
    addEventListener("hashchange", () => this.#store?.follow(readPlace()));
    this.#change({});
    void this.#begin();
    this.#pollSoon();
  }

  #change(change: Partial<PageState>): void {
    this.#state = { ...this.#state, ...change };
    render(this.#view(), document.body);
  }

  #view() {
    const { shown, error } = this.#state;
    const { login, setup } = this;
    const user = shown === "list" ? this.#host.settings.user : undefined;
    const mayLogIn = user === null && login.type !== undefined;
    return (
      <>
        <header>
          <h1>{text("tab.label")}</h1>
          <span>{user}</span>
          {mayLogIn && (
            <Button icon="fa-user" onClick={() => this.#change({ shown: "chosen" })}>
              {text("page.logIn")}
            </Button>
          )}
          {typeof user === "string" && (
            <Button icon="fa-sign-out" onClick={() => void logOut().then(() => location.reload())}>
              {text("page.logOut")}
            </Button>
          )}
          {setup.hasEditor && <a href="../">{text("page.editor")}</a>}
        </header>
        <div class="webhook-page-error" role="alert">
          {error}
        </div>
        <main>
          {shown === "list" && <List host={this.#host} changed={(store) => (this.#store = store)} />}
          {(shown === "login" || shown === "chosen") && (
            <Login
              login={login}
              hasEditor={setup.hasEditor}
              done={() => void this.#begin()}
              cancel={shown === "chosen" ? () => void this.#begin() : undefined}
            />
          )}
        </main>
      </>
    );
  }

  /** Shows the list, or the login where the user may not see it. */
  async #begin(): Promise<void> {
    try {
      this.#host.settings = await askForSession();
      const changes = await askForChanges();
      await this.#host.fetchNodes();
      this.#changes.set(changes.instance, changes);
    } catch (error) {
      if (isForbidden(error)) return this.#change({ shown: "login" });
      this.#report(troubleText(error));
      setTimeout(() => void this.#begin(), retryMs);
      return;
    }
    this.#change({ shown: "list", error: "" });
  }

  #report(error: string): void {
    clearTimeout(this.#errorTimer);
    this.#change({ error });
    this.#errorTimer = setTimeout(() => this.#change({ error: "" }), errorMs);
  }

  #pollSoon(): void {
    setTimeout(() => void this.#poll().finally(() => this.#pollSoon()), pollMs);
  }

  /** Has the list fetched again where anything has changed. */
  async #poll(): Promise<void> {
    const shown = this.#store;
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
      if (isApiError(error) && error.status === 401) return this.#begin();
      this.#isAway = true;
      shown.miss(error);
    }
  }
}

/** The list, at the place that the address names. */
function List({ host, changed }: { host: PageHost; changed: (store: DeliveriesStore | undefined) => void }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!place.current) return undefined;
    const store = mountDeliveries(host, place.current);
    store.follow(readPlace());
    changed(store);
    return () => {
      store.stop();
      changed(undefined);
    };
  }, []);
  return <div class="webhook-deliveries" ref={place} />;
}

/** Before the texts have come. */
const noTexts = "Node-RED does not answer, or something in front of it does: log in there, or reload this page.";

async function start(): Promise<void> {
  try {
    new Page(await askForSetup(), await askForLogin());
  } catch (error) {
    render(<p role="alert">{noTexts}</p>, document.body);
    setTimeout(() => void start(), retryMs);
    if (!isApiError(error)) throw error;
  }
}

// The editor's document is not the page's.
if (document.body.dataset.page === "deliveries") void start();
