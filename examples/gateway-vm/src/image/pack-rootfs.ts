import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { Transform, Writable, type Readable } from "node:stream";
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
  /** Told of the bytes of each piece. The next one waits for it, and what it rejects with ends the packing. */
  readonly behind: (bytes: number) => Promise<void>;
}

/** What the packer may hold of an archive between reading and writing. Left to itself it takes a quarter of all memory. */
const PACKER_MEMORY = "64M";

/**
 * Packs a tar stream into a root file system image, in one pass: nothing is unpacked and nothing is kept in between.
 * Rejects when the signal aborts, after the packer has ended.
 */
export async function packRootfs(tar: Readable, file: string, options: PackOptions): Promise<void> {
  const { signal } = options;
  const root = ["-root-mode", "755", "-root-uid", "0", "-root-gid", "0"];
  const args = ["-quiet", "-no-progress", "-comp", "lz4", "-mem", PACKER_MEMORY, ...root];
  const packer = spawn("sqfstar", [...args, file], {
    stdio: ["pipe", "ignore", "pipe"],
    env: TOOL_ENV,
  });
  const complaints: string[] = [];
  packer.stderr.setEncoding("utf8").on("data", (text: string) => complaints.push(text));
  const closed = once(packer, "close") as Promise<[number | null]>;
  closed.catch(() => undefined);
  try {
    await once(packer, "spawn");
    await pipeline(tar, checked(options), inputOf(packer), { signal });
  } catch (error) {
    tar.destroy();
    packer.kill("SIGKILL");
    const [code] = await closed;
    signal.throwIfAborted();
    // A packer that gave up says why; that its input was cut off does not.
    throw code === null || code === 0 ? error : failed(complaints, error);
  }
  const kill = (): void => void packer.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  const [code] = await closed.finally(() => signal.removeEventListener("abort", kill));
  signal.throwIfAborted();
  if (code !== 0) throw failed(complaints);
}

function failed(complaints: readonly string[], cause?: unknown): PackError {
  return new PackError(`sqfstar failed: ${lastWords(complaints.join(""))}`, { cause });
}

/**
 * Where the packer reads. It stops at the archive's end mark and may be gone before the padding behind that has come,
 * which is no failure; a packer that fails breaks the stream at once.
 */
function inputOf(packer: ChildProcessByStdio<Writable, null, Readable>): Writable {
  const { stdin } = packer;
  stdin.on("error", () => undefined);
  const input = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (stdin.destroyed) done();
      else stdin.write(chunk, () => done());
    },
    final(done) {
      stdin.end();
      done();
    },
  });
  packer.on("exit", (code) => {
    if (code !== 0) input.destroy(new Error("the packer ended early"));
  });
  return input;
}

/** Passes an archive on, counts its bytes, and breaks when it ends before its end. */
function checked({ onBytes, behind }: PackOptions): Transform {
  const end = new TarEnd();
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      end.see(chunk);
      onBytes(bytes);
      behind(chunk.length).then(() => done(null, chunk), done);
    },
    flush(done) {
      done(end.complete ? null : new IncompleteArchiveError("the archive breaks off before its end"));
    },
  });
}
