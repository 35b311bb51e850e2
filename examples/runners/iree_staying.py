#!/usr/bin/env python3
"""Runs ONNX models with IREE on the processor, as a runner of polygraphy that stays: it is started once, and asked many times.

    polygraphy run model.onnx --onnxrt --runner 'examples/runners/iree_staying.py {requests:npz} {answers}'

Needs the packages iree-base-compiler, iree-base-runtime and onnx.
"""

import json
import os
import sys
import tempfile
from importlib.metadata import version

import iree.compiler
import iree.compiler.tools.import_onnx.__main__ as import_onnx
import iree.runtime
import numpy
import onnx


def build(path):
    with tempfile.TemporaryDirectory() as folder:
        imported = os.path.join(folder, "model.mlir")
        import_onnx.main(import_onnx.parse_arguments([path, "-o", imported]))
        code = iree.compiler.compile_file(imported, target_backends=["llvm-cpu"], input_type="onnx",
                                          extra_args=["--iree-llvmcpu-target-cpu=host"])
    module = iree.runtime.load_vm_flatbuffer(code, driver="local-task")
    name = next(name for name in module.vm_module.function_names if not name.startswith("__") and "$" not in name)
    graph = onnx.load(path, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    return module[name], [i.name for i in graph.input if i.name not in constants], [o.name for o in graph.output]


def infer(compiled, inputs, outputs):
    function, names, results = compiled
    feed = numpy.load(inputs)
    values = function(*(feed[name] for name in names))
    values = values if isinstance(values, (list, tuple)) else [values]
    numpy.savez(outputs, **{name: value.to_host() for name, value in zip(results, values)})


requests, answers = open(sys.argv[1]), open(sys.argv[2], "w", buffering=1)
print(json.dumps({"version": 1, "engine": "IREE " + version("iree-base-compiler")}), file=answers)
for line in requests:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        if request["request"] == "build":
            compiled = build(request["model"])
        if request["request"] == "infer":
            infer(compiled, request["inputs"], request["outputs"])
    except Exception as error:
        answer["error"] = str(error)
    print(json.dumps(answer), file=answers)
