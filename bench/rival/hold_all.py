# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# What one would do with gdb to hold a node's ranks: an inferior for each, attached one after the other, then all let go.
# Their libraries' symbols are not asked for. Prints the milliseconds of it without gdb's own start and end.
#   PIDS="1 2 3" gdb -q -nx -batch -x hold_all.py
import os
import time

import gdb

processes = os.environ["PIDS"].split()
for setting in ("pagination off", "confirm off", "print inferior-events off", "auto-solib-add off",
                "debuginfod enabled off"):
    gdb.execute("set " + setting)
begun = time.monotonic()
for number, process in enumerate(processes, 1):
    if number > 1:
        gdb.execute("add-inferior -no-connection", to_string=True)
        gdb.execute("inferior %d" % number, to_string=True)
    gdb.execute("attach " + process, to_string=True)
gdb.execute("detach inferiors " + " ".join(str(number) for number in range(1, len(processes) + 1)), to_string=True)
print("took %.3f" % ((time.monotonic() - begun) * 1000))
