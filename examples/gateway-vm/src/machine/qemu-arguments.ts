import type { VmOptions } from "../vm-options.js";

/** Names inside a machine's directory, which is QEMU's working directory: paths of sockets may not be long. */
export const MONITOR = "monitor.sock";
export const EVENTS = "events.sock";
export const ROOTFS = "rootfs.sqfs";
export const OVERLAY = "overlay.img";
export const START = "start.env";
export const CONSOLE = "console";

export type Accelerator = "kvm" | "tcg";

export interface MachineSpec {
  /** What `query-name` answers: the identity of the start. */
  readonly name: string;
  readonly accelerator: Accelerator;
  readonly kernel: string;
  readonly initrd: string;
  readonly workspace: string;
  readonly gateway: { readonly host: string; readonly port: number };
  readonly options: VmOptions;
}

/** QEMU's arguments for a sandbox. They are public on the host: nothing secret is among them. */
export function qemuArguments(spec: MachineSpec): readonly string[] {
  const { options, gateway } = spec;
  const user = options.network === "user" ? "" : "restrict=on,";
  const forward = `guestfwd=tcp:10.0.2.100:${gateway.port}-cmd:socat STDIO TCP:${gateway.host}:${gateway.port}`;
  return [
    ...["-name", `guest=${escaped(spec.name)}`],
    ...machine(spec.accelerator),
    ...["-m", String(options.memoryMb), "-smp", String(options.cpus)],
    ...["-kernel", spec.kernel, "-initrd", spec.initrd, "-append", "console=ttyS0 quiet panic=-1"],
    // An end stays readable until somebody has looked: a guest that ended or panicked leaves a paused machine.
    ...["-action", "panic=pause,reboot=shutdown,shutdown=pause", "-device", "pvpanic"],
    ...["-qmp", `unix:${MONITOR},server=on,wait=off`, "-qmp", `unix:${EVENTS},server=on,wait=off`],
    // In memory and of one size: a guest that talks without end fills no disk.
    ...["-chardev", `ringbuf,id=${CONSOLE},size=65536`, "-serial", `chardev:${CONSOLE}`],
    ...disk("rootfs", `readonly=on,file=${ROOTFS}`),
    ...disk("overlay", `cache=unsafe,discard=unmap,file=${OVERLAY}`),
    ...disk("workspace", `discard=unmap,file=${escaped(spec.workspace)}`),
    ...["-netdev", `user,id=net,${user}${forward}`, "-device", "virtio-net-pci,netdev=net,romfile="],
    ...["-fw_cfg", `name=opt/dev.slipway/start,file=${START}`],
  ];
}

/** A machine that boots the kernel, switches itself off, and needs nothing else. */
export function probeArguments(accelerator: Accelerator, kernel: string, initrd: string): readonly string[] {
  const boot = ["-kernel", kernel, "-initrd", initrd, "-append", "quiet panic=-1 slipway.probe"];
  return [...machine(accelerator), "-m", "192", "-no-reboot", ...boot];
}

function machine(accelerator: Accelerator): readonly string[] {
  const cpu = accelerator === "kvm" ? "host" : "max";
  const bare = ["-nodefaults", "-no-user-config", "-display", "none"];
  return ["-machine", "q35", "-accel", accelerator, "-cpu", cpu, ...bare];
}

function disk(name: string, drive: string): readonly string[] {
  const device = `virtio-blk-pci,drive=${name},serial=${name}`;
  return ["-drive", `id=${name},if=none,format=raw,${drive}`, "-device", device];
}

/** A comma ends an option's value unless it is doubled. */
function escaped(text: string): string {
  return text.replaceAll(",", ",,");
}
