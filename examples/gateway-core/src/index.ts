/** What the gateways of the other backends build on. */
export {
  PermanentDriverError,
  type Driver,
  type Driver as DriverPort,
  type DriverProgress,
  type InstanceRef,
  type LaunchContext,
  type LaunchRequest,
  type SandboxRef,
  type SupervisorAccess,
  type WorkContext,
} from "./driver/driver.js";
export { seenInstance } from "./driver/seen-instance.js";
export {
  isAlive,
  linuxProcesses,
  readStartMarker,
  type ProcessIdentity,
} from "./driver/process-identity.js";
export { checkInput } from "./check-input.js";
export { headOf, tailOf } from "./cut-text.js";
export { forward, type ForwardTarget, type Refuse } from "./forward/forward.js";
export { InvalidInputError } from "./input-error.js";
export type { Json, JsonObject } from "./record/json.js";
export type { ImageSpec } from "./record/record.js";
export { DEFAULT_BUDGETS, type Budgets } from "./gateway/budgets.js";
export { jsonLog, type Log } from "./gateway/log.js";
export { runGatewayCli, type GatewayCliOptions } from "./cli/run-gateway-cli.js";
export { ApiError, GatewayClient } from "./client/gateway-client.js";
export type { DriverContext, Drivers } from "./driver/made-drivers.js";
export { ProcessDriver } from "./driver/process-driver.js";
export { processDrivers } from "./driver/process-drivers.js";
export type { TlsFiles } from "./http/listen.js";
export { readTlsFiles } from "./http/tls-files.js";
export type { SandboxView } from "./http/view.js";
export type { ServeOptions } from "./serve-options.js";
export { serveGateway, type RunningGateway } from "./serve.js";
export { sleep } from "./sleep.js";
export type { ChangeListener, NoticedChange } from "./store/change-listener.js";
export type { Storage } from "./store/open-store.js";
export { StoreAwayError } from "./store/store-away.js";
export type { SessionStore, StoredSession } from "./store/session-store.js";
export type {
  ClaimDue,
  InsertResult,
  RecordChange,
  RecordPage,
  RecordStore,
  StoredRecord,
} from "./store/record-store.js";
export { SqliteActivationLedger } from "./store/sqlite-activation-ledger.js";
export { SqliteStore } from "./store/sqlite-store.js";
export { middleOf, narrowed, offsetOf, type TimeOffset, type TimeReading } from "./store/time-offset.js";
export { supervisorBundle } from "./supervisor-bundle.js";
