#!/usr/bin/env python3
"""make_model.py: writes quantized_add.onnx, in which ONNX Runtime computes one node otherwise than the model says.

Two inputs are quantized to 8 bits and back, added, and the sum is quantized. ONNX Runtime makes one QLinearAdd of that,
with which some sums that lie between two steps of the output end on the other one."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

nodes, initializers = [], []


def quantize(name, output, scale, zero_point):
    initializers.append(numpy_helper.from_array(np.float32(scale), output + "_scale"))
    initializers.append(numpy_helper.from_array(np.uint8(zero_point), output + "_zero"))
    parameters = [output + "_scale", output + "_zero"]
    nodes.append(helper.make_node("QuantizeLinear", [name, *parameters], [output + "_8"], name="quantize_" + output))
    nodes.append(helper.make_node("DequantizeLinear", [output + "_8", *parameters], [output], name="dequantize_" + output))


quantize("a", "left", 0.05, 128)
quantize("b", "right", 0.07, 120)
nodes.append(helper.make_node("Add", ["left", "right"], ["sum"], name="add"))
quantize("sum", "y", 0.08, 125)

shape = [64, 64]
graph = helper.make_graph(
    nodes,
    "quantized_add",
    [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("a", "b")],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    initializers,
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, "quantized_add.onnx")
