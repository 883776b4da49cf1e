// @ts-check
/** @import { SandboxView } from "../http/view.js" */

/**
 * @typedef {object} Gate
 * @property {string} operation
 * @property {string} label
 * @property {boolean} open whether asking for it does something
 * @property {string} why what it would do, or why it may not be done
 * @property {string} rule the gateway's rule that says so
 */

/** @type {Readonly<Record<string, string>>} */
const ROUTES = {
  fresh: "The first start.",
  resume: "Goes on with the same identity and workspace.",
  restart: "A new run with the same identity and workspace.",
  retry: "Asks for the same once more; that does no harm.",
  noop: "Nothing to do: it is so already.",
  stop: "Ends what runs and keeps the workspace.",
  delete: "Ends what runs and removes it with its workspace, for good.",
};

/**
 * What may be done now and why, in the gateway's own order.
 *
 * @param {SandboxView["operations"]} operations
 * @returns {Gate[]}
 */
export function gatesOf(operations) {
  return Object.entries(operations).map(([operation, gate]) => {
    const { rule } = gate;
    const label = operation.charAt(0).toUpperCase() + operation.slice(1);
    if (!gate.allowed) return { operation, label, open: false, why: gate.message, rule };
    const { route } = gate;
    const why = Object.hasOwn(ROUTES, route) ? (ROUTES[route] ?? "") : `Route: ${route}.`;
    return { operation, label, open: route !== "noop", why, rule };
  });
}
