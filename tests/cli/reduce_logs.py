#!/usr/bin/python3
"""Runs `debug reduce` as Polygraphy was run for its logs in tests/golden/logs, and compares what is logged.

Times, dates and paths are masked. Every other difference is one that has a name below. Prints the differences that remain;
the exit status is 1 when there are any.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ["POLYGRAPHY_ROOT"]
CHECK_NODES = os.path.join(os.environ["POLYGRAPHY_TEST_PROGRAMS"], "check_nodes")
MODEL = os.path.join(ROOT, "tests/models/reducable.onnx")
REPLAY = os.path.join(ROOT, "tests/golden/debug_replay/reduce_bisect_fail5.json")

# What the runs had in common, and the check: it fails on a node, and says so between lines that the samples have, too.
OPTIONS = ["--min-good", "good.onnx", "--iter-info", "iter_info.json", "--artifacts", "polygraphy_debug.onnx"]
CHECK = """#!/bin/sh
{check_nodes} polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_{node} >/dev/null && exit
echo 'Running fake_reduce_checker.py'
echo 'REALLY BAD!'
exit 1
"""

LOGS = {
    "reduce_bisect_fail5": ("5", ["-o", "reduced.onnx", *OPTIONS[:2], "--mode", "bisect", *OPTIONS[2:]], None),
    "reduce_linear_fail1": ("1", ["-o", "reduced.onnx", *OPTIONS[:2], "--mode", "linear", *OPTIONS[2:]], None),
    "reduce_interactive": (None, ["-o", "r.onnx"], "d\n\nz\nPass\nfail\nF\nf\np\n"),
    "reduce_bisect_fail5_from_replay": ("5", ["-o", "again.onnx", "--load-debug-replay", REPLAY,
                                              "--save-debug-replay", "new.json"], None),
}

# Lines that only one of the two has, and why.
DROPPED = [
    # Shapes are asked of ONNX Runtime, without a copy of the model in a temporary file.
    r"\[W\] Falling back to `onnx\.shape_inference`",
    r"\[I\] Loading model: /tmp/tmp_polygraphy_",
    # A candidate that was sorted away is not missed.
    r"\[W\] Could not clean up: polygraphy_debug\.onnx",
    # What was found is taken as it is, not cut a second time.
    r"\[I\] Marking model (inputs|outputs): ",
    # The end says what was achieved.
    r"\[I\] Reduced \d+ nodes to ",
    r"\[I\] To check it again: ",
    # A replay that names no session.
    r"\[W\] The debug replay does not record its model and check\.",
    # Values to freeze are looked up for candidates with a known verdict, too.
    r"\[I\] +(Running inference with ONNX-Runtime to determine metadata|Running fallback shape inference)",
]

# The original is verified first (D3).
VERIFICATION = r"\[I\]     RUNNING \| Check of the original model\n(.*\n)*?\[I\]     FAILED \| Check of the original model .*\n"

# What a replay says of the result is not reported before the check has said so, too.
CONFIRMATION = VERIFICATION.replace("original model", "result")

# In the linear run, Polygraphy makes up a good model, and freezes tensors for it (D1); ours is one that passed.
GOOD_MODEL = r"(\[W\] This model includes multiple branches.*\n(.*\n)*)?\[I\] Minimum Good Model:\n(    .*\n)+"


def masked(log, name):
    log = re.sub(r"Duration [0-9.e-]+s", "Duration #s", log)
    log = re.sub(r"Runtime: [0-9.]+s", "Runtime: #s", log)
    log = re.sub(r"_\d\d-\d\d-\d\d_\d\d-\d\d-\d\d_N", "_MOMENT_N", log)
    log = log.replace(MODEL, "<models>/reducable.onnx").replace(REPLAY, "<samples>/debug_replay/reduce_bisect_fail5.json")
    log = log.replace("FOUND A BAD NODE!", "REALLY BAD!")  # the samples' check said either
    log = re.sub(r"(includes multiple branches/paths\.) .*(\n +.*){0,2}", r"\1", log)  # advice, cut in the samples
    log = re.sub(r"(could potentially be reduced further\.).*", r"\1", log)
    log = re.sub(VERIFICATION, "", log)
    if name == "reduce_bisect_fail5_from_replay":
        log = re.sub(CONFIRMATION, "", log)
    if name == "reduce_linear_fail1":
        log = re.sub(GOOD_MODEL, "", log)
    return without_dropped_lines(log)


def without_dropped_lines(log):
    """Lines that continue others go with them."""
    kept, dropping = [], False
    for line in log.splitlines():
        if line.startswith("["):
            dropping = any(re.match(pattern, line) for pattern in DROPPED)
        if not dropping:
            kept.append(line)
    return kept


def without_repeated_checks(ours, golden):
    """A candidate that was seen before is not checked again: of such an iteration neither log has more than the
    verdict."""
    starts, golden_starts = ([i for i, line in enumerate(lines) if "RUNNING | Iteration" in line] + [len(lines)]
                             for lines in (ours, golden))
    if len(starts) != len(golden_starts):
        return ours, golden
    for i in reversed(range(len(starts) - 1)):
        if any("Identical to" in line for line in ours[starts[i]:starts[i + 1]]):
            for lines, at in (ours, starts), (golden, golden_starts):
                verdict = next(k for k in range(at[i], len(lines)) if re.search(r"(PASSED|FAILED) \| Iter", lines[k]))
                del lines[at[i] + 1:verdict]
    return ours, golden


def run(name):
    node, options, answers = LOGS[name]
    with tempfile.TemporaryDirectory() as folder:
        words = ["polygraphy", "debug", "reduce", MODEL, *options]
        if node:
            path = os.path.join(folder, "check.sh")
            with open(path, "w", encoding="utf-8") as file:
                file.write(CHECK.format(check_nodes=CHECK_NODES, node=node))
            os.chmod(path, 0o755)
            words += ["--check", "./check.sh"]
        done = subprocess.run(words, cwd=folder, input=answers, capture_output=True, text=True, check=False)
        left = set(os.listdir(folder)) - {"check.sh", "polygraphy_artifacts", "polygraphy_debug_replay.json", "r.onnx",
                                          "polygraphy_debug_replay_skip_current.json", "reduced.onnx", "good.onnx",
                                          "again.onnx"}
    if done.returncode != 0 or done.stderr or left:
        print(f"{name}: exit status {done.returncode}, left {left}, {done.stderr}")
    return done.stdout


def main():
    bad = 0
    for name in sys.argv[1:] or LOGS:
        with open(os.path.join(ROOT, "tests/golden/logs", name + ".log"), encoding="utf-8") as file:
            golden = masked(file.read(), name)
        ours, golden = without_repeated_checks(masked(run(name), name), golden)
        differences = list(difflib.unified_diff(golden, ours, name + ".log", "here", lineterm=""))
        for line in differences:
            print(line)
        bad += bool(differences)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
