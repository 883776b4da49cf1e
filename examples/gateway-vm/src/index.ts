export { VmDriver, type VmDriverOptions } from "./vm-driver.js";
