import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { ImageContent } from "../src/image/look-inside.js";
import { TarEnd } from "../src/image/tar-end.js";
import { VmDriver } from "../src/index.js";
import { gatewayOf, startLines } from "../src/machine/start-lines.js";
import { qemuArguments, type MachineSpec } from "../src/machine/qemu-arguments.js";
import { parseVmOptions } from "../src/vm-options.js";
import { requestOf } from "./lab.js";

const driver = new VmDriver({ dataDir: "/nowhere", guestDir: "/nowhere" });

describe("what a create request may say", () => {
  it.each([
    [{ name: "box:1" }, {}],
    [{ name: "localhost:5000/team/box:1.2" }, {}],
    [{ name: `box@sha256:${"a".repeat(64)}` }, { network: "user" }],
    [
      { name: "my box", path: "/images/box.tar" },
      { memoryMb: 256, cpus: 2, workspaceMb: 16, overlayMb: 16 },
    ],
  ])("takes %j with %j", async (image, options) => {
    await expect(driver.check(image, options)).resolves.toBeUndefined();
  });

  it.each([
    [{ name: "" }, {}, "image.name"],
    [{ name: "Not A Name" }, {}, "image.name"],
    [{ name: "../containers" }, {}, "image.name"],
    [{ name: "a/../../info" }, {}, "image.name"],
    [{ name: "box?all=1" }, {}, "image.name"],
    [{ name: "box", path: "box.tar" }, {}, "image.path"],
    [{ name: "box", include: ["bin"] }, {}, "image.include"],
    [{ name: "box" }, { memoryMb: 1 }, "driverOptions.memoryMb"],
    [{ name: "box" }, { cpus: 1.5 }, "driverOptions.cpus"],
    [{ name: "box" }, { network: "host" }, "driverOptions.network"],
    [{ name: "box" }, { disk: 1 }, "driverOptions.disk"],
  ])("refuses %j with %j by its field", async (image, options, field) => {
    await expect(driver.check(image, options)).rejects.toMatchObject({ name: "InvalidInputError", field });
  });
});

describe("what a guest is told", () => {
  const image: ImageContent = {
    node: "/usr/bin/node",
    supervisor: "/opt/slipway/supervisor.mjs",
    env: [],
    workdir: null,
    account: null,
  };

  /** The variables that a start has, as the guest's first program reads them. */
  const toldOf = (content: ImageContent): Record<string, string> => {
    const request = requestOf({ image: "box", url: "http://127.0.0.1:7300", command: ["sleep", "1"] });
    const lines = startLines(request, content).trim().split("\n");
    const words = lines.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)] as const);
    return Object.fromEntries<string>(words);
  };

  it("is what the image says of its program: folder, user and environment", () => {
    const plain = toldOf(image);
    expect(JSON.parse(plain["SLIPWAY_COMMAND"] ?? "")).toEqual(["sleep", "1"]);
    expect(plain).not.toHaveProperty("SLIPWAY_OWNER");
    const account = { uid: 1000, gid: 50, home: "/srv/box" };
    const told = toldOf({ ...image, workdir: "/srv/app", account });
    const words = ["/run/slipway/busybox", "nsenter", "-F", "-w/srv/app", "-S", "1000", "-G", "50"];
    expect(JSON.parse(told["SLIPWAY_COMMAND"] ?? "")).toEqual([...words, "sleep", "1"]);
    expect(told).toMatchObject({ SLIPWAY_OWNER: "1000:50", SLIPWAY_WORKDIR: "/srv/app" });
  });

  it("has the image's variables as they are, whatever is in them, and none of ours by the image", () => {
    const value = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\0", ""));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (values) => {
        const env = values.map((text, index) => `n.${index}=${text}`);
        const { SLIPWAY_ENTER = "" } = toldOf({ ...image, env: [...env, "SLIPWAY_TOKEN=theirs", "=x", "y"] });
        const script = Buffer.from(SLIPWAY_ENTER, "base64").toString();
        const here = script
          .replace("cd /workspace", "cd /")
          .replace("/run/slipway/busybox env --", "env -i --");
        const print = "process.stdout.write(JSON.stringify(process.env))";
        const found = execFileSync("sh", ["-c", here, "sh", process.execPath, "-e", print]);
        expect(JSON.parse(String(found))).toEqual(
          Object.fromEntries(values.map((text, index) => [`n.${index}`, text])),
        );
      }),
      { numRuns: 10 },
    );
  });

  it("has one variable a line, whatever the command is", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (command) => {
        const lines = startLines(
          requestOf({ image: "box", url: "http://127.0.0.1:7300", command }),
          image,
        ).split("\n");
        const found = lines
          .find((line) => line.startsWith("SLIPWAY_COMMAND="))
          ?.slice("SLIPWAY_COMMAND=".length);
        const expected = command.map((word) => word.replaceAll("{image}", ""));
        expect(JSON.parse(found ?? "")).toEqual(JSON.parse(JSON.stringify(expected)));
        expect(lines.slice(0, -1).every((line) => /^SLIPWAY_[A-Z_]+=/.test(line))).toBe(true);
      }),
    );
  });

  it("is refused when no program could take it", () => {
    const command = ["sh", "-c", "x".repeat(200_000)];
    const request = requestOf({ image: "box", url: "http://127.0.0.1:7300", command });
    expect(() => startLines(request, image)).toThrow("SLIPWAY_COMMAND is longer than a program takes");
  });

  it.each(["https://127.0.0.1:1", "http://10.0.0.1:1", "http://gateway.example:1"])(
    "no gateway at %s",
    (url) => {
      expect(() => gatewayOf({ url, token: "t" })).toThrow(url);
    },
  );

  it("nothing secret is in QEMU's arguments, and a comma in a path stays in its value", () => {
    const spec: MachineSpec = {
      name: "slipway/a/b",
      accelerator: "tcg",
      kernel: "/k",
      initrd: "/i",
      workspace: "/data,1/w.img",
      gateway: { host: "127.0.0.1", port: 7300 },
      options: parseVmOptions({}),
    };
    const words = qemuArguments(spec);
    expect(words).toContain("id=workspace,if=none,format=raw,discard=unmap,file=/data,,1/w.img");
    expect(words.find((word) => word.startsWith("user,"))).toContain("restrict=on,");
    const open = qemuArguments({ ...spec, options: parseVmOptions({ network: "user" }) });
    expect(open.find((word) => word.startsWith("user,"))).not.toContain("restrict");
  });
});

describe("the end of an archive", () => {
  it("is seen however the stream was cut into chunks", () => {
    const cut = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2000 }),
        fc.integer({ min: 0, max: 3000 }),
        cut,
        (body, zeros, sizes) => {
          const bytes = Buffer.concat([body, Buffer.alloc(zeros)]);
          const end = new TarEnd();
          for (let at = 0, index = 0; at < bytes.length; index += 1) {
            const size = sizes[index % sizes.length] ?? 1;
            end.see(bytes.subarray(at, at + size));
            at += size;
          }
          const last = bytes.subarray(-1024);
          expect(end.complete).toBe(last.length === 1024 && last.every((byte) => byte === 0));
        },
      ),
    );
  });
});
