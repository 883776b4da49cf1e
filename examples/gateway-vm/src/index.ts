export { VmDriver, type VmDriverOptions } from "./vm-driver.js";
export { vmReasons } from "./reasons.js";
