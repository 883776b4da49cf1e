/** Builds the bench and runs it; see run.ts. */
import { buildPrograms } from "./build-programs.mjs";

await import(new URL("run.js", await buildPrograms()).href);
