export { type ConformanceCase } from "./conformance-case.js";
export { observationSourceConformance, type ObservationSourceSubject } from "./observation-source.js";
export { recordStoreConformance } from "./record-store.js";
export { type RecordStoreSubject } from "./record-store-subject.js";
