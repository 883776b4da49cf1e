#!/usr/bin/env bash
# Puts a kernel and an initramfs for the guests of examples/gateway-vm into a folder, out of packages of the
# distribution: Debian's cloud kernel and the static busybox. Nothing is installed.
#
#   scripts/engines/vm-kernel.sh FOLDER      writes FOLDER/vmlinuz and FOLDER/initrd.gz; does nothing when they are new
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
guest=$here/../../examples/gateway-vm/guest
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

# In the order in which they are loaded: a module comes after what it needs.
modules=(virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio virtio_pci virtio_blk failover net_failover
  virtio_net squashfs overlay button evdev qemu_fw_cfg pvpanic pvpanic-mmio)

say() { echo "vm-kernel: $*" >&2; }
for tool in apt-get apt-cache dpkg-deb gzip; do
  command -v "$tool" >/dev/null || { say "$tool is missing: only Debian and its kin are known here"; exit 1; }
done
busybox=$(command -v busybox) || { say "busybox is missing: install busybox-static"; exit 1; }
# grep reads to the end: one that stops at its match ends the list by SIGPIPE now and then, which pipefail takes for no.
"$busybox" --list | grep -x cpio >/dev/null || { say "$busybox has no cpio: install busybox-static"; exit 1; }

if [ -s "$out/initrd.gz" ] && [ -s "$out/vmlinuz" ] && [ "$out/initrd.gz" -nt "$guest/init" ] &&
  [ "$out/initrd.gz" -nt "$0" ]; then
  say "$out is up to date"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
[ -n "$package" ] || { say "apt knows no linux-image-cloud-amd64: run apt-get update"; exit 1; }
say "fetching $package"
chmod 755 "$work"
(cd "$work" && apt-get download -qq "$package" >/dev/null 2>"$work/apt.log") || { cat "$work/apt.log" >&2; exit 1; }
dpkg-deb -x "$work"/linux-image-*.deb "$work/kernel"

tree=$work/initramfs
mkdir -p "$tree"/{bin,dev,proc,sys,lower,upper,newroot,modules,etc/acpi/PWRF,etc/acpi/PWRB}
cp "$busybox" "$tree/bin/busybox"
for module in "${modules[@]}"; do
  file=$(find "$work/kernel/lib/modules" -name "$module.ko" -print -quit)
  [ -n "$file" ] || { say "$package has no module $module"; exit 1; }
  cp "$file" "$tree/modules/"
  echo "$module" >>"$tree/modules/order"
done
printf '#!/bin/sh\nkill -TERM 1\n' >"$tree/etc/acpi/PWRF/00000080"
cp "$tree/etc/acpi/PWRF/00000080" "$tree/etc/acpi/PWRB/00000080"
cp "$guest/init" "$tree/init"
chmod 755 "$tree/init" "$tree"/etc/acpi/*/00000080
(cd "$tree" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1 >"$work/initrd.gz")
cp "$work"/kernel/boot/vmlinuz-* "$out/vmlinuz"
mv "$work/initrd.gz" "$out/initrd.gz"
say "$package with ${#modules[@]} modules is in $out"
