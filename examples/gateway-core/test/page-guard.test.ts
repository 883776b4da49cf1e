import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PermanentDriverError } from "../src/driver/driver.js";
import type { JsonObject } from "../src/record/json.js";
import { SqliteStore } from "../src/store/sqlite-store.js";
import { eventually } from "../src/testing/eventually.js";
import { StartedGateway, type StartedGatewayOptions } from "../src/testing/started-gateway.js";
import { FakeDriver } from "./fake-driver.js";
import { recordWith } from "./records.js";
import { describeInChromium, focused, untilConnected, untilText } from "./page-browser.js";
import { tempDir } from "./temp-dir.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

const MARKUP = `<img src=x onerror="document.title='run'"><script>document.title='run'</script><b>bold</b>`;

describeInChromium("the live page over a gateway whose backend the test plays", (pages) => {
  let driver: FakeDriver;
  let gateway: StartedGateway;

  beforeEach(() => {
    driver = new FakeDriver();
  });

  afterEach(() => gateway.close());

  async function start(options: Partial<StartedGatewayOptions> = {}): Promise<string> {
    gateway = await StartedGateway.start({ drivers: [driver], dataDir: await tempDir(), ...options });
    return gateway.url;
  }

  function create(name: string, image = "image") {
    return gateway.client.create({ name, image: { name: image, path: "/image" }, command: ["work"] });
  }

  function launchOf(id: string) {
    const find = () => driver.launches.find(({ request }) => request.sandbox.id === id);
    return eventually("its launch", () => Promise.resolve(find()));
  }

  it("shows hostile texts as they are, and runs none of them", async () => {
    const url = await start();
    const { id } = await create("box", MARKUP);
    const { page, complaints } = await pages.open(`${url}/#${id}`);
    await untilConnected(page);
    (await launchOf(id)).fail(new PermanentDriverError("LocalImageUnusable", `it says ${MARKUP}`));
    await untilText(page.locator("#detail-message"), /<b>bold<\/b>/);
    await untilText(page.locator("#list"), /<b>bold<\/b>/);
    await untilText(page.locator("#facts"), /<img src=x/);
    await untilText(page.locator("#announcer"), /box is Error.*<b>bold/);
    expect(await page.locator("img, b, body script").count()).toBe(0);
    expect(await page.title()).toBe("box: Error – Slipway gateway");
    expect(complaints).toEqual([]);
    const refused = await page.evaluate(() => {
      try {
        document.body.innerHTML = "<b>x</b>";
        return "taken";
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(refused).toBe("TypeError");
  });

  it("stays what it is over 500 sandboxes: one that changes touches its own row", async () => {
    const dataDir = await tempDir();
    await fillStore(join(dataDir, "gateway.db"), 500);
    const url = await start({ dataDir });
    const { page } = await pages.open(url);
    await untilText(page.locator("#count"), /^500 sandboxes$/);
    const names = await page.locator(".row-name").allTextContents();
    expect(names).toEqual(Array.from({ length: 500 }, (_, index) => `box-${index}`));
    await page.getByRole("link", { name: "box-250", exact: true }).focus();
    await page.evaluate(() => {
      const touched = new Set<string>();
      (globalThis as { touched?: Set<string> }).touched = touched;
      const name = (node: Node | null): string =>
        (node instanceof Element ? node : node?.parentElement)?.closest(".row")?.querySelector("a")
          ?.textContent ?? "the list";
      const watch = new MutationObserver((changes) => {
        for (const { target, addedNodes, removedNodes } of changes) {
          // The seconds that are left pass in every row.
          if (target instanceof Element && target.closest(".row-left") !== null) continue;
          touched.add(name(target));
          if (addedNodes.length + removedNodes.length > 1 && target instanceof HTMLUListElement)
            touched.add("many rows");
        }
      });
      const options = { subtree: true, childList: true, attributes: true, characterData: true };
      watch.observe(document.getElementById("list")!, options);
    });
    const touched = () => page.evaluate(() => [...(globalThis as { touched?: Set<string> }).touched!].sort());
    const changed = { id: "sb-100", name: "box-100" };
    await gateway.client.start(changed.id);
    (await launchOf(changed.id)).context.report({
      step: "copy",
      label: "Image copied",
      subject: "image",
      unit: "bytes",
      position: 30,
      total: 100,
    });
    await page.getByRole("progressbar", { name: `Work on ${changed.name}` }).waitFor();
    expect(await touched()).toEqual([changed.name]);
    await create("box-250-b");
    await page.getByRole("link", { name: "box-250-b" }).waitFor();
    expect(await touched()).toEqual([changed.name, "the list", "box-250-b"].sort());
    expect(await focused(page)).toBe("box-250");
    await page.getByLabel("Filter by name").fill("49");
    await untilText(page.locator("#count"), /^15 of 501 sandboxes$/);
    expect(await page.locator(".row:visible").count()).toBe(15);
  });

  it("counts by the gateway's clock, whatever the browser's says", async () => {
    const url = await start();
    const { id } = await create("box");
    const { page } = await pages.open(url);
    await page.addInitScript(() => {
      const real = Date.now;
      Date.now = () => real() + 86_400_000;
    });
    await page.goto(`${url}/#${id}`);
    await page.reload();
    expect(await page.evaluate(() => Date.now())).toBeGreaterThan(Date.now() + 80_000_000);
    const meter = page.getByRole("meter", { name: "Window of preparation" });
    await eventually(
      "time that is left",
      async () => Number(await meter.getAttribute("aria-valuenow")) > 1000,
    );
  });

  it("lets go of its streams while nobody sees it, and takes them up where they were", async () => {
    const url = await start();
    const { page } = await pages.open(url);
    await untilConnected(page);
    const asked: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/events")) asked.push(request.headers()["last-event-id"]);
    });
    const setHidden = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/events"));
    await setHidden(true);
    await ended;
    await create("meanwhile");
    expect(await page.getByRole("link", { name: "meanwhile" }).count()).toBe(0);
    await setHidden(false);
    await page.getByRole("link", { name: "meanwhile" }).waitFor();
    await untilConnected(page);
    expect(asked).toEqual([expect.stringMatching(/\.\d+$/)]);
  });

  it("asks for the owner's token once, keeps it for the tab, and forgets it", async () => {
    const url = await start({ ownerToken: "correct horse" });
    const { page, complaints } = await pages.open(url);
    const token = page.getByLabel("Owner token");
    await token.waitFor();
    expect(await page.getByRole("region", { name: "Sandboxes" }).isVisible()).toBe(false);
    await token.fill("wrong");
    await token.press("Enter");
    await untilText(page.getByRole("alert"), /does not take this token/);
    await token.fill("correct horse");
    await token.press("Enter");
    await untilConnected(page);
    await create("box");
    await page.getByRole("link", { name: "box", exact: true }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await untilText(page.locator(".outcome"), /^The gateway took the stop\./);
    await page.reload();
    await page.getByRole("link", { name: "box", exact: true }).waitFor();
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie])).toEqual([
      0,
      1,
      "",
    ]);
    expect(page.url()).not.toContain("correct");
    await page.getByRole("button", { name: "Forget the token" }).click();
    await token.waitFor();
    expect(await page.getByRole("link", { name: "box", exact: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  for (const ownerToken of [undefined, "secret"]) {
    it(`gives a page of another site nothing and does nothing for it, ${ownerToken === undefined ? "without" : "with"} a token`, async () => {
      const url = await start({ ownerToken });
      const { id } = await create("box");
      const elsewhere = await otherSite();
      try {
        const { page } = await pages.open(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
        const body = JSON.stringify({ name: "planted", image: { name: "image" }, command: ["work"] });
        const outcomes = await page.evaluate(
          async ([base, box, text]) => {
            const requests: [string, RequestInit][] = [
              ["v1/sandboxes", { method: "POST", mode: "no-cors", body: text! }],
              ["v1/sandboxes", { method: "POST", body: text! }],
              [
                "v1/sandboxes",
                { method: "POST", headers: { "content-type": "application/json" }, body: text! },
              ],
              [`v1/sandboxes/${box}/stop`, { method: "POST", mode: "no-cors" }],
              [`v1/sandboxes/${box}`, { method: "DELETE" }],
              ["v1/sandboxes", {}],
            ];
            return Promise.all(
              requests.map(([path, init]) =>
                fetch(`${base}/${path}`, init).then(
                  (response) => (response.type === "opaque" ? "opaque" : "read"),
                  () => "refused",
                ),
              ),
            );
          },
          [url, id, body],
        );
        expect(outcomes).not.toContain("read");
        // A form needs no permission of anybody: its body is what it likes.
        await page.evaluate(
          ([base, text]) => {
            const form = document.createElement("form");
            form.action = `${base}/v1/sandboxes`;
            form.method = "post";
            form.enctype = "text/plain";
            const field = document.createElement("input");
            field.name = text!.slice(0, -1) + ',"policy":{"x":"';
            field.value = '"}}';
            form.append(field);
            document.body.append(form);
            form.submit();
          },
          [url, body],
        );
        await page.waitForURL(`${url}/v1/sandboxes`);
        expect(await page.textContent("body")).toMatch(
          ownerToken === undefined ? /forbidden/ : /unauthorized/,
        );
        const { items } = await gateway.client.list();
        expect(items.map(({ name, desired }) => [name, desired])).toEqual([["box", "running"]]);

        await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
        await page.evaluate((base) => {
          const frame = document.createElement("iframe");
          frame.src = `${base}/`;
          document.body.append(frame);
          return new Promise((resolve) => (frame.onload = resolve));
        }, url);
        expect(await page.frames()[1]?.locator("#connection").count()).toBe(0);
      } finally {
        elsewhere.closeAllConnections();
        elsewhere.close();
      }
    });
  }
});

/** Sandboxes at rest, straight into the store: a create of each would take its time, and shows nothing more. */
async function fillStore(path: string, count: number): Promise<void> {
  const store = new SqliteStore(path);
  const rest = {
    phase: "Stopped",
    desired: "stopped",
    reason: "Stopped",
    deadline: null,
    admission: null,
  } as const;
  for (let index = 0; index < count; index += 1) {
    const [id, name] = [`sb-${index}`, `box-${index}`];
    const record = recordWith({ ...rest, id, name, createdAt: 1, startRequestedAt: null });
    await store.insert({ id, name, dueAt: null, value: record as unknown as JsonObject });
  }
  await store.close();
}

async function otherSite(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Elsewhere</title>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
