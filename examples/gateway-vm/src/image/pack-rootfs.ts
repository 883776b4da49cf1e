import { spawn } from "node:child_process";
import { once } from "node:events";
import { finished, pipeline } from "node:stream/promises";
import { Transform, type Readable } from "node:stream";
import { lastWords, TOOL_ENV } from "../run-tool.js";
import { TarEnd } from "./tar-end.js";

/** The stream ended before the archive did: what it came from broke off, or the file is cut. */
export class IncompleteArchiveError extends Error {
  override readonly name = "IncompleteArchiveError";
}

/** The packer could not read the archive or write the file system. */
export class PackError extends Error {
  override readonly name = "PackError";
}

export interface PackOptions {
  readonly signal: AbortSignal;
  /** Bytes of the archive that have passed. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Packs a tar stream into a root file system image, in one pass: nothing is unpacked and nothing is kept in between.
 * Rejects when the signal aborts, after the packer has ended.
 */
export async function packRootfs(tar: Readable, file: string, options: PackOptions): Promise<void> {
  const args = ["-quiet", "-no-progress", "-comp", "lz4", "-root-mode", "755", "-root-uid", "0"];
  const packer = spawn("sqfstar", [...args, "-root-gid", "0", file], {
    stdio: ["pipe", "ignore", "pipe"],
    env: TOOL_ENV,
  });
  const complaints: string[] = [];
  packer.stderr.setEncoding("utf8").on("data", (text: string) => complaints.push(text));
  const exit = once(packer, "close") as Promise<[number | null]>;
  exit.catch(() => undefined);
  const end = new TarEnd();
  const seen = tap((chunk, bytes) => {
    end.see(chunk);
    options.onBytes(bytes);
  });
  try {
    await once(packer, "spawn");
    await pipeline(tar, seen, packer.stdin, { signal: options.signal, end: false });
    if (!end.complete) throw new IncompleteArchiveError("the archive breaks off before its end");
    packer.stdin.end();
    await finished(packer.stdin, { signal: options.signal });
    const [code] = await exit;
    options.signal.throwIfAborted();
    if (code !== 0) throw new PackError(`sqfstar failed: ${lastWords(complaints.join(""))}`);
  } catch (error) {
    packer.kill("SIGKILL");
    const closed = await exit.catch(() => null);
    options.signal.throwIfAborted();
    // A packer that gave up says why; that its input could not be written any more does not.
    if (closed !== null && closed[0] !== null && closed[0] !== 0) {
      throw new PackError(`sqfstar failed: ${lastWords(complaints.join(""))}`, { cause: error });
    }
    throw error;
  }
}

/** Shows a stream's chunks, and how many bytes there were so far, as they pass. */
function tap(see: (chunk: Buffer, bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      see(chunk, bytes);
      done(null, chunk);
    },
  });
}
