/** The reason with which a supervisor reports that its run was started, stopped or completed before it came. */
export const NOT_REPLAYED = "BootstrapCancelled";
