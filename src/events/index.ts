export { callHook, reportTo, type OnError } from "./hook.js";
export { Notifier, type Listener } from "./notifier.js";
