/** A gateway with one protection switched off, named by SLIPWAY_BROKEN. Only the bench runs it. */
import { runGatewayCli } from "../../examples/gateway-core/src/cli/run-gateway-cli.js";
import { processDrivers } from "../../examples/gateway-core/src/driver/process-drivers.js";
import { PostgresStore } from "../../examples/gateway-core/src/store/postgres/postgres-store.js";
import { breakProtection, isProtection, PROTECTIONS } from "./breaks.js";

const broken = process.env["SLIPWAY_BROKEN"] ?? "";
if (!isProtection(broken))
  throw new Error(`SLIPWAY_BROKEN must be one of ${PROTECTIONS.join(", ")}, not "${broken}"`);
breakProtection(broken, PostgresStore.prototype);
await runGatewayCli({ name: "broken-gateway", drivers: processDrivers });
