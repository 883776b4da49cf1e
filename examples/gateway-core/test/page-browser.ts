import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { findChromium, startChromium } from "../../../scripts/chromium.mjs";
import { eventually } from "../src/testing/eventually.js";

const executable = findChromium();

/** A page in a real Chromium, and everything that it complained of. */
interface OpenPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

export interface Pages {
  open(url: string, options?: BrowserContextOptions): Promise<OpenPage>;
}

/** Tests in a real Chromium; where there is none they are skipped, with the reason in their name. */
export function describeInChromium(what: string, tests: (pages: Pages) => void): void {
  const title = executable === null ? `${what} (skipped: no Chromium on PATH or in CHROMIUM_PATH)` : what;
  describe.skipIf(executable === null)(title, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startChromium(executable ?? "");
    });
    afterEach(async () => {
      for (const context of browser.contexts()) await context.close();
    });
    afterAll(() => browser.close());
    tests({ open: (url, options) => open(browser, url, options) });
  });
}

async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // An answer that is no success is not the page's fault, and is told apart from everything else by this text.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

/** Waits until an element has a text. */
export async function untilText(locator: Locator, text: RegExp): Promise<string> {
  let last = "";
  const look = async (): Promise<string | false> => {
    last = (await locator.textContent()) ?? "";
    return text.test(last) && last;
  };
  return eventually(`${String(text)} in ${String(locator)}`, look).catch((error: unknown) => {
    throw new Error(`the text is ${JSON.stringify(last)}`, { cause: error });
  });
}

export async function untilConnected(page: Page): Promise<void> {
  await untilText(page.locator("#connection"), /^Live$/);
}

/** Name of what has the focus, as a screen reader would say it or nearly so. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const active = document.activeElement;
    if (active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement)
      return active.labels?.[0]?.textContent ?? "";
    return active?.textContent.trim() ?? "";
  });
}

/** Goes on with Tab until something has the focus; each stop on the way shows that it has it. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; stops < 40; stops += 1) {
    await page.keyboard.press("Tab");
    const ring = await page.evaluate(() => {
      const active = document.activeElement ?? document.body;
      const shown = [active, active.closest(".row")]
        .filter((each) => each !== null)
        .map((each) => getComputedStyle(each));
      return shown.some(
        ({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
      );
    });
    const name_ = await focused(page);
    expect([name_, ring]).toEqual([name_, true]);
    if (name_ === name) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

/** Texts of the page whose contrast with what is behind them is too low, with the ratio. */
export function lowContrasts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const parse = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (rgb: number[]): number => {
      const [red = 0, green = 0, blue = 0] = rgb.map((each) => {
        const channel = each / 255;
        return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element: Element | null): number[] => {
      for (let at = element; at !== null; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
      }
      return [255, 255, 255];
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const low: string[] = [];
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const parent = node.parentElement;
      const text = node.textContent?.trim() ?? "";
      if (parent === null || text === "" || !parent.checkVisibility()) continue;
      const sorted = [parse(getComputedStyle(parent).color), behind(parent)]
        .map(luminance)
        .sort((a, b) => b - a);
      const ratio = ((sorted[0] ?? 0) + 0.05) / ((sorted[1] ?? 0) + 0.05);
      if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${text}`);
    }
    return low;
  });
}
