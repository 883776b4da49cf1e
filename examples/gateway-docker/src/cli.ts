#!/usr/bin/env node
import { runGatewayCli } from "@slipway-examples/gateway-core";
import { dockerDrivers, optionsFromEnvironment } from "./docker-drivers.js";

await runGatewayCli({
  name: "slipway-gateway-docker",
  drivers: (context) => dockerDrivers(optionsFromEnvironment(process.env))(context),
  images: "reference",
});
