/**
 * A supervisor's exit code for a bootstrap that failed for good, or that found its run started before, where its gateway
 * could not be told so: the gateway's certificate is not to be trusted, for one. EX_CONFIG of sysexits. Before the main
 * process started, nothing else ends a supervisor with it.
 */
export const UNTOLD_FAILURE = 78;
