#!/usr/bin/env python3
"""Measures how the work of commands grows with what is in a model, and fails where it grows faster than it may.

growth.py [--all] [KIND ...]: in models of these kinds (see growth_models.py), by default all; in the current folder.

valgrind counts the instructions of a command in three models, each with twice as much in it as the one before. The
difference between the last two is divided by that of the first two: what a command costs in any case goes, and 2^e is
left where the work grows with the e-th power. Most commands are measured without ONNX Runtime; of those that need it,
only instructions of the program itself count. Without --all only some commands are measured for each kind. The table
has a line for each: exponent, instructions (in millions) in the three models, kind, command.
"""

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import growth_models

MOST = 1.2  # the largest exponent
COUNT = 1000  # of the smallest model
WITH_RUNTIME = 200  # instructions of ONNX Runtime are counted, too, and take minutes
LITTLE = 100  # instructions for each thing: what costs less is not looked at

PROGRAM = os.environ.get("POLYGRAPHY", "polygraphy")

# What is measured without --all.
SOME = {
    "nodes": ["inspect", "reduce", "reduce minimal"],
    "untyped": ["sanitize"],
    "unsorted": ["sanitize", "extract"],
    "wide": ["extract"],
    "inputs": ["reduce"],
    "unused": ["extract"],
    "outputs": ["extract"],
    "ends": ["extract"],
    "initializers": ["weight-strip", "sanitize"],
    "leftovers": ["prune"],
    "external": ["reduce"],
    "constants": ["inspect --json"],
    "bodies": ["inspect --json"],
    "long_body": ["extract"],
    "nested": ["extract"],
    "functions": ["inspect"],
    "called": ["convert"],
    "operators": ["inspect"],
    "attributes": ["inspect"],
    "imports": ["sanitize"],
    "twins": ["insert"],
    "split": ["extract"],
    "fused": ["convert"],
}

# What needs ONNX Runtime; with --all. (debug tools build one engine more when a model is twice as large: no measure.)
RUN = {
    "nodes": ["lint", "capability", "run", "engine", "mark all"],
    "untyped": ["sanitize", "engine"],
    "inputs": ["lint", "capability", "run", "engine"],
    "outputs": ["lint", "run", "engine"],
    "initializers": ["capability", "engine"],
    "external": ["run", "engine"],
    "bodies": ["engine"],
    "functions": ["capability", "engine"],
    "operators": ["sanitize", "capability"],
    "fused": ["engine"],
}


def ends(kind, count):
    inputs = growth_models.names("x", count) if kind in ("wide", "inputs", "ends", "unused") else ["x"]
    if kind == "unused":
        inputs.append("x")
    if kind in ("bodies", "long_body", "nested"):
        inputs.append("c")
    outputs = growth_models.names("z", count) if kind in ("outputs", "ends", "split") else ["z"]
    return ["--inputs"] + [name + ":auto:auto" for name in inputs] + ["--outputs"] + [name + ":auto" for name in outputs]


def words(command, kind, count, size):
    """What stands behind `polygraphy`."""
    model = "model.onnx"
    read = "x0" if kind in ("wide", "inputs", "ends") else "x"
    smaller = ["--check", "sh", "-c", "[ $(stat -c %%s polygraphy_debug.onnx) -lt %d ]" % (size // 2)]
    return {
        "inspect": ["inspect", "model", model, "--show", "layers", "attrs", "weights"],
        "inspect --json": ["inspect", "model", model, "--json", "model.json"],
        "extract": ["surgeon", "extract", model, "-o", "part.onnx"] + ends(kind, count),
        "sanitize": ["surgeon", "sanitize", model, "-o", "clean.onnx", "--cleanup", "--toposort"],
        "insert": ["surgeon", "insert", model, "-o", "more.onnx", "--name", "new", "--op", "New", "--inputs", read,
                   "--outputs", read],
        "prune": ["surgeon", "prune", model, "-o", "pruned.onnx"],
        "weight-strip": ["surgeon", "weight-strip", model, "-o", "stripped.onnx"],
        "convert": ["convert", model, "-o", "float16.onnx", "--convert-to", "onnx", "--fp-to-fp16"],
        "reduce": ["debug", "reduce", model, "-o", "reduced.onnx", "--mode", "bisect"] + smaller,
        "reduce minimal": ["debug", "reduce", model, "-o", "reduced.onnx", "--mode", "minimal", "--max-checks", "8"] +
                          smaller,
        "lint": ["check", "lint", model, "-o", "lint.json"],
        "capability": ["inspect", "capability", model, "-o", "parts"],
        "run": ["run", model, "--onnxrt", "--onnxrt"],
        "mark all": ["run", model, "--onnxrt", "--trt", "--onnx-outputs", "mark", "all", "--trt-outputs", "mark", "all"],
        "engine": ["run", model, "--trt", "--save-tactics", "tactics.json"],
    }[command]


def own_instructions(path, program):
    """Those of the program itself, out of what callgrind has written."""
    names, own, total, called = {}, False, 0, False
    with open(path) as file:
        for line in file:
            if line.startswith("ob="):
                number, _, name = line[3:].strip().partition(" ")
                names.setdefault(number, name)
                own = os.path.basename(names[number]) == program
            elif line.startswith("calls="):
                called = True
            elif line[:1].isdigit() or line[:1] in "+-*":
                total += int(line.split()[1]) if own and not called else 0
                called = False
            elif line.startswith(("cob=", "fl=")) and "(" in line:
                number, _, name = line.partition("=")[2].strip().partition(" ")
                if line.startswith("cob=") and name:
                    names.setdefault(number, name)
    return total


def count_instructions(folder, command, runtime):
    environment = dict(os.environ)
    if not runtime:
        environment["POLYGRAPHY_ONNXRUNTIME"] = "/nonexistent"
    os.makedirs(folder + "/tmp", exist_ok=True)
    environment["TMPDIR"] = os.path.abspath(folder + "/tmp")
    valgrind = ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=callgrind.%p", "--log-file=valgrind.%p"]
    with open(folder + "/log", "w") as log:
        process = subprocess.Popen(valgrind + [PROGRAM] + command, cwd=folder, env=environment, stdout=log, stderr=log)
        process.wait()
    result = "%s/callgrind.%d" % (folder, process.pid)
    if process.returncode not in (0, 1) or not os.path.exists(result):
        sys.exit("growth.py: %s: exit status %d\n%s" % (" ".join(command[:3]), process.returncode,
                                                       open(folder + "/log").read()[-2000:]))
    if runtime:
        return own_instructions(result, os.path.basename(PROGRAM)), result
    with open(result) as file:
        return next(int(line.split()[1]) for line in file if line.startswith(("totals:", "summary:"))), result


def exponent(costs, count):
    """Of costs in models of `count` things, twice and four times as many; 0 when things cost next to nothing."""
    first, second = costs[1] - costs[0], costs[2] - costs[1]
    return math.log2(second / max(first, 1)) if second > LITTLE * 2 * count else 0


def measure(kind, command, runtime):
    counts, costs = [(WITH_RUNTIME if runtime else COUNT) << i for i in range(3)], []
    for count in counts:
        folder = "%s-%s-%d" % (kind, command.replace(" ", "_"), count)
        os.makedirs(folder)
        growth_models.write(kind, count, folder + "/model.onnx")
        size = os.path.getsize(folder + "/model.onnx")
        cost, result = count_instructions(folder, words(command, kind, count, size), runtime)
        costs.append(cost)
    found = exponent(costs, counts[0])
    print("%5.2f %9s %9s %9s  %s: %s%s" % ((found,) + tuple("%.1f" % (cost / 1e6) for cost in costs) +
                                           (kind, command, ", own part" if runtime else "")), flush=True)
    if found > MOST:
        top = subprocess.run(["callgrind_annotate", result], capture_output=True, text=True).stdout
        print("    grows too fast; in the largest model, most instructions are in:\n" +
              "\n".join("    " + line for line in top.splitlines() if "polygraphy]" in line)[:1500], flush=True)
    return found <= MOST


def main():
    arguments = sys.argv[1:]
    thorough = "--all" in arguments
    kinds = [kind for kind in arguments if kind != "--all"] or list(growth_models.KINDS)
    without = ["inspect", "inspect --json", "extract", "sanitize", "insert", "prune", "weight-strip", "convert", "reduce",
               "reduce minimal"]
    pairs = [(kind, command, False) for kind in kinds for command in (without if thorough else SOME[kind])]
    pairs += [(kind, command, True) for kind in kinds if thorough for command in RUN.get(kind, [])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: measure(*pair), pairs))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
