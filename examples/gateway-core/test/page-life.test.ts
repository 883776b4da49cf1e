import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { GatewayClient } from "../src/client/gateway-client.js";
import type { GatewayProcess } from "../src/demo/gateway-process.js";
import { eventually } from "../src/testing/eventually.js";
import { describeInChromium, focused, untilConnected, untilText } from "./page-browser.js";
import { operation, PageGateway, phaseOf } from "./page-gateway.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

describeInChromium("the live page over a real gateway with real processes", (pages) => {
  let served: PageGateway;
  let gateway: GatewayProcess;
  let client: GatewayClient;
  let url: string;
  let image: string;

  beforeEach(async () => {
    served = await PageGateway.open();
    ({ gateway, client, url, image } = served);
  });

  afterEach(() => served.close());

  const create = (name: string) => served.create(name);
  const held = (name: string, fields?: object) => served.held(name, fields);

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
});
