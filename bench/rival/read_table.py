# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# A process table by gdb's Python, as one would write it: each entry, then each string, until all are read. Prints the
# milliseconds of each round without gdb's own start.
#   TABLE=address ENTRIES=n ROUNDS=n gdb -q -batch -p PID -x read_table.py
import os
import struct
import time

import gdb

process = gdb.selected_inferior()
known = {}


def string_at(address):
    if address not in known:
        text = b""
        while b"\0" not in text:
            at = address + len(text)
            text += process.read_memory(at, 64 - at % 64).tobytes()
        known[address] = text.split(b"\0")[0].decode()
    return known[address]


for _ in range(int(os.environ["ROUNDS"])):
    known.clear()
    begun = time.monotonic()
    table = int(os.environ["TABLE"], 0)
    entries = []
    for rank in range(int(os.environ["ENTRIES"])):
        host, executable, pid = struct.unpack("QQi", process.read_memory(table + 24 * rank, 20).tobytes())
        entries.append((string_at(host), string_at(executable), pid))
    print("took %.3f" % ((time.monotonic() - begun) * 1000))
