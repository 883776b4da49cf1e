import fc from "fast-check";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** How an input lies in the corpus: exactly as it would come in from outside. */
export interface Codec<Input> {
  readonly ending: string;
  readonly read: (bytes: Buffer) => Input;
  readonly write: (input: Input) => Buffer;
}

export interface FuzzTarget<Input> {
  readonly name: string;
  /** Where corpora lie; the target's own is the folder of its name below it. */
  readonly corpus: URL;
  readonly codec: Codec<Input>;
  readonly inputs: fc.Arbitrary<Input>;
  /** Throws when an input is not dealt with as it must be. */
  readonly law: (input: Input) => void | Promise<void>;
  /** Random inputs of an ordinary test run, a second or two of them. */
  readonly runs: number;
}

export const json: Codec<unknown> = {
  ending: ".json",
  read: (bytes) => JSON.parse(bytes.toString("utf8")) as unknown,
  write: (input) => Buffer.from(`${JSON.stringify(input, null, 2)}\n`),
};

export const bytes: Codec<Buffer> = { ending: ".bin", read: (found) => found, write: (input) => input };

/** Seeded, so that an ordinary test run is the same each time; `npm run fuzz` draws another seed. */
const SEED = Number(process.env["SLIPWAY_FUZZ_SEED"] ?? 20_261_129);
const RUNS = process.env["SLIPWAY_FUZZ_RUNS"];

/**
 * Holds a target to its law: on every input that is kept, and then on random ones. What `npm run fuzz` finds it adds to
 * the corpus, smallest form first.
 */
export function fuzz<Input>({ name, corpus, codec, inputs, law, runs }: FuzzTarget<Input>): void {
  const folder = new URL(`${name}/`, corpus);
  describe(`fuzzed: ${name}`, () => {
    const kept = readdirSync(folder).filter((file) => file.endsWith(codec.ending));
    it.each(kept)("kept input %s", async (file) => {
      await law(codec.read(readFileSync(new URL(file, folder))));
    });

    it("has kept inputs", () => {
      expect(kept).not.toEqual([]);
    });

    const limit = RUNS === undefined ? undefined : 24 * 3_600_000;
    it(
      "random inputs",
      async () => {
        const property = fc.asyncProperty(inputs, async (input) => law(input));
        const found = await fc.check(property, { numRuns: Number(RUNS ?? runs), seed: SEED });
        if (!found.failed) return;
        const input = found.counterexample?.[0];
        if (RUNS !== undefined && input !== undefined) keep(folder, codec.ending, codec.write(input));
        throw new Error(fc.defaultReportMessage(found), { cause: found.errorInstance });
      },
      limit,
    );
  });
}

function keep(folder: URL, ending: string, input: Buffer): void {
  mkdirSync(folder, { recursive: true });
  const digest = createHash("sha256").update(input).digest("hex").slice(0, 12);
  writeFileSync(new URL(`found-${digest}${ending}`, folder), input);
}
