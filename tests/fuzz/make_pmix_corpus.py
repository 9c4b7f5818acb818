#!/usr/bin/env python3
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzz_pmix: make_pmix_corpus.py tests/fuzz/corpus/pmix"""
import pathlib
import struct
import sys


def text(value):
    return struct.pack("<Q", len(value)) + value


def maybe(value):
    return b"\0" if value is None else b"\1" + value


def frame(kind, body):
    body = bytes([kind]) + body
    return struct.pack("<I", len(body)) + body


def name(nspace, rank):
    return text(nspace) + struct.pack("<I", rank)


def row(rank, pid, host=b"n1", executable=b"/usr/bin/app"):
    there = [None if one is None else text(one) for one in (host, executable)]
    return struct.pack("<I", rank) + maybe(there[0]) + maybe(there[1]) + struct.pack("<qB", pid, 6)


def rows(*all_rows):
    return frame(2, struct.pack("<Q", len(all_rows)) + b"".join(all_rows))


connected = frame(0, text(b"5.0.7a1") + name(b"tool@2", 0))
job = frame(1, text(b"job@1") + maybe(None) + struct.pack("<Q", 2))
spawned = frame(1, text(b"job@3") + maybe(name(b"job@1", 1)) + struct.pack("<Q", 1))
problem = frame(3, struct.pack("<Bi", 6, 0) + maybe(None) + text(b"") + text(b"a sentence"))
event = frame(5, struct.pack("<i", -145) + name(b"job@1", 0) + maybe(name(b"job@1", 1)))

seeds = {
    "connected": b"\0" + connected,
    "job": b"\0" + job + rows(row(1, 12), row(0, 11)),
    "worlds": b"\0" + job + rows(row(0, 11), row(0, 12, None, None)) + spawned + rows(row(2**32 - 1, -1)) + problem,
    "event": b"\0" + event,
    "answered": b"\0" + frame(4, b""),
    "failed": b"\0" + frame(6, struct.pack("<Bi", 9, 0) + maybe(None) + text(b"/lib/libpmix.so") + text(b"why")),
    "rendezvous": b"\1prterun-n1-42@0.0;tcp4://192.0.2.2:52217\n5.0.7a1\n42\n0:0\nTue Nov 24 12:55:34 2026\n\n",
    "version": b"\1OpenPMIx 4.2.2, repo rev: v4.2.2 (PMIx Standard: 4.2)",
    "maps": b"\2 7f4000-7f5000 r-xp 0003a000 fe:00 11167735   /usr/lib/pmix2/lib/libpmix.so.2.13.7 (deleted)\n",
    "environment": b"\3PMIX_SERVER_URI41=a.0;tcp4://192.0.2.2:1\0PMIX_NAMESPACE=a@1\0PMIX_VERSION=5.0.7a1\0",
    "namespaces": b"\4prterun-n1-42@1,,prterun-n1-42@3",
}
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for title, seed in seeds.items():
    (folder / title).write_bytes(seed)
