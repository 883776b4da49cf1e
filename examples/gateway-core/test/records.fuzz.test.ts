import { expect } from "vitest";
import { fuzz, json } from "../../../test/fuzz/fuzz.js";
import { mutated } from "../../../test/fuzz/mutations.js";
import { observeTime } from "../src/decide/decision.js";
import { viewOf } from "../src/http/view.js";
import { standingOf } from "../src/decide/standing.js";
import { dueAt } from "../src/record/due.js";
import { CorruptRecordError, decodeRecord } from "../src/record/record-schema.js";
import { NOW, recordWith } from "./records.js";

const ID = "sb-1";
const base = JSON.parse(JSON.stringify(recordWith({ id: ID }))) as Record<string, unknown>;
const lived = {
  ...base,
  instance: { id: "sb-1-r1", run: 1, handle: { pid: 7 }, startedAt: 1, launchedAt: null },
  lease: { owner: "one", until: 5 },
  run: 1,
  steps: [
    {
      step: "image",
      label: "Image copied",
      subject: "i",
      unit: "bytes",
      position: 1,
      total: 2,
      startedAt: 1,
      updatedAt: 2,
      finishedAt: null,
    },
  ],
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "Provisioning",
      message: "",
      lastTransitionTime: "2026-10-20T12:00:00Z",
    },
  ],
};

/** The record that was stored, whole, and one that everything can be made of; or the documented error, with the field. */
function law(value: unknown): void {
  let decoded;
  try {
    decoded = decodeRecord(ID, value);
  } catch (error) {
    expect(error).toBeInstanceOf(CorruptRecordError);
    expect((error as Error).message).toMatch(/^The record sb-1 is corrupt: .*record/);
    expect((error as Error).message.length).toBeLessThan(600);
    return;
  }
  if ((value as { schemaVersion?: unknown }).schemaVersion === 2)
    expect(JSON.parse(JSON.stringify(decoded))).toEqual(JSON.parse(JSON.stringify(value)));
  dueAt(decoded);
  observeTime(decoded, NOW);
  const standing = standingOf(decoded, { observation: null, backendMatches: null, policy: {} }, null, NOW);
  const view = viewOf(decoded, 1, { now: NOW, refusals: [], standing, contract: 1 });
  expect(view.id).toBe(ID);
}

fuzz<unknown>({
  name: "records",
  corpus: new URL("fuzz/corpus/", import.meta.url),
  codec: json,
  inputs: mutated([base, lived]),
  law,
  runs: 500,
});
