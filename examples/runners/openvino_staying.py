#!/usr/bin/env python3
"""Runs ONNX models with OpenVINO, as a runner of polygraphy that stays: it is started once, and asked many times.

    polygraphy run model.onnx --onnxrt --runner 'examples/runners/openvino_staying.py {requests:npz} {answers} CPU INFERENCE_PRECISION_HINT=f32'

Needs the package openvino. Behind the pipes stand the device (CPU, GPU, NPU) and its properties: without this one OpenVINO
computes in bfloat16 where the processor can.
"""

import json
import re
import sys

import numpy

sys.path.pop(0)  # the folder of this file has one with the package's name
import openvino

requests, answers = open(sys.argv[1]), open(sys.argv[2], "w", buffering=1)
device = sys.argv[3] if len(sys.argv) > 3 else "CPU"
properties = dict(word.split("=", 1) for word in sys.argv[4:])
core = openvino.Core()
print(json.dumps({"version": 1, "engine": "OpenVINO " + openvino.__version__}), file=answers)
for line in requests:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        if request["request"] == "build":
            compiled = core.compile_model(request["model"], device, properties)
        if request["request"] == "infer":
            results = compiled(dict(numpy.load(request["inputs"])))
            numpy.savez(request["outputs"], **{output.get_any_name(): results[output] for output in compiled.outputs})
    except Exception as error:
        # The pass that has thrown, where the message names one, else the last line.
        kinds = re.findall(r"^\[\w+\]", str(error), re.MULTILINE) or str(error).strip().splitlines()[-1:]
        answer.update(error=str(error), kind=kinds[-1])
    print(json.dumps(answer), file=answers)
