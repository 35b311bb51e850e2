#!/usr/bin/python3
"""Makes and shows models for tests of `debug reduce`.

    reduce_models.py make NAME FILE [ARGUMENT...]   the model that the function NAME below makes
    reduce_models.py show FILE...                   one line each: nodes, [inputs->outputs], what is constant
    reduce_models.py shapes FILE                    the inputs and outputs with type and shape, one line each
    reduce_models.py merge INPUTS OUTPUTS FILE      input data that hold the outputs of a run, too
"""
import json
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def tensor(name, shape=(4,), element_type=FLOAT):
    return helper.make_tensor_value_info(name, element_type, shape)


def weight(name, values):
    return numpy_helper.from_array(numpy.array(values, numpy.float32), name)


def bare(nodes, inputs, outputs, initializers=(), domain=""):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def whole(*arguments):
    """With types and shapes of all tensors inside."""
    return onnx.shape_inference.infer_shapes(bare(*arguments))


def chain(faulty="-1", size="4"):
    """Eight additions n0 ... n7 with a weight each; that of one node may be faulty."""
    weights = [weight(f"w{i}", [i + (100 if i == int(faulty) else 0)] * int(size)) for i in range(8)]
    nodes = [helper.make_node("Add", [f"t{i}", f"w{i}"], [f"t{i + 1}"], f"n{i}") for i in range(8)]
    return whole(nodes, [tensor("t0", [int(size)])], [tensor("t8", [int(size)])], weights)


def bare_chain():
    """Three nodes, and nothing is said about what is between them."""
    operators = "Neg", "Abs", "Relu"
    nodes = [helper.make_node(operator, [f"t{i}"], [f"t{i + 1}"], f"n{i}") for i, operator in enumerate(operators)]
    return bare(nodes, [tensor("t0")], [tensor("t3")])


def external(location, size="400"):
    """The chain with its weights in a file."""
    model = chain(size=size)
    for index, initializer in enumerate(model.graph.initializer):
        length = len(initializer.raw_data)
        initializer.ClearField("raw_data")
        initializer.data_location = TensorProto.EXTERNAL
        for key, value in ("location", location), ("offset", str(index * length)), ("length", str(length)):
            initializer.external_data.add(key=key, value=value)
    return model


def weights(size="400"):
    """The file for it."""
    return b"".join(initializer.raw_data for initializer in chain(size=size).graph.initializer)


def infinity():
    """The fourth of six nodes makes an infinity."""
    operators = "Neg", "Abs", "Relu", "Div", "Exp", "Sqrt"
    nodes = []
    for index, operator in enumerate(operators):
        inputs = [f"t{index}"] + (["zero"] if operator == "Div" else [])
        nodes.append(helper.make_node(operator, inputs, [f"t{index + 1}"], operator.lower()))
    return whole(nodes, [tensor("t0")], [tensor("t6")], [weight("zero", [0] * 4)])


def infinite_branch():
    """Two branches that meet; on the way of one there is an infinity that does not get out."""
    nodes = [
        helper.make_node("Div", ["x", "zero"], ["infinity"], "div"),
        helper.make_node("Neg", ["y"], ["negative"], "neg"),
        helper.make_node("Max", ["negative", "infinity"], ["most"], "max"),
        helper.make_node("Min", ["most", "one"], ["z"], "min"),
    ]
    return whole(nodes, [tensor("x"), tensor("y")], [tensor("z")], [weight("zero", [0] * 4), weight("one", [1] * 4)])


def reciprocal():
    """The fourth of six nodes makes an infinity of a zero."""
    operators = "Neg", "Abs", "Relu", "Reciprocal", "Neg", "Abs"
    nodes = [helper.make_node(operator, [f"t{index}"], [f"t{index + 1}"], f"{operator.lower()}{'_2' * (index > 3)}")
             for index, operator in enumerate(operators)]
    return whole(nodes, [tensor("t0")], [tensor("t6")])


def infinities(count="3"):
    """Branches, one behind each output, that make an infinity in their middle, and one that does not."""
    nodes, outputs = [], []
    for branch in range(int(count) + 1):
        middle = "Div" if branch < int(count) else "Mul"
        for index, operator in enumerate(("Neg", middle, "Abs")):
            inputs = ["x" if index == 0 else f"t{branch}_{index - 1}"] + (["zero"] if operator == middle else [])
            nodes.append(helper.make_node(operator, inputs, [f"t{branch}_{index}"], f"{operator.lower()}_{branch}"))
        outputs.append(tensor(f"t{branch}_2"))
    return whole(nodes, [tensor("x")], outputs, [weight("zero", [0] * 4)])


def dynamic():
    """Four nodes on images of a size that the model does not tell."""
    operators = "Relu", "Neg", "Abs", "Exp"
    names = ["input", "a", "b", "c", "output"]
    nodes = [helper.make_node(operator, [names[i]], [names[i + 1]], operator.lower())
             for i, operator in enumerate(operators)]
    shape = ["batch", 3, "height", "width"]
    return whole(nodes, [tensor("input", shape)], [tensor("output", shape)])


def seven_elements():
    """Runs with seven elements only; how much is padded depends on constants alone."""
    nodes = [
        helper.make_node("Reshape", ["x", "seven"], ["row"], "reshape"),
        helper.make_node("Abs", ["row"], ["magnitude"], "abs"),
        helper.make_node("Cast", ["amounts"], ["pads"], "cast", to=TensorProto.INT64),
        helper.make_node("Pad", ["magnitude", "pads"], ["padded"], "pad_again"),
        helper.make_node("Neg", ["padded"], ["y"], "neg"),
    ]
    seven = numpy_helper.from_array(numpy.array([7], numpy.int64), "seven")
    return bare(nodes, [tensor("x", ["batch", "time"])], [tensor("y", ["n"])], [weight("amounts", [1, 1]), seven])


def invalid():
    """The third of five nodes multiplies matrices that do not fit, and nothing tells any shape inside."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "relu"),
        helper.make_node("Neg", ["a"], ["b"], "neg"),
        helper.make_node("MatMul", ["b", "b"], ["c"], "matmul"),
        helper.make_node("Abs", ["c"], ["d"], "abs"),
        helper.make_node("Exp", ["d"], ["y"], "exp"),
    ]
    return bare(nodes, [tensor("x", [2, 3])], [tensor("y", [2, 3])])


def unknown_operator():
    """Two branches that meet in a node of a domain that no runtime knows."""
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], "neg"),
        helper.make_node("Abs", ["y"], ["b"], "abs"),
        helper.make_node("Mystery", ["a", "b"], ["c"], "mystery", domain="org.example"),
        helper.make_node("Exp", ["c"], ["z"], "exp"),
    ]
    model = bare(nodes, [tensor("x"), tensor("y")], [tensor("z")], domain="org.example")
    model.graph.value_info.extend([tensor(name) for name in "abc"])
    return model


def unknown_branch():
    """The same operator in one of the branches: nobody knows what it makes."""
    nodes = [
        helper.make_node("Mystery", ["x"], ["a"], "mystery", domain="org.example"),
        helper.make_node("Abs", ["y"], ["b"], "abs"),
        helper.make_node("Add", ["a", "b"], ["c"], "add"),
        helper.make_node("Exp", ["c"], ["z"], "exp"),
    ]
    model = bare(nodes, [tensor("x"), tensor("y")], [tensor("z")], domain="org.example")
    model.graph.value_info.extend([tensor(name) for name in "abc"])
    return model


def unusable(kind):
    """A node in the middle that no runtime takes, and shapes that are computed behind it. Nodes are called after what they make."""
    middle = {
        "unknown": helper.make_node("Warp", ["b"], ["c"], domain="acme"),
        "refused": helper.make_node("Transpose", ["b"], ["c"], perm=[0, 1, 2]),
        "failing": helper.make_node("Reshape", ["b", "wrong"], ["c"]),
        "unfed": helper.make_node("Add", ["b", "nowhere"], ["c"]),
        "dead": helper.make_node("Neg", ["b"], ["c"]),
    }[kind]
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        middle,
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("Shape", ["d"], ["s"]),
        helper.make_node("Concat", ["s", "four"], ["r"], axis=0),
        helper.make_node("Reshape", ["d", "r"], ["e"]),
        helper.make_node("TopK", ["e", "four"], ["v", "i"]),
        helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
        helper.make_node("Add", ["v", "f"], ["y"]),
    ]
    if kind == "dead":
        nodes += [
            helper.make_node("Warp", ["b"], ["dead1"], domain="acme"),
            helper.make_node("Neg", ["dead1"], ["dead2"]),
            helper.make_node("Transpose", ["a"], ["dead3"], perm=[0, 1, 2]),
        ]
    for node in nodes:
        node.name = node.output[0]
    constants = [numpy_helper.from_array(numpy.array(values, numpy.int64), name)
                 for name, values in (("four", [4]), ("wrong", [3, 5]))]
    return bare(nodes, [tensor("x", [2, 4])], [tensor("y", None)], [weight("w", [1] * 4), *constants], "acme")


def unknown_before_sequence():
    """A sequence whose parts nobody knows the types of, because of an operator that no runtime has."""
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], "neg"),
        helper.make_node("Mystery", ["a"], ["u"], "mystery", domain="org.example"),
        helper.make_node("SplitToSequence", ["u"], ["parts"], "split"),
        helper.make_node("ConcatFromSequence", ["parts"], ["c"], "join", axis=0),
        helper.make_node("Exp", ["c"], ["y"], "exp"),
    ]
    return bare(nodes, [tensor("x", [2, 4])], [tensor("y", None)], domain="org.example")


def multi_output():
    """A node with three outputs, of which one is the graph's; the others lead nowhere."""
    nodes = [
        helper.make_node("Identity", ["input"], ["copy"], "identity"),
        helper.make_node("Split", ["copy"], ["first", "second", "third"], "split", axis=0),
        helper.make_node("Identity", ["third"], ["output"], "last"),
    ]
    return whole(nodes, [tensor("input", [6])], [tensor("output", [2])])


def padded():
    """Pads and a shape that are computed from the size of the input."""
    integers = {"one": 1, "four": 4, "first": [0], "zeros": [0, 0, 0], "ones": [1], "fours": [4]}
    nodes = [
        helper.make_node("Abs", ["x"], ["a"], "abs"),
        helper.make_node("Shape", ["x"], ["sizes"], "shape"),
        helper.make_node("Gather", ["sizes", "one"], ["size"], "gather"),
        helper.make_node("Mod", ["size", "four"], ["rest"], "mod"),
        helper.make_node("Sub", ["four", "rest"], ["more"], "sub"),
        helper.make_node("Unsqueeze", ["more", "first"], ["more_1"], "unsqueeze_pads"),
        helper.make_node("Concat", ["zeros", "more_1"], ["pads"], "concat_pads", axis=0),
        helper.make_node("Pad", ["a", "pads"], ["c"], "pad"),
        helper.make_node("Add", ["size", "more"], ["padded"], "add"),
        helper.make_node("Div", ["padded", "four"], ["rows"], "div"),
        helper.make_node("Unsqueeze", ["rows", "first"], ["rows_1"], "unsqueeze_shape"),
        helper.make_node("Concat", ["ones", "rows_1", "fours"], ["shape"], "concat_shape", axis=0),
        helper.make_node("Reshape", ["c", "shape"], ["d"], "reshape"),
        helper.make_node("Tanh", ["d"], ["y"], "tanh"),
    ]
    return bare(nodes, [tensor("x", [1, "n"])], [tensor("y", ["a", "b", "c"])],
                [numpy_helper.from_array(numpy.array(value, numpy.int64), name) for name, value in integers.items()])


def names(values):
    return ",".join(value.name for value in values)


def show(path):
    graph = onnx.load(path, load_external_data=False).graph
    nodes = " ".join(node.name or node.op_type for node in graph.node)
    constants = names(graph.initializer)
    constant_names = {value.name for value in graph.initializer}
    inputs = names(value for value in graph.input if value.name not in constant_names)
    print(f"{nodes} [{inputs}->{names(graph.output)}]" + (f" const {constants}" if constants else ""))


def shapes(path):
    graph = onnx.load(path, load_external_data=False).graph
    for value in (*graph.input, *graph.output):
        kind = value.type.tensor_type
        dims = [dim.dim_param or dim.dim_value for dim in kind.shape.dim] if kind.HasField("shape") else "unknown"
        print(f"{value.name} {TensorProto.DataType.Name(kind.elem_type).lower()} {dims}")


def merge(inputs, outputs, path):
    with open(inputs, encoding="utf-8") as file:
        feeds = json.load(file)
    with open(outputs, encoding="utf-8") as file:
        runners = json.load(file)["lst"]
    for _, iterations in runners:
        for feed, iteration in zip(feeds, iterations):
            feed.update({name: output["values"] for name, output in iteration["outputs"].items()})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(feeds, file)


def main():
    command, *arguments = sys.argv[1:]
    if command == "make":
        made = globals()[arguments[0]](*arguments[2:])
        with open(arguments[1], "wb") as file:
            file.write(made if isinstance(made, bytes) else made.SerializeToString(deterministic=True))
    elif command == "show":
        for path in arguments:
            show(path)
    else:
        {"shapes": shapes, "merge": merge}[command](*arguments)


main()
