export { MemoryRecordStore, type MemoryRecordStoreOptions } from "./memory-record-store.js";
export { VirtualClock, type VirtualClockOptions } from "./virtual-clock.js";
