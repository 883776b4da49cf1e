import { expect, it } from "vitest";
import { VirtualClock } from "../testing/index.js";
import { StepPrinter, StepTracker } from "./index.js";

it("a printer that is ended by what it writes to writes nothing more, and waits for nothing", () => {
  const clock = new VirtualClock();
  using tracker = new StepTracker([{ step: "export", label: "Image exported", subject: "local-big:1" }], {
    clock,
  });
  tracker.report("export", "local-big:1", 5);
  let lines = 0;
  const end: { printer?: StepPrinter } = {};
  const output = {
    isTTY: true,
    write: () => {
      lines += 1;
      end.printer?.[Symbol.dispose]();
    },
  };
  const printer = new StepPrinter(tracker, output, { clock });
  clock.advance(500);
  end.printer = printer;
  clock.advance(200);
  const written = lines;
  clock.advance(5000);
  expect([lines, clock.timers]).toEqual([written, 0]);
});
