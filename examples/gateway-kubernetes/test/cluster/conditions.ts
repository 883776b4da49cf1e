/** A condition as pods and sandboxes carry it. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

export type Claim = Omit<Condition, "lastTransitionTime">;

/** The claims as conditions: the time of an earlier condition stays while its status does. */
export function stamped(claims: readonly Claim[], earlier: readonly Condition[], now: string): Condition[] {
  return claims.map((claim) => {
    const before = earlier.find((one) => one.type === claim.type);
    return {
      ...claim,
      lastTransitionTime: before?.status === claim.status ? before.lastTransitionTime : now,
    };
  });
}

export function conditionsOf(status: unknown): Condition[] {
  const list = (status as { readonly conditions?: Condition[] } | undefined)?.conditions;
  return Array.isArray(list) ? list : [];
}
