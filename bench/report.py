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
import signal
import subprocess
import sys
import textwrap
import time

# Quartiles further apart than this share of the median tell of the machine more than of the work.
WIDEST_SPREAD = 0.25

# What is run, in this order, with the seconds after which it is given up: several times what it takes on two quiet
# cores.
PROGRAMS = [
    (["table_bench"], 400),
    (["report_bench"], 200),
    (["symbols_bench"], 600),
    (["launch_bench"], 240),
    (["attach_bench"], 120),
    (["hold_bench"], 150),
    (["stacks_bench"], 300),
    (["watch_bench"], 900),
    (["unwind_bench"], 60),
    (["queues_bench"], 120),
    (["waits_bench"], 120),
    (["mpi2dd_bench"], 200),
    (["jobs_bench"], 120),
    (["pmix_bench"], 120),
    (["agents_bench"], 400),
]

# No other tool does these: reports in this project's own formats, and searches of a node.
WITHOUT_RIVAL = ("report, ", "jobs by environment", "list of jobs", "attach by PMIx", "find by PMIx",
                 "stacks with arguments", "waits, ", "a look of a watch", "watch --hang ")

# Needs Open MPI 5, which a tree of another release may have.
IN_TREE = {"pmix_bench"}

# (work, size): at most so many times the floor, at least so many times faster than the rival, and limits of figures.
TARGETS = {
    ("table, shared strings", 1000000): {"floor": 1.5, "rival": 300, "memory": 1.5},
    ("table, own strings", 1000000): {"floor": 2.0, "rival": 50, "memory": 1.5},
    ("report, JSON, shared strings", 1000000): {"ours_ms": 1000},
    ("report, JSON, own strings", 1000000): {"ours_ms": 1000},
    ("report, text, own strings", 1000000): {"ours_ms": 1000},
    ("symbols, stripped starter", 1): {"ours_ms": 2, "rival": 50},
    ("symbols, 500 MB of DWARF", 1): {"ours_ms": 100, "rival": 20},
    ("launch, mpirun", 4): {"floor": 1.03},
    ("hold and release", 1000): {"floor": 1.2},
    ("stacks", 1000): {"us_each": 100, "rival": 50},
    ("stacks with arguments, once more", 1000): {"more_us_each": 10},
    ("queues, isolated", 10000): {"floor": 1.5},
    ("waits, a ring of calls", 100000): {"ours_ms": 1000},
    ("waits, a sum without one rank", 100000): {"ours_ms": 1000},
    ("waits, halos in queues", 100000): {"ours_ms": 1000},
    ("MPI2DD graph", 1000000): {"us_each_beside_reads": 1},
    ("jobs by environment", 5000): {"floor": 1.5},
    ("list of jobs", 5000): {"floor": 1.5},
    ("attach by PMIx", 4): {"floor": 1.5},
    ("a look of a watch", 4): {"stop_us_median": 1000},
    ("watch --hang 120, LAMMPS", 2): {"tool_percent_of_a_processor": 0.1},
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
        return "unsteady"
    return "{:.2f}".format(r["median"]) if r["median"] < 100 else "{:,.0f}".format(r["median"])


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
    """The rows that a program printed, and what went wrong. What it had said before it failed counts."""
    program = os.path.join(folder, command[0])
    if not os.path.exists(program):
        return [], "was not built"
    begun = time.time()
    words = [program] + command[1:]
    if command[0] in IN_TREE:
        words.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "in_tree"))
    # In a session of its own, so that all that it started ends with it.
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    try:
        out, said = running.communicate(timeout=seconds)
        why = None
        if running.returncode != 0:
            lines = said.strip().splitlines()
            why = "ended with {}{}".format(running.returncode, ": " + lines[-1] if lines else "")
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        out, _ = running.communicate()
        why = "did not end within {} s".format(seconds)
    rows = []
    for line in out.splitlines():
        if line.startswith("skipped: "):
            print("  {} {}".format(command[0], line), file=sys.stderr)
        if not line.startswith("{"):
            continue
        try:
            row = json.loads(line)
            add_ratios(row)
        except (ValueError, KeyError, TypeError) as broken:
            why = "{}printed what is no row: {}".format(why + "; " if why else "", broken)
            continue
        rows.append(row)
    print("  {} in {:.0f} s: {} rows{}".format(command[0], time.time() - begun, len(rows), "; " + why if why else ""),
          file=sys.stderr)
    return rows, why


def middle_of(row, whose):
    """The median time of the whole work, in milliseconds."""
    if not row.get(whose):
        return None
    return quantile(row[whose], 0.5) / (row.get("rival_part", 1) if whose == "rival" else 1)


def calls_text(row):
    return "{} / {}".format(row["calls"], row.get("floor_calls", "-")) if "calls" in row else "-"


def aligned(lines, left):
    """Lines of cells as text; the first `left` columns begin together, the others end together."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) if i < left else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines]


def print_table(rows):
    lines = [["work, size", "mpiacq", "floor", "to floor", "rival", "rival to us", "calls / floor", "opens", "peak",
              "to data"]]
    works, order = {}, []
    for row in rows:
        if row["work"] not in works:
            order.append(row["work"])
        works.setdefault(row["work"], []).append(row)
    heads = set()
    for work in order:
        heads.add(len(lines))
        lines.append([work] + [""] * (len(lines[0]) - 1))
        for row in works[work]:
            rival = time_text(middle_of(row, "rival"))
            lines.append([
                "  {:,} {}".format(row["size"], row["unit"]), time_text(middle_of(row, "ours")),
                time_text(middle_of(row, "floor")), ratio_text(row.get("to_floor")),
                rival + ("*" if row.get("rival_part", 1) != 1 else " " if rival != "-" else ""),
                ratio_text(row.get("to_rival")), calls_text(row), str(row.get("opens", "-")),
                bytes_text(row.get("peak_bytes")), "{:.2f}".format(row["to_data"]) if "to_data" in row else "-"])
    # What a work is called may be longer than the column of sizes.
    rest = [line for number, line in enumerate(lines) if number not in heads]
    texts = iter(aligned(rest, 1))
    for number, line in enumerate(lines):
        print("\n" + line[0] if number in heads else next(texts))
    print("\n*: measured on a part of the work and scaled. calls: system calls, ours and the floor's. peak: of memory; "
          "to data: in\ntimes of the bytes that are read.")


def print_unsteady(rows):
    lines = []
    for row in rows:
        for name, words in (("to_floor", "to floor"), ("to_rival", "rival to us")):
            r = row.get(name)
            if r and not is_steady(r):
                lines.append(["{}, {:,}".format(row["work"], row["size"]), words,
                              "{:.3g} to {:.3g}".format(r["low"], r["high"])])
    if lines:
        print("\nUnsteady: these ratios are not given, since their quartiles lie more than {:.0%} of the median apart. "
              "Other work on the\nmachine does that.".format(WIDEST_SPREAD))
        print("\n".join("  " + line for line in aligned(lines, 3)))


# What a target is held against, in words.
MEASURES = {"floor": "times the floor, at most", "rival": "times faster than the rival, at least",
            "memory": "times the data's bytes in memory, at most", "ours_ms": "ms, at most",
            "us_each": "us for each, at most", "us_each_beside_reads": "us for each beside the reads, at most",
            "more_us_each": "us for each more than without, at most"}


def print_targets(rows):
    lines = []
    for row in rows:
        for what, value, limit, met in judged(row):
            lines.append(["{}, {:,}".format(row["work"], row["size"]), "-" if value is None else "{:.3g}".format(value),
                          "{:g}".format(limit), MEASURES[what],
                          {True: "met", False: "MISSED", None: "not known: unsteady"}[met]])
    if lines:
        print("\nTargets")
        for work, value, limit, what, verdict in lines:
            print("  {:<38} {:>7} of {:>4} {:<43} {}".format(work, value, limit, what, verdict))


def print_meanings(rows):
    """What floor and rival are, each sentence once, with the works that it is true of."""
    for kind, title in (("floor_is", "Floors"), ("rival_is", "Rivals")):
        works = {}
        for row in rows:
            if row.get(kind) and row["work"] not in works.setdefault(row[kind], []):
                works[row[kind]].append(row["work"])
        if not works:
            continue
        print("\n" + title)
        for sentence, of in works.items():
            text = "{}: {}".format("; ".join(of), sentence)
            if kind == "rival_is":
                counts = sorted({len(row["rival"]) for row in rows if row.get(kind) == sentence})
                text += " ({} rounds)".format(" or ".join(str(count) for count in counts))
            print(textwrap.fill(text, 118, initial_indent="  ", subsequent_indent="    "))


def write_markdown(rows, path):
    """The largest size of each work, and those that have a target, as docs/performance.md has them."""
    largest = {row["work"]: max(r["size"] for r in rows if r["work"] == row["work"]) for row in rows}
    lines = [["row", "size", "mpiacq", "floor", "rival", "to floor", "rival to us", "calls", "peak"]]
    for row in rows:
        if row["size"] != largest[row["work"]] and (row["work"], row["size"]) not in TARGETS:
            continue
        cells = [row["work"], "{:,} {}".format(row["size"], row["unit"])]
        cells += [time_text(middle_of(row, whose)) for whose in ("ours", "floor", "rival")]
        for name in ("to_floor", "to_rival"):
            r = row.get(name)
            unsteady = r is not None and not is_steady(r)
            cells.append("unsteady ({:.3g} to {:.3g})".format(r["low"], r["high"]) if unsteady else ratio_text(r))
        lines.append(cells + [calls_text(row), bytes_text(row.get("peak_bytes"))])
    lines.insert(1, ["---"] * len(lines[0]))
    with open(path, "w", encoding="utf-8") as out:
        out.writelines("| " + " | ".join(line) + " |\n" for line in lines)


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
            points = [(row["size"], middle_of(row, name)) for row in of_work if row.get(name)]
            if points:
                axes.plot(*zip(*points), marker="o", label=label)
        axes.set(xscale="log", yscale="log", xlabel=of_work[0]["unit"], ylabel="ms", title=work)
        axes.legend()
        path = os.path.join(folder, work.replace(",", "").replace(" ", "-").lower() + ".svg")
        figure.savefig(path, bbox_inches="tight")
        pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", help="the folder of the benchmarks that were built")
    parser.add_argument("--out", default=".", help="where results.json and the plots go")
    parser.add_argument("--only", action="append", help="a program to run; all where none is named")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)

    rows, failures = [], []
    begun, load = time.time(), os.getloadavg()[0]
    if load > 0.5:
        print("this machine has other work (load average {:.1f}): expect unsteady ratios".format(load), file=sys.stderr)
    try:
        for command, seconds in PROGRAMS:
            if options.only and command[0] not in options.only:
                continue
            measured, why = run(options.programs, command, seconds)
            rows += measured
            if why:
                failures.append("{} {}".format(command[0], why))
    except KeyboardInterrupt:
        failures.append("interrupted: what was measured until then")
    print("mpiacq beside its floor and its rival: {} processors, Linux {}, load average {:.1f} at the beginning and "
          "{:.1f} at\nthe end, {:.0f} s; medians".format(os.cpu_count(), platform.release(), load, os.getloadavg()[0],
                                                       time.time() - begun))
    print_table(rows)
    print_unsteady(rows)
    print_targets(rows)
    print_meanings(rows)
    for kind in ("floor", "rival"):
        expected = [row for row in rows if kind != "rival" or not row["work"].startswith(WITHOUT_RIVAL)]
        without = ["{}, {:,}".format(row["work"], row["size"]) for row in expected if not row.get(kind)]
        if without:
            failures.append("no {} was measured of: {}".format(kind, "; ".join(without)))
    path = os.path.join(options.out, "results.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schema": "mpiacq.bench/1", "processors": os.cpu_count(), "kernel": platform.release(),
                   "load_average": load, "rows": rows, "failures": failures}, out, indent=1)
        out.write("\n")
    write_markdown(rows, os.path.join(options.out, "results.md"))
    plot(rows, options.out)
    print("results and plots: " + options.out, file=sys.stderr)
    for failure in failures:
        print("FAILED: " + failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
