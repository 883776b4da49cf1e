import fc from "fast-check";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "slipway";
import { afterEach, describe, expect, it } from "vitest";
import { HIDDEN } from "../src/gateway/secrets.js";
import { GatewayLink } from "../src/supervisor/gateway-link.js";
import { SpokenReports } from "../src/supervisor/spoken-report.js";

const ended: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

const lost = (message: string) => ({ kind: "enforcement-lost", message }) as const;

describe("a report as it is said", () => {
  it("has no value of a configuration that was there before, and of none that was refused", () => {
    const spoken = new SpokenReports();
    spoken.heard({ version: 1, env: { KEY: "the-old-secret" } });
    spoken.heard({ version: 1, env: { KEY: "the-new-secret", DEEP: { er: ["a-deep-secret"] } } });
    spoken.heard("no policy at all");
    spoken.heard({ version: 1, env: null });
    expect(spoken.of(lost("the-old-secret, the-new-secret, a-deep-secret, nothing"))).toEqual(
      lost(`${HIDDEN}, ${HIDDEN}, ${HIDDEN}, nothing`),
    );
    const cause = { reason: "the-old-secret", message: "dGhlLW9sZC1zZWNyZXQ=" };
    const failed = { kind: "bootstrap-failed", reason: "BootstrapFailed", message: "x", cause } as const;
    expect(spoken.of(failed)).toMatchObject({ cause: { reason: HIDDEN, message: HIDDEN } });
    const exited = { kind: "exited", exitCode: 1, signal: null } as const;
    expect(spoken.of(exited)).toBe(exited);
  });

  it("is cut after its values were hidden, so that no half of one is left at its end", () => {
    const value = fc.stringMatching(/^[A-Za-z0-9+=]{20,60}$/);
    fc.assert(
      fc.property(value, fc.integer({ min: 1930, max: 2010 }), (secret, before) => {
        const spoken = new SpokenReports();
        spoken.heard({ env: { KEY: secret } });
        const said = spoken.of(lost(`${".".repeat(before)}${secret}${".".repeat(100)}`));
        const { message } = said as { message: string };
        expect(message.length).toBeLessThanOrEqual(2000);
        expect(message.replaceAll(".", "")).not.toContain(secret.slice(0, 4));
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it("remembers so many values and no more, the latest of them", () => {
    const spoken = new SpokenReports();
    for (let at = 0; at < 30; at += 1) {
      const env = Object.fromEntries(
        Array.from({ length: 100 }, (_, key) => [`K${key}`, `value-${at}-${key}`]),
      );
      spoken.heard({ env: { ...env, SAME: "always-there" } });
    }
    expect(spoken.of(lost("value-0-1 value-29-1 always-there"))).toEqual(
      lost(`value-0-1 ${HIDDEN} ${HIDDEN}`),
    );
  });

  const many = (of: string, count: number) => ({
    env: Object.fromEntries(Array.from({ length: count }, (_, key) => [`K${key}`, `${of}-value-${key}`])),
  });

  it("has no value of the configuration that is current, however many that has", () => {
    const spoken = new SpokenReports();
    spoken.heard(many("current", 5000));
    for (const key of [0, 1, 2500, 4999])
      expect(spoken.of(lost(`current-value-${key}.`))).toEqual(lost(`${HIDDEN}.`));
  });

  it("has no value of the configuration that the main process was started with, however many came later", () => {
    const spoken = new SpokenReports();
    spoken.heard(many("refused", 10));
    spoken.heard(many("started", 100));
    spoken.started();
    for (let at = 0; at < 30; at += 1) spoken.heard(many(`later-${at}`, 100));
    expect(spoken.of(lost("started-value-7. started-value-99. later-29-value-3."))).toEqual(
      lost(`${HIDDEN}. ${HIDDEN}. ${HIDDEN}.`),
    );
    expect(spoken.of(lost("refused-value-7."))).toEqual(lost("refused-value-7."));
  });

  it("goes over the wire like that, with what was fetched over it", async () => {
    const heard: string[] = [];
    const read = async (request: IncomingMessage): Promise<string> => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      return text;
    };
    let generation = 0;
    const server = createServer((request, response) => {
      void read(request).then((text) => {
        if (request.method === "POST") heard.push(text);
        generation += request.method === "GET" ? 1 : 0;
        const policy = { version: 1, env: { KEY: `secret-number-${generation}` } };
        const answer = request.method === "POST" ? { activate: false } : { generation, digest: "d", policy };
        response.end(JSON.stringify(answer));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ended.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const link = new GatewayLink({ url, sandbox: "sb-1", token: "t", run: 1, clock: systemClock });
    const { signal } = new AbortController();
    await link.configurationAfter(0, 0, signal);
    await link.configurationAfter(1, 0, signal);
    await link.report(lost("secret-number-1 secret-number-2 secret-number-3"), signal);
    expect(heard).toEqual([JSON.stringify(lost(`${HIDDEN} ${HIDDEN} secret-number-3`))]);
  });
});
