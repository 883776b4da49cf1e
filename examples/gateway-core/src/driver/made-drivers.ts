import type { Clock } from "slipway";
import type { Log } from "../gateway/log.js";
import { InvalidInputError } from "../input-error.js";
import type { Driver } from "./driver.js";

/** What a driver may need of the gateway that it is for. */
export interface DriverContext {
  readonly clock: Clock;
  /** An absolute path; what a driver keeps goes below it. */
  readonly dataDir: string;
  readonly log: Log;
  /** The program that runs inside a sandbox, a JavaScript file on this machine. */
  readonly supervisorProgram: string;
}

/** The drivers of a gateway, or what makes them: then they are closed with it. The first one is the default of a create request. */
export type Drivers =
  | readonly Driver[]
  | ((context: DriverContext) => readonly Driver[] | Promise<readonly Driver[]>);

/** The drivers of one gateway, for as long as it lives. Those that were there before it are whose they were. */
export class MadeDrivers {
  readonly #drivers: Drivers;
  #made: readonly Driver[] = [];

  constructor(drivers: Drivers) {
    this.#drivers = drivers;
  }

  async make(context: DriverContext): Promise<readonly Driver[]> {
    if (typeof this.#drivers !== "function") return this.#drivers;
    this.#made = await this.#drivers(context);
    return this.#made;
  }

  /** Closes each of them, also where another one fails. */
  async close(): Promise<void> {
    const closed = await Promise.allSettled(this.#made.map(async (driver) => driver.close?.()));
    for (const end of closed) if (end.status === "rejected") throw end.reason;
  }
}

/** @throws InvalidInputError when there is none, or two have one name */
export async function driversOf(drivers: Drivers, context: DriverContext): Promise<readonly Driver[]> {
  const made = typeof drivers === "function" ? await drivers(context) : drivers;
  const names = made.map(({ name }) => name);
  if (names.length === 0) throw new InvalidInputError("drivers", "one driver at least", names);
  if (new Set(names).size < names.length) throw new InvalidInputError("drivers", "of different names", names);
  return made;
}
