/** What tests of gateways and their drivers need: nothing here imports a test runner. */
export { GatewayProcess, type GatewayProcessOptions } from "../demo/gateway-process.js";
export { driverSubject, type DriverSubjectOptions } from "./driver-subject.js";
export { eventually } from "./eventually.js";
export { HeldDoor } from "./held-door.js";
export { LeapingClock } from "./leaping-clock.js";
export { StartedGateway, type StartedGatewayOptions } from "./started-gateway.js";
export { TcpProxy } from "./tcp-proxy.js";
export { TempDirs } from "./temp-dirs.js";
