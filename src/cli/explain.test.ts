import { describe, expect, it } from "vitest";
import { run } from "./run.js";

const AT = "2026-10-20T12:00:00Z";

async function slipway(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(args, {
    read: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error("no such file");
      return text;
    },
    write: () => expect.fail("explain writes no file"),
    load: () => expect.fail("explain loads no module"),
    print: (line) => out.push(line),
    complain: (line) => err.push(line),
    now: () => Date.parse(AT),
    version: () => "1.2.3",
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

const exited = {
  Name: "/sb-1",
  State: { Status: "exited", ExitCode: 137, FinishedAt: "2026-10-20T11:40:02Z" },
};

describe("slipway explain", () => {
  it("prints phase, reason, gates, evidence and the rule with its rationale", async () => {
    const { code, out } = await slipway(["explain", "docker"], { "-": JSON.stringify([exited]) });
    expect(code).toBe(0);
    expect(out).toContain("sb-1 (docker)");
    expect(out).toMatch(/phase +Error/);
    expect(out).toMatch(/reason +Killed/);
    expect(out).toMatch(/rule +finished-failed/);
    expect(out).toMatch(/start +allowed \(restart\)/);
    expect(out).toContain("completed=true");
  });

  it("explains several objects, one after the other, from a file or line by line", async () => {
    const running = { Names: "sb-2", State: "running" };
    const lines = `${JSON.stringify(running)}\n${JSON.stringify({ ...running, Names: "sb-3" })}\n`;
    const { code, out } = await slipway(["explain", "docker", "ps.jsonl"], { "ps.jsonl": lines });
    expect(code).toBe(0);
    expect(out).toContain("sb-2 (docker)");
    expect(out).toContain("sb-3 (docker)");
  });

  it.each(["docker", "podman"])(
    "takes the empty list of %s inspect for no container, given a record",
    async (kind) => {
      const files = { "-": "[]\n", record: JSON.stringify({ phase: "Ready", desired: "running" }) };
      const { code, out } = await slipway(["explain", kind, "--record", "record"], files);
      expect(code).toBe(0);
      expect(out).toMatch(/reason +ComputeResourceMissing/);
      expect(out).toContain("exists=false");
      expect(out).toContain(`there is none if ${kind} gave no other error`);
      const bare = await slipway(["explain", kind], files);
      expect(bare).toMatchObject({ code: 2, out: "" });
      expect(bare.err).toContain("found an empty list in standard input: there is no such container");
      expect(bare.err).toContain("--record FILE");
      const pods = await slipway(["explain", "pod", "--record", "record"], files);
      expect(pods.err).toMatch(/found an empty list in standard input$/);
    },
  );

  it("lists the phases where a record has none of them", async () => {
    const files = { "-": JSON.stringify([exited]), record: JSON.stringify({ phase: "Prov" }) };
    const { err } = await slipway(["explain", "docker", "--record", "record"], files);
    expect(err).toContain('found "Prov": a phase is Provisioning, Starting, Ready,');
  });

  it("uses the gateway's record, and says which evidence is of another run", async () => {
    const record = {
      phase: "Starting",
      desired: "running",
      startRequestedAt: "2026-10-20T11:59:00Z",
      version: 4,
    };
    const files = { "-": JSON.stringify(exited), "r.json": JSON.stringify({ record }) };
    const { code, out } = await slipway(["explain", "docker", "-", "--record", "r.json"], files);
    expect(code).toBe(0);
    expect(out).toMatch(/phase +Starting/);
    expect(out).toMatch(/rejected +stale=true: the observation is of another run/);
  });

  it("gives the whole decision as JSON", async () => {
    const { out } = await slipway(["explain", "docker", "--json", "--at", AT], {
      "-": JSON.stringify(exited),
    });
    expect(JSON.parse(out)).toMatchObject({
      kind: "docker",
      name: "sb-1",
      decision: { phase: "Error", rule: "finished-failed" },
      gates: { delete: { allowed: true } },
      observation: { exitCode: 137 },
    });
  });

  it("takes the pods of a mixed list for the list of pods, and their absence for silence", async () => {
    const sandbox = { kind: "Sandbox", metadata: { name: "sb", uid: "u" }, spec: { replicas: 0 } };
    const stranger = { kind: "Pod", metadata: { name: "x" } };
    const phase = async (value: unknown): Promise<string> => {
      const { out } = await slipway(["explain", "sandbox", "--json"], { "-": JSON.stringify(value) });
      return (JSON.parse(out) as { decision: { phase: string } }).decision.phase;
    };
    expect(await phase({ kind: "List", items: [sandbox, stranger] })).toBe("Stopped");
    expect(await phase(sandbox)).toBe("Unknown");
    expect(await phase({ sandbox, pods: { items: [] } })).toBe("Stopped");
  });

  it.each([
    ["pod", { kind: "Pod", spec: {}, status: { phase: "Failed", reason: "Evicted" } }, "Error"],
    ["podman", { State: { Status: "initialized" } }, "Provisioning"],
    ["qemu", { return: { status: "guest-panicked" } }, "Error"],
    ["libvirt", { state: 1, reason: 1 }, "Ready"],
    ["firecracker", { state: "Paused" }, "Stopped"],
    ["cloud-hypervisor", { vmInfo: { state: "Running" } }, "Ready"],
    ["process", { pid: 1, alive: true }, "Ready"],
    ["openshell", { conditions: [{ type: "Ready", status: "True", reason: "BackendReady" }] }, "Ready"],
  ])("knows %s", async (kind, value, phase) => {
    const { code, out } = await slipway(["explain", kind, "--json"], { "-": JSON.stringify(value) });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ decision: { phase } });
  });

  it("keeps the backend's own words, for whoever looks for them", async () => {
    const waiting = { reason: "ImagePullBackOff", message: 'Back-off pulling image "nope:1"' };
    const pod = {
      kind: "Pod",
      metadata: { name: "sb" },
      spec: {},
      status: { phase: "Pending", containerStatuses: [{ name: "main", state: { waiting } }] },
    };
    const { out } = await slipway(["explain", "pod"], { "-": JSON.stringify(pod) });
    expect(out).toMatch(/backend +ImagePullBackOff: Back-off pulling image "nope:1"/);
  });

  it("takes several documents one after the other, as a loop over a command prints them", async () => {
    const pretty = JSON.stringify([exited], null, 2);
    const quoted = { ...exited, Name: '/a }{ "quoted\\" one' };
    const files = { "-": `${pretty}\n${pretty}${JSON.stringify(quoted)}` };
    const { code, out } = await slipway(["explain", "docker"], files);
    expect(code).toBe(0);
    expect(out.match(/ \(docker\)$/gm)).toHaveLength(3);
  });

  it("says so where there is no message, and complains in one line whatever the input", async () => {
    const odd = { Name: "sb", State: { Status: "banana" } };
    const { out } = await slipway(["explain", "docker"], { "-": JSON.stringify(odd) });
    expect(out).toMatch(/^ {2}message +\(none\)$/m);
    expect(out).toMatch(/^ {2}backend +banana$/m);
    expect((await slipway(["explain", "docker"], { "-": "zzz\nyyy\n" })).err.split("\n")).toHaveLength(1);
  });

  it("names the file in every complaint about what is in it", async () => {
    const files = { "a.json": '{"kind":"Pod"}', "b.json": '{"phase":"Idle"}', ok: JSON.stringify(exited) };
    expect((await slipway(["explain", "docker", "a.json"], files)).err).toContain("in a.json");
    expect((await slipway(["explain", "docker", "ok", "--record", "b.json"], files)).err).toContain(
      "in b.json",
    );
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    [
      "pods without their Sandbox",
      ["explain", "sandbox"],
      { "-": '{"kind":"Pod"}' },
      /expected agent-sandbox resources.*found 1 of kind Pod and no Sandbox in standard input/,
    ],
    ["a value for a switch", ["explain", "docker", "--json=yes"], {}, /no value after --json, found "yes"/],
    ["half a document", ["explain", "docker"], { "-": '{"a":1}{"b":' }, /found no JSON/],
    ["no kind", ["explain"], {}, /expected a kind .*, found nothing/],
    ["an unknown kind", ["explain", "lxc"], { "-": "{}" }, /expected one of docker, .*found "lxc"/],
    ["a missing file", ["explain", "docker", "gone.json"], {}, /expected a readable file, found "gone.json"/],
    [
      "nothing",
      ["explain", "docker"],
      { "-": " " },
      /expected what docker inspect .*found nothing in standard input/,
    ],
    ["an empty list", ["explain", "docker"], { "-": "[]" }, /found an empty list/],
    [
      "no JSON",
      ["explain", "docker"],
      { "-": "Error: no such object" },
      /found no JSON in standard input.*begins with "Error/,
    ],
    ["another object", ["explain", "docker"], { "-": '{"kind":"Pod"}' }, /found an object of kind Pod/],
    ["a number", ["explain", "pod"], { "-": "7" }, /expected Kubernetes pods.*found 7/],
    ["null", ["explain", "sandbox"], { "-": "null" }, /agent-sandbox resources.*found/],
    [
      "a pod for a sandbox",
      ["explain", "sandbox"],
      { "-": '{"kind":"Deployment"}' },
      /found an object of kind Deployment/,
    ],
    [
      "an unknown option",
      ["explain", "docker", "--yaml"],
      {},
      /expected --record, --at or --json, found --yaml/,
    ],
    [
      "an option without value",
      ["explain", "docker", "--record"],
      {},
      /expected a file after --record, found nothing/,
    ],
    ["a bad time", ["explain", "docker", "--at", "noon"], { "-": "{}" }, /expected a time .*found "noon"/],
    [
      "a dash of its own",
      ["explain", "docker", "-x"],
      { "-": "{}" },
      /expected --record, --at or --json, found -x/,
    ],
    ["two files", ["explain", "docker", "a", "b"], {}, /expected one file, found "b" as well/],
    [
      "a bad record",
      ["explain", "docker", "--record", "r"],
      { "-": "{}", r: '{"phase":"Hibernating"}' },
      /expected a phase in the record, found "Hibernating"/,
    ],
    [
      "a record that is none",
      ["explain", "docker", "--record", "r"],
      { "-": "{}", r: "[]" },
      /expected a record/,
    ],
    [
      "a bad wish",
      ["explain", "docker", "--record", "r"],
      { "-": "{}", r: '{"phase":"Ready","desired":"up"}' },
      /"desired" to be running, stopped or deleted, found "up"/,
    ],
    [
      "a bad instant",
      ["explain", "docker", "--record", "r"],
      { "-": "{}", r: '{"phase":"Ready","since":"x"}' },
      /"since" to be epoch/,
    ],
  ])(
    "refuses %s with exit code 2, saying what was expected and found",
    async (_name, args, files, message) => {
      const { code, out, err } = await slipway(args, files);
      expect(code).toBe(2);
      expect(out).toBe("");
      expect(err).toMatch(message);
    },
  );
});

describe("slipway", () => {
  it("helps, and refuses unknown commands", async () => {
    expect(await slipway(["--help"])).toMatchObject({ code: 0 });
    expect((await slipway(["--help"])).out).toContain("explain");
    expect((await slipway([])).code).toBe(2);
    expect(await slipway(["explode"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/expected one of explain.*found "explode"/) as string,
    });
    expect((await slipway(["explain", "--help"])).out).toContain("usage: slipway explain");
  });
});
