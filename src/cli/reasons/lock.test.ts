import { describe, expect, it } from "vitest";
import { before, hostWith, pullRequest, text } from "../../../test/cli/reasons-host.js";
import { sandboxReasons } from "../../conditions/index.js";
import { lockText } from "./load-catalog.js";

describe("slipway reasons lock", () => {
  it("writes a lock that depends on the catalog only, and that check accepts", async () => {
    const { slipway, files } = hostWith({});
    expect(await slipway("reasons", "lock", "--json")).toMatchObject({
      code: 0,
      out: expect.stringContaining('"contract":2'),
    });
    expect(files["reasons.lock.json"]).toBe(lockText(sandboxReasons));
    expect((await slipway("reasons", "check", "--frozen", "--strict")).code).toBe(0);
  });

  it("does not record a breaking change without a new contract unless forced", async () => {
    const { slipway, files } = hostWith({ lock: lockText(before), "catalog.json": text(pullRequest) });
    const args = ["reasons", "lock", "--catalog", "catalog.json", "--lock", "lock"];
    expect(await slipway(...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining("was not written"),
    });
    expect(files["lock"]).toBe(lockText(before));
    expect((await slipway(...args, "--force")).code).toBe(0);
    expect(files["lock"]).toBe(lockText(pullRequest));
  });
});
