import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import type { RecordEvent } from "../gateway/event-hub.js";
import type { Gateway } from "../gateway/gateway.js";
import { messageOf, type Log } from "../gateway/log.js";
import type { VersionedRecord } from "../gateway/sandbox-records.js";
import { clientOf } from "./client.js";
import { EventWriter, type ServerEvent } from "./event-writer.js";
import { Bell, ringAtNews } from "./news.js";
import type { OpenAnswers, OpenLimit } from "./open-answers.js";
import { peerAddress } from "./peer.js";
import { refuseOpen } from "./refuse-open.js";
import type { SandboxView } from "./view.js";

const PAGE = 200;
/** Events that wait for a slow reader. Who is further behind gets a snapshot instead, once there is room for it. */
export const MOST_WAITING = 1000;

type ViewOf = (found: VersionedRecord) => SandboxView;

export interface StreamOptions {
  readonly gateway: Gateway;
  readonly view: ViewOf;
  /** Ends every stream: whoever follows comes back, to this gateway or to another one. */
  readonly closing: AbortSignal;
  readonly streams: OpenAnswers;
  /** Called when a stream was refused. */
  readonly onRefused: (limit: OpenLimit) => void;
  readonly log: Log;
}

interface OpenStream {
  readonly writer: EventWriter;
  readonly bell: Bell;
  /** Whether nobody follows any more. */
  readonly isOver: () => boolean;
}

/**
 * Follows one sandbox. The id of an event is the version of the record, which means the same after a restart and on
 * another gateway: a client that comes back gets what is newer than what it has, or nothing until there is.
 */
export function streamOne(context: Context, options: StreamOptions, id: string): Response {
  const { gateway, view, closing } = options;
  const last = Number(context.req.header("last-event-id") ?? "0");
  return open(context, options, async ({ writer, bell, isOver }) => {
    let sent = Number.isSafeInteger(last) ? last : 0;
    const listening = ringAtNews(bell, { gateway, hears: (event) => event.id === id, signals: [closing] });
    try {
      while (!isOver()) {
        bell.clear();
        const lookAt = gateway.clock.now() + gateway.lookEveryMs;
        const found = await gateway.records.read(id);
        if (found === null) {
          await writer.send({ event: "deleted", id: String(sent + 1), data: JSON.stringify({ id }) });
          return;
        }
        if (found.version > sent) {
          sent = found.version;
          await writer.send({ event: "sandbox", id: String(sent), data: JSON.stringify(view(found)) });
        }
        while (!bell.hasRung() && gateway.clock.now() < lookAt) {
          await bell.wait(gateway.clock, Math.min(lookAt, writer.quietAt));
          if (!isOver()) await writer.stillHere();
        }
      }
    } finally {
      listening[Symbol.dispose]();
    }
  });
}

/**
 * Follows all sandboxes of this gateway. An event id names this process and a number in it: a client that was away
 * for a moment gets what it missed, and any other one a fresh snapshot, which a `reset` announces. So does everybody
 * when writes of other gateways may have been missed, and whoever reads too slowly for what happens.
 */
export function streamAll(context: Context, options: StreamOptions): Response {
  const { gateway, view, closing } = options;
  const { hub, clock } = gateway;
  const [epoch, number] = (context.req.header("last-event-id") ?? "").split(".");
  return open(context, options, async ({ writer, bell, isOver }) => {
    const missed = epoch === hub.epoch ? hub.since(Number(number)) : null;
    const queue: RecordEvent[] = [...(missed ?? [])];
    let lapsed = missed === null;
    const lapse = (): void => {
      lapsed = true;
      queue.length = 0;
    };
    const hears = (event: RecordEvent): boolean => {
      // A snapshot that is owed has it as well.
      if (!lapsed && queue.length >= MOST_WAITING) lapse();
      if (!lapsed) queue.push(event);
      return true;
    };
    const listening = ringAtNews(bell, {
      ...{ gateway, hears, onLapse: lapse, signals: [closing] },
      // Whatever somebody else may have written is told of by an event, or missed with a lapse.
      onDoubt: () => undefined,
    });
    try {
      while (!isOver()) {
        bell.clear();
        if (lapsed) {
          lapsed = false;
          await sendSnapshot(writer, gateway, view, `${hub.epoch}.${hub.latest}`, isOver);
        }
        for (let event = queue.shift(); event !== undefined && !isOver(); event = queue.shift())
          await writer.send(message(event, hub.epoch, view));
        if (isOver()) return;
        await bell.wait(clock, writer.quietAt);
        if (!isOver()) await writer.stillHere();
      }
    } finally {
      listening[Symbol.dispose]();
    }
  });
}

/** Opens a stream if there is a place for it, and gives the place back however the stream ends. */
function open(
  context: Context,
  { gateway, closing, streams, onRefused, log }: StreamOptions,
  follow: (stream: OpenStream) => Promise<void>,
): Response {
  // Whoever asks for the headers alone reads no event, and would not be seen to leave.
  if (context.req.method === "HEAD")
    return context.body(null, 200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const address = peerAddress(context);
  const place = streams.enter(`${clientOf(context, address)} at ${address}`);
  if (typeof place === "string") {
    onRefused(place);
    return refuseOpen(context, place);
  }
  return streamSSE(context, async (stream) => {
    const bell = new Bell();
    stream.onAbort(bell.ring);
    const isOver = (): boolean => stream.aborted || closing.aborted;
    try {
      await follow({ writer: new EventWriter(stream, gateway.clock), bell, isOver });
    } catch (error) {
      log("stream-ended", { path: context.req.path, error: messageOf(error) });
      // A reader that takes nothing does not take an end either.
      cut(context);
      stream.abort();
    } finally {
      place[Symbol.dispose]();
    }
  });
}

/** Ends the connection under an answer; a request that was made inside this process has none. */
function cut({ env }: Context): void {
  const { outgoing } = (env ?? {}) as { outgoing?: { destroy?: () => void } };
  outgoing?.destroy?.();
}

async function sendSnapshot(
  writer: EventWriter,
  gateway: Gateway,
  view: ViewOf,
  id: string,
  isOver: () => boolean,
): Promise<void> {
  await writer.send({ event: "reset", data: "{}" });
  for (let after: string | undefined; !isOver(); ) {
    const page = await gateway.records.list({ after, limit: PAGE });
    for (const item of page.items) {
      if (isOver()) return;
      if ("record" in item) await writer.send({ event: "sandbox", data: JSON.stringify(view(item)) });
    }
    if (page.next === null) break;
    after = page.next;
  }
  // Only now is the snapshot complete: a client that lost the stream before has no id, and gets another one.
  if (!isOver()) await writer.send({ event: "snapshot", id, data: "{}" });
}

function message(event: RecordEvent, epoch: string, view: ViewOf): ServerEvent {
  const { record, version } = event;
  const id = `${epoch}.${event.seq}`;
  if (record === null) return { event: "deleted", id, data: JSON.stringify({ id: event.id }) };
  return { event: "sandbox", id, data: JSON.stringify(view({ record, version })) };
}
