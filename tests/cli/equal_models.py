#!/usr/bin/python3
"""Makes pairs of models that should be equal, for tests of `debug models` and `inspect diff-models`.

    equal_models.py A FILE                       the reference: an attention block with a norm and a feed-forward part
    equal_models.py VARIANT [VARIANT ...] FILE   the same with the changes of the functions below, in this order
"""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

VARIANTS = {}


def variant(function):
    VARIANTS[function.__name__] = function
    return function


def weights():
    random = numpy.random.RandomState(3)
    ret = {name: random.standard_normal((8, 8)) * 0.4 for name in ("w_q", "w_k", "w_v", "w_up", "w_down")}
    ret.update(b_up=random.standard_normal(8) * 0.1, gain=1 + 0.2 * random.standard_normal(8),
               bias=random.standard_normal(8), two=numpy.array(2))
    return {name: value.astype(numpy.float32) for name, value in ret.items()}


def reference():
    node = helper.make_node
    nodes = [
        node("LayerNormalization", ["x", "gain", "bias"], ["normed"], "norm", axis=-1, epsilon=1e-12),
        node("MatMul", ["normed", "w_q"], ["q"], "query"),
        node("MatMul", ["normed", "w_k"], ["k"], "key"),
        node("MatMul", ["normed", "w_v"], ["v"], "value"),
        node("Transpose", ["k"], ["k_t"], "transpose", perm=[0, 2, 1]),
        node("MatMul", ["q", "k_t"], ["scores"], "scores"),
        node("Add", ["scores", "mask"], ["masked"], "add_mask"),
        node("Softmax", ["masked"], ["shares"], "softmax", axis=-1),
        node("MatMul", ["shares", "v"], ["mixed"], "mix"),
        node("Sub", ["mixed", "normed"], ["difference"], "subtract"),
        node("MatMul", ["difference", "w_up"], ["up"], "up"),
        node("Add", ["up", "b_up"], ["biased"], "add_bias"),
        node("Tanh", ["biased"], ["active"], "tanh"),
        node("Div", ["active", "two"], ["halved"], "halve"),
        node("MatMul", ["halved", "w_down"], ["y"], "down"),
    ]
    tensor = helper.make_tensor_value_info
    inputs = [tensor("x", TensorProto.FLOAT, [1, 4, 8]), tensor("mask", TensorProto.FLOAT, [1, 4, 4])]
    graph = helper.make_graph(nodes, "graph", inputs, [tensor("y", TensorProto.FLOAT, [1, 4, 8])],
                              [numpy_helper.from_array(value, name) for name, value in weights().items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def find(model, name):
    return next(node for node in model.graph.node if node.name == name)


def set_attribute(model, name, **attributes):
    node = find(model, name)
    for key, value in attributes.items():
        kept = [attribute for attribute in node.attribute if attribute.name != key]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(key, value)])


def set_weight(model, name, change):
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == name)
    weight.CopyFrom(numpy_helper.from_array(numpy.ascontiguousarray(change(numpy_helper.to_array(weight).copy())), name))


def remove(model, name, instead):
    """Removes a node; what reads its output reads `instead`."""
    node = find(model, name)
    output = node.output[0]
    model.graph.node.remove(node)
    for other in model.graph.node:
        other.input[:] = [instead if value == output else value for value in other.input]


@variant
def transposed(model):
    set_weight(model, "w_up", lambda value: value.T)


@variant
def channel(model):
    def scale(value):
        value[:, 5] *= 4
        return value
    set_weight(model, "w_down", scale)


@variant
def scaled(model):
    set_weight(model, "w_k", lambda value: value * 2)


@variant
def permuted(model):
    set_weight(model, "w_up", lambda value: value[:, [1, 0, 3, 2, 5, 4, 7, 6]])


@variant
def epsilon(model):
    set_attribute(model, "norm", epsilon=0.5)


@variant
def axis(model):
    set_attribute(model, "softmax", axis=1)


@variant
def swapped(model):
    find(model, "subtract").input[:] = ["normed", "mixed"]


@variant
def swapped_constant(model):
    find(model, "halve").input[:] = ["two", "active"]


@variant
def other_weight(model):
    find(model, "query").input[1] = "w_k"


@variant
def no_mask(model):
    remove(model, "add_mask", "scores")


@variant
def no_mask_input(model):
    no_mask(model)
    del model.graph.input[1]


@variant
def extra_relu(model):
    place = list(model.graph.node).index(find(model, "up"))
    model.graph.node.insert(place, helper.make_node("Relu", ["difference"], ["cut"], "relu"))
    find(model, "up").input[0] = "cut"


@variant
def other_operator(model):
    find(model, "tanh").op_type = "Sigmoid"


@variant
def decomposed(model):
    """The norm in single operators, the bias in front, and a weight that is transposed by a node."""
    place = list(model.graph.node).index(find(model, "norm"))
    model.graph.node.remove(find(model, "norm"))
    parts = [
        ("ReduceMean", ["x"], "mean", {"axes": [-1]}), ("Sub", ["x", "mean"], "centred", {}),
        ("Mul", ["centred", "centred"], "square", {}), ("ReduceMean", ["square"], "variance", {"axes": [-1]}),
        ("Add", ["variance", "eps"], "safe", {}), ("Sqrt", ["safe"], "root", {}),
        ("Div", ["centred", "root"], "unit", {}), ("Mul", ["unit", "gain"], "wide", {}),
        ("Add", ["bias", "wide"], "normed", {}),
    ]
    for i, (operator, inputs, output, attributes) in enumerate(parts):
        model.graph.node.insert(place + i, helper.make_node(operator, inputs, [output], "norm_" + output, **attributes))
    model.graph.initializer.append(numpy_helper.from_array(numpy.array(1e-12, numpy.float32), "eps"))
    find(model, "add_bias").input[:] = ["b_up", "up"]
    transposed(model)
    model.graph.node.insert(0, helper.make_node("Transpose", ["w_up"], ["w_up_t"], "turn", perm=[1, 0]))
    find(model, "up").input[1] = "w_up_t"


@variant
def large_epsilon(model):
    """Of `decomposed`."""
    set_weight(model, "eps", lambda value: numpy.array(0.5, numpy.float32))


@variant
def half(model):
    """A weight in float16, and a Cast behind it."""
    set_weight(model, "w_v", lambda value: value.astype(numpy.float16))
    model.graph.node.insert(0, helper.make_node("Cast", ["w_v"], ["w_v_wide"], "widen", to=TensorProto.FLOAT))
    find(model, "value").input[1] = "w_v_wide"


@variant
def renamed(model):
    """Random words in place of all names."""
    random = numpy.random.RandomState(11)
    words = {}

    def word(name):
        if name and name not in words:
            words[name] = "".join(random.choice(list("bcdfgklmnprstvz")) + random.choice(list("aeiou")) for _ in range(4))
        return words.get(name, "")

    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.initializer]:
        value.name = word(value.name)
    for node in graph.node:
        node.input[:] = [word(name) for name in node.input]
        node.output[:] = [word(name) for name in node.output]
        node.name = word("node " + node.name)


@variant
def shuffled(model):
    """Nodes in another order that is topological, too; and the inputs of the model are exchanged."""
    nodes = list(model.graph.node)
    done = {value.name for value in [*model.graph.input, *model.graph.initializer]} | {""}
    del model.graph.node[:]
    while nodes:
        node = next(node for node in reversed(nodes) if done.issuperset(node.input))
        model.graph.node.append(node)
        done.update(node.output)
        nodes.remove(node)
    inputs = list(model.graph.input)
    del model.graph.input[:]
    model.graph.input.extend(reversed(inputs))


@variant
def square(model):
    """A row of 4 numbers is added to a square matrix."""
    del model.graph.node[:]
    model.graph.node.append(helper.make_node("Add", ["mask", "row"], ["y"], "add_row"))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 4]))
    model.graph.initializer.append(numpy_helper.from_array(numpy.arange(4, dtype=numpy.float32), "row"))


@variant
def column(model):
    """Of `square`: the row is a column, with the same elements."""
    set_weight(model, "row", lambda value: value.reshape(4, 1))


@variant
def largest(model):
    """The output is the position of the largest number, an integer."""
    model.graph.node.append(helper.make_node("ArgMax", ["y"], ["at"], "argmax", axis=-1, keepdims=0))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("at", TensorProto.INT64, [1, 4]))


@variant
def more_outputs(model):
    """The root of negative numbers is an output, too: NaN."""
    model.graph.node.append(helper.make_node("Sqrt", ["y"], ["root"], "root"))
    model.graph.output.append(helper.make_tensor_value_info("root", TensorProto.FLOAT, [1, 4, 8]))


@variant
def noise(model):
    model.graph.node.insert(0, helper.make_node("RandomNormalLike", ["x"], ["noisy"], "noise"))
    find(model, "norm").input[0] = "noisy"


@variant
def unrelated(model):
    """Another model with the same inputs and outputs."""
    del model.graph.node[:]
    model.graph.node.append(helper.make_node("Erf", ["x"], ["y"], "erf"))


def main():
    *changes, path = sys.argv[1:]
    model = reference()
    for change in changes:
        if change != "A":
            VARIANTS[change](model)
    onnx.save(model, path)


if __name__ == "__main__":
    main()
