#!/usr/bin/python3
"""A test that comes and goes: every third time, the model is given data that are far too large for its bfloat16 engine.

It counts its runs in the file `runs`, and writes what it saw to test_logs.txt.
"""
import subprocess
import sys

with open("runs", "a+") as runs:
    runs.write("x")
    count = runs.tell()
largest = 1000 if count % 3 == 0 else 1
run = subprocess.run(
    ["polygraphy", "run", "classifier.onnx", "--onnxrt", "--trt", "--bf16", "--atol", "0.1",
     "--val-range", f"image:[0,{largest}]"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
with open("test_logs.txt", "w") as log:
    log.write(f"data up to {largest}\n{run.stdout}")
sys.exit(run.returncode)
