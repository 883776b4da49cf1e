import type { Page, Route } from "playwright-core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "../src/testing/eventually.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { FakeDriver } from "./fake-driver.js";
import { describeInChromium, focused, tabTo, untilConnected, untilText } from "./page-browser.js";
import { tempDir } from "./temp-dir.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

describeInChromium("the focus, in every order of answers, events and closing dialogs", (pages) => {
  let driver: FakeDriver;
  let gateway: StartedGateway;

  beforeEach(async () => {
    driver = new FakeDriver();
    gateway = await StartedGateway.start({ drivers: [driver], dataDir: await tempDir() });
  });

  afterEach(() => gateway.close());

  /** The page with one sandbox chosen, the focus on its Delete. */
  async function atDelete(): Promise<{ readonly page: Page; readonly id: string }> {
    const { id } = await gateway.client.create({ name: "box", image: { path: "/image" }, command: ["work"] });
    const { page } = await pages.open(`${gateway.url}/#${id}`);
    await untilConnected(page);
    const button = page.getByRole("button", { name: "Delete", exact: true });
    await eventually("an open gate", async () => (await button.getAttribute("aria-disabled")) === null);
    await button.focus();
    return { page, id };
  }

  async function untilFocused(page: Page, name: string): Promise<void> {
    await eventually(`the focus on ${name}`, async () => (await focused(page)) === name).catch(
      async (error: unknown) => {
        throw new Error(`the focus is on ${JSON.stringify(await focused(page))}`, { cause: error });
      },
    );
  }

  it("a question that is closed and put again within one frame is still answered", async () => {
    const { page } = await atDelete();
    await page.keyboard.press("Enter");
    await untilFocused(page, "Keep it");
    // One task: no frame comes in between, and no news of the first close.
    await page.evaluate(() => {
      const dialog = document.querySelector<HTMLDialogElement>("#delete-dialog");
      dialog?.close();
      document.querySelector<HTMLButtonElement>("[data-operation=delete]")?.click();
    });
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    await tabTo(page, "Delete it");
    await page.keyboard.press("Enter");
    await untilFocused(page, "box is gone.");
  });

  it("the event of the removal before the answer to the request", async () => {
    const { page } = await atDelete();
    const held: (() => Promise<void>)[] = [];
    await page.route("**/v1/sandboxes/*", async (route: Route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      const response = await route.fetch();
      held.push(() => route.fulfill({ response }));
    });
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete it");
    await page.keyboard.press("Enter");
    await untilFocused(page, "box is gone.");
    for (const answer of held) await answer();
    expect(held).toHaveLength(1);
    expect(await focused(page)).toBe("box is gone.");
    await page.getByText("There is no sandbox yet.").waitFor();
  });

  it("the answer to the request before the event of the removal", async () => {
    const { page } = await atDelete();
    let remove = (): void => undefined;
    const mayGo = new Promise<void>((resolve) => (remove = resolve));
    driver.pace = () => mayGo;
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete it");
    await page.keyboard.press("Enter");
    await untilText(page.locator(".outcome"), /^The gateway took the delete\./);
    expect(await focused(page)).toBe("Delete");
    remove();
    await untilFocused(page, "box is gone.");
  });

  it("the removal by somebody else while the question is open takes the question back", async () => {
    const { page, id } = await atDelete();
    await page.keyboard.press("Enter");
    await untilFocused(page, "Keep it");
    await gateway.client.delete(id);
    await untilFocused(page, "box is gone.");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("the removal while the focus is elsewhere leaves it there", async () => {
    const { page, id } = await atDelete();
    await page.getByLabel("Filter by name").focus();
    await gateway.client.delete(id);
    await page.getByText("There is no sandbox yet.").waitFor();
    expect(await focused(page)).toBe("Filter by name");
  });

  it("stays in the form while its answer is awaited, and when it is refused", async () => {
    const { page } = await atDelete();
    await page.getByRole("button", { name: "New sandbox" }).click();
    const form = page.getByRole("dialog", { name: "New sandbox" });
    await form.getByLabel("Name", { exact: true }).fill("box");
    await form.getByLabel("Image", { exact: true }).fill("/another");
    await form.getByLabel("Command").fill("work");
    let answer = (): Promise<void> => Promise.resolve();
    const asked = new Promise<void>((resolve) => {
      void page.route("**/v1/sandboxes", async (route: Route) => {
        answer = () => route.continue();
        resolve();
        await Promise.resolve();
      });
    });
    await form.getByRole("button", { name: "Create" }).focus();
    await page.keyboard.press("Enter");
    await asked;
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    expect(await focused(page)).toBe("Create");
    await answer();
    // It names no field, so the focus has nowhere better to go.
    await untilText(form.getByRole("alert"), /another sandbox named/);
    expect(await focused(page)).toBe("Create");
  });

  it("goes to nobody who closed the form before its answer came", async () => {
    const { page } = await atDelete();
    await page.getByRole("button", { name: "New sandbox" }).click();
    const form = page.getByRole("dialog", { name: "New sandbox" });
    await form.getByLabel("Name", { exact: true }).fill("late");
    await form.getByLabel("Image", { exact: true }).fill("/image");
    await form.getByLabel("Command").fill("work");
    let answer = (): Promise<void> => Promise.resolve();
    const asked = new Promise<void>((resolve) => {
      void page.route("**/v1/sandboxes", async (route: Route) => {
        answer = () => route.continue();
        resolve();
        await Promise.resolve();
      });
    });
    await form.getByRole("button", { name: "Create" }).click();
    await asked;
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.getByLabel("Filter by name").focus();
    await answer();
    await page.getByRole("link", { name: "late" }).waitFor();
    expect(await focused(page)).toBe("Filter by name");
    expect(await page.locator("#detail-name").textContent()).toBe("box");
  });
});
