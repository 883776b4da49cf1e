export { classify } from "./classify.js";
export type { ClassificationTable, TableEntry } from "./entry.js";
export { grpcStatuses, grpcStatusNames, type GrpcStatusName } from "./grpc-statuses.js";
export { resetAfterHandshake } from "./handshake.js";
export { httpStatuses } from "./http-statuses.js";
export { connectCodes, fileCodes, localCodes } from "./local-codes.js";
export { networkCodes } from "./network-codes.js";
export { tlsAlerts, tlsCodes } from "./tls-codes.js";
export { tlsPhrases } from "./tls-phrases.js";
