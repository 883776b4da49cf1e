#!/usr/bin/env bash
# Shows the whole on this machine and leaves nothing: an engine of its own, a kernel, an image FROM scratch, a gateway,
# and a sandbox that is created, stopped, started again and deleted. As root, on Debian and its kin. Takes about five
# minutes where there is no /dev/kvm, and the first time longer: it installs packages.
#
#   npm run demo --workspace examples/gateway-vm [-- MEGABYTES]      so much random data more in the image
#
# RECORDING=NAME records what the create shows on a terminal, see scripts/terminal-recording.mjs.
set -euo pipefail
cd "$(dirname "$0")/../.."
megabytes=${1:-500}
bash scripts/install-test-packages.sh
[ -f examples/gateway-vm/dist/cli.js ] || node scripts/setup.mjs --build
work=$(mktemp -d)
gateway=
finish() {
  [ -z "$gateway" ] || { kill "$gateway" 2>/dev/null && wait "$gateway" 2>/dev/null; } || true
  scripts/engines/docker.sh remove "$work/engine"
  rm -rf "$work"
}
trap finish EXIT

export SLIPWAY_VM_GUEST=$PWD/.slipway/vm-guest
scripts/engines/vm-kernel.sh "$SLIPWAY_VM_GUEST"
DOCKER_HOST=$(scripts/engines/docker.sh start "$work/engine")
export DOCKER_HOST
echo "building local-big:1 with $megabytes MB of random data"
scripts/engines/sandbox-image.sh --pad "$megabytes" | docker import - local-big:1 >/dev/null
cli() { node examples/gateway-vm/dist/cli.js "$@"; }
node examples/gateway-vm/dist/cli.js --json serve --data "$work/data" --port 0 >"$work/url" 2>"$work/log" &
gateway=$!
until [ -s "$work/url" ]; do
  kill -0 "$gateway" || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
SLIPWAY_GATEWAY_URL=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$work/url")
export SLIPWAY_GATEWAY_URL
show() { echo "\$ slipway-gateway-vm $*"; cli "$@"; }
create=(create box --image local-big:1 -- sh -c 'date >>/workspace/starts; sleep 1000')
if [ -z "${RECORDING:-}" ]; then
  show "${create[@]}"
else
  node scripts/terminal-recording.mjs "$RECORDING" --program slipway-gateway-vm -- \
    node examples/gateway-vm/dist/cli.js "${create[@]}"
fi
show stop box
show start box
show delete box
echo "The demo worked: the sandbox was created, stopped, started again and deleted, and it is gone."
