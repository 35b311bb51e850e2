#!/usr/bin/python3
"""Runs `debug reduce` for every row of the golden table and compares iterations, verdicts, frozen tensors and the result.

Where the table shows a defect that is corrected here, DEVIATIONS says which, and what has to happen instead. Prints one line for
each row that is not as it should be, and a count; the exit status is 1 when there is one. An argument limits the run to rows whose
name holds it, and shows their logs.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import onnx

ROOT = os.environ["POLYGRAPHY_ROOT"]
CHECK_NODES = os.path.join(os.environ["POLYGRAPHY_TEST_PROGRAMS"], "check_nodes")

# Rows where the table shows a defect of Polygraphy that is corrected here: the defect, the iterations that happen instead, and
# the nodes that are left (None: no model is written).
#   D2: bisection never tried the first node.
#   D3: the original model was never checked; a model that does not fail was "reduced" all the same.
#   D3 also: that is no success, as the model that was asked for is not there.
#   D8: a model without nodes ended in a traceback; the exit status is the same, the message is not.
WITH_CONST = ("D2", "outputs F(identity_out_4) F(identity_out_2); inputs F()", ["onnx_graphsurgeon_node_3"])
DEVIATIONS = {
    "isolate_node_3_bisect": ("D2", "outputs F(add_out_4) F(identity_out_2) P(identity_out_0); inputs F(Y0)",
                              ["onnx_graphsurgeon_node_3"]),
    "with_const_3_bisect": WITH_CONST,
    "with_const_3_no_shape_inference_bisect": WITH_CONST,
    "always_fail_bisect": ("D2", "outputs F(add_out_4) F(identity_out_2) F(identity_out_0); inputs F(X0)",
                           ["onnx_graphsurgeon_node_1"]),
    "chain17_node_0_bisect": ("D2", "outputs F(t8) F(t4) F(t2) F(t1) F(t0); inputs F(x)", ["n0"]),
    "chain17_node_1_bisect": ("D2", "outputs F(t8) F(t4) F(t2) F(t1) P(t0); inputs F(t0)", ["n1"]),
    "identity_identity_always_fail": ("D2", "outputs F(identity_out_2) F(identity_out_0); inputs F(X)",
                                      ["onnx_graphsurgeon_node_1"]),
    "always_pass_bisect": ("D3", "", None),
    "always_pass_linear": ("D3", "", None),
    "identity_always_pass": ("D3", "", None),
    "empty_model": ("D8", "", None),
}

# Rows whose check fails on everything, so that nothing is known of the model: an error, and no model is written.
ALWAYS_FAILING = ("always_fail_", "dynamic_identity_", "identity_always_fail", "identity_identity_always_fail")
ALWAYS_PASSING = ("always_pass_", "identity_always_pass")


def command_of(row, model):
    words = ["polygraphy", "debug", "reduce", model, "-o", "reduced.onnx", "--min-good", "good.onnx",
             "--mode=" + row["mode"]] + row["args"]
    check, answers = row["check"], None
    if check["kind"] == "interactive":
        answers = "".join(answer + "\n" for answer in check["answers"])
    elif check["kind"] == "command":
        words += ["--check"] + check["argv"]
    else:
        words += ["--check", CHECK_NODES, "polygraphy_debug.onnx"]
        for node in check["nodes"]:
            words += ["--fail-node", node]
        for extra in check["extra"]:
            words += extra.split("=")
    return words, answers


def names(text):
    return re.findall(r"Variable \((.*?)\): ", text)


def phases_of(log):
    phases, phase, iteration = [], None, None
    for line in log.splitlines():
        if match := re.search(r"Reducing model (outputs|inputs)$", line):
            if "Finished" not in line:
                phase = {"phase": match[1], "iterations": []}
                phases.append(phase)
        elif "RUNNING | Iteration" in line:
            iteration = {}
        elif "Marking model" in line and iteration is not None and "marked" not in iteration:
            iteration["marked"] = names(line)
        elif "Freezing tensor" in line and iteration is not None:
            iteration.setdefault("frozen", []).extend(names(line))
        elif match := re.search(r"(PASSED|FAILED) \| Iteration", line):
            iteration["result"] = match[1]
            phase["iterations"].append(iteration)
            iteration = None
    return phases


def model_of(path):
    if not os.path.exists(path):
        return None
    graph = onnx.load(path).graph
    return {"nodes": [node.name or f"<unnamed {node.op_type}>" for node in graph.node],
            "inputs": [value.name for value in graph.input],
            "outputs": [value.name for value in graph.output],
            "initializers": [tensor.name for tensor in graph.initializer]}


def run_row(row):
    model = os.path.join(ROOT, "tests", "models", row["model"] + ".onnx")
    words, answers = command_of(row, model)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, cwd=folder, input=answers, capture_output=True, text=True)
        left = sorted(set(os.listdir(folder)) - {"reduced.onnx", "good.onnx", "polygraphy_debug_replay.json",
                                                 "polygraphy_debug_replay_skip_current.json"})
        return {"exit_code": done.returncode, "phases": phases_of(done.stdout),
                "reduced": model_of(os.path.join(folder, "reduced.onnx")),
                "min_good": model_of(os.path.join(folder, "good.onnx")), "left": left, "log": done.stdout + done.stderr}


def short(phases):
    return "; ".join(" ".join([phase["phase"]] + [
        f"{i['result'][0]}({'+'.join(i.get('marked', []))}{' frz ' + '+'.join(i['frozen']) if 'frozen' in i else ''})"
        for i in phase["iterations"]]) for phase in phases)


def expectation(row):
    """Iterations, result and exit status as they should be."""
    iterations, nodes, exit_code = short(row["phases"]), row["reduced"] and row["reduced"]["nodes"], row["exit_code"]
    if row["id"] in DEVIATIONS:
        _, iterations, nodes = DEVIATIONS[row["id"]]
    if row["id"].startswith(ALWAYS_FAILING + ALWAYS_PASSING):
        nodes, exit_code = None, 1
    return iterations, nodes, exit_code


def verdict_on(row, model):
    """Runs the row's check on a model that was written."""
    check = row["check"]
    if check["kind"] == "command":
        return subprocess.run(check["argv"]).returncode == 0
    present = all(node in model["nodes"] for node in check["nodes"])
    return not present


def differences(row, got):
    iterations, nodes, exit_code = expectation(row)
    found = []
    if iterations != short(got["phases"]):
        found.append(f"iterations: {short(got['phases'])} instead of {iterations}")
    if nodes != (got["reduced"]["nodes"] if got["reduced"] else None):
        found.append(f"result: {got['reduced']} instead of {nodes}")
    if row["id"] not in DEVIATIONS and not row["id"].startswith(ALWAYS_FAILING) and got["reduced"] != row["reduced"]:
        found.append(f"result: {got['reduced']} instead of {row['reduced']}")
    if got["exit_code"] != exit_code:
        found.append(f"exit status {got['exit_code']} instead of {exit_code}")
    if got["left"]:
        found.append(f"left behind: {got['left']}")
    if row["check"]["kind"] != "interactive":
        if got["reduced"] and verdict_on(row, got["reduced"]):
            found.append("the result does not fail the check")
        if got["min_good"] and not verdict_on(row, got["min_good"]):
            found.append("D1: the min-good model does not pass the check")
    return found


def main():
    with open(os.path.join(ROOT, "tests/golden/vectors/reduce_golden.json")) as file:
        rows = json.load(file)
    bad = 0
    for row in rows:
        if len(sys.argv) > 1 and sys.argv[1] not in row["id"]:
            continue
        got = run_row(row)
        found = differences(row, got)
        if found:
            bad += 1
            print(f"{row['id']}: " + "; ".join(found))
            if len(sys.argv) > 1:
                print(got["log"])
    print(f"{len(rows)} rows, {len(DEVIATIONS)} with a corrected defect, {bad} different from what they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
