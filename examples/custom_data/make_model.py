#!/usr/bin/python3
"""Makes classifier.onnx: logits = relu(image W + b) V, for two images of 3 x 8 x 8 at a time. Needs python3-onnx (Debian).

The result is committed beside this script.
"""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

random = numpy.random.default_rng(5)


def weight(name, *shape):
    return numpy_helper.from_array(random.normal(0, 0.1, shape).astype(numpy.float32), name)


graph = helper.make_graph(
    [
        helper.make_node("Flatten", ["image"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "w", "b"], ["hidden"], "hidden"),
        helper.make_node("Relu", ["hidden"], ["active"], "relu"),
        helper.make_node("MatMul", ["active", "v"], ["logits"], "head"),
    ],
    "classifier",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [2, 3, 8, 8])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [2, 4])],
    [weight("w", 192, 16), weight("b", 16), weight("v", 16, 4)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="examples/custom_data")
model.ir_version = 8
onnx.checker.check_model(model)
onnx.save(model, "classifier.onnx")
