#!/usr/bin/env bash
# A private Docker engine with everything of it below one directory, for tests and for trying things out.
#
#   scripts/engines/docker.sh start DIR [dockerd options]   starts it, waits until it answers, prints its DOCKER_HOST
#   scripts/engines/docker.sh stop DIR                      ends it as a system would; its data stays
#   scripts/engines/docker.sh kill DIR                      kills it with SIGKILL; containers may go on running
#   scripts/engines/docker.sh remove DIR                    ends it and its containers, unmounts, removes DIR
#
# It has no bridge and touches no firewall: containers use the host's network or none. Needs root.
set -euo pipefail

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
command=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd -P)
shift 2

# The engine's process id, only when that process is really this directory's engine.
engine() {
  local pid
  pid=$(cat "$dir/docker.pid" 2>/dev/null) || return 1
  { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -F -- "--pidfile $dir/docker.pid" >/dev/null && echo "$pid"
}

# A zombie has ended: nobody has asked for its exit code yet.
has_ended() { [ ! -d "/proc/$1" ] || grep -qs '^State:.Z' "/proc/$1/status" || [ ! -d "/proc/$1" ]; }

await_end() {
  local pid=$1 tenths=$2
  while [ "$tenths" -gt 0 ] && ! has_ended "$pid"; do
    sleep 0.1
    tenths=$((tenths - 1))
  done
  has_ended "$pid"
}

end_with() {
  local pid
  pid=$(engine) || return 0
  kill "-$1" "$pid" 2>/dev/null || return 0
  await_end "$pid" 300 || { kill -KILL "$pid" 2>/dev/null || true; await_end "$pid" 50; }
  # Its containerd dies with it, a moment later.
  if pid=$(cat "$dir/exec/containerd/containerd.pid" 2>/dev/null); then await_end "$pid" 50 || true; fi
  rm -f "$dir/docker.pid"
}

# Processes that name this directory in their command line: the shims of the containers, and containerd.
helpers() {
  local path
  for path in /proc/[0-9]*/cmdline; do
    { tr '\0' ' ' <"$path"; } 2>/dev/null | grep -F -- "$dir/exec/" >/dev/null || continue
    path=${path%/cmdline}
    echo "${path#/proc/}"
  done
}

# A shim's children are the first processes of containers; with one of them ends everything inside.
end_containers() {
  local pid child
  for pid in $(helpers); do
    for child in $(cat "/proc/$pid/task/"*/children 2>/dev/null); do kill -KILL "$child" 2>/dev/null || true; done
    kill -KILL "$pid" 2>/dev/null || true
  done
}

unmount_all() {
  awk '{ print $5 }' /proc/self/mountinfo | grep -F "$dir/" | sort -r | while read -r target; do
    umount -l "$target" 2>/dev/null || true
  done || true
}

case $command in
  start)
    if pid=$(engine); then echo "already running: $pid" >&2; exit 1; fi
    rm -f "$dir/docker.pid" "$dir/docker.sock"
    # An engine takes a containerd that nobody has buried for a living one, and waits for it in vain.
    if old=$(cat "$dir/exec/containerd/containerd.pid" 2>/dev/null) && has_ended "$old"; then
      rm -f "$dir/exec/containerd/containerd.pid"
    fi
    setsid dockerd --host "unix://$dir/docker.sock" --data-root "$dir/data" --exec-root "$dir/exec" \
      --pidfile "$dir/docker.pid" --bridge=none --iptables=false --ip-forward=false "$@" \
      </dev/null >>"$dir/log" 2>&1 &
    started=$!
    # An engine that was killed ends what still runs before it answers, which takes up to ten seconds a container.
    for _ in $(seq 1200); do
      if curl -sf -o /dev/null --unix-socket "$dir/docker.sock" http://engine/_ping; then
        echo "unix://$dir/docker.sock"
        exit 0
      fi
      [ -d "/proc/$started" ] || break
      sleep 0.05
    done
    echo "dockerd did not come up; its last words:" >&2
    tail -n 20 "$dir/log" >&2
    exit 1
    ;;
  stop) end_with TERM ;;
  kill) end_with KILL ;;
  remove)
    end_with TERM
    end_containers
    unmount_all
    rm -rf --one-file-system "$dir"
    ;;
  *) usage ;;
esac
