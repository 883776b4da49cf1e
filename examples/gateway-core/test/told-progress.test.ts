import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DriverProgress, LaunchContext } from "../src/driver/driver.js";
import type { Gateway } from "../src/gateway/gateway.js";
import { HIDDEN } from "../src/gateway/secrets.js";
import { buildApp } from "../src/http/app.js";
import { Bench } from "./bench.js";

const OWNER = "owner-Tok3n-of-this-gateway";
const SECRET = `sk-${"0123456789abcdef".repeat(20)}`;
const KEY = "sk-0123456789";
const GOOD: DriverProgress = {
  step: "image",
  label: "Image copied",
  activeLabel: "Copying image",
  subject: "image",
  unit: "bytes",
  position: 5,
  total: 10,
};

describe("what a driver says of its work", () => {
  let bench: Bench;
  let gateway: Gateway;
  let id: string;
  let logged: { readonly event: string; readonly error?: unknown }[];

  beforeEach(async () => {
    bench = await Bench.open();
    logged = [];
    gateway = await bench.gateway("one", { log: (event, fields) => logged.push({ event, ...fields }) });
    const policy = { version: 1, env: { SECRET, KEY } };
    id = (await gateway.create({ ...bench.request, policy })).record.id;
    await bench.settle();
  });

  afterEach(() => bench.close());

  const say = async (report: unknown): Promise<void> => {
    const context = bench.driver.launches.at(-1)?.context as LaunchContext;
    context.report(report as DriverProgress);
    await bench.settle();
  };
  const complaints = () => logged.filter(({ event }) => event.startsWith("progress-"));

  it("is shortened only once no secret is in it: half of one would not be known any more", async () => {
    await say({ ...GOOD, position: `it was ${SECRET}` });
    await say({ ...GOOD, step: { environment: { KEY: SECRET } } });
    expect(complaints().map(({ error }) => error)).toEqual([
      `report.position must be a number, 0 or more, got "it was ${HIDDEN}"`,
      `report.step must be string, got {"environment":{"KEY":"${HIDDEN}"}}`,
    ]);
  });

  it.each<[keyof DriverProgress, number]>([
    ["step", 256],
    ["label", 256],
    ["activeLabel", 256],
    ["part", 256],
  ])("is malformed where its %s is longer than a tracker takes", async (field, most) => {
    const text = `${SECRET} ${"x".repeat(most)}`;
    for (let times = 0; times < 3; times += 1) await say({ ...GOOD, [field]: text });
    expect(complaints()).toMatchObject([{ event: "progress-malformed" }]);
    expect(complaints()[0]?.error).toContain(`report.${field} must be a string <=${most} characters`);
    expect(JSON.stringify(logged)).not.toContain(SECRET.slice(0, 20));
    await say({ ...GOOD, [field]: "y".repeat(most) });
    expect(complaints()).toHaveLength(1);
    const { steps } = await bench.read(gateway, id);
    expect(JSON.stringify(steps)).toContain("y".repeat(most));
  });

  it("is named for a bounded number of faults, however many it makes up", async () => {
    for (let fault = 0; fault < 500; fault += 1)
      await say({ ...GOOD, [`f${fault}`]: JSON.parse('{"__proto__":1}') });
    expect(complaints().length).toBeLessThanOrEqual(20);
    expect(gateway.refusals.of(id)).toMatchObject([{ why: "malformed", count: 500 }]);
  });

  it("has no secret in what anybody is shown of the steps", async () => {
    await say({
      ...GOOD,
      step: "build",
      label: `Built with ${KEY}`,
      activeLabel: `Building with ${KEY}`,
      subject: `registry?key=${KEY}`,
    });
    const app = buildApp({ gateway, log: () => undefined, ownerToken: OWNER });
    const headers = { authorization: `Bearer ${OWNER}` };
    const response = await app.request(`/v1/sandboxes/${id}`, { headers });
    const { steps } = (await response.json()) as { steps: { step: string }[] };
    expect(steps.find(({ step }) => step === "build")).toMatchObject({
      label: `Built with ${HIDDEN}`,
      activeLabel: `Building with ${HIDDEN}`,
      subject: `registry?key=${HIDDEN}`,
    });
  });

  it("keeps the name of the image as the user words it", async () => {
    const image = { name: "local/image:1" };
    const spec = { ...bench.request.spec, image };
    const policy = { version: 1, env: { TAG: "1" } };
    const { record } = await gateway.create({ ...bench.request, name: "other", spec, policy });
    await bench.settle();
    const app = buildApp({ gateway, log: () => undefined, ownerToken: OWNER });
    const headers = { authorization: `Bearer ${OWNER}` };
    const response = await app.request(`/v1/sandboxes/${record.id}`, { headers });
    expect(await response.json()).toMatchObject({
      image,
      steps: [{ step: "image", subject: "local/image:1" }],
    });
  });
});
