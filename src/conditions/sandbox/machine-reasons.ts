/** Reasons that drivers report about virtual machines, their guests and their monitors. */
export const machineReasons = {
  ComputeStopped: {
    types: ["Stopped"],
    class: "informational",
    phases: ["Stopped"],
    summary: "The VM's compute is stopped.",
    action: "Start it to go on.",
  },
  ProcessPollFailed: {
    types: ["Ready"],
    class: "transient",
    summary: "The launcher process could not be observed.",
  },
  ProvisioningFailed: {
    types: ["Ready"],
    class: "terminal",
    phases: ["Error"],
    summary: "The VM could not be provisioned.",
    action: "Read the message.",
  },
  GuestIOError: {
    types: ["Ready"],
    class: "transient",
    phases: ["Provisioning", "Starting", "Error"],
    summary: "The guest is paused by an I/O error of its disk.",
    action: "Free space or repair the storage, then resume it.",
    sources: [
      { backend: "qemu", raw: ["io-error"] },
      { backend: "libvirt", raw: ["3/5"] },
    ],
  },
  GuestPanicked: {
    types: ["Ready"],
    class: "terminal",
    phases: ["Error"],
    summary: "The guest's kernel panicked.",
    action: "Read the console, then start it again.",
    sources: [
      { backend: "qemu", raw: ["guest-panicked", "guest-panic"] },
      { backend: "libvirt", raw: ["3/10"] },
    ],
  },
  WatchdogFired: {
    types: ["Ready"],
    class: "terminal",
    phases: ["Error"],
    summary: "The guest's watchdog fired.",
    action: "Read the console, then start it again.",
    sources: [
      { backend: "qemu", raw: ["watchdog"] },
      { backend: "libvirt", raw: ["3/6"] },
    ],
  },
  VmmExited: {
    types: ["Ready"],
    class: "terminal",
    phases: ["Error"],
    summary: "The virtual machine monitor ended with an error.",
    action: "Read the monitor's log, then start it again.",
  },
  VmmInternalError: {
    types: ["Ready"],
    class: "terminal",
    phases: ["Error"],
    summary: "The virtual machine monitor failed inside.",
    action: "Read the monitor's log, then start it again.",
    sources: [{ backend: "qemu", raw: ["internal-error", "host-error"] }],
  },
  VmmStartFailed: {
    types: ["Ready"],
    class: "terminal",
    phases: ["Error"],
    summary: "The virtual machine monitor could not start.",
    action: "Read the monitor's log, then start it again.",
    sources: [{ backend: "libvirt", raw: ["5/6"] }],
  },
} as const;
