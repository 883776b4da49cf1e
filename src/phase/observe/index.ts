export {
  observeDockerInspect,
  observeDockerListEntry,
  type InspectInput,
  type ListEntryInput,
} from "./docker.js";
export { observeLibvirt, type LibvirtInput } from "./libvirt.js";
export {
  observeCloudHypervisor,
  observeFirecracker,
  type CloudHypervisorInput,
  type FirecrackerInput,
} from "./micro-vm.js";
export { observeOpenShellStatus, type OpenShellStatusInput } from "./openshell.js";
export type { ObserveOptions } from "./options.js";
export { observePod, type PodInput } from "./pod.js";
export { observePodmanInspect, observePodmanListEntry } from "./podman.js";
export { observeProcess, type ProcessInput } from "./process.js";
export { observeQemu, type QemuInput } from "./qemu.js";
export { observeSandboxResource, type SandboxResourceInput } from "./sandbox-resource.js";
export type { SandboxResourceOptions } from "./sandbox-view.js";
