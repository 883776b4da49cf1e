#!/usr/bin/env node
import { runGatewayCli } from "./cli/run-gateway-cli.js";
import { processDrivers } from "./driver/process-drivers.js";

await runGatewayCli({ name: "slipway-gateway", drivers: processDrivers });
