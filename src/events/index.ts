export { Notifier, reportTo, type Listener } from "./notifier.js";
