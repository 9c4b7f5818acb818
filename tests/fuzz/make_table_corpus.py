#!/usr/bin/env python3
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of corpus/table: small tables of each ABI, as table.cpp takes its input apart."""
import pathlib
import struct

MEMORY = 0x41000000  # where the rest of the input is mapped
ABIS = {"lp64le": (0, 8, "<"), "lp64be": (1, 8, ">"), "ilp32le": (2, 4, "<"), "ilp32be": (3, 4, ">")}


def seed(abi, layout, entries, state, memory, claimed=None):
    head = bytes([abi]) + layout + bytes([8, 0])  # totalview_jobid's size, plain variable sizes
    head += (len(entries) if claimed is None else claimed).to_bytes(5, "little") + (0).to_bytes(2, "little")
    return head + bytes([state, 0, 0]) + memory


def memory_of(pointer, order, stride, entries, strings):
    text = bytearray()
    places = []
    for string in strings:
        places.append(MEMORY + stride * len(entries) + len(text))
        text += string + b"\0"
    code = order + ("QQi" if pointer == 8 else "IIi")
    table = bytearray()
    for host, executable, pid in entries:
        where = [places[i] if i is not None else 0 for i in (host, executable)]
        table += struct.pack(code, *where, pid).ljust(stride, b"\xab")
    return bytes(table + text)


def main():
    folder = pathlib.Path(__file__).parent / "corpus" / "table"
    folder.mkdir(parents=True, exist_ok=True)
    strings = [b"n1", b"n2", b"/path/a.out", b"x" * 200]
    four = [(0, 2, 41), (0, 2, 42), (1, 2, 43), (1, 3, 44)]
    for name, (number, pointer, order) in ABIS.items():
        memory = memory_of(pointer, order, 3 * pointer, four, strings)
        inferred = bytes([0])
        (folder / f"{name}-spawned").write_bytes(seed(number, inferred, four, 1, memory))
        (folder / f"{name}-aborting").write_bytes(seed(number, inferred, four, 2, memory))
        (folder / f"{name}-huge").write_bytes(seed(number, inferred, four, 1, memory, 0x7FFFFFFF))
        bad = [(None, 2, 0), (0, None, -1), (3, 3, 99)]
        (folder / f"{name}-bad-fields").write_bytes(
            seed(number, inferred, bad, 1, memory_of(pointer, order, 3 * pointer, bad, strings)))
        # a layout from debug information: kind, size, then kind and offset of each member
        fields = bytes([1, 40, 1, 0, 1, pointer, 4 | 2 | 4 << 3, 2 * pointer])
        (folder / f"{name}-own-layout").write_bytes(
            seed(number, fields, four, 1, memory_of(pointer, order, 40, four, strings)))


if __name__ == "__main__":
    main()
