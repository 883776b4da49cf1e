import { GatewayClient, ApiError } from "../../../examples/gateway-core/src/client/gateway-client.js";
import type { SandboxView } from "../../../examples/gateway-core/src/http/view.js";
import type { Answer, AnsweredView } from "../checker/history.js";
import type { Content, Operation, Variant } from "../schedule.js";

/** Longest wait for an answer: a gateway that was stopped in the middle may never give one. */
const REQUEST_LIMIT_MS = 8000;
const UNDER_WAY_MAX = 32;
const INVALID = { version: 1, network: { allow: ["nowhere"] } };

export interface LoadOptions {
  readonly url: string;
  readonly image: string;
  /** A folder in which each main process writes when it begins. It outlives the sandboxes. */
  readonly starts: string;
}

/** The requests of users. Notes what was answered, and counts what was not. */
export class Load {
  readonly #client: GatewayClient;
  readonly #options: LoadOptions;
  readonly #ids = new Map<string, string>();
  readonly #policies = new Map<string, object>();
  readonly #answers = new Map<string, Answer[]>();
  readonly #under = new Set<Promise<void>>();
  readonly counts = { sent: 0, answered: 0, refused: 0, unanswered: 0 };

  constructor(options: LoadOptions) {
    this.#client = new GatewayClient({ url: options.url });
    this.#options = options;
  }

  get ids(): readonly string[] {
    return [...this.#answers.keys()];
  }

  answersOf(id: string): readonly Answer[] {
    return this.#answers.get(id) ?? [];
  }

  /** Sends a request and does not wait for its answer. */
  send(operation: Operation): void {
    this.counts.sent += 1;
    const sending = this.#run(operation).finally(() => this.#under.delete(sending));
    this.#under.add(sending);
  }

  /** A machine that is too slow for the schedule gets it slower, in the same order. */
  async hasRoom(): Promise<void> {
    while (this.#under.size >= UNDER_WAY_MAX) await Promise.race(this.#under);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#under);
  }

  async #run(operation: Operation): Promise<void> {
    const { kind, box } = operation;
    const id = this.#ids.get(box);
    const sentAt = Date.now();
    try {
      const view = await withLimit(this.#request(operation, id ?? box));
      this.counts.answered += 1;
      if (kind === "create") this.#ids.set(box, view.id);
      this.#note(view.id, { operation: kind, sentAt, answeredAt: Date.now(), view: viewed(view) });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) {
        this.counts.unanswered += 1;
        return;
      }
      this.counts.refused += 1;
      if (error.status === 404 && id !== undefined)
        this.#note(id, { operation: kind, sentAt, answeredAt: Date.now(), view: null });
    }
  }

  #request(operation: Operation, sandbox: string): Promise<SandboxView> {
    switch (operation.kind) {
      case "create":
        return this.#create(operation.box, operation.variant);
      case "update":
        return this.#client.update(sandbox, { policy: this.#policy(operation) });
      case "read":
        return this.#client.get(sandbox);
      default:
        return this.#client[operation.kind](sandbox);
    }
  }

  #create(box: string, variant: Variant): Promise<SandboxView> {
    const { image, starts } = this.#options;
    const script = `echo "$SLIPWAY_START $(date +%s%3N)" >> "${starts}/$SLIPWAY_SANDBOX"; exec sleep 3600`;
    const command = ["sh", "-c", script];
    return this.#client.create({ name: box, image: { path: image }, command, ...VARIED[variant] });
  }

  #policy({ box, content, value }: { box: string; content: Content; value: number }): object {
    const made = content === "invalid" ? INVALID : { version: 1, env: { CHANGE: String(value) } };
    const policy = content === "same" ? (this.#policies.get(box) ?? made) : made;
    this.#policies.set(box, policy);
    return policy;
  }

  #note(id: string, answer: Answer): void {
    const answers = this.#answers.get(id) ?? [];
    this.#answers.set(id, answers);
    answers.push(answer);
  }
}

const VARIED: Readonly<Record<Variant, object>> = {
  quick: {},
  slow: { driverOptions: { bytesPerSecond: 100_000, fault: { repeatReports: true } } },
  stalling: {
    driverOptions: { fault: { stallAtBytes: 100_000, deafForMs: 1500 } },
    budgets: { stallMs: 1500 },
  },
  invalid: { policy: INVALID, budgets: { admissionMs: 4000 } },
};

function viewed(view: SandboxView): AnsweredView {
  const { version, phase, desired, attempt, run, startPending, configuration } = view;
  return { version, phase, desired, attempt, run, startPending, generation: configuration.generation };
}

async function withLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), REQUEST_LIMIT_MS);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
