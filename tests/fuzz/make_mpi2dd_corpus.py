#!/usr/bin/env python3
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of corpus/mpi2dd: one small job for each ABI and stride, as mpi2dd.cpp takes its input apart."""
import pathlib
import struct

MEMORY = 0x41000000  # where the rest of the input is mapped, with the info block at its beginning
ABIS = {"lp64le": (0, 8, "<"), "lp64be": (1, 8, ">"), "ilp32le": (2, 4, "<"), "ilp32be": (3, 4, ">")}


class Image:
    def __init__(self, pointer, order):
        self.pointer, self.order = pointer, order
        self.bytes = bytearray(128 if pointer == 8 else 96)

    def pack(self, addresses, numbers):
        code = "Q" if self.pointer == 8 else "I"
        return struct.pack(f"{self.order}{len(addresses)}{code}{len(numbers)}i", *addresses, *numbers)

    def add(self, data):
        where = MEMORY + len(self.bytes)
        self.bytes += data
        return where

    def text(self, text):
        return self.add(text + b"\0")

    def info(self, flags, addresses, numbers):
        head = b"MPI2\x7f" + bytes([1, 1, 1]) + struct.pack(self.order + "II", 0, flags)
        block = head + self.pack(addresses, numbers)
        self.bytes[: len(block)] = block


def job(pointer, order, compiled, meta_pid, bad=False):
    image = Image(pointer, order)
    host, other, app, w0, w1 = (image.text(t) for t in (b"n1", b"n2", b"/a", b"w0", b"w1"))
    spawn = image.add(image.pack([w0], [1, 0]))
    ranks = [(host, app, 0, w0, 101, 0), (other, app, 0, w0, 102, 1), (other, app, spawn, w1, 103, 0)]
    if bad:
        ranks += [(0, 0, 8, 0, -1, -1), (8, 8, spawn, image.text(b""), 104, 2), (host, app, 0, w1, 101, 5)]
    table = image.add(b"".join(image.pack(r[:4], r[4:]) for r in ranks))
    gap = b"\0" * (4 if compiled and pointer == 8 else 0)
    entries = [image.pack([host, app], [1]) + gap, image.pack([other, app], [2]) + gap, image.pack([host, app], [3])]
    directories = image.add(b"".join(entries) + gap)
    image.info(7, [0, 0, host, app, app, table, directories, directories], [len(ranks), 3, 2, meta_pid])
    return bytes(image.bytes)


def main():
    folder = pathlib.Path(__file__).parent / "corpus" / "mpi2dd"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (number, pointer, order) in ABIS.items():
        never = bytes([200, 255, 255, 0, 0, 0, 0])
        (folder / f"{name}-packed").write_bytes(bytes([number]) + never + job(pointer, order, False, 2))
        (folder / f"{name}-compiled").write_bytes(bytes([number]) + never + job(pointer, order, True, 9))
        (folder / f"{name}-typed").write_bytes(bytes([number | 12]) + never + job(pointer, order, True, 1))
        (folder / f"{name}-bad").write_bytes(bytes([number]) + never + job(pointer, order, False, 2, bad=True))
        (folder / f"{name}-dies").write_bytes(bytes([number, 200, 4, 255, 0, 0, 0, 0]) + job(pointer, order, False, 2))
        changes = struct.pack(order + "i", 1)
        (folder / f"{name}-changes").write_bytes(bytes([number, 200, 255, 3]) + changes + job(pointer, order, False, 2))


if __name__ == "__main__":
    main()
