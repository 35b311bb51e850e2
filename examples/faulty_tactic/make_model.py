#!/usr/bin/python3
"""Makes classifier.onnx: a convolutional network in which one choice of the builder spoils the accuracy.

    python3 make_model.py [FILE]

It is built from blocks as in MobileNet: pointwise convolutions, a depthwise one between them, and a residual connection.
Then a few pixels are marked with large values, as in a map of key points, and one ordinary 3x3 convolution, `context`,
follows.

Direct convolution computes a pixel from the nine around it: far from a mark, nothing is felt of it. Winograd's
algorithm F(4,3) computes tiles of 4x4 pixels from 6x6 together: each mark goes into all pixels of its tile, multiplied
with factors up to 5, and is taken away again where it does not belong. What remains is its rounding error. Nothing here
is broken: every kernel does what it says, and one of them is not accurate enough for these data. Builders like it,
because it is the fastest.

The hunt: golden outputs, a few dozen builds whose tactics are drawn by lot, what they say, and the proof.

    python3 make_model.py
    polygraphy run classifier.onnx --onnxrt --save-outputs golden.json
    polygraphy debug build classifier.onnx --explore --explore-within 5 --until 30 --save-tactics replay.json \\
        --artifacts replay.json --artifacts-dir replays \\
        --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 2e-5 --rtol 1e-5
    polygraphy debug diff-tactics --dir replays
    polygraphy debug tactics classifier.onnx --dir replays \\
        --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 2e-5 --rtol 1e-5

It takes oneDNN 2 on a processor with AVX-512, which is where there is that algorithm: oneDNN 3 has it no more. Needs python3-onnx (Debian).
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = 64
SIZE = 28
BLOCKS = 6

random = numpy.random.RandomState(20)
nodes, weights = [], []


def constant(name, values):
    weights.append(numpy_helper.from_array(numpy.asarray(values, dtype=numpy.float32), name))
    return name


def convolution(name, x, out_channels, in_channels, kernel, activation=None, weight=None, **attributes):
    """A convolution with bias, and the activation behind it; returns the name of what comes out."""
    group = attributes.get("group", 1)
    shape = (out_channels, in_channels // group, kernel, kernel)
    if weight is None:
        weight = random.standard_normal(shape) * numpy.sqrt(1 / numpy.prod(shape[1:]))
    inputs = [x, constant(f"{name}.weight", weight), constant(f"{name}.bias", random.uniform(-0.1, 0.1, out_channels))]
    nodes.append(helper.make_node("Conv", inputs, [f"{name}_out"], name, kernel_shape=[kernel, kernel], **attributes))
    if activation is None:
        return f"{name}_out"
    nodes.append(helper.make_node(activation, [f"{name}_out"], [f"{name}_act"], f"{name}.act"))
    return f"{name}_act"


x = convolution("stem", "image", CHANNELS, 3, 3, "Relu", strides=[2, 2], pads=[1, 1, 1, 1])
for i in range(BLOCKS):
    wide = 2 * CHANNELS
    y = convolution(f"block{i}.expand", x, wide, CHANNELS, 1, "Relu")
    y = convolution(f"block{i}.depthwise", y, wide, wide, 3, "Relu", group=wide, pads=[1, 1, 1, 1])
    y = convolution(f"block{i}.project", y, CHANNELS, wide, 1)
    nodes.append(helper.make_node("Add", [x, y], [f"block{i}_sum"], f"block{i}.add"))
    x = f"block{i}_sum"

marks = numpy.zeros((1, CHANNELS, SIZE, SIZE))
for _ in range(20):
    marks[0, random.randint(CHANNELS), random.randint(SIZE), random.randint(SIZE)] = 100
nodes.append(helper.make_node("Add", [x, constant("marks", marks)], ["marked"], "mark"))
x = convolution("context", "marked", CHANNELS, CHANNELS, 3, "Relu", pads=[1, 1, 1, 1])

nodes.append(helper.make_node("GlobalAveragePool", [x], ["pooled"], "pool"))
nodes.append(helper.make_node("Flatten", ["pooled"], ["features"], "flatten"))
nodes.append(helper.make_node(
    "Gemm",
    ["features", constant("classes.weight", random.standard_normal((10, CHANNELS)) / 8),
     constant("classes.bias", numpy.zeros(10))],
    ["classes"], "classes", transB=1,
))

graph = helper.make_graph(
    nodes, "classifier",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 2 * SIZE, 2 * SIZE])],
    [helper.make_tensor_value_info("classes", TensorProto.FLOAT, [1, 10]),
     helper.make_tensor_value_info("context_act", TensorProto.FLOAT, [1, CHANNELS, SIZE, SIZE])],
    weights,
)
model = helper.make_model(
    graph, producer_name="polygraphy examples", opset_imports=[helper.make_opsetid("", 13)], ir_version=8
)
onnx.checker.check_model(model)
with open(sys.argv[1] if len(sys.argv) > 1 else "classifier.onnx", "wb") as file:
    file.write(model.SerializeToString(deterministic=True))
