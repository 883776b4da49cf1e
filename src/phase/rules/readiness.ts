import type { RuleContext } from "./rule.js";

export function sessionSatisfies({ policy, live }: RuleContext): boolean {
  return policy?.requireSession !== true || live;
}

export function backendIsReady({ observation }: RuleContext): boolean {
  return (
    observation.running === true &&
    (observation.ready === true || (observation.readiness === "none" && observation.ready !== false))
  );
}
