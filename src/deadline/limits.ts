/** Longest name, token, digest or owner that an event or a record may carry. */
export const MAX_NAME_LENGTH = 256;

/** Longest reason of a condition, as Kubernetes limits it. */
export const MAX_REASON_LENGTH = 1024;

/** A diagnostic is kept whole up to here: it ends up in a condition's message. */
export const MAX_DIAGNOSTIC_LENGTH = 2048;

/** Distinct steps a phase. */
export const MAX_STEPS = 64;

/** Parts (layers, chunks) are bounded as well, or one careless driver could grow a record without end. */
export const MAX_MARKS = 1024;

/** How many rejected contents are remembered, so that returning to one of them opens no second window. */
export const MAX_SPENT = 64;

/**
 * The last instant there is: where dates end. Later ones are held here, so that a plan may allow more time than
 * numbers can count, and an instant plus a duration is always exact.
 */
export const LAST_INSTANT = 8_640_000_000_000_000;
