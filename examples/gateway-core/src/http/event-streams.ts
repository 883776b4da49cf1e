import type { Context } from "hono";
import { streamSSE, type SSEStreamingApi } from "hono/streaming";
import { setMaxListeners } from "node:events";
import type { RecordEvent } from "../gateway/event-hub.js";
import type { Gateway } from "../gateway/gateway.js";
import type { VersionedRecord } from "../gateway/sandbox-records.js";
import type { SandboxView } from "./view.js";

/** So often a stream looks at the store itself, for writes of another gateway, and shows that it is alive. */
const LOOK_MS = 1000;
const PAGE = 200;

type ViewOf = (found: VersionedRecord) => SandboxView;

export interface StreamOptions {
  readonly gateway: Gateway;
  readonly view: ViewOf;
  /** Ends every stream: whoever follows comes back, to this gateway or to another one. */
  readonly closing: AbortSignal;
}

/** A flag that can be waited for, at most for a while. */
class Bell {
  #ring: (() => void) | null = null;
  #rung = false;

  ring(): void {
    this.#rung = true;
    this.#ring?.();
  }

  /** Also when a signal aborts, until what is returned is disposed. */
  ringAt(signal: AbortSignal): Disposable {
    const ring = (): void => this.ring();
    // As many streams wait on one signal as there are readers: that is no leak.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", ring, { once: true });
    return { [Symbol.dispose]: () => signal.removeEventListener("abort", ring) };
  }

  async wait(stream: SSEStreamingApi): Promise<void> {
    if (!this.#rung)
      await Promise.race([new Promise<void>((resolve) => (this.#ring = resolve)), stream.sleep(LOOK_MS)]);
    this.#rung = false;
    this.#ring = null;
  }
}

/**
 * Follows one sandbox. The id of an event is the version of the record, which means the same after a restart and on
 * another gateway: a client that comes back gets what is newer than what it has, or nothing until there is.
 */
export function streamOne(context: Context, { gateway, view, closing }: StreamOptions, id: string): Response {
  const last = Number(context.req.header("last-event-id") ?? "0");
  return streamSSE(context, async (stream) => {
    const bell = new Bell();
    const listening = gateway.hub.subscribe((event) => {
      if (event.id === id) bell.ring();
    });
    stream.onAbort(() => {
      listening[Symbol.dispose]();
      bell.ring();
    });
    const end = bell.ringAt(closing);
    let sent = Number.isSafeInteger(last) ? last : 0;
    while (!stream.aborted && !closing.aborted) {
      const found = await gateway.records.read(id);
      if (found === null) {
        await stream.writeSSE({ event: "deleted", id: String(sent + 1), data: JSON.stringify({ id }) });
        break;
      }
      if (found.version > sent) {
        sent = found.version;
        await stream.writeSSE({ event: "sandbox", id: String(sent), data: JSON.stringify(view(found)) });
      }
      await bell.wait(stream);
    }
    end[Symbol.dispose]();
    listening[Symbol.dispose]();
  });
}

/**
 * Follows all sandboxes of this gateway. An event id names this process and a number in it: a client that was away
 * for a moment gets what it missed, and any other one a fresh snapshot, which a `reset` announces. So does everybody
 * when writes of other gateways may have been missed.
 */
export function streamAll(context: Context, { gateway, view, closing }: StreamOptions): Response {
  const { hub } = gateway;
  const [epoch, number] = (context.req.header("last-event-id") ?? "").split(".");
  return streamSSE(context, async (stream) => {
    const queue: RecordEvent[] = [];
    const bell = new Bell();
    const missed = epoch === hub.epoch ? hub.since(Number(number)) : null;
    queue.push(...(missed ?? []));
    const start = hub.latest;
    const news = { lapsed: false };
    const listening = hub.subscribe(
      (event) => {
        queue.push(event);
        bell.ring();
      },
      () => {
        news.lapsed = true;
        bell.ring();
      },
    );
    stream.onAbort(() => {
      listening[Symbol.dispose]();
      bell.ring();
    });
    const end = bell.ringAt(closing);
    if (missed === null) await sendSnapshot(stream, gateway, view, `${hub.epoch}.${start}`);
    while (!stream.aborted && !closing.aborted) {
      if (news.lapsed) {
        news.lapsed = false;
        queue.length = 0;
        await sendSnapshot(stream, gateway, view, `${hub.epoch}.${hub.latest}`);
      }
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
        await stream.writeSSE(message(event, hub.epoch, view));
      }
      await bell.wait(stream);
    }
    end[Symbol.dispose]();
    listening[Symbol.dispose]();
  });
}

async function sendSnapshot(
  stream: SSEStreamingApi,
  gateway: Gateway,
  view: ViewOf,
  id: string,
): Promise<void> {
  await stream.writeSSE({ event: "reset", data: "{}" });
  for (let after: string | undefined; ; ) {
    const page = await gateway.records.list({ after, limit: PAGE });
    for (const item of page.items) {
      if ("record" in item) await stream.writeSSE({ event: "sandbox", data: JSON.stringify(view(item)) });
    }
    if (page.next === null) break;
    after = page.next;
  }
  // Only now is the snapshot complete: a client that lost the stream before has no id, and gets another one.
  await stream.writeSSE({ event: "snapshot", id, data: "{}" });
}

function message(
  event: RecordEvent,
  epoch: string,
  view: ViewOf,
): { event: string; id: string; data: string } {
  const { record, version } = event;
  const id = `${epoch}.${event.seq}`;
  if (record === null) return { event: "deleted", id, data: JSON.stringify({ id: event.id }) };
  return { event: "sandbox", id, data: JSON.stringify(view({ record, version })) };
}
