#!/usr/bin/env python3
"""precision_models.py fix INPUT VALUE MODEL RESULT: makes an int64 input a constant, so that branches are decided."""

import sys

import numpy
import onnx
from onnx import numpy_helper


def fix(name, value, path, result):
    model = onnx.load(path)
    graph = model.graph
    graph.input.remove(next(info for info in graph.input if info.name == name))
    graph.initializer.append(numpy_helper.from_array(numpy.array(int(value), numpy.int64), name))
    onnx.save(model, result)


if __name__ == "__main__":
    {"fix": fix}[sys.argv[1]](*sys.argv[2:])
