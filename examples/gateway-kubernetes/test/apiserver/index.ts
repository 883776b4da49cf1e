export type { Attributes, Grant, Identity, PolicyRule } from "./access.js";
export type { KeyPair } from "./certificates.js";
export type { Converter } from "./custom-resources.js";
export type { Fault, FaultRule, RequestFacts } from "./faults.js";
export type { Entry } from "./ledger.js";
export type { KubeObject, Meta, OwnerReference } from "./object.js";
export type { Registry, Target } from "./registry.js";
export { ApiError } from "./status.js";
export { ApiServer, type ApiServerOptions } from "./server.js";
