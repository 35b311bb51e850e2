#!/usr/bin/python3
"""Takes an engine for bad in which any layer is computed by ONNX Runtime: a check can look at whatever it likes.

An exit code other than 0 means bad. Without --show-output, only the end of what a bad one prints is shown.
"""
import subprocess
import sys

layers = subprocess.run(
    ["polygraphy", "inspect", "model", "polygraphy_debug.engine", "--show", "layers"],
    stdout=subprocess.PIPE, text=True, check=True).stdout
sys.exit("a layer is computed by ONNX Runtime" if "Tactic: onnxrt:" in layers else 0)
