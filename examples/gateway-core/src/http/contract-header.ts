/** The contract of reasons that a request asks for; without it, 1. */
export const REASON_CONTRACT_HEADER = "slipway-reason-contract";
