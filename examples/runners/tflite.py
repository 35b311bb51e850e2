#!/usr/bin/env python3
"""Converts an ONNX model to TFLite and runs it, as a runner of polygraphy. Not tried by its authors.

    polygraphy run model.onnx --onnxrt --runner-build 'onnx2tf -i {model} -o {engine} -coion' \\
        --runner 'examples/runners/tflite.py {engine} {inputs:npz} {outputs:npz}'

Needs onnx2tf and ai_edge_litert (or tensorflow). onnx2tf puts channels last, unless -coion keeps inputs and outputs as
they are, and leaves a folder with the model in float32 and in float16. Inputs and outputs go by the names in the
model's signature; where the converter has changed them, map them here.
"""

import glob
import sys

import numpy
from ai_edge_litert.interpreter import Interpreter

folder, inputs, outputs = sys.argv[1:]
interpreter = Interpreter(glob.glob(folder + "/*_float32.tflite")[0])
runner = interpreter.get_signature_runner()
results = runner(**dict(numpy.load(inputs)))
numpy.savez(outputs, **results)
