import type { ReasonCatalog } from "../../src/conditions/index.js";
import type { CommandIo } from "../../src/cli/command.js";
import { run } from "../../src/cli/run.js";

/** A host with these files, and what was printed and written there. */
export function hostWith(files: Record<string, string>, modules: Record<string, object> = {}) {
  const printed: string[] = [];
  const complained: string[] = [];
  const io: CommandIo = {
    read: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" });
      if (text === "unreadable") throw new Error("permission denied");
      return text;
    },
    write: (path, text) => {
      if (path === "readonly") throw new Error("permission denied");
      files[path] = text;
    },
    load: (path) => {
      const found = modules[path];
      return found ? Promise.resolve({ ...found }) : Promise.reject(new Error("no such module"));
    },
    print: (line) => printed.push(line),
    complain: (line) => complained.push(line),
    now: () => 0,
    version: () => "1.2.3",
  };
  const slipway = async (...args: string[]) => {
    const code = await run(args, io);
    return { code, out: printed.splice(0).join("\n"), err: complained.splice(0).join("\n") };
  };
  return { slipway, files };
}

const type = { polarity: "positive", presence: "always", summary: "Ready." } as const;
export const entry = { types: ["Ready"], class: "terminal", summary: "A sentence." } as const;
export const finding = { operation: "prepare", cause: "mismatch", type: "Ready" } as const;
export const before: ReasonCatalog = {
  name: "gateway",
  contract: 1,
  types: { Ready: type },
  reasons: { Timeout: entry, Mismatch: entry },
  emits: [{ ...finding, reason: "Timeout" }],
};
export const pullRequest: ReasonCatalog = { ...before, emits: [{ ...finding, reason: "Mismatch" }] };
export const text = (value: unknown) => JSON.stringify(value);
