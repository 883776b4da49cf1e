import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GatewayClient } from "../src/client/gateway-client.js";
import { GatewayProcess } from "../src/demo/gateway-process.js";
import { eventually } from "../src/testing/eventually.js";
import { directoryImage } from "./images.js";
import {
  describeInChromium,
  focused,
  lowContrasts,
  tabTo,
  untilConnected,
  untilText,
} from "./page-browser.js";
import { tempDir } from "./temp-dir.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const IMAGE_BYTES = 2_000_000;

describeInChromium("the live page over a real gateway with real processes", (pages) => {
  let gateway: GatewayProcess;
  let client: GatewayClient;
  let url: string;
  let image: string;

  beforeEach(async () => {
    const dir = await tempDir();
    image = join(dir, "image");
    await directoryImage(image, IMAGE_BYTES);
    gateway = new GatewayProcess({ dataDir: dir, args: [], cli });
    url = await gateway.start();
    client = new GatewayClient({ url });
  });

  afterEach(async () => {
    for (const { id } of (await client.list({ limit: 500 })).items) await client.delete(id);
    await eventually("nothing left", async () => (await client.list()).items.length === 0);
    await gateway.end("SIGTERM");
  });

  function create(name: string, fields: object = {}): Promise<{ readonly id: string }> {
    return client.create({ name, image: { path: image }, command: ["sleep", "600"], ...fields });
  }

  /** At work on its image, and kept there. */
  function held(name: string, fields: object = {}): Promise<{ readonly id: string }> {
    const driverOptions = { fault: { stallAtBytes: IMAGE_BYTES / 2 } };
    return create(name, { driverOptions, ...fields });
  }

  const phaseOf = (page: Page) => page.locator("#detail-phase");
  const operation = (page: Page, name: string) =>
    page.getByRole("region", { name: "What may be done next" }).getByRole("button", { name, exact: true });

  it("shows a sandbox from its creation to Ready, stopped, started again and gone", async () => {
    const { page, complaints } = await pages.open(url);
    await untilConnected(page);
    await page.getByText("There is no sandbox yet.").waitFor();
    await page.getByRole("button", { name: "New sandbox" }).click();
    const form = page.getByRole("dialog", { name: "New sandbox" });
    await form.getByLabel("Name", { exact: true }).fill("Box");
    await form.getByLabel("Image", { exact: true }).fill(image);
    await form.getByLabel("Command").fill("sleep\n600");
    await form.getByRole("button", { name: "Create" }).click();
    await untilText(form.getByRole("alert"), /lower-case/);
    expect(await focused(page)).toBe("Name");
    await form.getByLabel("Name", { exact: true }).fill("box");
    await form.getByRole("button", { name: "Create" }).click();
    await untilText(phaseOf(page), /Ready/);
    // One word or two, as the changes came: the announcer gathers (page-question).
    await untilText(page.locator("#announcer"), /^box is (?:new: )?Ready\.$/);
    await untilText(page.locator("#deadline-headline"), /^Met after/);
    const ready = page.getByRole("table", { name: "Conditions" }).getByRole("row", { name: /^Ready True/ });
    await ready.waitFor();
    await page.getByRole("listitem").getByText("✓ Image copied: image").waitFor();

    expect(await operation(page, "Start").getAttribute("aria-disabled")).toBe("true");
    // Closed as it is, it can be pressed, and says why nothing comes of it.
    await operation(page, "Start").click({ force: true });
    await untilText(page.locator(".outcome"), /^Not done\. Nothing to do/);
    await operation(page, "Stop").click();
    await untilText(phaseOf(page), /Stopped/);
    await operation(page, "Start").click();
    await untilText(phaseOf(page), /Ready/);

    await operation(page, "Delete").click();
    const dialog = page.getByRole("dialog", { name: "Delete box?" });
    await dialog.getByRole("button", { name: "Keep it" }).click();
    expect((await client.get("box")).phase).toBe("Ready");
    await operation(page, "Delete").click();
    await dialog.getByRole("button", { name: "Delete it" }).click();
    await page.getByText("box is gone.", { exact: true }).first().waitFor();
    await page.getByText("There is no sandbox yet.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows bytes and limits of work under way with their values", async () => {
    const { id } = await held("slow");
    const { page } = await pages.open(`${url}/#${id}`);
    await untilConnected(page);
    const bar = page.getByRole("progressbar", { name: "Copying image: image" });
    await eventually("half of the bytes", async () => (await bar.getAttribute("aria-valuenow")) === "50");
    expect(await bar.getAttribute("aria-valuetext")).toMatch(/^1 MB of 2 MB, 50 %/);
    expect(await bar.locator(".bar-fill").evaluate((fill) => (fill as HTMLElement).style.transform)).toBe(
      "scaleX(0.5)",
    );
    const announced = await page.locator("#announcer").textContent();
    expect(announced).toBe("");
    const meters = page.getByRole("list", { name: "Limits, the one in force first" }).getByRole("meter");
    expect(await meters.evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")))).toEqual([
      "Silence without progress",
      "Window of preparation",
      "Ceiling of preparation",
      "Ceiling of the attempt",
    ]);
    expect(await meters.first().getAttribute("aria-valuetext")).toMatch(/left of 2 minutes, limits now$/);
    const left = async () => Number(await meters.nth(1).getAttribute("aria-valuenow"));
    const before = await left();
    expect(before).toBeGreaterThan(0);
    await eventually("time that passes", async () => (await left()) < before);
  });

  it("shows an expiry with its limit and message, and what may be done then", async () => {
    const { id } = await held("stalled", { budgets: { stallMs: 300 } });
    const { page } = await pages.open(`${url}/#${id}`);
    await untilText(phaseOf(page), /Error/);
    await untilText(page.locator("#deadline-headline"), /^Expired: Silence without progress$/);
    await untilText(page.locator("#deadline-detail"), /It was cleaned up\.$/);
    await untilText(page.locator("#detail-reason"), /ImagePreparationTimedOut/);
    await eventually(
      "an open start",
      async () => (await operation(page, "Start").getAttribute("aria-disabled")) === null,
    );
  });

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

  it("says that the connection is lost, and goes on when the gateway is back", async () => {
    const kept = await create("kept");
    const { page, complaints } = await pages.open(`${url}/#${kept.id}`);
    await untilText(phaseOf(page), /Ready/);
    const row = page.getByRole("link", { name: "kept" });
    await row.focus();
    await row.evaluate((link) => ((link as { marked?: boolean }).marked = true));
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await gateway.end("SIGKILL");
    await untilText(
      page.getByRole("status").first(),
      /^Connection lost\. What you see is of .* Trying again…$/,
    );
    // However far one has scrolled, the word is in sight.
    const { y } = (await page.locator("#connection").boundingBox()) ?? { y: -1 };
    expect([await page.evaluate(() => scrollY > 0), y >= 0]).toEqual([true, true]);
    await untilText(page.locator("#why-stop"), /no connection/);
    expect(await operation(page, "Stop").getAttribute("aria-disabled")).toBe("true");
    await untilText(phaseOf(page), /Ready/);

    expect(await gateway.start()).toBe(url);
    await untilConnected(page);
    await client.stop(kept.id);
    await untilText(phaseOf(page), /Stopped/);
    const other = await create("newcomer");
    await page.getByRole("link", { name: "newcomer" }).waitFor();
    expect(other.id).not.toBe(kept.id);
    expect(await focused(page)).toBe("kept");
    expect(await row.evaluate((link) => (link as { marked?: boolean }).marked)).toBe(true);
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
