/** The browser's tabs in which the editor is opened: one that has shown the editor shows it sooner again. */
import type { Browser, BrowserContext, CDPSession, Disposable, Page, ViewportSize } from "playwright-core";

/** How long a busy machine may take for a step in the editor, in ms. */
export const patience = 120_000;

/** What decides how the editor looks: the window, theme and language of its user, and more CSS. */
export interface Look {
  viewport?: ViewportSize;
  colorScheme?: "light" | "dark";
  locale?: string;
  style?: string;
}

/** A page, and the session in which it is told the language of its user. */
interface Tab {
  page: Page;
  session: CDPSession;
}

/** What moves is painted again and again, and nobody looks. What notifications lie over can be clicked all the same. */
const still = `
  *, ::before, ::after { transition: none !important; animation: none !important; }
  #red-ui-notifications { pointer-events: none; }
`;

/** Of each browser, whose pages know the editor's files from each other, and those of its tabs that nobody has open. */
const tabs = new WeakMap<Browser, { context: Promise<BrowserContext>; idle: Tab[] }>();

/** A page of a user who has never seen the editor, and what to do when it is not needed any more. */
export async function takeTab(browser: Browser, look: Look): Promise<{ page: Page; giveBack: () => Promise<void> }> {
  const known = tabs.get(browser) ?? { context: newContext(browser), idle: [] };
  tabs.set(browser, known);
  const tab = known.idle.pop() ?? (await newTab(await known.context));
  const dressed = await dress(tab, look);
  return {
    page: tab.page,
    giveBack: async () => {
      await dressed.dispose();
      known.idle.push(tab);
    },
  };
}

/** What a user has who has never seen the editor, whenever a page is opened. */
async function newContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  context.setDefaultTimeout(patience);
  await context.addInitScript(() => {
    // A page without an address has no storage.
    if (location.protocol !== "http:") return;
    localStorage.clear();
    sessionStorage.clear();
    // Node-RED 5 keeps its own choice of theme, whatever the browser's user likes.
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    localStorage.setItem("view-dark-theme", isDark ? "dark" : "light");
  });
  return context;
}

async function newTab(context: BrowserContext): Promise<Tab> {
  const page = await context.newPage();
  return { page, session: await context.newCDPSession(page) };
}

/** Makes a page look so, from the next time on that it loads the editor. */
async function dress({ page, session }: Tab, look: Look): Promise<Disposable> {
  const { viewport = { width: 1280, height: 720 }, colorScheme = "light", locale = "en-US", style = "" } = look;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  const userAgent = await page.evaluate(() => navigator.userAgent);
  await session.send("Emulation.setUserAgentOverride", { userAgent, acceptLanguage: locale });
  return page.addInitScript((css) => {
    addEventListener("DOMContentLoaded", () => {
      document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
    });
  }, still + style);
}
