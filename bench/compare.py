#!/usr/bin/env python3
"""bench/compare.py: puts two results of `make bench` (bench.json) side by side; `make bench-compare` makes both.

    bench/compare.py OLD NEW

Ratios to the floors are compared where a row has one, since a machine's speed changes between two runs; otherwise the
times. The last column is the new value divided by the old one: below 1 is faster. Exit status 1 if a target that held
does not hold any more.
"""
import json
import re
import sys


def read_rows(path):
    """Rows by name. An indented row belongs to the one above; numbers of checks differ between programs."""
    rows, above = {}, ""
    with open(path, encoding="utf-8") as file:
        for row in json.load(file):
            name = re.sub(r", \d+ checks$", "", row["what"])
            if name.startswith(" "):
                name = f"{above}: {name.strip()}"
            else:
                above = name
            rows[name] = row
    return rows


def show_value(row):
    if row is None:
        return "-"
    return f"{row['ours']} {row['unit']}" if row["ratio"] is None else f"{row['ratio']}"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: bench/compare.py OLD NEW (bench.json of two build folders)")
    old, new = read_rows(sys.argv[1]), read_rows(sys.argv[2])
    worse = 0
    print(f"{'':<76} {'old':>10} {'new':>10}  new/old")
    for name in [*old, *(name for name in new if name not in old)]:
        before, after = old.get(name), new.get(name)
        quotient, note = "", ""
        if before and after:
            key = "ours" if before["ratio"] is None or after["ratio"] is None else "ratio"
            quotient = f"{after[key] / before[key]:.2f}" if before[key] else ""
            if before["ok"] and after["ok"] is False:
                note = "MISSED, held before"
                worse += 1
        print(f"{name:<76} {show_value(before):>10} {show_value(after):>10}  {quotient:>7}  {note}".rstrip())
    sys.exit(worse > 0)


if __name__ == "__main__":
    main()
