#!/usr/bin/env python3
"""Models for tests of TensorRT: tensorrt_models.py NAME... writes NAME.onnx into the current folder."""

import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save


def tensor(name, shape, element_type=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element_type, shape)


def constant(name, values, element_type):
    return numpy_helper.from_array(numpy.array(values, element_type), name)


def shape_input():
    """The values of an input are the shape of an output."""
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshape")]
    return nodes, [tensor("x", [6]), tensor("shape", [2], TensorProto.INT64)], [tensor("y", ["a", "b"])], []


def data_dependent():
    """How large an output is depends on values."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"], name="places"),
        helper.make_node("Identity", ["x"], ["same"], name="same"),
    ]
    return nodes, [tensor("x", [2, 3])], [tensor("places", [2, "n"], TensorProto.INT64), tensor("same", [2, 3])], []


def types():
    """Every type that all releases compute."""
    kinds = {"float": TensorProto.FLOAT, "half": TensorProto.FLOAT16, "int": TensorProto.INT32, "bool": TensorProto.BOOL}
    nodes = [helper.make_node("Identity", [name], [name + "_out"], name=name) for name in kinds]
    inputs = [tensor(name, [2, 3], kind) for name, kind in kinds.items()]
    return nodes, inputs, [tensor(name + "_out", [2, 3], kind) for name, kind in kinds.items()], []


def later_types():
    """Types that came with TensorRT 10."""
    nodes = [
        helper.make_node("Identity", ["long"], ["long_out"], name="long"),
        helper.make_node("Cast", ["x"], ["brain_out"], name="brain", to=TensorProto.BFLOAT16),
    ]
    inputs = [tensor("long", [2, 3], TensorProto.INT64), tensor("x", [2, 3])]
    return nodes, inputs, [tensor("long_out", [2, 3], TensorProto.INT64), tensor("brain_out", [2, 3], TensorProto.BFLOAT16)], []


def empty_tensor():
    """The batch may be of size 0."""
    return [helper.make_node("Neg", ["x"], ["y"], name="neg")], [tensor("x", ["n", 3])], [tensor("y", ["n", 3])], []


def attention():
    """The operator of opset 23."""
    shape = [1, 2, 4, 8]
    nodes = [helper.make_node("Attention", ["q", "k", "v"], ["y"], name="attention")]
    return nodes, [tensor(name, shape) for name in "qkv"], [tensor("y", shape)], []


def overflow():
    """One layer of three overflows in float16."""
    nodes = [
        helper.make_node("Mul", ["x", "large"], ["a"], name="enlarge"),
        helper.make_node("Mul", ["a", "small"], ["b"], name="reduce"),
        helper.make_node("Neg", ["b"], ["y"], name="negate"),
    ]
    weights = [constant("large", [3e5], numpy.float32), constant("small", [1e-5], numpy.float32)]
    return nodes, [tensor("x", [4])], [tensor("y", [4])], weights


def refused():
    """In the middle of a chain there is a node that no parser knows."""
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], name="first"),
        helper.make_node("Secret", ["a"], ["b"], name="secret", domain="unknown"),
        helper.make_node("Abs", ["b"], ["c"], name="third"),
        helper.make_node("Relu", ["c"], ["y"], name="last"),
    ]
    return nodes, [tensor("x", [4])], [tensor("y", [4])], []


for function in [globals()[name] for name in sys.argv[1:]]:
    parts = function()
    graph = helper.make_graph(parts[0], function.__name__, *parts[1:])
    opset = 23 if function is attention else 17
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("unknown", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), function.__name__ + ".onnx")
