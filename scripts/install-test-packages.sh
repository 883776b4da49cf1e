#!/usr/bin/env bash
# Installs the system packages that some tests use, where that is possible: as root, on Debian and its kin.
# Elsewhere it says so and the tests that need them skip with the reason.
set -u

packages=(jq openssl curl docker.io podman busybox-static iptables debootstrap
  qemu-system-x86 squashfs-tools e2fsprogs socat postgresql faketime chromium)
# Packages whose program has another name.
declare -A program=([docker.io]=dockerd [busybox-static]=busybox [qemu-system-x86]=qemu-system-x86_64
  [squashfs-tools]=sqfstar [e2fsprogs]=mke2fs)
is_here() {
  # PostgreSQL's server is not on the path.
  [ "$1" = postgresql ] && { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; return; }
  command -v "${program[$1]:-$1}" >/dev/null
}
missing=()
for package in "${packages[@]}"; do is_here "$package" || missing+=("$package"); done
[ ${#missing[@]} -eq 0 ] && { echo "all test packages are here: ${packages[*]}"; exit 0; }

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "not installed (needs root and apt-get): ${missing[*]}; the tests that use them will skip"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"
