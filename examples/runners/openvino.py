#!/usr/bin/env python3
"""Runs an ONNX model with OpenVINO, as a runner of polygraphy.

    polygraphy run model.onnx --onnxrt --runner 'examples/runners/openvino.py {model} {inputs:npz} {outputs:npz} CPU INFERENCE_PRECISION_HINT=f32'

Needs the package openvino. Behind the files stand the device (CPU, GPU, NPU) and its properties: without this one OpenVINO
computes in bfloat16 where the processor can. openvino_staying.py does the same, and is started only once.
"""

import sys

import numpy

sys.path.pop(0)  # this file has the package's name
import openvino

model, inputs, outputs, device, *properties = sys.argv[1:]
compiled = openvino.Core().compile_model(model, device, dict(word.split("=", 1) for word in properties))
results = compiled(dict(numpy.load(inputs)))
numpy.savez(outputs, **{output.get_any_name(): results[output] for output in compiled.outputs})
