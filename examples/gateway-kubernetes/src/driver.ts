export type { DriverPort } from "@slipway-examples/gateway-core";
