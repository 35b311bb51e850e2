#!/usr/bin/env python3
"""bench/simplifiers.py: nodes and seconds of `surgeon sanitize --simplify`, onnxsim and onnxslim (docs/smaller-models.md).

    ENVIRONMENT/bin/python bench/simplifiers.py OURS MODEL...

ENVIRONMENT is a virtual environment with the packages onnx, onnxsim and onnxslim. OURS is the program. Prints a row of the
table for each model: nodes, then nodes and seconds of each tool, and whether ONNX Runtime without optimizations computes
the same bits as with the constants of the model folded alone, for data that the program generates.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import onnx

TIMEOUT = 60  # seconds


def count_nodes(path):
    """Constants are nodes for onnxsim, and initializers for the others: they do not count."""
    return sum(node.op_type != "Constant" for node in onnx.load(path, load_external_data=False).graph.node)


def run_quietly(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=TIMEOUT, check=False).returncode


def measure(folder, name, *words):
    """The tool's nodes and seconds as text. Its output is the file `name`."""
    result = folder / f"{name}.onnx"
    begin = time.monotonic()
    try:
        status = run_quietly(*(result if word == "RESULT" else word for word in words))
    except subprocess.TimeoutExpired:
        return f"more than {TIMEOUT} s"
    seconds = time.monotonic() - begin
    return f"{count_nodes(result)} | {seconds:.2f}" if status == 0 and result.exists() else "failed"


def same_bits(ours, folder, model):
    run = [ours, "run", "--onnxrt", "--onnxrt-optimization-level", "none"]
    return (run_quietly(ours, "data", "generate", model, "-o", folder / "in.json") == 0
            and run_quietly(ours, "surgeon", "sanitize", model, "--fold-constants", "-o", folder / "folded.onnx") == 0
            and run_quietly(*run, folder / "folded.onnx", "--load-inputs", folder / "in.json", "--save-outputs",
                            folder / "out.json") == 0
            and run_quietly(*run, folder / "ours.onnx", "--load-inputs", folder / "in.json", "--load-outputs",
                            folder / "out.json", "--atol", "0", "--rtol", "0") == 0)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ours, models = pathlib.Path(sys.argv[1]).absolute(), sys.argv[2:]
    tools = pathlib.Path(sys.executable).parent
    print("| model | nodes | this program | s | onnxsim | s | onnxslim | s | same bits |")
    print("|---|---|---|---|---|---|---|---|---|")
    for model in map(pathlib.Path, models):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            cells = [model.stem, str(count_nodes(model)),
                     measure(folder, "ours", ours, "surgeon", "sanitize", model, "--simplify", "-o", "RESULT"),
                     measure(folder, "sim", tools / "onnxsim", model, "RESULT"),
                     measure(folder, "slim", tools / "onnxslim", model, "RESULT"),
                     "yes" if same_bits(ours, folder, model) else "no"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
