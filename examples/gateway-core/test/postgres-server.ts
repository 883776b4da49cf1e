import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);

/** Where the server's programs are, or why no server can be started here. */
export function findPostgres(): { readonly bin: string } | { readonly missing: string } {
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : [];
  const [latest] = versions.sort((one, other) => Number(other) - Number(one));
  if (latest === undefined) return { missing: "PostgreSQL's server is not installed" };
  const bin = `/usr/lib/postgresql/${latest}/bin`;
  if (process.getuid?.() !== 0) return { bin };
  try {
    execFileSync("runuser", ["-u", "postgres", "--", "true"], { stdio: "ignore" });
    return { bin };
  } catch {
    return { missing: "PostgreSQL refuses to run as root, and there is no user postgres to run it as" };
  }
}

/** A PostgreSQL server of its own, on a port of its own, in a directory that goes with it. */
export class PostgresServer {
  readonly port: number;
  readonly #bin: string;
  readonly #dir: string;
  readonly #settings: string;
  #databases = 0;

  private constructor(bin: string, dir: string, port: number, settings: string) {
    this.#bin = bin;
    this.#dir = dir;
    this.#settings = settings;
    this.port = port;
  }

  /** @param settings - Options of the server. The default flushes nothing, which is quick and forgets with the power. */
  static async start(bin: string, settings = "-c fsync=off"): Promise<PostgresServer> {
    const dir = await mkdtemp(join(tmpdir(), "slipway-pg-"));
    await chmod(dir, 0o755);
    const data = join(dir, "data");
    await mkdir(data);
    if (process.getuid?.() === 0) await run("chown", ["postgres:postgres", dir, data]);
    const server = new PostgresServer(bin, dir, await freePort(), settings);
    const options = ["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"];
    await server.#program("initdb", ["-D", data, ...options]);
    await server.up();
    return server;
  }

  url(database = "postgres", port = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/${database}`;
  }

  /** A fresh, empty database; its name. */
  async createDatabase(): Promise<string> {
    const name = `db_${(this.#databases += 1)}`;
    const client = new pg.Client({ connectionString: this.url() });
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${name}`);
    } finally {
      await client.end();
    }
    return name;
  }

  async up(): Promise<void> {
    const settings = `-p ${this.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${this.#dir} ${this.#settings} -c max_connections=200`;
    await this.#program("pg_ctl", [
      ...["-D", join(this.#dir, "data"), "-w", "-l", join(this.#dir, "log"), "-o", settings, "start"],
    ]);
  }

  /** `immediate` is a crash: connections break in the middle of whatever they did. */
  async down(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.#program("pg_ctl", ["-D", join(this.#dir, "data"), "-m", mode, "-w", "stop"]);
  }

  async dispose(): Promise<void> {
    await this.down("immediate").catch(() => undefined);
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #program(name: string, args: readonly string[]): Promise<void> {
    const program = join(this.#bin, name);
    const options = { cwd: this.#dir, env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8" } };
    if (process.getuid?.() === 0) await run("runuser", ["-u", "postgres", "--", program, ...args], options);
    else await run(program, [...args], options);
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
