/** Where and how this gateway's sandboxes are made; the same for all of them. */
export interface SandboxSettings {
  readonly namespace: string;
  /** Name of the gateway: its mark in the cluster. */
  readonly gateway: string;
  /** ConfigMap with the supervisor program under the key `supervisor.mjs`. */
  readonly supervisorConfigMap: string;
  /** ConfigMap with the certificate authority of the gateway under the key `ca.crt`; absent: the image's own trust. */
  readonly caConfigMap?: string | undefined;
  /** How long a workload may take to end after it was told to. */
  readonly graceSeconds: number;
}
