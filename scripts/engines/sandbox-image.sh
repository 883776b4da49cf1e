#!/usr/bin/env bash
# Writes a small sandbox image as a tar to standard output: this machine's node with its libraries, busybox, and the
# project's supervisor. It is made FROM scratch: nothing is downloaded.
#
#   scripts/engines/sandbox-image.sh [--pad MEGABYTES] [--without-supervisor] >image.tar
#   scripts/engines/sandbox-image.sh | docker import --change 'ENV PATH=/bin' - sandbox:1
set -euo pipefail
cd "$(dirname "$0")/../.."
supervisor=examples/gateway-core/bundle/supervisor.mjs
pad=0
while [ $# -gt 0 ]; do
  case $1 in
    --pad) pad=$2; shift 2 ;;
    --without-supervisor) supervisor=; shift ;;
    *) echo "usage: $0 [--pad MEGABYTES] [--without-supervisor]" >&2; exit 2 ;;
  esac
done
busybox=$(command -v busybox) || { echo "sandbox-image: busybox is missing: install busybox-static" >&2; exit 1; }
if [ -n "$supervisor" ] && [ ! -f "$supervisor" ]; then
  echo "sandbox-image: $supervisor is missing: run npm run build:examples" >&2
  exit 1
fi

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
mkdir -p "$tree"/{bin,dev,etc,lib,lib64,opt/slipway,proc,root,run,sys,tmp,usr/bin,usr/lib,workspace}
chmod 1777 "$tree/tmp"
cp "$busybox" "$tree/bin/busybox"
# busybox lists itself: a link over it would replace it by a link to itself.
for applet in $("$busybox" --list); do
  [ "$applet" = busybox ] || ln -s busybox "$tree/bin/$applet"
done
node=$(readlink -f "$(command -v node)")
cp "$node" "$tree/usr/bin/node"
ldd "$node" | sed -n 's/^.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) .*/\1/p' | while read -r library; do
  mkdir -p "$tree$(dirname "$library")"
  cp -L "$library" "$tree$library"
done
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n' >"$tree/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
printf '127.0.0.1 localhost\n' >"$tree/etc/hosts"
[ -z "$supervisor" ] || cp "$supervisor" "$tree/opt/slipway/supervisor.mjs"
# Random, so that no engine and no file system makes it smaller; in files of 64 MB, as real images have many.
for ((part = 0; part * 64 < pad; part += 1)); do
  size=$((pad - part * 64 < 64 ? pad - part * 64 : 64))
  head -c "$((size * 1000000))" /dev/urandom >"$tree/opt/pad.$part"
done
tar -C "$tree" --owner=0 --group=0 --sort=name -c .
