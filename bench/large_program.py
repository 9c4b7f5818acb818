#!/usr/bin/env python3
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""Makes a starter with much debug information: large_program.py OUT UNITS, or with an index: large_program.py OUT PROGRAM INDEX

One unit of about 260 KB of DWARF is compiled once and copied under other names, so that 2,000 units take a minute and not an hour.
The unit with the interface stands in the middle, as in a program whose rank 0 is its starter. INDEX is gdb
(.gdb_index) or names (.debug_names): gdb-add-index adds it to a copy of PROGRAM.
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

STARTER = """
#include <stdio.h>
typedef struct { char* host_name; char* executable_name; int pid; } MPIR_PROCDESC;
MPIR_PROCDESC* MPIR_proctable = 0;
int MPIR_proctable_size = 0;
volatile int MPIR_debug_state = 0;
volatile int MPIR_being_debugged = 0;
void MPIR_Breakpoint(void) { __asm__ volatile(""); }
int main(void) {
  puts("ready");
  fflush(stdout);
  getchar();
  MPIR_Breakpoint();
  return 0;
}
"""
RECORDS = 900  # types and functions of a unit


def unit():
    lines = []
    for i in range(RECORDS):
        lines.append("struct record_%d { int first_%d; char* name_%d; double values_%d[%d]; struct record_%d* next_%d; };"
                     % (i, i, i, i, i % 7 + 1, max(i - 1, 0), i))
        lines.append("int work_%d(struct record_%d* r, int count) { int total_%d = 0; for (int step = 0; step < count; "
                     "++step) { int part = r->first_%d + step; total_%d += part; } return total_%d; }" % (i, i, i, i, i, i))
    return "\n".join(lines) + "\n"


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def make(out, units, path):
    for name, text in (("starter", STARTER), ("unit", unit())):
        with open(path(name + ".c"), "w", encoding="utf-8") as source:
            source.write(text)
        run("cc", "-g", "-O0", "-c", path(name + ".c"), "-o", path(name + ".o"))
    objects = [path("unit%d.o" % i) for i in range(units)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(lambda i: run("objcopy", "--prefix-symbols=unit%d_" % i, path("unit.o"), objects[i]),
                         range(units)))
    objects.insert(units // 2, path("starter.o"))
    with open(path("objects"), "w", encoding="utf-8") as listed:
        listed.write("\n".join(objects) + "\n")
    run("cc", "-o", out, "@" + path("objects"))


def main():
    out = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out)) as folder:
        path = lambda name: os.path.join(folder, name)
        made = path("program")
        if len(sys.argv) > 3:
            shutil.copy(sys.argv[2], made)
            run("gdb-add-index", *(["-dwarf-5"] if sys.argv[3] == "names" else []), made)
        else:
            make(made, int(sys.argv[2]), path)
        os.replace(made, out)


if __name__ == "__main__":
    main()
