export { Notifier, type Listener } from "./notifier.js";
