#!/usr/bin/env python3
# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and shows what they measured: a table, JSON and plots.

Each program prints a line of JSON for each work and size (bench/measurement.hpp). Ratios are those of rounds that were
done in turn; where the quartiles of a ratio lie too far apart, it is not printed.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import time

# Quartiles further apart than this share of the median tell of the machine more than of the work.
WIDEST_SPREAD = 0.25

# What is run, in this order, with the seconds that it is given.
PROGRAMS = [
    (["table_bench"], 180),
    (["symbols_bench"], 420),
    (["launch_bench"], 120),
    (["attach_bench"], 60),
    (["hold_bench"], 30),
    (["stacks_bench"], 120),
    (["queues_bench"], 60),
    (["mpi2dd_bench"], 60),
]

# (work, size): at most so many times the floor, at least so many times faster than the rival, and limits of figures.
TARGETS = {
    ("table, shared strings", 1000000): {"floor": 1.5, "rival": 300, "memory": 1.5},
    ("table, own strings", 1000000): {"floor": 2.0, "rival": 50, "memory": 1.5},
    ("symbols, stripped starter", 1): {"ours_ms": 2, "rival": 50},
    ("symbols, 500 MB of DWARF", 1): {"ours_ms": 100, "rival": 20},
    ("launch, mpirun", 4): {"floor": 1.03},
    ("hold and release", 1000): {"floor": 1.2},
    ("stacks", 1000): {"us_each": 100, "rival": 50},
    ("queues, isolated", 10000): {"floor": 1.5},
    ("MPI2DD graph", 1000000): {"us_each_beside_reads": 1},
}


def quantile(values, share):
    values = sorted(values)
    position = share * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (position - below)


def ratio(times, against):
    """Median and quartiles of the ratios of rounds done in turn."""
    ratios = [a / b for a, b in zip(times, against) if b > 0]
    if not ratios:
        return None
    return {"median": quantile(ratios, 0.5), "low": quantile(ratios, 0.25), "high": quantile(ratios, 0.75)}


def is_steady(r):
    return (r["high"] - r["low"]) <= WIDEST_SPREAD * r["median"]


def ratio_text(r):
    if r is None:
        return "-"
    if not is_steady(r):
        return "unsteady ({:.3g} to {:.3g})".format(r["low"], r["high"])
    return "{:.2f}".format(r["median"]) if r["median"] < 100 else "{:.0f}".format(r["median"])


def time_text(milliseconds):
    if milliseconds is None:
        return "-"
    for limit, scale, unit in ((1, 1000, "us"), (1000, 1, "ms"), (float("inf"), 0.001, "s")):
        if milliseconds < limit:
            return "{:.3g} {}".format(milliseconds * scale, unit)


def bytes_text(count):
    if count is None:
        return "-"
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return "{:.3g} {}".format(count, unit)
        count /= 1000


def add_ratios(row):
    """What follows from the times of a row."""
    if row.get("ours") and row.get("floor"):
        row["to_floor"] = ratio(row["ours"], row["floor"])
    if row.get("ours") and row.get("rival"):
        # The rival's rounds are fewer; its median stands against ours.
        whole = [t / row.get("rival_part", 1) for t in row["rival"]]
        middle = quantile(row["ours"], 0.5)
        row["to_rival"] = ratio(whole, [middle] * len(whole))
    if row.get("peak_bytes") and row.get("data_bytes"):
        row["to_data"] = row["peak_bytes"] / row["data_bytes"]


def judged(row):
    """(what, measured, limit, whether it is met) of each target of this row; None where it cannot be said."""
    verdicts = []
    for what, limit in TARGETS.get((row["work"], row["size"]), {}).items():
        if what == "floor":
            r = row.get("to_floor")
            value, met = (r["median"], r["median"] <= limit) if r and is_steady(r) else (None, None)
        elif what == "rival":
            r = row.get("to_rival")
            value, met = (r["median"], r["median"] >= limit) if r and is_steady(r) else (None, None)
        elif what == "memory":
            value = row.get("to_data")
            met = None if value is None else value <= limit
        elif what == "ours_ms":
            value = quantile(row["ours"], 0.5)
            met = value <= limit
        elif what == "us_each":
            value = quantile(row["ours"], 0.5) * 1000 / row["size"]
            met = value <= limit
        else:
            value = row.get("figures", {}).get(what)
            met = None if value is None else value <= limit
        verdicts.append((what, value, limit, met))
    return verdicts


def run(folder, command, seconds):
    """The rows that a program printed, and what went wrong."""
    program = os.path.join(folder, command[0])
    if not os.path.exists(program):
        return [], "was not built"
    begun = time.time()
    try:
        ended = subprocess.run([program] + command[1:] + ["--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               timeout=seconds, text=True, check=False)
        out, why = ended.stdout, None
        if ended.returncode != 0:
            said = ended.stderr.strip().splitlines()
            why = "ended with {}{}".format(ended.returncode, ": " + said[-1] if said else "")
    except subprocess.TimeoutExpired as late:
        out = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        why = "did not end within {} s".format(seconds)
    rows = []
    for line in out.splitlines():
        if line.startswith("{"):
            rows.append(json.loads(line))
            add_ratios(rows[-1])
    print("  {} in {:.0f} s: {} rows{}".format(command[0], time.time() - begun, len(rows), "; " + why if why else ""),
          file=sys.stderr)
    return rows, why


def print_table(rows):
    columns = ["work", "size", "mpiacq", "floor", "rival", "to floor", "rival to us", "calls", "peak", "targets"]
    lines = [columns]
    for row in rows:
        verdicts = []
        for what, value, limit, met in judged(row):
            word = {True: "met", False: "MISSED", None: "not known"}[met]
            verdicts.append("{} {}{}: {}".format(what, "" if value is None else "{:.3g} of ".format(value), limit, word))
        middle = lambda name: quantile(row[name], 0.5) if row.get(name) else None
        rival = middle("rival")
        part = row.get("rival_part", 1)
        lines.append([
            row["work"], "{:,} {}".format(row["size"], row["unit"]), time_text(middle("ours")), time_text(middle("floor")),
            time_text(rival / part if rival is not None else None) + (" (scaled)" if part != 1 else ""),
            ratio_text(row.get("to_floor")), ratio_text(row.get("to_rival")),
            "{} / {}".format(row.get("calls", "-"), row.get("floor_calls", "-")) if "calls" in row else "-",
            bytes_text(row.get("peak_bytes")), "; ".join(verdicts) or "-"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    for row in rows:
        for kind in ("floor_is", "rival_is"):
            if row.get(kind) and (row["work"], kind) not in print_table.told:
                print_table.told.add((row["work"], kind))
                print("{}: {} is {}".format(row["work"], kind[:-3], row[kind]))


print_table.told = set()


def plot(rows, folder):
    """Time over size, a picture for each work that was measured at several sizes."""
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        print("no plots: python3-matplotlib is not installed", file=sys.stderr)
        return
    works = {}
    for row in rows:
        works.setdefault(row["work"], []).append(row)
    for work, of_work in works.items():
        if len({row["size"] for row in of_work}) < 3:
            continue
        of_work.sort(key=lambda row: row["size"])
        figure, axes = pyplot.subplots(figsize=(6, 4))
        for name, label in (("ours", "mpiacq"), ("floor", "floor"), ("rival", "rival")):
            points = [(row["size"], quantile(row[name], 0.5) / (row.get("rival_part", 1) if name == "rival" else 1))
                      for row in of_work if row.get(name)]
            if points:
                axes.plot(*zip(*points), marker="o", label=label)
        axes.set(xscale="log", yscale="log", xlabel=of_work[0]["unit"], ylabel="ms", title=work)
        axes.legend()
        path = os.path.join(folder, work.replace(",", "").replace(" ", "-").lower() + ".svg")
        figure.savefig(path, bbox_inches="tight")
        pyplot.close(figure)
        print("plot: " + path, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", help="the folder of the benchmarks that were built")
    parser.add_argument("--out", default=".", help="where results.json and the plots go")
    parser.add_argument("--only", action="append", help="a program to run; all where none is named")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)

    rows, failures = [], []
    load = os.getloadavg()[0]
    if load > 0.5:
        print("this machine has other work (load average {:.1f}): expect unsteady ratios".format(load), file=sys.stderr)
    for command, seconds in PROGRAMS:
        if options.only and command[0] not in options.only:
            continue
        measured, why = run(options.programs, command, seconds)
        rows += measured
        if why:
            failures.append("{} {}".format(command[0], why))
    print("{} processors, Linux {}, load average {:.1f} at the beginning; medians".format(
        os.cpu_count(), platform.release(), load))
    print_table(rows)
    plot(rows, options.out)
    path = os.path.join(options.out, "results.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schema": "mpiacq.bench/1", "processors": os.cpu_count(), "kernel": platform.release(),
                   "load_average": load, "rows": rows, "failures": failures}, out, indent=1)
        out.write("\n")
    print("results: " + path, file=sys.stderr)
    for failure in failures:
        print("FAILED: " + failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
