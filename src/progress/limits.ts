import { MAX_NAME_LENGTH, MAX_STEPS } from "../deadline/limits.js";

/** Steps, and the names of steps, parts and units, are bounded as a deadline bounds them: they end up there. */
export { MAX_NAME_LENGTH, MAX_STEPS };

/** Longest subject: a reference of an image has a name, a tag and a digest. */
export const MAX_SUBJECT_LENGTH = 1024;

/** Longest label. */
export const MAX_LABEL_LENGTH = 256;

/** Parts of one step, in all units, so that one careless driver cannot grow a record without end. */
export const MAX_PARTS = 1024;

/** Units of one step besides its own. Each is one mark in a deadline, which holds 1024 in all. */
export const MAX_FOREIGN_UNITS = 8;
