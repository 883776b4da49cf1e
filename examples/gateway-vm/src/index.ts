export { vmReasons } from "./reasons.js";
export { VmDriver, type VmDriverOptions } from "./vm-driver.js";
export { optionsFromEnvironment, vmDrivers } from "./vm-drivers.js";
