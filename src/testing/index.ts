/**
 * For tests: a clock that is told to advance, chance that is known, stores in memory, and conformance suites.
 *
 * @packageDocumentation
 */
export { InMemoryActivationLedger } from "./activation-ledger.js";
export {
  observationSourceConformance,
  recordStoreConformance,
  type ConformanceCase,
  type ObservationSourceSubject,
  type RecordStoreSubject,
} from "./conformance/index.js";
export { MemoryRecordStore, type MemoryRecordStoreOptions } from "./memory-record-store.js";
export { scriptedRandom, seededRandom } from "./random.js";
export { VirtualClock, type VirtualClockOptions } from "./virtual-clock.js";
