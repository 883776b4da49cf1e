import { published } from "../reasons.js";
import { always, failure, to } from "./outcome.js";
import type { PhaseRule } from "./rule.js";

export const stoppedBySomebodyElse: readonly PhaseRule[] = [
  {
    name: "foreign-stop",
    group: "8. Stopped by somebody else",
    condition: "The run is being stopped although nobody asked this gateway.",
    outcome: "`Stopping`",
    phases: ["Stopping"],
    rationale: "A third party's delete is in progress; what follows shows in the next observation.",
    uses: ["terminating"],
    holds: false,
    when: ({ observation }) => observation.terminating === true,
    decide: ({ observation }) =>
      to(
        "Stopping",
        published(observation, "Stopping", "Stopping"),
        "The run is being stopped from outside.",
      ),
  },
  {
    name: "expired",
    group: "8. Stopped by somebody else",
    condition: "The backend's time to live is over and nothing executes.",
    outcome: "`Stopped` / `Expired`",
    phases: ["Stopped"],
    rationale: "The backend tore the run down on a schedule and keeps the object; nothing failed.",
    uses: ["failureReason", "running"],
    holds: false,
    on: { running: false },
    when: ({ observation }) => observation.failureReason === "Expired" && observation.running === false,
    decide: always("Stopped", "Expired", "The backend's time to live is over."),
  },
  {
    name: "terminal-failure",
    group: "8. Stopped by somebody else",
    condition: "The observer classes the failure as terminal.",
    outcome: "`Error` with that reason",
    phases: ["Error"],
    rationale:
      "Nothing retries it: a start attempt is over, a guest has crashed, two pods claim one sandbox.",
    uses: ["failureClass", "failureReason"],
    holds: false,
    when: ({ observation }) => observation.failureClass === "terminal",
    decide: (context) => failure(context, "BackendError"),
  },
];
