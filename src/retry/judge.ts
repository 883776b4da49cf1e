import { callHook } from "./attempt.js";
import { classify } from "./classify/index.js";
import { wholeHint } from "./hints.js";
import { isVerdict, type Classification, type ClassifyContext, type Classifier } from "./verdict.js";

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
  if (answer === undefined || !isVerdict(answer.verdict)) return classify(error, context);
  const usual = classify(error, context);
  const soft = answer.verdict === "transient" || answer.verdict === "suspect";
  return {
    verdict: answer.verdict,
    code: answer.code ?? usual.code,
    explanation: answer.explanation ?? `The embedder's classifier says ${answer.verdict}`,
    kind: answer.kind ?? usual.kind,
    retryAfterMs: soft ? (wholeHint(answer.retryAfterMs) ?? usual.retryAfterMs) : undefined,
    pushbackMs: soft ? (wholeHint(answer.pushbackMs) ?? usual.pushbackMs) : undefined,
  };
}

function ask(
  own: Classifier,
  error: unknown,
  context: ClassifyContext,
  onHookError: ((error: unknown) => void) | undefined,
): ReturnType<Classifier> {
  try {
    const answer: unknown = own(error, context);
    return typeof answer === "object" && answer !== null ? (answer as ReturnType<Classifier>) : undefined;
  } catch (thrown) {
    callHook(onHookError, thrown, undefined);
    return undefined;
  }
}
