import { describe, expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import {
  openShellStepEvents,
  openShellSteps,
  readOpenShellProgress,
  toOpenShellProgress,
  type EventMetadata,
  type OpenShellEvent,
  type OpenShellStep,
} from "./openshell.js";
import type { StepReading } from "./step-reading.js";
import { StepTracker } from "./step-tracker.js";

const request = { image: "local-big:1", sandbox: "dev" };

function fed(events: readonly OpenShellEvent[]): StepTracker {
  const tracker = new StepTracker(openShellSteps(request), { clock: new VirtualClock() });
  for (const event of events) for (const step of openShellStepEvents(event, request)) tracker.apply(step);
  return tracker;
}

const statuses = (tracker: StepTracker): string[] => tracker.readings().map(({ status }) => status);
const image = (reason: string, ref = request.image): OpenShellEvent => ({
  reason,
  metadata: { image_ref: ref },
});

describe("OpenShell's metadata", () => {
  it("has one line, also for a finished step that is about nothing", () => {
    const steps = [{ step: "start", label: "Sandbox\u001b[2Jready\nat last", subject: "" }];
    const tracker = new StepTracker(steps, { clock: new VirtualClock() });
    tracker.finish("start", "");
    const metadata = toOpenShellProgress([], tracker.readings(), () => "starting_sandbox");
    expect(metadata?.["openshell.progress.complete_label"]).toBe("Sandbox?[2Jready?at last");
  });

  it("is read as it is, and what is no text is not there", () => {
    expect(
      readOpenShellProgress({
        "openshell.progress.complete_step": "pulling_image",
        "openshell.progress.complete_label": "Image pulled (512 MB)",
        "openshell.progress.active_step": "a step of next year",
        "openshell.progress.active_detail": 5,
      }),
    ).toEqual({
      completeStep: "pulling_image",
      completeLabel: "Image pulled (512 MB)",
      activeStep: "a step of next year",
      activeDetail: null,
    });
    for (const odd of [null, undefined, 5, "text", []]) {
      expect(readOpenShellProgress(odd).activeStep).toBe(null);
    }
  });
});

describe("an event of a driver", () => {
  it("of the bootstrap image completes nothing", () => {
    expect(
      statuses(fed([{ source: "vm", reason: "Pulled", metadata: { image_ref: "bootstrap:1" } }]))[1],
    ).toBe("waiting");
    expect(statuses(fed([image("Pulled", "bootstrap:1"), image("ExportingRootfs")]))[1]).toBe("running");
  });

  it("that completes nothing begins nothing after it: an image's step ends with that image only", () => {
    const moving = (from: string, to: string): Readonly<Record<string, string>> => ({
      "openshell.progress.complete_step": from,
      "openshell.progress.active_step": to,
    });
    const toStart = moving("pulling_image", "starting_sandbox");
    const requested = { metadata: moving("requesting_sandbox", "pulling_image") };
    const bootstrap = { image_ref: "bootstrap:1", ...toStart };
    for (const source of ["vm", "docker", "kubernetes"])
      for (const reason of ["Pulled", "CacheHit", ""]) {
        const events = [requested, { source, reason, metadata: bootstrap }, image("ExportingRootfs")];
        expect(statuses(fed(events))).toEqual(["finished", "running", "waiting"]);
      }
    const ofIt = { source: "vm", reason: "Pulled", metadata: { image_ref: request.image, ...toStart } };
    expect(statuses(fed([requested, ofIt]))).toEqual(["finished", "running", "waiting"]);
    expect(statuses(fed([requested, ofIt, image("PreparingOverlay")]))).toEqual([
      "finished",
      "finished",
      "running",
    ]);
  });

  it("that completes an image without naming it completes nothing, until the next step begins", () => {
    const complete = { metadata: { "openshell.progress.complete_step": "pulling_image" } };
    expect(statuses(fed([image("Pulling"), complete]))[1]).toBe("running");
    expect(statuses(fed([image("Pulling"), complete, { reason: "Started" }]))).toEqual([
      "waiting",
      "finished",
      "running",
    ]);
  });

  it("of a pulled image completes it, except on a VM, where it still has to become a disk", () => {
    expect(statuses(fed([image("Pulled")]))[1]).toBe("finished");
    expect(statuses(fed([image("Pulling"), { ...image("Pulled"), source: "vm" }]))[1]).toBe("running");
    expect(statuses(fed([image("ImagePresent")]))[1]).toBe("finished");
  });

  it("may be repeated and replayed without reopening anything", () => {
    const events = [
      {
        metadata: {
          "openshell.progress.complete_step": "requesting_sandbox",
          "openshell.progress.active_step": "pulling_image",
        },
      },
      image("PullingLayer"),
      image("Pulled"),
      { metadata: { "openshell.progress.active_step": "starting_sandbox" } },
    ];
    expect(statuses(fed([...events, ...events, ...events]))).toEqual(["finished", "finished", "running"]);
  });

  it("without any progress means nothing", () => {
    expect(openShellStepEvents({}, request)).toEqual([]);
    expect(openShellStepEvents({ reason: "Killing", metadata: { image_ref: "x" } }, request)).toEqual([]);
    expect(
      openShellStepEvents({ metadata: { "openshell.progress.active_step": "unheard_of" } }, request),
    ).toEqual([]);
  });
});

describe("metadata for OpenShell's readers", () => {
  const steps = [
    { step: "export", label: "Image exported", activeLabel: "Exporting image", subject: "local-big:1" },
    { step: "disk", label: "Root disk prepared", activeLabel: "Preparing root disk", subject: "local-big:1" },
    { step: "internal", label: "Nobody's business", subject: "" },
    { step: "overlay", label: "Overlay prepared", activeLabel: "Preparing overlay", subject: "" },
  ];
  const stepOf = (step: string): OpenShellStep | null =>
    step === "internal" ? null : step === "overlay" ? "starting_sandbox" : "pulling_image";

  function sent(
    act: (tracker: StepTracker, look: () => void, clock: VirtualClock) => void,
  ): (EventMetadata | null)[] {
    const clock = new VirtualClock();
    const tracker = new StepTracker(steps, { clock });
    let before: readonly StepReading[] = [];
    const all: (EventMetadata | null)[] = [];
    act(
      tracker,
      () => {
        const after = tracker.readings();
        all.push(toOpenShellProgress(before, after, stepOf));
        before = after;
      },
      clock,
    );
    return all;
  }

  it("names the active step once, its detail when that changes, and the image complete when its disk is", () => {
    const all = sent((tracker, look, clock) => {
      look();
      tracker.report("export", "local-big:1", 0);
      look();
      look();
      clock.advance(2000);
      tracker.report("export", "local-big:1", 4_900_000_000);
      look();
      tracker.start("disk", "local-big:1");
      look();
      tracker.start("internal", "");
      look();
      tracker.start("overlay", "");
      look();
      tracker.finish("overlay", "");
      look();
      look();
    });
    expect(all).toEqual([
      null,
      {
        "openshell.progress.active_step": "pulling_image",
        "openshell.progress.active_detail": "Exporting image (local-big:1, 0 B)",
      },
      null,
      { "openshell.progress.active_detail": "Exporting image (local-big:1, 4.9 GB, 2.5 GB/s)" },
      { "openshell.progress.active_detail": "Preparing root disk (local-big:1)" },
      {
        "openshell.progress.complete_step": "pulling_image",
        "openshell.progress.complete_label": "Image exported (local-big:1, 4.9 GB)",
      },
      {
        "openshell.progress.active_step": "starting_sandbox",
        "openshell.progress.active_detail": "Preparing overlay",
      },
      {
        "openshell.progress.complete_step": "starting_sandbox",
        "openshell.progress.complete_label": "Overlay prepared",
      },
      null,
    ]);
  });

  it("names an image active again that begins again, and complete again when it is; never one that is not", () => {
    const all = sent((tracker, look) => {
      for (const act of ["finish", "start", "finish"] as const) {
        tracker[act]("export", "local-big:1");
        tracker[act]("disk", "local-big:1");
        look();
      }
    });
    const complete = {
      "openshell.progress.complete_step": "pulling_image",
      "openshell.progress.complete_label": "Image exported (local-big:1)",
    };
    const active = {
      "openshell.progress.active_step": "pulling_image",
      "openshell.progress.active_detail": "Preparing root disk (local-big:1)",
    };
    expect(all).toEqual([complete, active, complete]);
  });

  it("calls an image complete of which a step was left out, once the sandbox starts", () => {
    const all = sent((tracker, look) => {
      tracker.finish("export", "local-big:1");
      look();
      tracker.start("overlay", "");
      look();
    });
    expect(all).toEqual([
      null,
      {
        "openshell.progress.complete_step": "pulling_image",
        "openshell.progress.complete_label": "Image exported (local-big:1)",
        "openshell.progress.active_step": "starting_sandbox",
        "openshell.progress.active_detail": "Preparing overlay",
      },
    ]);
  });
});
