# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# What scripts/build-mpich-debug and scripts/build-openmpi-debug have in common. Sourced, never run.
#
# A script sets `mpi` (the name that people use), `package` (Debian's source package), `kind` (the folder in the user's
# cache) and `starter` (a program that a finished installation has), defines `configure PREFIX`, which is called in a
# folder with `source` and an empty `build`, and calls `build_mpi [PREFIX]`.

set -u
umask 022
script=$(readlink -f "${BASH_SOURCE[1]}")
common=$(readlink -f "${BASH_SOURCE[0]}")
in_cache=false
work=

fail() {
  $in_cache && printf '%s\n' "$*" >"$cache/failure"
  printf '%s\n' "$*"
  exit 1
}
# step NAME COMMAND...: what the command prints goes into a file, whose end is shown if the command fails.
step() {
  local name=$1 log
  log=$work/${1// /-}.log
  shift
  "$@" >"$log" 2>&1 && return
  tail -n 30 "$log"
  fail "$mpi could not be built: $name: $(grep -m 1 -iE '(^E:|error)' "$log" || tail -n 1 "$log")"
}

# The system's sources, asked for source packages, in lists of our own.
get_source() {
  local file
  mkdir -p parts lists/partial cache/archives/partial source build
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -f $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"parts/$(basename "$file")"
  done
  [[ -f /etc/apt/sources.list ]] && sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >parts/main.list
  local apt=(apt-get -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts" -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root -q)
  # A repository that has no sources makes the update fail; the download shows whether the package's are there.
  "${apt[@]}" update
  "${apt[@]}" source --download-only "$package" &&
    tar -xf "$package"_*.orig.tar.* -C source --strip-components=1
}

# Into the folder PREFIX, or into the user's cache. Prints the folder as its last line.
build_mpi() {
  local prefix=${1:-} key
  if [[ -n $prefix ]]; then
    mkdir -p "$prefix" && prefix=$(cd "$prefix" && pwd) || exit 1
    work=$(mktemp -d)
  else
    in_cache=true
    cache=${XDG_CACHE_HOME:-${HOME:?neither XDG_CACHE_HOME nor HOME is set}/.cache}/mpiacq/$kind
    mkdir -p "$cache" && chmod 700 "$cache" && exec 9>"$cache/lock" || exit 1
    flock 9
    # What a script builds changes with the script and with the distribution.
    key=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-unknown}")-$(uname -m)
    key=$key-$(cat "$script" "$common" | sha256sum | cut -c 1-12)
    prefix=$cache/$key
    if [[ -x $prefix/bin/$starter ]]; then
      ln -sfn "$key" "$cache/current" && rm -f "$cache/failure" && echo "$prefix"
      exit
    fi
    work=$(mktemp -d "$cache/.build-XXXXXX")
  fi
  trap 'rm -rf "$work"' EXIT
  cd "$work" || exit 1

  step "its source package" get_source
  step configure configure "$prefix"
  step make make -C build -j "$(nproc)"
  if ! $in_cache; then
    step install make -C build install
    echo "$prefix"
    exit
  fi
  # The folder appears whole or not at all.
  step install make -C build install DESTDIR="$work/root"
  rm -rf "$prefix"
  mv "$work/root$prefix" "$prefix" && ln -sfn "$key" "$cache/current" || fail "$mpi could not be put into $cache"
  rm -f "$cache/failure"
  echo "$prefix"
}
