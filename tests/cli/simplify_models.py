#!/usr/bin/python3
"""Makes and shows models for tests of `debug reduce --simplify`.

    simplify_models.py make NAME FILE    the model that the function NAME below makes
    simplify_models.py weights FILE      one line for each initializer: name, shape, what it holds
    simplify_models.py attributes FILE   one line for each node: name, names of its attributes
    simplify_models.py inside FILE       the nodes, with those of bodies and functions, and what they read and make
"""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def tensor(name, shape, element_type=FLOAT):
    return helper.make_tensor_value_info(name, element_type, shape)


def learnt(name, *shape):
    values = numpy.random.RandomState(len(name) + sum(shape)).normal(0.1, 0.5, shape)
    return numpy_helper.from_array(values.astype(numpy.float32), name)


def whole(nodes, inputs, outputs, initializers, opset=13):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)


def convolutions():
    """Three convolutions with a bias each, on a batch of images; then a division by zero."""
    nodes, weights = [], []
    for index in range(3):
        channels = 3 if index == 0 else 4
        nodes.append(helper.make_node("Conv", [f"t{index}", f"w{index}", f"b{index}"], [f"t{index + 1}"],
                                      f"conv{index}", pads=[1, 1, 1, 1], strides=[1, 1], group=1))
        weights += [learnt(f"w{index}", 4, channels, 3, 3), learnt(f"b{index}", 4)]
    nodes.append(helper.make_node("Div", ["t3", "zero"], ["y"], "div"))
    weights.append(numpy_helper.from_array(numpy.zeros(1, numpy.float32), "zero"))
    return whole(nodes, [tensor("t0", [4, 3, 16, 16])], [tensor("y", [4, 4, 16, 16])], weights)


def one_that_matters():
    """Eight additions; only the fourth weight makes the output large."""
    weights = [learnt(f"w{i}", 6) for i in range(8)]
    weights[3] = numpy_helper.from_array(numpy.array([1000, 2, 3, 4, 5, 6], numpy.float32), "w3")
    nodes = [helper.make_node("Add", [f"t{i}", f"w{i}"], [f"t{i + 1}"], f"n{i}") for i in range(8)]
    return whole(nodes, [tensor("t0", [6])], [tensor("t8", [6])], weights)


def division():
    """By a weight that is never zero: with zeros it would be another failure."""
    nodes = [helper.make_node("Div", ["x", "w"], ["d"], "div"), helper.make_node("Add", ["d", "v"], ["y"], "add")]
    return whole(nodes, [tensor("x", [2, 6])], [tensor("y", [2, 6])],
                 [numpy_helper.from_array(numpy.array([2, 3, 4, 5, 6, 7], numpy.float32), "w"), learnt("v", 6)])


def external():
    """The convolutions with their weights in another file, which is written, too."""
    model = convolutions()
    onnx.external_data_helper.convert_model_to_external_data(model, location="weights.data", size_threshold=0)
    onnx.external_data_helper.write_external_data_tensors(model, ".")
    return model


def scalar(name, value, kind):
    return helper.make_tensor(name, kind, [], [value])


def loop():
    """A loop whose body divides by zero in the third of five nodes."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["more"], ["go_on"], "again"), helper.make_node("Abs", ["state"], ["a"], "abs"),
         helper.make_node("Add", ["a", "one"], ["b"], "add"), helper.make_node("Div", ["b", "zero"], ["c"], "div"),
         helper.make_node("Neg", ["c"], ["d"], "neg"), helper.make_node("Relu", ["d"], ["e"], "relu"),
         helper.make_node("Sub", ["c", "e"], ["next"], "sub")],
        "body", [tensor("i", [], TensorProto.INT64), tensor("more", [], TensorProto.BOOL), tensor("state", [4])],
        [tensor("go_on", [], TensorProto.BOOL), tensor("next", [4])],
        [numpy_helper.from_array(numpy.ones(4, numpy.float32), "one")])
    nodes = [helper.make_node("Loop", ["trips", "yes", "x"], ["y"], "loop", body=body)]
    return whole(nodes, [tensor("x", [4])], [tensor("y", [4])],
                 [scalar("trips", 1, TensorProto.INT64), scalar("yes", True, TensorProto.BOOL),
                  numpy_helper.from_array(numpy.zeros(4, numpy.float32), "zero")])


def branches():
    """Both branches make an infinity, the second with less; the condition is an input."""
    def branch(name, *operators):
        names = ["x"] + [f"{name}{index}" for index in range(len(operators))]
        return helper.make_graph(
            [helper.make_node(operator, [names[index]] + (["zero"] if operator == "Div" else []), [names[index + 1]],
                              f"{name}_{operator.lower()}") for index, operator in enumerate(operators)],
            name, [], [tensor(names[-1], [4])])
    nodes = [helper.make_node("If", ["condition"], ["y"], "if", then_branch=branch("then", "Abs", "Exp", "Div", "Neg"),
                              else_branch=branch("else", "Abs", "Div"))]
    return whole(nodes, [tensor("condition", [], TensorProto.BOOL), tensor("x", [4])], [tensor("y", [4])],
                 [numpy_helper.from_array(numpy.zeros(4, numpy.float32), "zero")])


def constant_branches():
    """Branches with a Constant node each, which the main graph takes over with one of them."""
    def branch(name, operator, number):
        constant = numpy_helper.from_array(numpy.full(4, number, numpy.float32))
        nodes = [helper.make_node("Constant", [], [f"{name}_k"], f"{name}_constant", value=constant),
                 helper.make_node(operator, ["x", f"{name}_k"], [f"{name}_y"], f"{name}_{operator.lower()}")]
        return helper.make_graph(nodes, name, [], [tensor(f"{name}_y", [4])])
    nodes = [helper.make_node("If", ["condition"], ["y"], "if", then_branch=branch("then", "Div", 0),
                              else_branch=branch("else", "Add", 1))]
    return whole(nodes, [tensor("condition", [], TensorProto.BOOL), tensor("x", [4])], [tensor("y", [4])], [])


def function():
    """A function of four nodes, one of which divides by zero."""
    nodes = [helper.make_node("Abs", ["v"], ["a"], "abs"), helper.make_node("Sub", ["a", "a"], ["zero"], "sub"),
             helper.make_node("Div", ["v", "zero"], ["d"], "div"), helper.make_node("Neg", ["d"], ["e"], "neg"),
             helper.make_node("Abs", ["e"], ["w"], "last")]
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("local", 1)]
    graph = helper.make_graph([helper.make_node("Divide", ["x"], ["y"], "call", domain="local")], "graph",
                              [tensor("x", [4])], [tensor("y", [4])])
    divide = helper.make_function("local", "Divide", ["v"], ["w"], nodes, opsets[:1])
    return helper.make_model(graph, functions=[divide], opset_imports=opsets, ir_version=8)


def describe(array):
    if not array.size or (array == array.flat[0]).all():
        return f"all {array.flat[0]:g}" if array.size else "nothing"
    return "values"


def weights(path):
    for initializer in onnx.load(path).graph.initializer:
        array = numpy_helper.to_array(initializer)
        print(initializer.name, list(array.shape), describe(array))


def attributes(path):
    for node in onnx.load(path).graph.node:
        print(node.name, " ".join(attribute.name for attribute in node.attribute) or "-")


def list_inside(nodes, indent):
    for node in nodes:
        print(f"{indent}{node.name or node.op_type} {','.join(node.input)}->{','.join(node.output)}")
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                print(f"{indent}  {attribute.name}")
                list_inside(attribute.g.node, indent + "  ")


def inside(path):
    model = onnx.load(path)
    list_inside(model.graph.node, "")
    for function in model.functions:
        print(f"function {function.name}")
        list_inside(function.node, "  ")


def main():
    command, *arguments = sys.argv[1:]
    if command == "make":
        with open(arguments[1], "wb") as file:
            file.write(globals()[arguments[0]]().SerializeToString(deterministic=True))
    else:
        {"weights": weights, "attributes": attributes, "inside": inside}[command](*arguments)


main()
