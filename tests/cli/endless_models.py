#!/usr/bin/env python3
"""Writes models that are small, and that no runtime comes to an end with.

python3 endless_models.py FOLDER
"""

import os
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]


def tensor(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def call(number, x, y):
    return helper.make_node(f"f{number}", [x], [y], f"call of f{number}", domain="own")


def functions(count, body, last_operator="Relu"):
    """Each one has the nodes of body(the next one); the last one has one of `last_operator`."""
    for number in range(count):
        last = [helper.make_node(last_operator, ["a"], ["b"], "last")]
        nodes = body(number + 1) if number < count - 1 else last
        yield helper.make_function("own", f"f{number}", ["a"], ["b"], nodes, OPSETS)


def write(path, nodes, local_functions=(), initializers=()):
    graph = helper.make_graph(nodes, "graph", [tensor("x", [4])], [tensor("y", None)], initializers)
    model = helper.make_model(graph, ir_version=8, opset_imports=OPSETS, functions=list(local_functions))
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def main(folder):
    calls = [call(0, "x", "t"), helper.make_node("Relu", ["t"], ["y"], "relu")]
    chain = functions(5000, lambda next_one: [call(next_one, "a", "b")])
    twice = lambda next_one: [call(next_one, "a", "m"), call(next_one, "m", "b")]
    doubling = functions(40, twice)
    refused = functions(14, twice, "NoSuchOperator")
    write(os.path.join(folder, "chain.onnx"), calls, chain)
    write(os.path.join(folder, "doubling.onnx"), calls, doubling)
    write(os.path.join(folder, "refused.onnx"), calls, refused)
    fill = [
        helper.make_node("ConstantOfShape", ["size"], ["large"], "fill"),
        helper.make_node("ReduceSum", ["large"], ["sum"], "sum", keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"], "add"),
    ]
    size = numpy_helper.from_array(numpy.array([1 << 34], numpy.int64), "size")
    write(os.path.join(folder, "fill.onnx"), fill, initializers=[size])


if __name__ == "__main__":
    main(sys.argv[1])
