#!/bin/sh
# The real custom-resource half of a Kubernetes API server (apiextensions-apiserver and etcd, both of Debian sid), to run
# the protocol suite, the driver's requests and the record store against. By hand, never by CI: the build takes about 11
# CPU minutes.
#
#   real-apiserver.sh test     all of it: build what is not built, start, run the suites, stop
#   real-apiserver.sh build    build both programs into the cache folder (root; needs debootstrap, a Debian mirror)
#   real-apiserver.sh start    start etcd and the API server, create the resources, print the variables of `env`
#   real-apiserver.sh env      print the variables that the suites read (for `eval`)
#   real-apiserver.sh stop     stop both and drop their data
#
# It has no pods, secrets, namespaces, service accounts or RBAC, and no root discovery: the protocol suite skips what needs
# them, and the driver's suite has pods and secrets on the project's own server beside it.
#
# SLIPWAY_REAL_APISERVER   cache folder, default ${XDG_CACHE_HOME:-$HOME/.cache}/slipway-real-apiserver
# SLIPWAY_REAL_PORT        port of the API server, default 16444; etcd takes the next two
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${SLIPWAY_REAL_APISERVER:-${XDG_CACHE_HOME:-$HOME/.cache}/slipway-real-apiserver}
port=${SLIPWAY_REAL_PORT:-16444}
run=$cache/run
url=https://127.0.0.1:$port
etcd=http://127.0.0.1:$((port + 1))
crds=apis/apiextensions.k8s.io/v1/customresourcedefinitions

say() { echo "real-apiserver: $*" >&2; }
die() { say "$*"; exit 1; }

build() {
  [ -x "$cache/apiext" ] && [ -x "$cache/etcd" ] && { say "already built in $cache"; return; }
  [ "$(id -u)" = 0 ] || die "build needs root (debootstrap, chroot)"
  command -v debootstrap >/dev/null || die "build needs debootstrap"
  root=$cache/sid
  mkdir -p "$cache"
  if [ ! -e "$cache/debootstrapped" ]; then
    say "debootstrap sid"
    rm -rf "$root"
    debootstrap --variant=minbase --include=ca-certificates sid "$root" >&2
    touch "$cache/debootstrapped"
  fi
  mountpoint -q "$root/proc" || mount --bind /proc "$root/proc"
  trap 'umount "$root/proc" 2>/dev/null || true' EXIT INT TERM
  say "packages"
  # The mirror's sid may be a snapshot whose validity has run out.
  chroot "$root" sh -c 'apt-get -o Acquire::Check-Valid-Until=false -qq update &&
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
      golang-go golang-k8s-apiextensions-apiserver-dev etcd-server' >&2
  say "go build"
  chroot "$root" sh -c 'export GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=/tmp/gocache CGO_ENABLED=0 HOME=/tmp
    V=k8s.io/component-base/version
    cd /usr/share/gocode/src/k8s.io/apiextensions-apiserver &&
    go build -o /tmp/apiext -ldflags "-X $V.gitVersion=v1.36.4 -X $V.gitMajor=1 -X $V.gitMinor=36" .' >&2
  cp "$root/usr/bin/etcd" "$cache/etcd"
  cp "$root/tmp/apiext" "$cache/apiext.new"
  umount "$root/proc"
  trap - EXIT INT TERM
  mv "$cache/apiext.new" "$cache/apiext"
  rm -rf "$root" "$cache/debootstrapped"
  say "built: $cache/apiext, $cache/etcd"
}

certificates() {
  [ -e "$cache/adm.crt" ] && openssl x509 -checkend 86400 -noout -in "$cache/adm.crt" >/dev/null && return
  (
    cd "$cache"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 30 -subj /CN=ca
    openssl req -newkey rsa:2048 -nodes -keyout adm.key -out adm.csr -subj /O=system:masters/CN=admin
    openssl x509 -req -in adm.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out adm.crt
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >srv.ext
    openssl req -newkey rsa:2048 -nodes -keyout srv.key -out srv.csr -subj /CN=127.0.0.1
    openssl x509 -req -in srv.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile srv.ext -out srv.crt
  ) 2>/dev/null
}

request() { curl -s --cacert "$cache/ca.crt" --cert "$cache/adm.crt" --key "$cache/adm.key" "$@"; }

# await WHAT SECONDS COMMAND...
await() {
  what=$1 left=$(($2 * 10))
  shift 2
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || die "$what: not within its time, see $run"
    sleep 0.1
  done
}

healthy() { [ "$(request "$url/healthz")" = ok ]; }
established() {
  request "$url/$crds/$1" |
    tr -d ' \n' | grep -q '"type":"Established","status":"True"\|"status":"True"[^}]*"type":"Established"'
}

# apply NAME FILE [OPTIONS]: a definition as it is, refused for any field that the server does not know.
apply() {
  code=$(request -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$here/../$2" -o "$run/answer.json" \
    -w '%{http_code}' "$url/$crds/$1?fieldManager=slipway&force=true&fieldValidation=Strict${3:-}")
  case $code in
  20*) ;;
  *) die "$2 is refused: $(cat "$run/answer.json")" ;;
  esac
}

start() {
  [ -x "$cache/apiext" ] && [ -x "$cache/etcd" ] || die "not built: run '$0 build' first"
  ! alive etcd && ! alive apiext || die "already running (see $run); 'stop' first"
  rm -rf "$run"
  mkdir -p "$run"
  certificates
  # The server looks to a kube-apiserver for delegated authentication: this one is told to ask itself.
  cat >"$run/kubeconfig" <<KC
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$url", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {client-certificate: "$cache/adm.crt", client-key: "$cache/adm.key"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
KC
  client=$etcd peer=http://127.0.0.1:$((port + 2))
  "$cache/etcd" --data-dir "$run/etcd.d" --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" \
    --unsafe-no-fsync >"$run/etcd.log" 2>&1 </dev/null &
  echo $! >"$run/etcd.pid"
  "$cache/apiext" --etcd-servers="$client" --bind-address=127.0.0.1 --secure-port="$port" --cert-dir="$run/certs" \
    --tls-cert-file="$cache/srv.crt" --tls-private-key-file="$cache/srv.key" --client-ca-file="$cache/ca.crt" \
    --kubeconfig="$run/kubeconfig" --authentication-kubeconfig="$run/kubeconfig" \
    --authorization-kubeconfig="$run/kubeconfig" --authentication-skip-lookup=true \
    --enable-priority-and-fairness=false ${SLIPWAY_REAL_FLAGS:-} \
    --disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy \
    >"$run/apiext.log" 2>&1 </dev/null &
  echo $! >"$run/apiext.pid"
  await healthz 60 healthy
  sandboxes=sandboxes.agents.x-k8s.io records=sandboxrecords.gateway.slipway.dev
  sessions=supervisorsessions.gateway.slipway.dev
  apply $sandboxes test/cluster/sandbox-crd.json
  apply $records deploy/sandboxrecords.crd.yaml
  apply $sessions deploy/supervisorsessions.crd.yaml
  await 'the Sandbox resource' 60 established $sandboxes
  await 'the SandboxRecord resource' 60 established $records
  await 'the SupervisorSessions resource' 60 established $sessions
  # The minimal one of deploy/ as well, which is not to take the other one's place.
  apply $sandboxes deploy/sandboxes.crd.yaml '&dryRun=All'
  variables
}

variables() {
  echo "export SLIPWAY_APISERVER_URL=$url"
  echo "export SLIPWAY_APISERVER_CA=$cache/ca.crt"
  echo "export SLIPWAY_APISERVER_CERT=$cache/adm.crt"
  echo "export SLIPWAY_APISERVER_KEY=$cache/adm.key"
  echo "export SLIPWAY_APISERVER_ETCD=$etcd"
  echo "export SLIPWAY_APISERVER_ONLY=custom-resources"
}

alive() { [ -e "$run/$1.pid" ] && kill -0 "$(cat "$run/$1.pid")" 2>/dev/null; }

stop() {
  # The API server first: without its etcd it lingers on the port for up to a minute.
  for program in apiext etcd; do
    if alive $program; then
      kill "$(cat "$run/$program.pid")"
      left=300
      while alive $program && [ $left -gt 0 ]; do left=$((left - 1)); sleep 0.1; done
      if alive $program; then kill -9 "$(cat "$run/$program.pid")"; fi
    fi
  done
  rm -rf "$run"
}

# Everything that the suites hold against a server, against this one.
suites() {
  build
  variables=$(start)
  trap stop EXIT INT TERM
  eval "$variables"
  cd "$here/../../.."
  npx vitest run examples/gateway-kubernetes/test/protocol examples/gateway-kubernetes/test/any-server.test.ts \
    examples/gateway-kubernetes/test/any-server-replicas.test.ts examples/gateway-kubernetes/test/resource-store.test.ts
}

case ${1:-} in
test) suites ;;
build) build ;;
start) start ;;
env) variables ;;
stop) stop ;;
*) sed -n '2,15p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac
