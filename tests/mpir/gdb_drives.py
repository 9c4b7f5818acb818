# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""gdb as the debugger behind the C interface: its memory, its symbols and types, its breakpoints, and nothing else.

Run by gdb (-x). MPIACQ_SEAM is the shared library, MPIACQ_REPORT the file for what was seen, one "key value" a line,
MPIACQ_MODE "launch" (gdb was given a program) or "attach" (gdb has attached to one).
"""
import ctypes as c
import os
import sys

import gdb

OK, NOT_FOUND, PROCESS_GONE = 0, 2, 4
(PLANT, LIFT, WRITE, WATCH, UNWATCH, KICK, MODULES, AWAIT, PROCESSES, ABORT, DAEMONS, PROBLEM) = range(1, 13)
PAGE = 4096


def structure(*fields):
    """A ctypes structure that begins with its own size, set."""
    class Sized(c.Structure):
        _fields_ = [("struct_size", c.c_size_t), *fields]

        def __init__(self, **values):
            super().__init__(c.sizeof(type(self)), **values)
    return Sized


class Range(c.Structure):
    _fields_ = [("address", c.c_uint64), ("into", c.c_void_p), ("size", c.c_size_t), ("got", c.c_size_t)]


class Symbol(c.Structure):
    _fields_ = [("address", c.c_uint64), ("size", c.c_uint64)]


Layout = structure(("size", c.c_uint64), ("host_name_offset", c.c_uint64), ("executable_name_offset", c.c_uint64),
                   ("pid_offset", c.c_uint64), ("pid_size", c.c_uint64))
READ = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Range), c.c_size_t)
WRITER = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint64, c.c_void_p, c.c_size_t)
FIND = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p, c.POINTER(Symbol))
LAYOUT = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Layout))
Target = structure(("name", c.c_char_p), ("pointer_size", c.c_uint8), ("big_endian", c.c_uint8),
                   ("int_size", c.c_uint8), ("context", c.c_void_p), ("read", READ), ("write", WRITER),
                   ("find_symbol", FIND), ("descriptor_layout", LAYOUT))
Action = structure(("kind", c.c_int), ("code", c.c_int), ("address", c.c_uint64), ("size", c.c_size_t),
                   ("bytes", c.c_void_p), ("text", c.c_char_p), ("claimed", c.c_uint64), ("filled", c.c_uint64),
                   ("looks_like_rank", c.c_int))
Rank = structure(("pid", c.c_int64), ("host", c.c_char_p), ("executable", c.c_char_p))
Problem = structure(("rank", c.c_size_t), ("sentence", c.c_char_p))


def read_memory(address, size):
    """As much of it as there is, from its beginning."""
    inferior = gdb.selected_inferior()
    try:
        return bytes(inferior.read_memory(address, size))
    except gdb.MemoryError:
        got = b""
    while len(got) < size:
        at = address + len(got)
        piece = min(size - len(got), PAGE - at % PAGE)
        try:
            got += bytes(inferior.read_memory(at, piece))
        except gdb.MemoryError:
            break
    return got


def guarded(otherwise):
    """ctypes would print what a callback raises, and give 0."""
    def wrap(function):
        def call(*arguments):
            try:
                return function(*arguments)
            except BaseException as why:  # nothing may pass through C
                print(f"{function.__name__}: {why}", file=sys.stderr)
                return otherwise
        return call
    return wrap


@READ
@guarded(PROCESS_GONE)
def read(_, ranges, count):
    for i in range(count):
        got = read_memory(ranges[i].address, ranges[i].size)
        c.memmove(ranges[i].into, got, len(got))
        ranges[i].got = len(got)
    return OK


@WRITER
@guarded(PROCESS_GONE)
def write(_, address, data, size):
    gdb.selected_inferior().write_memory(address, c.string_at(data, size))
    return OK


@FIND
@guarded(-1)
def find_symbol(_, name, into):
    try:
        value = gdb.parse_and_eval(f"&'{name.decode()}'")
    except gdb.error:
        return 0
    into[0].address = int(value)
    # Without debug information gdb has no sizes.
    symbol = gdb.lookup_global_symbol(name.decode())
    into[0].size = symbol.type.sizeof if symbol is not None and symbol.is_variable else 0
    return 1


@LAYOUT
@guarded(-1)
def descriptor_layout(_, into):
    table = gdb.lookup_global_symbol("MPIR_proctable")
    if table is None:
        return 0
    structure_type = table.type.strip_typedefs().target().strip_typedefs()
    into[0].size = structure_type.sizeof
    for field in structure_type.fields():
        if field.name in ("host_name", "executable_name", "pid"):
            setattr(into[0], field.name + "_offset", field.bitpos // 8)
        if field.name == "pid":
            into[0].pid_size = field.type.sizeof
    return 1


class Debugger:
    def __init__(self, library, report):
        self.lib = library
        self.report = report
        for name in ("missing", "layout_source", "error"):
            getattr(library, "mpiacq_mpir_" + name).restype = c.c_char_p
        library.mpiacq_mpir_breakpoint.restype = c.c_uint64
        self.m = c.c_void_p()
        assert library.mpiacq_mpir_create(None, c.byref(self.m)) == OK
        self.breakpoints = {}
        self.watches_modules = False
        self.awaits = None

    def target(self):
        pointer = gdb.lookup_type("char").pointer().sizeof
        big = "big endian" in gdb.execute("show endian", to_string=True)
        return Target(name=gdb.current_progspace().filename.encode(), pointer_size=pointer, big_endian=big,
                      read=read, write=write, find_symbol=find_symbol, descriptor_layout=descriptor_layout)

    def tell(self, what, *arguments):
        """Tells what happened, and does what is answered."""
        target = self.target()
        code = getattr(self.lib, "mpiacq_mpir_" + what)(self.m, c.byref(target), *arguments)
        if code != OK:
            self.say("error", f"{code} {self.lib.mpiacq_mpir_error(self.m).decode()}")
            return
        if self.lib.mpiacq_mpir_carry_out_writes(self.m, c.byref(target)) != OK:
            self.say("error", self.lib.mpiacq_mpir_error(self.m).decode())
        self.awaits = None
        action, index = Action(), 0
        while self.lib.mpiacq_mpir_action(self.m, c.c_size_t(index), c.byref(action)) == OK:
            self.act(action)
            index += 1

    def act(self, action):
        if action.kind == PLANT:
            self.breakpoints[action.address] = gdb.Breakpoint(f"*{action.address:#x}", internal=True)
            self.watch_modules(False)
        elif action.kind == LIFT:
            self.breakpoints.pop(action.address).delete()
        elif action.kind == MODULES:
            self.watch_modules(True)
        elif action.kind == AWAIT:
            self.awaits = f"{action.filled} of {action.claimed}, rank {action.looks_like_rank}"
            self.say("awaits", self.awaits)
        elif action.kind == PROCESSES:
            self.say_table()
        elif action.kind == ABORT:
            self.say("abort", (action.text or b"").decode())
        elif action.kind == PROBLEM:
            self.say("problem", action.text.decode())

    def watch_modules(self, wanted):
        self.watches_modules = wanted
        gdb.execute(f"set stop-on-solib-events {int(wanted)}")

    def say(self, key, value):
        self.report.write(f"{key} {value}\n")
        self.report.flush()

    def say_table(self):
        self.say("layout", self.lib.mpiacq_mpir_layout_source(self.m).decode())
        rank, index = Rank(), 0
        while self.lib.mpiacq_mpir_rank(self.m, c.c_size_t(index), c.byref(rank)) == OK:
            self.say(f"rank.{index}.pid", rank.pid)
            for key, text in (("host", rank.host), ("exe", rank.executable)):
                self.say(f"rank.{index}.{key}", "-" if text is None else text.decode(errors="backslashreplace"))
            index += 1
        self.say("table_size", index)
        problem, index = Problem(), 0
        while self.lib.mpiacq_mpir_problem(self.m, c.c_size_t(index), c.byref(problem)) == OK:
            self.say(f"rank.{problem.rank}.problem", problem.sentence.decode())
            index += 1

    def is_alive(self):
        return gdb.selected_inferior().pid != 0

    def launch(self):
        gdb.execute("starti")
        entry = next(line.split()[-1] for line in gdb.execute("info auxv", to_string=True).splitlines()
                     if "AT_ENTRY" in line)
        gdb.Breakpoint(f"*{entry}", internal=True, temporary=True)
        gdb.execute("continue")
        self.tell("at_entry")
        while True:
            gdb.execute("continue")
            if not self.is_alive():
                return
            if gdb.selected_frame().pc() == self.lib.mpiacq_mpir_breakpoint(self.m):
                self.tell("at_breakpoint")
            elif self.watches_modules:
                self.tell("modules_changed")

    def attach(self):
        self.tell("at_attach")
        self.say("being_debugged", int(gdb.parse_and_eval("*(int*)&MPIR_being_debugged")))
        self.tell("before_detach")
        self.say("being_debugged", int(gdb.parse_and_eval("*(int*)&MPIR_being_debugged")))
        gdb.execute("detach")


def main():
    for setting in ("pagination off", "confirm off", "breakpoint pending on", "startup-with-shell off"):
        gdb.execute("set " + setting)
    gdb.execute("handle all nostop noprint pass", to_string=True)
    with open(os.environ["MPIACQ_REPORT"], "w", encoding="utf-8") as report:
        debugger = Debugger(c.CDLL(os.environ["MPIACQ_SEAM"]), report)
        getattr(debugger, os.environ["MPIACQ_MODE"])()
        debugger.say("end", "reached")
        debugger.lib.mpiacq_mpir_destroy(debugger.m)


main()
