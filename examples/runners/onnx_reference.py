#!/usr/bin/env python3
"""Runs ONNX models with the reference evaluator of the onnx package, as a runner of polygraphy that stays.

    polygraphy run model.onnx --onnxrt --runner 'examples/runners/onnx_reference.py {requests:npz} {answers}'

It computes with numpy, operator by operator, and optimizes nothing: slow, and independent of ONNX Runtime.
"""

import json
import sys

import numpy
import onnx
import onnx.reference

requests, answers = open(sys.argv[1]), open(sys.argv[2], "w", buffering=1)
print(json.dumps({"version": 1, "engine": "onnx " + onnx.__version__}), file=answers)
for line in requests:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        if request["request"] == "build":
            evaluator = onnx.reference.ReferenceEvaluator(request["model"])
        if request["request"] == "infer":
            results = evaluator.run(None, dict(numpy.load(request["inputs"])))
            numpy.savez(request["outputs"], **dict(zip(evaluator.output_names, results)))
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(answer), file=answers)
