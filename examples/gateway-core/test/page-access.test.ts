import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "../src/testing/eventually.js";
import {
  describeInChromium,
  focused,
  lowContrasts,
  tabTo,
  untilConnected,
  untilText,
} from "./page-browser.js";
import { PageGateway, phaseOf } from "./page-gateway.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

describeInChromium("the live page over a real gateway with real processes", (pages) => {
  let served: PageGateway;
  let url: string;
  let image: string;

  beforeEach(async () => {
    served = await PageGateway.open();
    ({ url, image } = served);
  });

  afterEach(() => served.close());

  const create = (name: string, fields?: object) => served.create(name, fields);
  const held = (name: string, fields?: object) => served.held(name, fields);

  it("is used with the keyboard alone", async () => {
    await create("another");
    const { page, complaints } = await pages.open(url);
    await untilConnected(page);
    await page.getByRole("link", { name: "another" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the chosen sandbox");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("Choose a sandbox to see all of it.");

    await page.getByRole("heading", { name: "Sandboxes" }).focus();
    await tabTo(page, "New sandbox");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("Name");
    await page.keyboard.type("box");
    await tabTo(page, "Image");
    await page.keyboard.type(image);
    await tabTo(page, "Command");
    await page.keyboard.type("sleep");
    await page.keyboard.press("Enter");
    await page.keyboard.type("600");
    await tabTo(page, "Create");
    await page.keyboard.press("Enter");
    await untilText(phaseOf(page), /Ready/);
    expect(await focused(page)).toBe("box");

    await tabTo(page, "Start");
    await page.keyboard.press("Enter");
    await untilText(page.locator(".outcome"), /^Not done\./);
    await tabTo(page, "Stop");
    await page.keyboard.press("Space");
    await untilText(phaseOf(page), /Stopped/);
    expect(await focused(page)).toBe("Stop");
    await tabTo(page, "Delete");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("Keep it");
    await page.keyboard.press("Escape");
    expect(await focused(page)).toBe("Delete");
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete it");
    await page.keyboard.press("Enter");
    await eventually("the focus where the sandbox was", async () => (await focused(page)) === "box is gone.");

    await create("beside");
    await page.getByRole("link", { name: "beside" }).waitFor();
    await page.getByRole("link", { name: "another" }).focus();
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("beside");
    await page.keyboard.press("Home");
    expect(await focused(page)).toBe("another");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await eventually(
      "the details",
      async () => (await page.locator("#detail-name").textContent()) === "beside",
    );
    expect(await focused(page)).toBe("beside");
    await page.getByRole("link", { name: "Back to the list" }).press("Enter");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("row-name");
    expect(complaints).toEqual([]);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`can be read in ${colorScheme}, in every phase, wide and narrow`, async () => {
      const invalid = { version: 1, network: { allow: ["nowhere"] } };
      const shown = [
        await create("ready"),
        await held("working"),
        await held("expired", { budgets: { stallMs: 300 } }),
        await create("rejected", { policy: invalid }),
        await create("done", { command: ["true"] }),
        await create("x".repeat(63)),
      ];
      const { page } = await pages.open(url, { colorScheme, reducedMotion: "reduce" });
      const phases = page.locator("#list");
      await untilText(phases, /Error/);
      await untilText(phases, /Completed/);
      await untilText(phases, /Configuration rejected/);
      for (const width of [1200, 320]) {
        await page.setViewportSize({ width, height: 800 });
        for (const { id } of shown) {
          await page.evaluate((hash) => (location.hash = hash), id);
          await eventually("its details", async () =>
            ((await page.locator("#facts").textContent()) ?? "").includes(id),
          );
          expect(await lowContrasts(page)).toEqual([]);
          expect(
            await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          ).toBeLessThanOrEqual(0);
        }
      }
      expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
        colorScheme === "light" ? "rgb(244, 246, 248)" : "rgb(17, 22, 28)",
      );
      const moving = await page.evaluate(() => document.getAnimations().length);
      expect(moving).toBe(0);
    });
  }

  it("has landmarks, headings in order, and a name for everything that can be used", async () => {
    const { id } = await held("working");
    const { page } = await pages.open(`${url}/#${id}`);
    await page.getByRole("progressbar").first().waitFor();
    for (const landmark of ["banner", "main"] as const) await page.getByRole(landmark).waitFor();
    for (const name of ["Sandboxes", "Chosen sandbox", "Deadline", "Progress", "Conditions", "Facts"])
      await page.getByRole("region", { name, exact: true }).waitFor();
    const levels = await page
      .locator("h1, h2, h3")
      .evaluateAll((all) =>
        all.filter((each) => each.checkVisibility()).map((each) => Number(each.tagName[1])),
      );
    expect(levels[0]).toBe(1);
    for (const [index, level] of levels.entries())
      expect(level - (levels[index - 1] ?? level)).toBeLessThanOrEqual(1);
    const snapshot = await page.locator("body").ariaSnapshot();
    const usable =
      snapshot.match(/- (?:button|link|textbox|searchbox|progressbar|meter|table|dialog)\b.*/g) ?? [];
    expect(usable.length).toBeGreaterThan(8);
    for (const line of usable) expect(line).toMatch(/^- \w+ "[^"]+"/);
    expect(snapshot).toMatch(/progressbar "Work on working"/);
    for (const described of await page
      .locator("[aria-describedby]")
      .evaluateAll((all) =>
        all.map((each) =>
          (each.getAttribute("aria-describedby") ?? "")
            .split(" ")
            .every((one) => document.getElementById(one) !== null),
        ),
      ))
      expect(described).toBe(true);
  });
});
