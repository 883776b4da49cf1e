import { callHook } from "../events/index.js";
import { classify } from "./classify/index.js";
import { read, readText } from "./classify/inspect.js";
import { wholeHint } from "./hints.js";
import {
  failureText,
  isVerdict,
  type Classification,
  type FailureKind,
  type ClassifyContext,
  type Classifier,
} from "./verdict.js";

interface Judges {
  readonly classify: Classifier | undefined;
  readonly onHookError: ((error: unknown) => void) | undefined;
}

/**
 * The embedder's classifier, then the default rules. What only the run can know (the caller gave up, the attempt
 * took too long) is not up to a classifier; and one that throws, or answers nonsense, is passed over.
 */
export function judge(error: unknown, context: ClassifyContext, judges: Judges): Classification {
  const own = judges.classify;
  if (own === undefined || context.signal?.aborted === true || context.timedOut === true)
    return classify(error, context);
  const answer = ask(own, error, context, judges.onHookError);
  const usual = classify(error, context);
  const verdict = read(answer, "verdict");
  if (!isVerdict(verdict)) return usual;
  const kind = read(answer, "kind");
  const soft = verdict === "transient" || verdict === "suspect";
  return {
    verdict,
    code: failureText(readText(answer, "code") ?? usual.code),
    explanation: failureText(readText(answer, "explanation") ?? `The embedder's classifier says ${verdict}`),
    kind: typeof kind === "string" ? (failureText(kind) as FailureKind) : usual.kind,
    retryAfterMs: soft ? (wholeHint(read(answer, "retryAfterMs")) ?? usual.retryAfterMs) : undefined,
    pushbackMs: soft ? (wholeHint(read(answer, "pushbackMs")) ?? usual.pushbackMs) : undefined,
  };
}

/** What the classifier answers. One that answers later has no say: it is only kept from rejecting unheard. */
function ask(
  own: Classifier,
  error: unknown,
  context: ClassifyContext,
  onHookError: ((error: unknown) => void) | undefined,
): unknown {
  let answer: unknown;
  callHook(
    () => {
      answer = own(error, context);
      return answer;
    },
    undefined,
    onHookError,
  );
  return answer;
}
