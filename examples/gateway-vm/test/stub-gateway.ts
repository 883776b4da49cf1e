import type { ActivationEntry } from "slipway";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface SupervisorCall {
  readonly sandbox: string;
  readonly run: string;
  readonly token: string;
  readonly kind: string;
  readonly body: Record<string, unknown>;
}

/**
 * Stands in for the gateway where a test is about the driver: it admits whatever a supervisor asks for, keeps its ledger and
 * notes what it says. It fakes the gateway's decisions, and no part of a machine.
 */
export class StubGateway {
  readonly calls: SupervisorCall[] = [];
  /** The ledger's entry of each sandbox's run. */
  readonly #entries = new Map<string, ActivationEntry | null>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const [, sandbox = "", what = ""] = /\/v1\/supervisor\/([^/]+)\/(\w+)/.exec(request.url ?? "") ?? [];
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
        const kind = what === "report" ? String(body["kind"]) : what;
        const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
        this.calls.push({ sandbox, run: String(request.headers["x-slipway-run"]), token, kind, body });
        response.setHeader("content-type", "application/json");
        if (what === "activation") {
          const answer = this.#activation(`${sandbox} ${String(request.headers["x-slipway-run"])}`, body);
          response.end(JSON.stringify(answer));
        } else if (what === "report") response.end(JSON.stringify({ activate: true }));
        else if (request.url?.includes("after=0") === true)
          response.end(JSON.stringify({ generation: 1, digest: "d", policy: { version: 1 } }));
        else setTimeout(() => response.writeHead(204).end(), 5000).unref();
      });
    });
  }

  static async start(): Promise<StubGateway> {
    const gateway = new StubGateway();
    gateway.#server.listen(0, "127.0.0.1");
    await once(gateway.#server, "listening");
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #activation(key: string, body: Record<string, unknown>): object {
    const entry = this.#entries.get(key) ?? null;
    if (!("next" in body)) return { entry };
    const swapped = (entry?.version ?? null) === body["expectedVersion"];
    if (swapped) this.#entries.set(key, body["next"] as ActivationEntry | null);
    return { swapped };
  }

  /** What a run of a sandbox has reported. */
  reported(sandbox: string, run: number): readonly SupervisorCall[] {
    return this.calls.filter((call) => call.sandbox === sandbox && call.run === String(run));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
