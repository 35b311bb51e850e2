#!/usr/bin/env python3
"""Runs an ONNX model with OpenVINO, as a runner of polygraphy. Not tried by its authors.

    polygraphy run model.onnx --onnxrt --runner 'examples/runners/openvino.py {model} {inputs:npz} {outputs:npz} CPU'

Needs the package openvino. The last word is the device: CPU, GPU, NPU.
"""

import sys

import numpy

sys.path.pop(0)  # this file has the package's name
import openvino

model, inputs, outputs, device = sys.argv[1:]
compiled = openvino.Core().compile_model(model, device)
results = compiled(dict(numpy.load(inputs)))
numpy.savez(outputs, **{output.get_any_name(): results[output] for output in compiled.outputs})
