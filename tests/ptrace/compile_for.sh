#!/bin/sh
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# compile_for.sh COMPILER SOURCE INCLUDE-FOLDER...: checks that the source compiles for another processor.
set -eu
compiler=$1
source=$2
shift 2
if ! command -v "$compiler" >/dev/null; then
  echo "SKIPPED: $compiler is not installed (Debian: g++-aarch64-linux-gnu)"
  exit 77
fi
for folder in "$@"; do
  set -- "$@" "-I$folder"
  shift
done
exec "$compiler" -std=gnu++20 -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only "$@" "$source"
