import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { buildApp } from "../src/http/app.js";
import { FAILURES_HEADER, readFailures, writeFailures } from "../src/metrics/failure-header.js";
import { GatewayMetrics } from "../src/metrics/gateway-metrics.js";
import { eventually } from "../src/testing/eventually.js";
import { StartedGateway } from "../src/testing/started-gateway.js";
import { Bench } from "./bench.js";
import { FakeDriver } from "./fake-driver.js";
import { tempDir } from "./temp-dir.js";

/** Samples by their name and labels, as the text has them. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

describe("the metrics of a running gateway", () => {
  let gateway: StartedGateway;
  const driver = new FakeDriver();

  beforeEach(async () => {
    gateway = await StartedGateway.start({
      drivers: [driver],
      dataDir: join(await tempDir(), "data"),
      ownerToken: "owner-secret",
      metricsToken: "metrics-secret",
    });
  });

  afterEach(() => gateway.close());

  const scrape = (token: string) =>
    fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });

  it("are in Prometheus' format, for the owner and whoever collects them, who may do nothing else", async () => {
    const box = { name: "crate-7", image: { name: "picture:1" }, command: ["work"] };
    const { id } = await gateway.client.create(box);
    await eventually("a launch", () => Promise.resolve(driver.launches.length > 0));
    await gateway.client.get(id);
    await fetch(`${gateway.url}/no/such/place/${id}`);
    const response = await scrape("metrics-secret");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const samples = samplesOf(text);
    expect(samples.get('slipway_sandboxes{phase="Provisioning"}')).toBe(1);
    expect(samples.get('slipway_sandboxes{phase="Ready"}')).toBe(0);
    expect(samples.get('slipway_http_requests_total{method="POST",route="/v1/sandboxes",status="201"}')).toBe(
      1,
    );
    expect(
      samples.get('slipway_http_requests_total{method="GET",route="/v1/sandboxes/:id",status="200"}'),
    ).toBe(1);
    expect(samples.get('slipway_http_request_seconds_count{route="/v1/sandboxes/:id"}')).toBe(1);
    expect(samples.get('slipway_http_requests_total{method="GET",route="other",status="404"}')).toBe(1);
    for (const own of [id, "crate-7", "picture", "secret"]) expect(text).not.toContain(own);
    expect((await scrape("owner-secret")).status).toBe(200);
    expect((await scrape("guess")).status).toBe(401);
    const other = await fetch(`${gateway.url}/v1/sandboxes`, {
      headers: { authorization: "Bearer metrics-secret" },
    });
    expect(other.status).toBe(401);
    await gateway.removeAll();
    await eventually(
      "an empty count",
      async () =>
        samplesOf(await (await scrape("metrics-secret")).text()).get(
          'slipway_sandboxes{phase="Deleting"}',
        ) === 0,
    );
  });
});

it("tells of its process by one set of observers, however many gateways were begun in it", async () => {
  const observed = vi.spyOn(PerformanceObserver.prototype, "observe");
  const begun = Array.from({ length: 3 }, () => new GatewayMetrics({ process: true }));
  expect(observed.mock.calls.length).toBeLessThanOrEqual(1);
  observed.mockRestore();
  for (const metrics of begun) {
    const text = await metrics.render();
    const samples = samplesOf(text);
    expect(samples.get("nodejs_eventloop_lag_max_seconds")).toBeGreaterThanOrEqual(0);
    expect(samples.get("process_start_time_seconds")).toBeGreaterThan(0);
    expect(samples.get("slipway_connections_open")).toBe(0);
    const names = text.match(/^# TYPE \S+/gm) ?? [];
    expect(new Set(names).size).toBe(names.length);
    expect(text).not.toMatch(/[^\n]#|[^\n]$/);
  }
  expect(await new GatewayMetrics().render()).not.toContain("nodejs_");
});

describe("what a gateway counts", () => {
  let bench: Bench;
  let metrics: GatewayMetrics;

  beforeEach(async () => {
    bench = await Bench.open();
    metrics = new GatewayMetrics();
  });

  afterEach(() => bench.close());

  const samples = async () => samplesOf(await metrics.render());

  it("are expiries by phase and reason with their lateness, each once, and the cleanups after them", async () => {
    const gateway = await bench.gateway("one", { observer: metrics });
    const id = await bench.create(gateway);
    bench.driver.failCleanups = 1;
    // Silent for longer than a preparation may be: the stall limit is 12 s.
    await bench.pass(20_000);
    expect(await bench.read(gateway, id)).toMatchObject({ phase: "Error" });
    const { deadline } = await bench.read(gateway, id);
    const { reason = "" } = deadline?.expiry ?? {};
    const found = await samples();
    expect(found.get(`slipway_expiries_total{phase="preparation",reason="${reason}"}`)).toBe(1);
    expect(found.get('slipway_expiry_lateness_seconds_count{phase="preparation"}')).toBe(1);
    const late = ((deadline?.expiry?.observedAt ?? 0) - (deadline?.expiry?.at ?? 0)) / 1000;
    expect(found.get('slipway_expiry_lateness_seconds_sum{phase="preparation"}')).toBeCloseTo(late, 6);
    expect(found.get('slipway_sandboxes{phase="Error"}')).toBe(1);
    await bench.pass(30_000);
    expect((await samples()).get('slipway_cleanups_total{result="failed"}')).toBe(1);
    expect((await samples()).get('slipway_cleanups_total{result="done"}')).toBe(1);
  });

  it("is what was there before it started, too, and what another gateway of the store does not count", async () => {
    const first = await bench.gateway("one", { observer: metrics });
    const id = await bench.create(first);
    await bench.becomeReady(first, id);
    await bench.kill(first);
    const later = new GatewayMetrics();
    await bench.gateway("two", { observer: later });
    expect(samplesOf(await later.render()).get('slipway_sandboxes{phase="Ready"}')).toBe(1);
  });

  it("is an automatic restart, and a launch that failed", async () => {
    const policy = { restartOn: ["MainProcessFailed"] };
    const gateway = await bench.gateway("one", { observer: metrics, policy });
    const id = await bench.create(gateway);
    bench.driver.launches.at(-1)?.fail(new Error("not now"));
    await bench.settle();
    expect((await samples()).get("slipway_launch_failures_total")).toBe(1);
    await bench.pass(5000);
    await bench.becomeReady(gateway, id);
    await bench.report(gateway, id, { kind: "exited", exitCode: 1, signal: null });
    await bench.pass(3000);
    expect((await samples()).get("slipway_restarts_total")).toBe(1);
  });

  it("is a reconcile that changed something: here a backend that was put to rest", async () => {
    const gateway = await bench.gateway("one", { observer: metrics });
    const id = await bench.create(gateway);
    bench.driver.launches.at(-1)?.succeed();
    await bench.settle();
    bench.driver.running.delete(id);
    await gateway.reconcile();
    await bench.settle();
    expect(await bench.read(gateway, id)).toMatchObject({ phase: "Stopped", reason: "BackendEmpty" });
    expect((await samples()).get('slipway_reconciled_total{outcome="written"}')).toBe(1);
  });

  it("is what supervisors say of failed attempts, and of nobody without the attempt's token", async () => {
    const gateway = await bench.gateway("one", { observer: metrics });
    const id = await bench.create(gateway);
    const app = buildApp({ gateway, log: () => undefined, metrics });
    const { deadline, run } = await bench.read(gateway, id);
    const report = (token: string) =>
      app.request(`/v1/supervisor/${id}/report`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "x-slipway-run": String(run),
          [FAILURES_HEADER]: "transient=4, suspect=1",
        },
        body: JSON.stringify({ kind: "bootstrap", succeeded: false, reason: "R", message: "" }),
      });
    expect((await report("guess")).status).toBe(401);
    expect((await report(deadline?.attempt ?? "")).status).toBe(200);
    expect((await samples()).get('slipway_bootstrap_failures_total{class="transient"}')).toBe(4);
    expect((await samples()).get('slipway_bootstrap_failures_total{class="suspect"}')).toBe(1);
    const refused =
      'slipway_http_requests_total{method="POST",route="/v1/supervisor/:id/report",status="401"}';
    expect((await samples()).get(refused)).toBe(1);
  });

  it("has no label but of a fixed set, whatever comes in", async () => {
    metrics.answered({ method: "GET", route: "/v1/sandboxes/:id", status: 200, seconds: 0.1 });
    metrics.bootstrapFailed(
      readFailures("transient=3, suspect=1, other=9, permanent=-1, transient=x, __proto__=5"),
    );
    const found = await samples();
    expect(found.get('slipway_bootstrap_failures_total{class="transient"}')).toBe(3);
    expect(found.get('slipway_bootstrap_failures_total{class="suspect"}')).toBe(1);
    expect([...found.keys()].filter((name) => name.startsWith("slipway_bootstrap")).length).toBe(2);
    expect(readFailures(writeFailures({ transient: 123_456, cancelled: 2 }))).toEqual({
      transient: 9999,
      cancelled: 2,
    });
    expect(readFailures(undefined)).toEqual({});
  });
});
