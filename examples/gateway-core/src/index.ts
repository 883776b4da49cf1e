/** What the gateways of the other backends build on. */
export {
  PermanentDriverError,
  type DriverProgress,
  type InstanceRef,
  type LaunchContext,
  type LaunchRequest,
  type SandboxRef,
  type SupervisorAccess,
  type WorkContext,
} from "./driver/driver.js";
export { seenInstance, type DriverPort } from "./driver/driver-port.js";
export {
  isAlive,
  linuxProcesses,
  readStartMarker,
  type ProcessIdentity,
} from "./driver/process-identity.js";
export { checkInput } from "./check-input.js";
export { InvalidInputError } from "./input-error.js";
export type { Json, JsonObject } from "./record/json.js";
export type { ImageSpec } from "./record/record.js";
export { DEFAULT_BUDGETS, type Budgets } from "./gateway/budgets.js";
export { jsonLog, type Log } from "./gateway/log.js";
export { serveGateway, type RunningGateway, type ServeOptions } from "./serve.js";
export { supervisorBundle } from "./supervisor-bundle.js";
