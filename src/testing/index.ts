export { InMemoryActivationLedger } from "./activation-ledger.js";
export { MemoryRecordStore, type MemoryRecordStoreOptions } from "./memory-record-store.js";
export { scriptedRandom, seededRandom } from "./random.js";
export { VirtualClock, type VirtualClockOptions } from "./virtual-clock.js";
