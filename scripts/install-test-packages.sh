#!/usr/bin/env bash
# Installs the system packages that some tests use, where that is possible: as root, on Debian and its kin.
# Elsewhere it says so and the tests that need them skip with the reason.
set -u

packages=(jq openssl chromium)
missing=()
for package in "${packages[@]}"; do command -v "$package" >/dev/null || missing+=("$package"); done
[ ${#missing[@]} -eq 0 ] && { echo "all test packages are here: ${packages[*]}"; exit 0; }

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "not installed (needs root and apt-get): ${missing[*]}; the tests that use them will skip"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"
