#!/bin/sh
# Makes the seeds of fuzz_elf_file, fuzz_code_names, fuzz_split_units and fuzz_types anew: the smallest ELF files that have each of the things that are read.
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

# A symbol table that is packed in a stripped file.
objcopy --only-keep-debug "$out/symtab" mini
xz --check=none mini
objcopy --add-section .gnu_debugdata=mini.xz "$out/dynsym" "$out/packed"
rm mini.xz
chmod a-x "$out"/*

# A program with split units and the file with the rest of them, behind the program's size.
out=corpus/split_units
mkdir -p "$out"
join() {
  python3 -c 'import sys
program, rest = (open(name, "rb").read() for name in sys.argv[1:3])
open(sys.argv[3], "wb").write(len(program).to_bytes(4, "little") + program + rest)' "$1" "$2" "$3"
}
# shellcheck disable=SC2086
for version in 4 5; do
  gcc $small -fpic -O2 -gdwarf-$version -gsplit-dwarf -o unit "$source"
  join unit unit-code.dwo "$out/dwo$version"
  llvm-dwp -e unit -o unit.dwp
  join unit unit.dwp "$out/dwp$version"
  rm unit unit-code.dwo unit.dwp
done
gcc $small -m32 -ffreestanding -fno-pic -Wl,-z,notext -gdwarf-5 -gsplit-dwarf -o unit "$source"
join unit unit-code.dwo "$out/class32"
rm unit unit-code.dwo

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
