import type { DriverContext } from "./made-drivers.js";
import { ProcessDriver } from "./process-driver.js";

/** The driver that needs nothing but this machine, for `serveGateway`. */
export function processDrivers({ clock, dataDir, supervisorProgram }: DriverContext): ProcessDriver[] {
  return [new ProcessDriver({ clock, dataDir, supervisorProgram })];
}
