#!/usr/bin/env node
import { runGatewayCli } from "@slipway-examples/gateway-core";
import { optionsFromEnvironment, vmDrivers } from "./vm-drivers.js";

await runGatewayCli({
  name: "slipway-gateway-vm",
  drivers: (context) => vmDrivers(optionsFromEnvironment(process.env))(context),
  images: "reference",
});
