# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# What one would do with gdb instead: set MPIR_being_debugged when the starter's libraries are there, stop at
# MPIR_Breakpoint, read the table, let the job go on, end with its status.
#   gdb -q -batch -x acquire.py --args mpirun -n 4 ./app
# A stock starter has no debug information: the descriptor's layout has to be known beforehand.
import struct
import sys

import gdb


def address_of(name):
    return int(gdb.parse_and_eval("(long)&%s" % name))


def read(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def string_at(address):
    text = b""
    while b"\0" not in text:
        text += read(address + len(text), 64 - (address + len(text)) % 64)
    return text.split(b"\0")[0].decode()


for setting in ("pagination off", "breakpoint pending on", "print inferior-events off", "debuginfod enabled off"):
    gdb.execute("set " + setting, to_string=True)
gdb.execute("tbreak __libc_start_main", to_string=True)
gdb.execute("run", to_string=True)
gdb.selected_inferior().write_memory(address_of("MPIR_being_debugged"), struct.pack("i", 1))
gdb.execute("break MPIR_Breakpoint", to_string=True)
gdb.execute("continue", to_string=True)
size = struct.unpack("i", read(address_of("MPIR_proctable_size"), 4))[0]
table = struct.unpack("Q", read(address_of("MPIR_proctable"), 8))[0]
for rank in range(size):
    host, executable, pid = struct.unpack("QQi", read(table + 24 * rank, 20))
    sys.stderr.write("%d %s %d %s\n" % (rank, string_at(host), pid, string_at(executable)))
gdb.execute("delete", to_string=True)
gdb.execute("continue", to_string=True)
gdb.execute("quit $_exitcode", to_string=True)
