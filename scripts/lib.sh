# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# What scripts/demo and scripts/test have in common. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages"

say() { printf '%s\n' "== $*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root is needed for: $* (and there is no sudo)"
  fi
}

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }

# Those of the packages named that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ?i* ]] || echo "$package"
  done
}

# Services of the packages (munge, slurmctld, slurmd) are not to be started on the user's machine: the tests run their
# own. Debian asks this file; one that is there already is the administrator's.
policy=/usr/sbin/policy-rc.d
made_policy=false
forbid_services() {
  [[ -e $policy ]] && return
  made_policy=true
  trap allow_services EXIT
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 0755 "$policy"
}
allow_services() {
  $made_policy && as_root rm -f "$policy"
  made_policy=false
}

# install_packages needed|optional PACKAGE...: says what it installs, and nothing where all is there.
lists_are_fresh=false
install_packages() {
  local kind=$1 package log=$root/build/packages.log missing=()
  shift
  if ! command -v dpkg-query apt-get >/dev/null; then
    say "this is neither Debian nor Ubuntu: take care of these packages' contents yourself: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] && return
  mkdir -p "$root/build"
  if ! $lists_are_fresh; then
    apt update >"$log" 2>&1 || say "apt-get update did not work: $(tail -n 1 "$log")"
    lists_are_fresh=true
  fi
  say "installing packages: ${missing[*]}"
  forbid_services
  if ! apt install --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    [[ $kind == needed ]] && { tail -n 20 "$log" >&2; die "these packages are needed and could not be installed: ${missing[*]}"; }
    # One that does not exist here must not keep the others away.
    for package in "${missing[@]}"; do
      apt install --no-install-recommends "$package" >"$log" 2>&1 ||
        say "$package cannot be installed ($(grep -m 1 '^E:' "$log")): going on without it"
    done
  fi
  allow_services
}

# quietly LOG COMMAND...: the output goes to a file, of which the end is shown where the command fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 && return
  tail -n 40 "$log" | sed 's/^/  /' >&2
  say "failed: $* (all of it: $log)"
  return 1
}

# ccache where there is one: a build after a checkout costs little then.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  # ccache keeps what is compiled with a precompiled header only when told that macros in it count by their use.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}
fi

jobs=$(nproc)

# Open MPI refuses to run as root unless told twice, and says that it will drop MPIR unless told once.
use_open_mpi() {
  [[ $EUID -eq 0 ]] && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MPIR_DO_NOT_WARN=1
}
