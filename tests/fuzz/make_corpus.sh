#!/bin/sh
# Makes the seeds of fuzz_elf_file, fuzz_code_names and fuzz_types anew: the smallest ELF files that have each of the things that are read.
set -eu
cd "$(dirname "$0")"
source=../../fixtures/modules/tiny.c
out=corpus/elf_file
mkdir -p "$out"
small="-shared -nostdlib -O1 -Wl,-z,noseparate-code -Wl,--build-id=sha1 -ffile-prefix-map=$PWD=."
# shellcheck disable=SC2086 # the flags are a list
{
  gcc $small -fpic -gdwarf-5 -o "$out/dwarf5" "$source"
  gcc $small -fpic -gdwarf-4 -o "$out/dwarf4" "$source"
  gcc $small -fpic -gdwarf-4 -DSTYLE_EXTENDED -fdebug-types-section -o "$out/type_units" "$source"
  gcc $small -fpic -gdwarf-5 -DSTYLE_NESTED -gz=zlib -o "$out/compressed" "$source"
  gcc $small -fpic -gdwarf-5 -DSTYLE_QUALIFIED -o "$out/qualified" "$source"
  gcc $small -fpic -s -Wl,--hash-style=sysv -o "$out/stripped_sysv" "$source"
  gcc $small -fpic -s -Wl,--hash-style=gnu -o "$out/stripped_gnu" "$source"
  gcc $small -m32 -ffreestanding -fno-pic -Wl,-z,notext -gdwarf-4 -o "$out/class32" "$source"
}
objcopy --only-keep-debug "$out/dwarf5" "$out/only_debug"
objcopy --strip-all --add-gnu-debuglink="$out/only_debug" "$out/dwarf5" "$out/debuglink"
chmod a-x "$out"/*

source=code.c
out=corpus/code_names
mkdir -p "$out"
# shellcheck disable=SC2086
{
  gcc $small -fpic -O2 -gdwarf-5 -o "$out/dwarf5" "$source"
  gcc $small -fpic -O2 -gdwarf-4 -ffunction-sections -o "$out/ranges" "$source"
  gcc $small -fpic -O2 -gdwarf-5 -gz=zlib -o "$out/compressed" "$source"
  g++ $small -fpic -O2 -gdwarf-5 -x c++ -o "$out/cpp" "$source"
  gcc $small -fpic -O2 -o "$out/symtab" "$source"
  gcc $small -fpic -O2 -s -Wl,-z,lazy -o "$out/dynsym" "$source"
  gcc $small -m32 -ffreestanding -fno-pic -Wl,-z,notext -gdwarf-4 -o "$out/class32" "$source"
  clang $small -fpic -O2 -gdwarf-5 -o "$out/clang" "$source"
}
chmod a-x "$out"/*

source=types.c
out=corpus/types
mkdir -p "$out"
# shellcheck disable=SC2086
{
  small="-O1 -ffile-prefix-map=$PWD=."
  gcc $small -c -gdwarf-5 -o "$out/object5" "$source"
  gcc $small -c -gdwarf-4 -o "$out/object4" "$source"
  gcc $small -c -gdwarf-5 -gz=zlib -o "$out/compressed" "$source"
  gcc $small -c -m32 -gdwarf-4 -o "$out/object32" "$source"
  clang $small -c -gdwarf-5 -o "$out/clang" "$source"
  g++ $small -c -gdwarf-5 -x c++ -o "$out/cpp" "$source"
  s390x-linux-gnu-gcc $small -c -gdwarf-5 -o "$out/big_endian" "$source"
  gcc $small -shared -nostdlib -fpic -gdwarf-4 -fdebug-types-section -o "$out/type_units" "$source"
}
chmod a-x "$out"/*
