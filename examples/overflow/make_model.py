#!/usr/bin/python3
"""Makes detector.onnx: a small convolutional detector with a defect that only real data show.

Four residual blocks of three branches each. In the third one, somebody divides by an epsilon that is far too small: as
soon as the activations are not zero, the quotient overflows float32 and an infinity reaches the output. Every weight is
finite, so nothing is to be seen in the file itself.

Needs python3-onnx (Debian). The result is committed beside this script, so the demo does not need it.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS, SIZE, BLOCKS = 8, 16, 4
random = np.random.default_rng(7)
nodes, weights = [], []


def weight(name, array):
    weights.append(numpy_helper.from_array(np.asarray(array, dtype=np.float32), name))
    return name


def add(op, inputs, name, **attributes):
    nodes.append(helper.make_node(op, inputs, [name + "_out"], name=name, **attributes))
    return name + "_out"


def conv(tensor, name, inputs=CHANNELS, outputs=CHANNELS, size=3):
    scale = 1.0 / (inputs * size * size)
    kernel = weight(name + "_w", random.uniform(0, scale, (outputs, inputs, size, size)))
    bias = weight(name + "_b", random.uniform(0, 0.1, outputs))
    return add("Conv", [tensor, kernel, bias], name, pads=[size // 2] * 4)


def branch(tensor, name, size):
    tensor = conv(tensor, f"{name}/conv", size=size)
    tensor = add("Relu", [tensor], f"{name}/relu")
    scaled = add("Mul", [tensor, weight(f"{name}/scale_w", 0.5)], f"{name}/scale")
    return add("Add", [scaled, weight(f"{name}/shift_w", 0.1)], f"{name}/shift")


def normalize(tensor, name, epsilon):
    mean = add("ReduceMean", [tensor], f"{name}/mean", axes=[2, 3], keepdims=1)
    centred = add("Sub", [tensor, mean], f"{name}/centre")
    magnitude = add("Abs", [centred], f"{name}/abs")
    return add("Div", [magnitude, weight(f"{name}/epsilon", epsilon)], f"{name}/div")


tensor = conv("image", "stem", inputs=3)
for i in range(BLOCKS):
    block = f"block{i}"
    left = branch(tensor, f"{block}/left", 3)
    right = branch(tensor, f"{block}/right", 1)
    normal = normalize(tensor, f"{block}/norm", 1e-40 if i == 2 else 4.0)
    tensor = add("Add", [left, right], f"{block}/join")
    tensor = add("Add", [tensor, normal], f"{block}/residual")
pooled = add("GlobalAveragePool", [tensor], "pool")
flat = add("Flatten", [pooled], "flatten")
scores = add("Gemm", [flat, weight("head_w", random.uniform(0, 0.1, (CHANNELS, 10))),
                      weight("head_b", np.zeros(10))], "head")

graph = helper.make_graph(
    nodes, "detector",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
    [helper.make_tensor_value_info(scores, TensorProto.FLOAT, [1, 10])], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="examples/overflow")
model.ir_version = 8
onnx.checker.check_model(model, full_check=True)
onnx.save(model, "detector.onnx")
print(f"detector.onnx: {len(nodes)} nodes")
