export { type ConformanceCase } from "./conformance-case.js";
export { observationSourceConformance, type ObservationSourceSubject } from "./observation-source.js";
export { recordStoreConformance, type RecordStoreSubject } from "./record-store.js";
