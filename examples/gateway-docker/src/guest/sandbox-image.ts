import { supervisorBundle } from "@slipway-examples/gateway-core";
import { execFile } from "node:child_process";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pack, type Pack } from "tar-stream";
import { INSIDE } from "../container-spec.js";

const run = promisify(execFile);

export interface SandboxImageParts {
  /** The Node binary to put in. Default: the one that runs this. */
  readonly node?: string | undefined;
  /** A statically linked busybox, for a shell and the usual tools. `null`: none. */
  readonly busybox: string | null;
  /** Leave out to make an image that no supervisor can run in. */
  readonly supervisor?: boolean | undefined;
  /** More files, by their path in the image. */
  readonly files?: Readonly<Record<string, Buffer | string>> | undefined;
  /** So many zero bytes more in a file, to make an image as large as wanted. */
  readonly fillerBytes?: number | undefined;
}

const CHUNK = Buffer.alloc(1 << 20);

/**
 * The root filesystem of an image that a supervisor can run in, FROM scratch, as a tar stream: a Node binary, the
 * shared libraries that it needs, busybox, and the supervisor.
 */
export function packSandboxImage(parts: SandboxImageParts): Readable {
  const tar = pack();
  fill(tar, parts).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error as Error),
  );
  // A readable stream in all but its declared type.
  return tar as unknown as Readable;
}

async function fill(tar: Pack, parts: SandboxImageParts): Promise<void> {
  const { busybox, files = {}, fillerBytes = 0, node = process.execPath, supervisor = true } = parts;
  const directories = new Set<string>();
  // An engine takes no archive that names a file twice: what was asked for by name is written first.
  const written = new Set<string>();
  const addDirectory = (path: string, mode = 0o755): void => {
    if (path === "/" || directories.has(path)) return;
    addDirectory(dirname(path));
    directories.add(path);
    tar.entry({ name: `${path.slice(1)}/`, type: "directory", mode });
  };
  const addFile = async (path: string, content: Buffer | string, mode = 0o644): Promise<void> => {
    if (written.has(path)) return;
    written.add(path);
    addDirectory(dirname(path));
    const data = Buffer.from(content);
    const header = { name: path.slice(1), mode, size: data.length };
    await new Promise<void>((resolve, reject) => {
      tar.entry(header, data, (error) => (error == null ? resolve() : reject(error as Error)));
    });
  };
  addDirectory("/tmp", 0o1777);
  for (const path of ["/dev", "/proc", "/sys", "/run", "/etc", "/root", INSIDE.workspace]) addDirectory(path);
  for (const [path, content] of Object.entries(files)) await addFile(path, content, 0o755);
  await addFile("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
  await addFile("/etc/group", "root:x:0:\n");
  if (supervisor) {
    await addFile(INSIDE.node, await readFile(node), 0o755);
    for (const library of await librariesOf(node)) await addFile(library, await readFile(library), 0o755);
    // What runs in there is the built file, also when this one is not.
    const start = fileURLToPath(new URL("../../dist/guest/start.js", import.meta.url));
    await addFile(INSIDE.start, await readFile(start));
    await addFile(`${dirname(INSIDE.start)}/supervisor.mjs`, await readFile(supervisorBundle));
  }
  if (busybox !== null) {
    await addFile("/bin/busybox", await readFile(busybox), 0o755);
    const { stdout } = await run(busybox, ["--list"]);
    // A link of that name to itself would take the program's place.
    const applets = stdout.split("\n").filter((name) => name !== "" && name !== "busybox");
    for (const name of applets) tar.entry({ name: `bin/${name}`, type: "symlink", linkname: "busybox" });
  }
  if (fillerBytes > 0) await addFiller(tar, fillerBytes);
}

async function addFiller(tar: Pack, bytes: number): Promise<void> {
  const zeros = Readable.from(
    (function* () {
      for (let left = bytes; left > 0; left -= CHUNK.length)
        yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
    })(),
  );
  await pipeline(zeros, tar.entry({ name: "filler", mode: 0o644, size: bytes }));
}

/** Paths of the shared libraries of a program, its loader among them, as the program names them. */
async function librariesOf(program: string): Promise<readonly string[]> {
  const { stdout } = await run("ldd", [program]).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].flatMap(([, path]) => path ?? []);
}

/** The busybox of this machine, `null` when there is none that needs no library. */
export async function findBusybox(): Promise<string | null> {
  for (const path of ["/usr/bin/busybox", "/bin/busybox"]) {
    if ((await stat(path).catch(() => null)) === null) continue;
    const real = await realpath(path);
    if ((await librariesOf(real)).length === 0) return real;
  }
  return null;
}
