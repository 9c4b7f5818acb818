#!/usr/bin/env python3
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzz_openmpi_unexpected: make_unexpected_corpus.py tests/fuzz/corpus/openmpi_unexpected
The memory of a rank with lists of messages, in the layouts of tests/mpi/ob1_process.hpp: the list of communicators, the
three classes, two communicators, their senders, and messages."""
import pathlib
import struct
import sys

BASE = 0x100000
COMM_CLASS, SENDER_CLASS, MESSAGE_CLASS = BASE + 0x10, BASE + 0x20, BASE + 0x30
TABLE, COMMUNICATORS, PML, ARRAYS, SENDERS, MESSAGES = 0x40, 0x80, 0x100, 0x200, 0x280, 0x500


class Memory:
    def __init__(self, size=0x1000):
        self.bytes = bytearray(size)
        self.messages = 0
        self.senders = {}
        self.put(0, 2, "<I")
        self.put(8, BASE + TABLE)
        for place, size in ((0x10, 96), (0x20, 100), (0x30, 160)):
            self.put(place + 8, size)
        for number, (rank, senders) in enumerate(((3, 4), (0, 3))):
            here, pml, array = COMMUNICATORS + 0x40 * number, PML + 0x80 * number, ARRAYS + 0x40 * number
            self.put(TABLE + 8 * number, BASE + here)
            self.put(here, number, "<I")
            self.put(here + 4, rank, "<I")
            self.put(here + 40, BASE + pml)
            self.put(pml, COMM_CLASS)
            self.put(pml + 72, BASE + array)
            self.put(pml + 80, senders)
        for number, rank in ((0, 0), (0, 1), (1, 2)):
            here = SENDERS + 0x80 * len(self.senders)
            self.senders[number, rank] = here
            self.put(ARRAYS + 0x40 * number + 8 * rank, BASE + here)
            self.put(here, SENDER_CLASS)
            self.put(here + 64, BASE + here + 48)

    def put(self, at, value, form="<q"):
        struct.pack_into(form, self.bytes, at, value)

    def get(self, at):
        return struct.unpack_from("<q", self.bytes, at)[0]

    def make(self, rank, tag, kind=0x41, length=100):
        here = MESSAGES + 0x100 * self.messages
        self.messages += 1
        self.put(here, MESSAGE_CLASS)
        self.put(here + 40, kind, "<B")
        self.put(here + 44, rank, "<i")
        self.put(here + 48, tag, "<i")
        if kind == 0x41:
            self.put(here + 80, 1)
            self.put(here + 104, length + 14)
        else:
            self.put(here + 56, length)
        return here

    def arrive(self, number, rank, tag, kind=0x41, length=100):
        here, sender = self.make(rank, tag, kind, length), self.senders[number, rank]
        last = sender + 48
        while self.get(last + 16) != BASE + sender + 48:
            last = self.get(last + 16) - BASE
        self.put(last + 16, BASE + here)
        self.put(here + 16, BASE + sender + 48)
        self.put(sender + 88, self.get(sender + 88) + 1)
        return here


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
seeds = {}
memory = seeds["none"] = Memory(0x500)
memory = seeds["some"] = Memory()
memory.arrive(0, 1, 7)
memory.arrive(0, 0, 8, 0x42, 1 << 20)
memory.arrive(0, 1, -17, 0x43, 9)
memory.arrive(1, 2, 9)
memory = seeds["ring"] = Memory()
first, follower, second = memory.make(1, 20), memory.make(1, 21), memory.make(1, 30)
for at, after in ((first, second), (second, first), (follower, follower)):
    memory.put(at + 16, BASE + after)
memory.put(first + 88, BASE + follower)
memory.put(memory.senders[0, 1] + 24, BASE + first)
memory = seeds["endless"] = Memory()
here = memory.arrive(0, 1, 7)
memory.put(here + 16, BASE + here)
memory.put(memory.senders[0, 1] + 88, 2**62)
memory = seeds["nowhere"] = Memory()
here = memory.arrive(0, 0, 7)
memory.put(here + 16, 0)
memory = seeds["wild"] = Memory()
memory.put(ARRAYS + 8, -8)
memory.arrive(1, 2, 7)
memory = seeds["many-senders"] = Memory()
memory.put(PML + 80, 2**62)
for name, memory in seeds.items():
    (folder / name).write_bytes(memory.bytes)
