#!/usr/bin/env bash
# Installs the system packages that some tests use, where that is possible: as root, on Debian and its kin.
# Elsewhere it says so and the tests that need them skip with the reason.
set -u

<<<<<<< HEAD
packages=(jq openssl docker.io busybox-static iptables debootstrap curl)
# Packages whose program has another name.
declare -A program=([docker.io]=dockerd [busybox-static]=busybox)
=======
packages=(jq openssl docker.io busybox-static iptables debootstrap curl
  qemu-system-x86 squashfs-tools e2fsprogs socat)
# Packages whose program has another name.
declare -A program=([docker.io]=dockerd [busybox-static]=busybox [qemu-system-x86]=qemu-system-x86_64
  [squashfs-tools]=sqfstar [e2fsprogs]=mke2fs)
>>>>>>> wip/vm
missing=()
for package in "${packages[@]}"; do
  command -v "${program[$package]:-$package}" >/dev/null || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && { echo "all test packages are here: ${packages[*]}"; exit 0; }

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "not installed (needs root and apt-get): ${missing[*]}; the tests that use them will skip"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"
