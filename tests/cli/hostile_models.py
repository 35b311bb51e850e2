#!/usr/bin/env python3
"""Writes models that say of themselves what is not true, in the wire format itself: a library would refuse to.

python3 hostile_models.py FOLDER
"""

import os
import struct
import sys

FLOAT, INT8, INT64, FLOAT16, DOUBLE = 1, 3, 7, 10, 11


def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def integer(field, value):
    return number(field << 3) + number(value)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return number(field << 3 | 2) + number(len(content)) + content


def tensor(name, element_type, shape):
    """A ValueInfoProto; without a shape when that is None."""
    described = integer(1, element_type)
    if shape is not None:
        described += message(2, b"".join(message(1, integer(1, size)) for size in shape))
    return message(1, name) + message(2, message(1, described))


def weights(name, shape):
    count = 1
    for size in shape:
        count *= size
    values = struct.pack("<%df" % count, *[0.01] * count)
    return b"".join(integer(1, size) for size in shape) + integer(2, FLOAT) + message(8, name) + message(9, values)


def node(operator, inputs, outputs, attributes=b""):
    names = b"".join(message(1, name) for name in inputs) + b"".join(message(2, name) for name in outputs)
    return names + message(4, operator) + attributes


def integers(name, values):
    return message(5, message(1, name) + b"".join(integer(8, value) for value in values) + integer(20, 7))


def model(nodes, inputs, outputs, initializers=(), infos=()):
    graph = message(2, "graph")
    for field, messages in (1, nodes), (5, initializers), (11, inputs), (12, outputs), (13, infos):
        graph += b"".join(message(field, content) for content in messages)
    return integer(1, 8) + message(7, graph) + message(8, message(1, "") + integer(2, 13))


def models():
    square, x, z = [64, 64], tensor("x", FLOAT, [64, 64]), tensor("z", FLOAT, None)
    chain = [node("MatMul", ["x", "w"], ["y"]), node("Sigmoid", ["y"], ["z"])]
    for name, element_type in ("int8", INT8), ("float16", FLOAT16), ("double", DOUBLE):
        lie = tensor("y", element_type, square)
        yield "type_between_" + name, model(chain, [x], [z], [weights("w", square)], [lie])
        yield "type_of_output_" + name, model(chain[:1], [x], [lie], [weights("w", square)])
    for operator in "Conv", "Gemm", "MatMul", "MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean", "Relu":
        yield "no_inputs_" + operator, model([node(operator, [], ["z"])], [x], [z])
    for operator in "Conv", "Gemm", "MatMul", "Add":
        yield "one_input_" + operator, model([node(operator, ["x"], ["z"])], [x], [z])
    yield "made_twice", model([node("Relu", ["x"], ["z"]), node("Sigmoid", ["x"], ["z"])], [x], [z])
    image, kernel = tensor("x", FLOAT, [1, 3, 8, 8]), weights("w", [16, 3, 3, 3])
    large = node("Conv", ["x", "w"], ["z"], integers("kernel_shape", [1 << 62, 1 << 62]))
    yield "kernel_shape", model([large], [image], [z], [kernel])


def large_models():
    """Small files that ask for 8 GiB: by a constant shape, by one that is fed, for an output, and for an input."""
    shape, x, y = [1024, 1024, 2048], tensor("x", FLOAT, [1]), tensor("y", FLOAT, None)
    constant = integer(1, 3) + integer(2, INT64) + message(8, "shape") + message(9, struct.pack("<3q", *shape))
    grow = node("Expand", ["x", "shape"], ["big"], message(3, "grow"))
    ends = [node("ReduceMax", ["big"], ["y"], message(3, "shrink"))]
    yield "expand", model([grow] + ends, [x], [y], [constant])
    yield "expand_to_input", model([grow] + ends, [x, tensor("shape", INT64, [3])], [y])
    yield "constant", model([node("ConstantOfShape", ["shape"], ["big"], message(3, "grow"))] + ends, [], [y], [constant])
    stretch = node("ConvTranspose", ["x", "w"], ["big"], message(3, "grow") + integers("strides", [46340, 46340]))
    yield "stretch", model([stretch] + ends, [tensor("x", FLOAT, [1, 1, 2, 2])], [y], [weights("w", [1, 1, 1, 1])])
    sums = ["sum%d" % i for i in range(12)]
    many = [node("Add", ["a", before], [name]) for before, name in zip(["b"] + sums, sums)] + [node("Max", sums, ["y"])]
    yield "together", model(many, [tensor("a", FLOAT, [32768, 1]), tensor("b", FLOAT, [1, 1024])], [y])
    rows = integer(1, 2) + integer(2, INT64) + message(8, "rows") + message(9, struct.pack("<2q", 16384, 1024))
    ones = [node("ConstantOfShape", ["rows"], [name]) for name in sums] + [node("Max", sums, ["y"])]
    yield "constants_together", model(ones, [x], [y], [rows])
    yield "input", model([node("Relu", ["x"], ["y"])], [tensor("x", FLOAT, shape)], [y])
    yield "no_such_operator", model([node("NoSuchOperator", ["x"], ["y"])], [tensor("x", FLOAT, shape)], [y])


if __name__ == "__main__":
    large = [("large_" + name, content) for name, content in large_models()]
    for file, content in list(models()) + large:
        with open(os.path.join(sys.argv[1], file + ".onnx"), "wb") as out:
            out.write(content)
    # This one is good: an input that is an output, too, of which the output does not say the shape.
    outputs = [tensor(name, FLOAT, None) for name in ("x", "z")]
    good = model([node("Relu", ["x"], ["z"])], [tensor("x", FLOAT, [4])], outputs)
    with open(os.path.join(sys.argv[1], "good.onnx"), "wb") as out:
        out.write(good)
