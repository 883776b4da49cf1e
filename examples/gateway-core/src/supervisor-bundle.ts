import { fileURLToPath } from "node:url";

/**
 * The absolute path of the supervisor as one file with everything that it imports. An image or a virtual machine
 * needs this file and a node binary of version 20.19 or later, and no node_modules. `npm run build:examples` makes it.
 */
export const supervisorBundle = fileURLToPath(new URL("../bundle/supervisor.mjs", import.meta.url));
