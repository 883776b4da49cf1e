/** Marks on everything that this gateway makes, so that it is found again after any restart. */
export const GATEWAY_LABEL = "slipway.dev/gateway";
export const SANDBOX_LABEL = "slipway.dev/sandbox-id";
/** The gateway's id of the run, on the resource and on its pods: what tells one run from another. */
export const INSTANCE_KEY = "slipway.dev/instance-id";
/** Attempt and run in numbers, which tell the newer one of two starts. */
export const START_KEY = "slipway.dev/start";
/** Where the run's token is; the token itself is in no annotation and no argument. */
export const SECRET_KEY = "slipway.dev/token-secret";
/** Present while a start is under way: nothing to be seen is then not nothing there. */
export const BOOTSTRAP_KEY = "slipway.dev/bootstrapping";

/** What a gateway's record says, for people; nobody decides on it. */
export const PHASE_KEY = "slipway.dev/phase";
export const REASON_KEY = "slipway.dev/reason";
export const MESSAGE_KEY = "slipway.dev/message";
/** The version of the record that the three are of. */
export const VERSION_KEY = "slipway.dev/record-version";
export const PUBLISHED_KEYS: ReadonlySet<string> = new Set([PHASE_KEY, REASON_KEY, MESSAGE_KEY, VERSION_KEY]);

/** Label values and names of objects that a sandbox's id or name can be. */
export const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
export const OBJECT_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One start of a sandbox, as numbers. Later attempts are newer, and later runs of one attempt. */
export interface Start {
  readonly attemptNumber: number;
  readonly run: number;
}

export function startText({ attemptNumber, run }: Start): string {
  return `${attemptNumber}.${run}`;
}

export function isNewerStart(text: string | null, than: Start): boolean {
  const parts = /^(\d+)\.(\d+)$/.exec(text ?? "");
  if (parts === null) return false;
  const [attemptNumber, run] = [Number(parts[1]), Number(parts[2])];
  return attemptNumber > than.attemptNumber || (attemptNumber === than.attemptNumber && run > than.run);
}
