#!/usr/bin/env python3
"""Makes small models: python3 tests/models/make_models.py [FOLDER], by default in the folder of this file.

Each function below is one model, named after the function; its docstring says what is special about it. The same
version of the onnx package always writes the same bytes. A model of this folder without a function here came as it is.
"""

import os
import struct
import sys

import numpy
from onnx import ModelProto, TensorProto, helper, numpy_helper, shape_inference

MODELS = []


def model(function):
    """Registers a function: it returns (nodes, inputs, outputs), the same and initializers, or a whole ModelProto."""
    MODELS.append(function)
    return function


def tensor(name, shape, element_type=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element_type, shape)


def external(name, shape, location):
    """A float32 initializer whose data are the bytes of the file `location` from its beginning."""
    proto = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    length = 4 * int(numpy.prod(shape))
    for key, value in ("location", location), ("offset", "0"), ("length", str(length)):
        proto.external_data.add(key=key, value=value)
    return proto


@model
def every_type():
    """One node for each element type that a tensor of ONNX Runtime can have; it changes nothing. Identity has no kernel
    for 4 bits."""
    types = {
        "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16,
        "bfloat16": TensorProto.BFLOAT16, "int8": TensorProto.INT8, "int16": TensorProto.INT16,
        "int32": TensorProto.INT32, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8,
        "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64,
        "bool": TensorProto.BOOL, "string": TensorProto.STRING,
        # TensorProto of Debian's onnx has no names for these
        "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21, "int4": 22,
    }
    return (
        [
            helper.make_node("Cast", [name], [f"{name}_out"], to=element_type) if name.endswith("int4")
            else helper.make_node("Identity", [name], [f"{name}_out"])
            for name, element_type in types.items()
        ],
        [tensor(name, [3], element_type) for name, element_type in types.items()],
        [tensor(f"{name}_out", [3], element_type) for name, element_type in types.items()],
    )


@model
def symbolic_dimensions():
    """Two inputs with named, unnamed and fixed dimensions, whose sum fails at run time when `n` and `m` differ."""
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"], name="add")]
    return nodes, [tensor("a", ["n", None, 2]), tensor("b", ["m", 1, 2])], [tensor("sum", None)]


@model
def scalar_and_unknown_shape():
    """A scalar and a tensor whose rank is not known."""
    nodes = [
        helper.make_node("Identity", ["scalar"], ["scalar_out"]),
        helper.make_node("Identity", ["unknown"], ["unknown_out"]),
    ]
    return (
        nodes,
        [tensor("scalar", []), tensor("unknown", None)],
        [tensor("scalar_out", []), tensor("unknown_out", None)],
    )


@model
def strings():
    """Adds an end to each of some strings."""
    nodes = [helper.make_node("StringConcat", ["words", "end"], ["ended"])]
    end = helper.make_tensor("end", TensorProto.STRING, [], [b"!"])
    return nodes, [tensor("words", ["n"], TensorProto.STRING)], [tensor("ended", ["n"], TensorProto.STRING)], [end]


@model
def sequences():
    """An input and an output that are sequences, beside tensors."""
    nodes = [
        helper.make_node("SequenceLength", ["sequence"], ["length"]),
        helper.make_node("SequenceConstruct", ["x", "x"], ["pair"]),
    ]
    sequence = helper.make_tensor_sequence_value_info
    return (
        nodes,
        [tensor("x", [2]), sequence("sequence", TensorProto.FLOAT, None)],
        [tensor("length", [], TensorProto.INT64), sequence("pair", TensorProto.FLOAT, None)],
    )


@model
def sequence_output():
    """Tensors in, a tensor and a sequence out."""
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["pair"]),
        helper.make_node("Neg", ["x"], ["negative"]),
    ]
    pair = helper.make_tensor_sequence_value_info("pair", TensorProto.FLOAT, None)
    return nodes, [tensor("x", [2])], [tensor("negative", [2]), pair]


@model
def input_and_weight_are_outputs():
    """The input and an initializer are outputs as they are, beside the result of a node."""
    weight = numpy_helper.from_array(numpy.array([3, 4], numpy.float32), "weight")
    outputs = [tensor(name, [2]) for name in ("x", "weight", "sum")]
    return [helper.make_node("Add", ["x", "weight"], ["sum"])], [tensor("x", [2])], outputs, [weight]


@model
def external_weights():
    """Adds 256 weights, 0 to 255, that lie in weights.data."""
    return (
        [helper.make_node("Add", ["x", "weights"], ["sum"])],
        [tensor("x", [256])],
        [tensor("sum", [256])],
        [external("weights", [256], "weights.data")],
    )


# --- Graphs with one peculiarity each; older versions of operators and format, so that onnx 1.12 can check them -------


def whole(nodes, inputs, outputs, initializers=(), opset=13, **fields):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    fields.setdefault("ir_version", 8)
    return helper.make_model(
        graph, producer_name="polygraphy tests", opset_imports=[helper.make_opsetid("", opset)], **fields
    )


def described(proto):
    """The model with types and shapes for the tensors inside."""
    return shape_inference.infer_shapes(proto)


def weight(name, values, element_type=numpy.float32):
    return numpy_helper.from_array(numpy.array(values, element_type), name)


def body(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name, inputs, outputs)


def condition():
    return tensor("condition", [], TensorProto.BOOL)


@model
def same_name_in_both_branches():
    """`t` is a tensor of its own in one branch of an If, and the graph's `t` in the other."""
    then_branch = body(
        "then",
        [helper.make_node("Abs", ["x"], ["t"]), helper.make_node("Neg", ["t"], ["then_out"])],
        [],
        [tensor("then_out", [2])],
    )
    else_branch = body("else", [helper.make_node("Identity", ["t"], ["else_out"])], [], [tensor("else_out", [2])])
    return whole(
        [
            helper.make_node("Neg", ["x"], ["t"], name="neg"),
            helper.make_node("Exp", ["x"], ["unrelated"], name="exp"),
            helper.make_node("If", ["condition"], ["y"], "if", then_branch=then_branch, else_branch=else_branch),
        ],
        [tensor("x", [2]), condition()],
        [tensor("y", [2]), tensor("unrelated", [2])],
    )


@model
def body_output_is_outer_tensor():
    """A branch without nodes, whose output is the graph's `t`."""
    then_branch = body("then", [], [], [tensor("t", [2])])
    else_branch = body("else", [helper.make_node("Abs", ["x"], ["a"])], [], [tensor("a", [2])])
    return whole(
        [
            helper.make_node("Neg", ["x"], ["t"], name="neg"),
            helper.make_node("If", ["condition"], ["y"], "if", then_branch=then_branch, else_branch=else_branch),
        ],
        [tensor("x", [2]), condition()],
        [tensor("y", [2])],
    )


@model
def nested_bodies():
    """A Loop that captures `scale`, with an If in it that captures `offset` and a tensor of the Loop's body."""
    then_branch = body("then", [helper.make_node("Add", ["scaled", "offset"], ["added"])], [], [tensor("added", [2])])
    else_branch = body("else", [helper.make_node("Neg", ["scaled"], ["negated"])], [], [tensor("negated", [2])])
    loop_body = body(
        "loop",
        [
            helper.make_node("Mul", ["state", "scale"], ["scaled"]),
            helper.make_node(
                "If", ["going_on"], ["next_state"], then_branch=then_branch, else_branch=else_branch
            ),
            helper.make_node("Identity", ["going_on"], ["going_on_out"]),
        ],
        [tensor("i", [], TensorProto.INT64), tensor("going_on", [], TensorProto.BOOL), tensor("state", [2])],
        [tensor("going_on_out", [], TensorProto.BOOL), tensor("next_state", [2])],
    )
    proto = whole(
        [
            helper.make_node("Exp", ["x"], ["scale"], name="exp"),
            helper.make_node("Neg", ["x"], ["offset"], name="neg"),
            helper.make_node("Loop", ["trips", "condition", "x"], ["y"], name="loop", body=loop_body),
        ],
        [tensor("x", [2]), condition()],
        [tensor("y", [2])],
        [weight("trips", 3, numpy.int64)],
    )
    return described(proto)


@model
def scan_with_capture():
    """A Scan whose body uses the graph's `t` and the initializer `w`."""
    scan_body = body(
        "scan",
        [
            helper.make_node("Add", ["sum_in", "t"], ["with_t"]),
            helper.make_node("Mul", ["with_t", "w"], ["sum_out"]),
            helper.make_node("Add", ["sum_out", "row"], ["row_out"]),
        ],
        [tensor("sum_in", [2]), tensor("row", [2])],
        [tensor("sum_out", [2]), tensor("row_out", [2])],
    )
    proto = whole(
        [
            helper.make_node("Neg", ["initial"], ["t"], name="neg"),
            helper.make_node("Scan", ["initial", "rows"], ["y", "z"], "scan", body=scan_body, num_scan_inputs=1),
        ],
        [tensor("initial", [2]), tensor("rows", [3, 2])],
        [tensor("y", [2]), tensor("z", [3, 2])],
        [weight("w", [2, 3])],
    )
    return described(proto)


@model
def constants_of_every_form():
    """A Constant for each kind of value: only the tensor is one that can become an initializer as it is."""
    numbers = numpy_helper.from_array(numpy.array([1, 2], numpy.float32), "some other name")
    sparse = helper.make_sparse_tensor(weight("s", [5]), weight("", [1], numpy.int64), [2])
    return whole(
        [
            helper.make_node("Constant", [], ["tensor"], name="tensor_node", value=numbers),
            helper.make_node("Constant", [], ["sparse"], name="sparse_node", sparse_value=sparse),
            helper.make_node("Constant", [], ["one"], name="float_node", value_float=1.0),
            helper.make_node("Constant", [], ["two"], name="floats_node", value_floats=[1.0, 2.0]),
            helper.make_node("Sum", ["x", "tensor", "one", "two"], ["sum"], name="sum_node"),
            helper.make_node("Add", ["sum", "sparse"], ["y"], name="add_node"),
        ],
        [tensor("x", [2])],
        [tensor("y", [2])],
    )


@model
def constant_in_ir_version_3():
    """A Constant and an initializer in a format that wants every initializer among the graph's inputs."""
    return whole(
        [
            helper.make_node("Constant", [], ["c"], name="constant", value=weight("", [1, 2])),
            helper.make_node("Add", ["x", "c"], ["t"], name="add"),
            helper.make_node("Mul", ["t", "w"], ["y"], name="mul"),
        ],
        [tensor("w", [2]), tensor("x", [2])],
        [tensor("y", [2])],
        [weight("w", [3, 4])],
        opset=7,
        ir_version=3,
    )


@model
def default_of_an_input():
    """`w` is an initializer and an input: a default, which in newer formats a user may replace."""
    return whole(
        [helper.make_node("Add", ["x", "w"], ["y"], name="add")],
        [tensor("w", [2]), tensor("x", [2])],
        [tensor("y", [2])],
        [weight("w", [3, 4])],
    )


@model
def names_that_occur_twice():
    """Two initializers `w`, the input `x` and the output `y` listed twice, and two nodes called `node`."""
    return whole(
        [
            helper.make_node("Add", ["x", "w"], ["t"], name="node"),
            helper.make_node("Neg", ["t"], ["y"], name="node"),
        ],
        [tensor("x", [1]), tensor("x", [1])],
        [tensor("y", [1]), tensor("y", [1])],
        [weight("w", [1]), weight("w", [2])],
    )


@model
def unsorted_nodes():
    """Consumers stand in front of producers."""
    return whole(
        [
            helper.make_node("Neg", ["b"], ["y"], name="third"),
            helper.make_node("Abs", ["a"], ["b"], name="second"),
            helper.make_node("Exp", ["x"], ["a"], name="first"),
        ],
        [tensor("x", [2])],
        [tensor("y", [2])],
    )


@model
def sparse_initializer():
    """A MatMul with a sparse weight `w`."""
    proto = whole(
        [
            helper.make_node("Neg", ["x"], ["t"], name="neg"),
            helper.make_node("MatMul", ["t", "w"], ["y"], name="matmul"),
        ],
        [tensor("x", [1, 2])],
        [tensor("y", [1, 2])],
    )
    sparse = helper.make_sparse_tensor(weight("w", [7]), weight("", [3], numpy.int64), [2, 2])
    proto.graph.sparse_initializer.append(sparse)
    return described(proto)


@model
def quantization_annotations():
    """Annotations of `a` and `b`, whose scales and zero points are initializers that no node uses."""
    proto = whole(
        [helper.make_node("Neg", ["x"], ["a"], name="neg"), helper.make_node("Abs", ["a"], ["b"], name="abs")],
        [tensor("x", [2])],
        [tensor("b", [2])],
        [weight("a_scale", 0.5), weight("a_zero", 1, numpy.uint8), weight("b_scale", 0.25)],
    )
    for name, parameters in ("a", ("a_scale", "a_zero")), ("b", ("b_scale",)):
        annotation = proto.graph.quantization_annotation.add(tensor_name=name)
        for key, parameter in zip(("SCALE_TENSOR", "ZERO_POINT_TENSOR"), parameters):
            annotation.quant_parameter_tensor_names.add(key=key, value=parameter)
    return described(proto)


@model
def local_functions():
    """Two nodes that call functions of the model itself, which bring an opset of their own."""
    opsets = [helper.make_opsetid("", 15)]
    add = helper.make_node("Add", ["a", "a"], ["b"])
    doubled = helper.make_function("local", "Doubled", ["a"], ["b"], [add], opsets)
    halved = helper.make_function(
        "local",
        "Halved",
        ["a"],
        ["b"],
        [
            helper.make_node("Constant", [], ["two"], value=weight("", 2)),
            helper.make_node("Div", ["a", "two"], ["b"]),
        ],
        opsets,
    )
    proto = whole(
        [
            helper.make_node("Doubled", ["x"], ["t"], name="doubled", domain="local"),
            helper.make_node("Halved", ["t"], ["y"], name="halved", domain="local"),
        ],
        [tensor("x", [2])],
        [tensor("y", [2])],
        opset=15,
        functions=[doubled, halved],
    )
    proto.opset_import.append(helper.make_opsetid("local", 1))
    proto.graph.value_info.append(tensor("t", [2]))
    return proto


def with_unknown_field(message, mark):
    """The same message with a field of a number that ONNX does not use, holding `mark`."""
    raw = mark.encode()
    message.MergeFromString(b"\xc2\x3e" + bytes([len(raw)]) + raw)  # field 1000


@model
def unknown_fields():
    """Metadata, and in every kind of message a field that no version of ONNX knows: "unknown in <message>"."""
    proto = whole(
        [
            helper.make_node("Constant", [], ["c"], name="constant", value=weight("c", [1, 2])),
            helper.make_node("Add", ["x", "c"], ["t"], name="add", doc_string="adds"),
            helper.make_node("LeakyRelu", ["t"], ["u"], name="relu", alpha=0.5),
            helper.make_node("Mul", ["u", "w"], ["y"], name="mul"),
        ],
        [tensor("x", [2])],
        [tensor("y", [2])],
        [weight("w", [3, 4])],
        doc_string="document",
        producer_version="1.2",
        domain="org.example",
        model_version=7,
    )
    proto.metadata_props.add(key="author", value="nobody")
    proto.graph.doc_string = "a graph"
    proto.graph.value_info.extend([tensor("t", [2]), tensor("u", [2])])
    with_unknown_field(proto, "unknown in ModelProto")
    with_unknown_field(proto.opset_import[0], "unknown in OperatorSetIdProto")
    with_unknown_field(proto.metadata_props[0], "unknown in StringStringEntryProto")
    with_unknown_field(proto.graph, "unknown in GraphProto")
    with_unknown_field(proto.graph.node[1], "unknown in NodeProto")
    with_unknown_field(proto.graph.node[2].attribute[0], "unknown in AttributeProto")
    with_unknown_field(proto.graph.node[0].attribute[0].t, "unknown in a Constant")
    with_unknown_field(proto.graph.initializer[0], "unknown in TensorProto")
    with_unknown_field(proto.graph.input[0], "unknown in ValueInfoProto")
    with_unknown_field(proto.graph.value_info[0].type, "unknown in TypeProto")
    with_unknown_field(proto.graph.value_info[1].type.tensor_type.shape, "unknown in TensorShapeProto")
    with_unknown_field(proto.graph.output[0].type.tensor_type, "unknown in TypeProto.Tensor")
    return proto


@model
def dynamic_quantization():
    """One output of a DynamicQuantizeLinear goes one way, the others another, and they meet again."""
    proto = whole(
        [
            helper.make_node("Neg", ["x"], ["t"], name="neg"),
            helper.make_node("DynamicQuantizeLinear", ["t"], ["q", "q_scale", "q_zero"], name="quantize"),
            helper.make_node("MatMulInteger", ["q", "w", "q_zero"], ["product"], name="matmul"),
            helper.make_node("Cast", ["product"], ["float_product"], name="cast", to=TensorProto.FLOAT),
            helper.make_node("Mul", ["float_product", "q_scale"], ["y"], name="mul"),
        ],
        [tensor("x", [1, 2])],
        [tensor("y", [1, 2])],
        [weight("w", [[1, 2], [3, 4]], numpy.uint8)],
    )
    return described(proto)


@model
def branches():
    """Two branches that meet, and one that does not; beside one another a split's two outputs."""
    proto = whole(
        [
            helper.make_node("Neg", ["x"], ["a"], name="neg"),
            helper.make_node("Split", ["y"], ["b", "c"], name="split", axis=0),
            helper.make_node("Add", ["b", "w"], ["d"], name="add_weight"),
            helper.make_node("Add", ["a", "d"], ["e"], name="join"),
            helper.make_node("Exp", ["c"], ["f"], name="exp"),
            helper.make_node("RandomNormalLike", ["b"], ["noise"], name="random"),
            helper.make_node("Mul", ["e", "noise"], ["g"], name="mul"),
        ],
        [tensor("x", [1]), tensor("y", [2])],
        [tensor("g", [1]), tensor("f", [1])],
        [weight("w", [1])],
    )
    return described(proto)


@model
def sequence_between():
    """A tensor is split into a sequence and one part of it taken out again; nothing says that `parts` is none."""
    return whole(
        [
            helper.make_node("Neg", ["x"], ["t"], name="neg"),
            helper.make_node("SplitToSequence", ["t"], ["parts"], name="split"),
            helper.make_node("SequenceAt", ["parts", "zero"], ["part"], name="at"),
            helper.make_node("Add", ["part", "y"], ["z"], name="add"),
        ],
        [tensor("x", [2]), tensor("y", [1])],
        [tensor("z", [1])],
        [weight("zero", 0, numpy.int64)],
    )


@model
def typed_and_raw_data():
    """For each element type the same tensor twice: `raw_<type>`, and `typed_<type>` with its data in a typed field."""
    proto = whole([helper.make_node("Identity", ["x"], ["y"])], [tensor("x", [1])], [tensor("y", [1])])
    raw_and_typed = {
        "float32": (1, "float_data", struct.pack("<3f", 1.5, -2, 3e38), [1.5, -2, 3e38]),
        "uint8": (2, "int32_data", bytes([0, 127, 255]), [0, 127, 255]),
        "int8": (3, "int32_data", bytes([128, 255, 127]), [-128, -1, 127]),
        "uint16": (4, "int32_data", struct.pack("<3H", 0, 32768, 65535), [0, 32768, 65535]),
        "int16": (5, "int32_data", struct.pack("<3h", -32768, -1, 32767), [-32768, -1, 32767]),
        "int32": (6, "int32_data", struct.pack("<3i", -(2**31), -1, 2**31 - 1), [-(2**31), -1, 2**31 - 1]),
        "int64": (7, "int64_data", struct.pack("<3q", -(2**63), -1, 2**63 - 1), [-(2**63), -1, 2**63 - 1]),
        "bool": (9, "int32_data", bytes([1, 0, 1]), [1, 0, 1]),
        "float16": (10, "int32_data", struct.pack("<3e", 1.5, -2, 65504), [0x3E00, 0xC000, 0x7BFF]),
        "float64": (11, "double_data", struct.pack("<3d", 1.5, -2, 1e308), [1.5, -2, 1e308]),
        "uint32": (12, "uint64_data", struct.pack("<3I", 0, 2**31, 2**32 - 1), [0, 2**31, 2**32 - 1]),
        "uint64": (13, "uint64_data", struct.pack("<3Q", 0, 2**63, 2**64 - 1), [0, 2**63, 2**64 - 1]),
        "complex64": (14, "float_data", struct.pack("<6f", 1, 2, 3, 4, 5, 6), [1, 2, 3, 4, 5, 6]),
        "complex128": (15, "double_data", struct.pack("<6d", 1, 2, 3, 4, 5, 6), [1, 2, 3, 4, 5, 6]),
        "bfloat16": (16, "int32_data", struct.pack("<3H", 0x3FC0, 0xC000, 0x7F7F), [0x3FC0, 0xC000, 0x7F7F]),
        "float8e4m3fn": (17, "int32_data", bytes([0x38, 0xB8, 0x7E]), [0x38, 0xB8, 0x7E]),
        "float8e4m3fnuz": (18, "int32_data", bytes([0x38, 0xB8, 0x7E]), [0x38, 0xB8, 0x7E]),
        "float8e5m2": (19, "int32_data", bytes([0x38, 0xB8, 0x7B]), [0x38, 0xB8, 0x7B]),
        "float8e5m2fnuz": (20, "int32_data", bytes([0x38, 0xB8, 0x7B]), [0x38, 0xB8, 0x7B]),
        "uint4": (21, "int32_data", bytes([0xF1, 0x08]), [0xF1, 0x08]),
        "int4": (22, "int32_data", bytes([0xF1, 0x08]), [0xF1, 0x08]),
        "float4e2m1": (23, "int32_data", bytes([0xF1, 0x08]), [0xF1, 0x08]),
    }
    for name, (element_type, field, raw, values) in raw_and_typed.items():
        proto.graph.initializer.add(name=f"raw_{name}", dims=[3], data_type=element_type, raw_data=raw)
        typed = proto.graph.initializer.add(name=f"typed_{name}", dims=[3], data_type=element_type)
        getattr(typed, field).extend(values)
    return proto


@model
def weights_of_many_sizes():
    """Weights of 8, 1024 and 2000 bytes; one whose data lie in a typed field; one made by a Constant; strings."""
    strings = helper.make_tensor("strings", TensorProto.STRING, [2], [b"a" * 2000, b""])
    typed = helper.make_tensor("typed", TensorProto.FLOAT, [500], numpy.arange(500, dtype=numpy.float32))
    proto = whole(
        [
            helper.make_node("Constant", [], ["constant"], value=weight("", numpy.arange(400))),
            helper.make_node("Concat", ["x", "small", "kilobyte", "large", "typed", "constant"], ["y"], axis=0),
            helper.make_node("Identity", ["strings"], ["z"]),
        ],
        [tensor("x", [1])],
        [tensor("y", [None]), tensor("z", [2], TensorProto.STRING)],
        [weight("small", [1, 2]), weight("kilobyte", range(256)), weight("large", range(500)), typed, strings],
    )
    proto.graph.initializer[2].doc_string = "kept"
    return proto


@model
def external_weights_and_others():
    """A weight whose data lie in weights.data, and one in the model."""
    return whole(
        [helper.make_node("Concat", ["x", "weights", "others"], ["y"], axis=0)],
        [tensor("x", [1])],
        [tensor("y", [None])],
        [external("weights", [6], "weights.data"), weight("others", [1, 2, 3])],
    )


@model
def external_data_in_a_body():
    """The data of a Constant inside a branch lie in weights.data, those of an initializer in more/weights.data."""
    then_branch = body(
        "then",
        [helper.make_node("Constant", [], ["c"], value=external("", [256], "weights.data"))],
        [],
        [tensor("c", [256])],
    )
    else_branch = body("else", [helper.make_node("Identity", ["x"], ["i"])], [], [tensor("i", [256])])
    return whole(
        [
            helper.make_node("If", ["condition"], ["t"], "if", then_branch=then_branch, else_branch=else_branch),
            helper.make_node("Add", ["t", "w"], ["y"], name="add"),
        ],
        [tensor("x", [256]), condition()],
        [tensor("y", [256])],
        [external("w", [256], "more/weights.data")],
    )


@model
def external_data_in_a_function():
    """The data of a Constant in the body of a function lie in weights.data."""
    opsets = [helper.make_opsetid("", 15)]
    shifted = helper.make_function(
        "local",
        "Shifted",
        ["a"],
        ["b"],
        [
            helper.make_node("Constant", [], ["c"], value=external("", [256], "weights.data")),
            helper.make_node("Add", ["a", "c"], ["b"]),
        ],
        opsets,
    )
    proto = whole(
        [
            helper.make_node("Shifted", ["x"], ["t"], name="shifted", domain="local"),
            helper.make_node("Neg", ["t"], ["y"], name="neg"),
        ],
        [tensor("x", [256])],
        [tensor("y", [256])],
        opset=15,
        functions=[shifted],
    )
    proto.opset_import.append(helper.make_opsetid("local", 1))
    return proto


@model
def no_nodes():
    """The only output is an initializer."""
    return [], [tensor("x", [2])], [tensor("w", [2])], [weight("w", [1, 2])]


# ---- Mistakes, for `check lint` ----


@model
def no_imports_and_no_name():
    """No operator set is imported, and the graph has no name."""
    proto = whole([helper.make_node("Neg", ["x"], ["y"], "neg")], [tensor("x", [2])], [tensor("y", [2])])
    del proto.opset_import[:]
    proto.graph.name = ""
    return proto


@model
def duplicate_node_names():
    """Three nodes, two of which have one name."""
    return (
        [
            helper.make_node("Neg", ["x"], ["a"], "twice"),
            helper.make_node("Abs", ["a"], ["b"], "once"),
            helper.make_node("Neg", ["b"], ["y"], "twice"),
        ],
        [tensor("x", [2])],
        [tensor("y", [2])],
    )


@model
def impossible_nodes():
    """Two nodes that cannot be computed, two that need the first of them, one by its branches alone, and three that can."""
    def branches(captured, name):
        node = helper.make_node("Identity", [captured], [name])
        return {
            branch: body(branch, [node], [], [tensor(name, None)]) for branch in ("then_branch", "else_branch")
        }

    return (
        [
            helper.make_node("Abs", ["x"], ["a"], "abs"),
            helper.make_node("MatMul", ["a", "x"], ["b"], "matmul"),
            helper.make_node("Neg", ["b"], ["c"], "behind"),
            helper.make_node("Add", ["x", "z"], ["d"], "add"),
            helper.make_node("Neg", ["a"], ["e"]),
            helper.make_node("If", ["condition"], ["f"], "captures_a", **branches("a", "in_f")),
            helper.make_node("If", ["condition"], ["g"], "captures_b", **branches("b", "in_g")),
        ],
        [tensor("x", [2, 3]), tensor("z", [4, 5]), condition()],
        [tensor(name, [2, 3]) for name in "cdef"] + [tensor("g", None)],
    )


@model
def unknown_tensors():
    """A node reads what nothing makes, and an output that nothing makes."""
    return (
        [helper.make_node("Add", ["x", "nothing"], ["y"], "add"), helper.make_node("Neg", ["x"], ["z"], "neg")],
        [tensor("x", [2])],
        [tensor("y", [2]), tensor("z", [2]), tensor("void", [2])],
    )


@model
def unknown_operator():
    """An operator of a domain that ONNX Runtime does not know, between two that it does."""
    proto = whole(
        [
            helper.make_node("Neg", ["x"], ["a"], "neg"),
            helper.make_node("Secret", ["a"], ["b"], "secret", domain="test.secret"),
            helper.make_node("Abs", ["b"], ["y"], "abs"),
        ],
        [tensor("x", [2])],
        [tensor("y", [2])],
    )
    proto.opset_import.add(domain="test.secret", version=1)
    return proto


@model
def useless_parts():
    """A node and an input that no output depends on."""
    return (
        [helper.make_node("Neg", ["x"], ["y"], "neg"), helper.make_node("Abs", ["unused"], ["a"], "useless")],
        [tensor("x", [2]), tensor("unused", [2])],
        [tensor("y", [2])],
    )


@model
def sequence_node():
    """Nodes around a sequence, and one that cannot be computed."""
    return (
        [
            helper.make_node("SequenceConstruct", ["x", "x"], ["pair"], "pair"),
            helper.make_node("SequenceLength", ["pair"], ["length"], "length"),
            helper.make_node("Reshape", ["x", "shape"], ["y"], "reshape"),
        ],
        [tensor("x", [2])],
        [tensor("length", [], TensorProto.INT64), tensor("y", None)],
        [weight("shape", [3], numpy.int64)],
    )


# ---- For `inspect` ----


@model
def sparse_weights():
    """Weights with and without the 2:4 pattern, used in every way that counts; `odd` is not a multiple of four long."""
    columns = numpy.tile([[1], [0], [0], [2]], (2, 3))  # along axis 0
    bfloat16 = helper.make_tensor("bfloat16", TensorProto.BFLOAT16, [4, 1], [1.0, 2.0, 0.0, 0.0])
    scale, zero = weight("scale", 1), weight("zero", 0, numpy.int8)
    return (
        [
            helper.make_node("MatMul", ["x", "columns"], ["a"]),
            helper.make_node("Transpose", ["rows"], ["turned"], perm=[1, 0]),
            helper.make_node("Cast", ["turned"], ["cast"], to=TensorProto.FLOAT),
            helper.make_node("MatMul", ["x", "cast"], ["b"]),
            helper.make_node("Gemm", ["x", "rows_too"], ["c"], transB=1),
            helper.make_node("MatMul", ["x", "dense"], ["d"]),
            helper.make_node("QuantizeLinear", ["quantized", "scale", "zero"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["dq"]),
            helper.make_node("Conv", ["image", "dq"], ["e"]),
            helper.make_node("MatMul", ["y", "bfloat16"], ["f"]),
            helper.make_node("MatMul", ["z", "odd"], ["g"]),
        ],
        [
            tensor("x", [1, 8]), tensor("image", [1, 4, 2, 2]), tensor("y", [1, 4], TensorProto.BFLOAT16),
            tensor("z", [1, 6]),
        ],
        [tensor(name, None) for name in "abcdeg"] + [tensor("f", None, TensorProto.BFLOAT16)],
        [
            weight("columns", columns), weight("rows", columns.T, numpy.float16), weight("rows_too", columns.T),
            weight("dense", numpy.ones((8, 3))), weight("quantized", numpy.arange(4).reshape(1, 4, 1, 1)), bfloat16,
            weight("odd", numpy.zeros((6, 2))), scale, zero,
        ],
    )


@model
def sizes_from_data():
    """Sizes that are computed from data, from a constant, and from the shape of an input."""
    return (
        [
            helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
            helper.make_node("Range", ["zero", "most", "one"], ["counted"], "counted"),
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Expand", ["one", "shape"], ["as_x"], "as_x"),
            helper.make_node("Expand", ["one", "three"], ["fixed"], "fixed"),
        ],
        [tensor("x", [4], TensorProto.INT64)],
        [tensor(name, None, TensorProto.INT64) for name in ("counted", "as_x", "fixed")],
        [weight("zero", 0, numpy.int64), weight("one", 1, numpy.int64), weight("three", [3], numpy.int64)],
    )


def older(name, nodes, inputs, outputs, initializers=()):
    """A whole model of operator set 17, which every onnx package in use can judge."""
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    return helper.make_model(
        graph, producer_name="polygraphy tests", opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )


def constant(name, values, element_type=numpy.float32):
    return numpy_helper.from_array(numpy.array(values, element_type), name)


@model
def foldable():
    """Constants in chains, shapes of a static input, and what must not be folded: random numbers and quantisation."""
    nodes = [
        helper.make_node("Constant", [], ["two"], "two", value_float=2.0),
        helper.make_node("Add", ["weight", "two"], ["sum"], "sum"),
        helper.make_node("Mul", ["x", "sum"], ["scaled"], "scaled"),
        helper.make_node("Shape", ["x"], ["shape"], "shape"),
        helper.make_node("Gather", ["shape", "second"], ["columns"], "columns"),
        helper.make_node("Reshape", ["scaled", "columns"], ["row"], "row"),
        helper.make_node("RandomUniform", [], ["noise"], "noise", shape=[3]),
        helper.make_node("Mul", ["noise", "nothing"], ["silence"], "silence"),
        helper.make_node("QuantizeLinear", ["weight", "two", "zero"], ["q"], "q"),
        helper.make_node("DequantizeLinear", ["q", "two", "zero"], ["dq"], "dq"),
        helper.make_node("Add", ["row", "silence"], ["y"], "y"),
    ]
    return older(
        "foldable", nodes, [tensor("x", [1, 3])], [tensor("y", [3]), tensor("dq", [3])],
        [
            constant("weight", [1, 2, 3]), constant("second", [1], numpy.int64), constant("nothing", 0),
            constant("zero", 0, numpy.uint8),
        ],
    )


@model
def dynamic_shapes():
    """Arithmetic on a shape of which only some dimensions are known: in floating point, and through Slice."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"], "shape"),
        helper.make_node("Gather", ["shape", "first"], ["rows"], "rows"),
        helper.make_node("Cast", ["rows"], ["rows_float"], "rows_float", to=TensorProto.FLOAT),
        helper.make_node("Mul", ["rows_float", "two"], ["twice_float"], "twice_float"),
        helper.make_node("Cast", ["twice_float"], ["twice"], "twice", to=TensorProto.INT64),
        helper.make_node("Slice", ["shape", "from", "to"], ["rest"], "rest"),
        helper.make_node("ReduceProd", ["rest"], ["half"], "half"),
        helper.make_node("Div", ["half", "two_whole"], ["columns"], "columns"),
        helper.make_node("Concat", ["twice", "columns"], ["sizes"], "sizes", axis=0),
        helper.make_node("Reshape", ["x", "sizes"], ["y"], "y"),
    ]
    return older(
        "dynamic_shapes", nodes, [tensor("x", ["n", 2, 4])], [tensor("y", ["rows", "columns"])],
        [
            constant("first", [0], numpy.int64), constant("two", [2]), constant("from", [1], numpy.int64),
            constant("to", [3], numpy.int64), constant("two_whole", [2], numpy.int64),
        ],
    )


@model
def decided_branch():
    """An If whose condition is constant. The branch has a constant, captures tensors, has an If of its own, uses a name
    that the other branch has too, and returns its constant."""
    inner = [
        helper.make_graph([helper.make_node("Neg", ["t"], ["inner_out"], "neg")], "inner_then", [],
                          [tensor("inner_out", None)]),
        helper.make_graph([helper.make_node("Add", ["t", "x"], ["inner_out"], "add_x")], "inner_else", [],
                          [tensor("inner_out", None)]),
    ]
    taken = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "k"], ["t"], "taken"),
            helper.make_node("If", ["flag"], ["chosen"], "inner", then_branch=inner[0], else_branch=inner[1]),
            helper.make_node("Identity", ["x"], ["same"], "same"),
        ],
        "taken", [], [tensor("chosen", None), tensor("same", [2]), tensor("k", [2])], [constant("k", [3, 4])],
    )
    other = helper.make_graph(
        [helper.make_node(op, ["x"], [name], f"other_{name}") for op, name in
         (("Abs", "t"), ("Exp", "t2"), ("Sqrt", "t3"))],
        "other", [], [tensor("t", None), tensor("t2", None), tensor("t3", None)],
    )
    nodes = [
        helper.make_node("Not", ["no"], ["yes"], "yes"),
        helper.make_node("If", ["yes"], ["a", "b", "c"], "if", then_branch=taken, else_branch=other),
        helper.make_node("Add", ["a", "b"], ["ab"], "ab"),
        helper.make_node("Add", ["ab", "c"], ["y"], "y"),
    ]
    return older(
        "decided_branch", nodes, [tensor("x", [2]), tensor("flag", [], TensorProto.BOOL)], [tensor("y", [2])],
        [constant("no", False, bool)],
    )


@model
def branch_that_does_not_fit():
    """An If on a tensor whose size is not known: the branch for False wants it to be 1."""
    taken = helper.make_graph([helper.make_node("Neg", ["x"], ["t"], "neg")], "taken", [], [tensor("t", None)])
    other = helper.make_graph([helper.make_node("Squeeze", ["x", "axis"], ["t2"], "squeeze")], "other", [],
                              [tensor("t2", None)])
    return (
        [helper.make_node("If", ["flag"], ["y"], "if", then_branch=taken, else_branch=other)],
        [tensor("flag", [], TensorProto.BOOL), tensor("x", [2, "n"])],
        [tensor("y", None)],
        [numpy_helper.from_array(numpy.array([1], numpy.int64), "axis")],
    )


@model
def one_constant_fails():
    """Four chains of constants, one of which fails when it runs: an index is out of range."""
    nodes = []
    for i in range(4):
        index = "wrong" if i == 2 else "right"
        nodes += [
            helper.make_node("Neg", ["w"], [f"neg{i}"], f"neg{i}"),
            helper.make_node("Squeeze", ["index_" + index], [f"index{i}"], f"index{i}"),
            helper.make_node("Gather", [f"neg{i}", f"index{i}"], [f"g{i}"], f"g{i}"),
            helper.make_node("Add", ["x", f"g{i}"], [f"y{i}"], f"y{i}"),
        ]
    return older(
        "one_constant_fails", nodes, [tensor("x", [1])], [tensor(f"y{i}", [1]) for i in range(4)],
        [constant("w", [1, 2, 3]), constant("index_right", [1], numpy.int64), constant("index_wrong", [7], numpy.int64)],
    )


@model
def large_constants():
    """A constant that is much larger than what it is made from, and one made from it that is small."""
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["large"], "large"),
        helper.make_node("ReduceMax", ["large"], ["small"], "small", keepdims=0),
        helper.make_node("Add", ["x", "large"], ["sum"], "sum"),
        helper.make_node("Add", ["sum", "small"], ["y"], "y"),
    ]
    return older(
        "large_constants", nodes, [tensor("x", [1])], [tensor("y", [1000])], [constant("size", [1000], numpy.int64)]
    )


@model
def out_of_half_range():
    """Weights that float16 can hold, cannot hold, and hold as 0; and an operator that takes no float16."""
    nodes = [
        helper.make_node("MatMul", ["x", "good"], ["a"], "a"),
        helper.make_node("Mul", ["a", "huge"], ["b"], "b"),
        helper.make_node("Mul", ["a", "tiny"], ["c"], "c"),
        helper.make_node("CumSum", ["c", "axis"], ["d"], "d"),
        helper.make_node("Softmax", ["d"], ["e"], "e"),
        helper.make_node("Add", ["e", "good"], ["f"], "f"),
    ]
    return shape_inference.infer_shapes(older(
        "out_of_half_range", nodes, [tensor("x", [2, 2])], [tensor(name, [2, 2]) for name in "abf"],
        [
            constant("good", [[0.5, 1], [2, -3]]), constant("huge", [1e6, 65504]), constant("tiny", [1e-9, 1]),
            constant("axis", 0, numpy.int64),
        ],
    ))


@model
def all_in_an_if():
    """Nothing computes but an If, as exporters write models that have a variant for each of several sizes."""
    branches = [
        helper.make_graph(
            [helper.make_node("MatMul", ["x", f"{name}_w"], ["t"], f"{name}_matmul"),
             helper.make_node("Tanh", ["t"], [f"{name}_out"], f"{name}_tanh")],
            name, [], [tensor(f"{name}_out", None)], [constant(f"{name}_w", [[factor, 1], [1, 0.3]])],
        )
        for name, factor in (("small", 0.1), ("large", 0.7))
    ]
    nodes = [
        helper.make_node("Equal", ["rate", "wanted"], ["is_small"], "is_small"),
        helper.make_node("If", ["is_small"], ["y"], "choice", then_branch=branches[0], else_branch=branches[1]),
    ]
    return older(
        "all_in_an_if", nodes, [tensor("x", [2, 2]), tensor("rate", [], TensorProto.INT64)], [tensor("y", [2, 2])],
        [constant("wanted", 8, numpy.int64)],
    )


@model
def half_and_bodies():
    """An If that nobody can decide, whose branches compute with weights of their own and with tensors from outside."""
    branches = [
        helper.make_graph(
            [
                helper.make_node("MatMul", ["h", weight_name], ["inside"], f"{weight_name}_matmul"),
                helper.make_node("Add", ["inside", "x"], [f"{weight_name}_out"], f"{weight_name}_add"),
            ],
            weight_name, [], [tensor(f"{weight_name}_out", None)],
            [constant(weight_name, numpy.arange(4).reshape(2, 2) / 4)],
        )
        for weight_name in ("first", "second")
    ]
    nodes = [
        helper.make_node("Relu", ["x"], ["h"], "h"),
        helper.make_node("If", ["flag"], ["z"], "if", then_branch=branches[0], else_branch=branches[1]),
        helper.make_node("Mul", ["z", "h"], ["y"], "y"),
        helper.make_node("Shape", ["z"], ["shape"], "shape"),
        helper.make_node("Cast", ["shape"], ["sizes"], "sizes", to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["sizes"], ["size"], "size", keepdims=0),
    ]
    return shape_inference.infer_shapes(older(
        "half_and_bodies", nodes, [tensor("x", [2, 2]), tensor("flag", [], TensorProto.BOOL)],
        [tensor("y", [2, 2]), tensor("size", [])],
    ))


@model
def convolutions():
    """Convolutions of every kind in a row, with weights that are no round numbers, and an activation behind the last."""
    random = numpy.random.RandomState(7)

    def weight(name, *shape):
        return numpy_helper.from_array(random.standard_normal(shape).astype(numpy.float32) / 4, name)

    return (
        [
            helper.make_node("Conv", ["x", "w1", "b1"], ["t1"], "padded", pads=[1, 2, 1, 0], kernel_shape=[3, 3]),
            helper.make_node("Conv", ["t1", "w2"], ["t2"], "grouped", group=2, strides=[2, 1]),
            helper.make_node("Conv", ["t2", "w3", "b3"], ["t3"], "dilated", dilations=[2, 2], pads=[2, 2, 2, 2]),
            helper.make_node("Conv", ["t3", "w4"], ["t4"], "pointwise", kernel_shape=[1, 1]),
            helper.make_node("Relu", ["t4"], ["y"], "relu"),
        ],
        [tensor("x", ["n", 3, 12, 11])],
        [tensor("y", ["n", 5, None, None])],
        [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("w2", 6, 4, 3, 2), weight("w3", 24, 6, 3, 3),
         weight("b3", 24), weight("w4", 5, 24, 1, 1)],
    )


@model
def operators_of_a_provider():
    """Each operator of tests/plugins/provider_with_faults.c twice, and a Flatten, which that provider does not have."""
    random = numpy.random.RandomState(11)

    def weight(name, factor, *shape):
        return numpy_helper.from_array((random.standard_normal(shape) * factor).astype(numpy.float32), name)

    return (
        [
            helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv_1", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
            helper.make_node("Relu", ["c1"], ["r1"], "relu_1"),
            helper.make_node("Conv", ["r1", "w2"], ["c2"], "conv_2", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
            helper.make_node("Relu", ["c2"], ["r2"], "relu_2"),
            helper.make_node("Add", ["r1", "r2"], ["a1"], "add_1"),
            helper.make_node("Mul", ["a1", "s1"], ["m1"], "mul_1"),
            helper.make_node("Flatten", ["m1"], ["f"], "flatten"),
            helper.make_node("MatMul", ["f", "w3"], ["p1"], "matmul_1"),
            helper.make_node("Sub", ["p1", "b2"], ["d1"], "sub_1"),
            helper.make_node("Softmax", ["d1"], ["q1"], "softmax_1", axis=-1),
            helper.make_node("MatMul", ["q1", "w4"], ["p2"], "matmul_2"),
            helper.make_node("Mul", ["p2", "s2"], ["m2"], "mul_2"),
            helper.make_node("Add", ["m2", "b3"], ["a2"], "add_2"),
            helper.make_node("Sub", ["a2", "b4"], ["d2"], "sub_2"),
            helper.make_node("Softmax", ["d2"], ["y"], "softmax_2", axis=-1),
        ],
        [tensor("x", [2, 3, 6, 6])],
        [tensor("y", [2, 16])],
        [weight("w1", 0.3, 4, 3, 3, 3), weight("b1", 0.3, 4), weight("w2", 0.3, 4, 4, 3, 3), weight("s1", 1, 4, 1, 1),
         weight("w3", 0.1, 144, 32), weight("b2", 1, 32), weight("w4", 1, 32, 16), weight("s2", 1, 16),
         weight("b3", 1, 16), weight("b4", 1, 16)],
    )


@model
def attention_overflow():
    """One attention block between two dense layers. Its logits are beyond what float16 can hold, before they are scaled:
    the product that makes them ("scores") and their scaling ("scale") cannot be done in float16, all the rest can."""
    random = numpy.random.RandomState(3)

    def weight(name, factor, *shape):
        return numpy_helper.from_array(
            (random.standard_normal(shape) * factor).astype(numpy.float32), name)

    return (
        [
            helper.make_node("MatMul", ["x", "stem_w"], ["stem_t"], "stem"),
            helper.make_node("Add", ["stem_t", "stem_b"], ["stem_u"], "stem_bias"),
            helper.make_node("Relu", ["stem_u"], ["h"], "stem_relu"),
            helper.make_node("MatMul", ["h", "q_w"], ["q"], "query"),
            helper.make_node("MatMul", ["h", "k_w"], ["k"], "key"),
            helper.make_node("MatMul", ["h", "v_w"], ["v"], "value"),
            helper.make_node("Transpose", ["k"], ["k_t"], "key_transposed", perm=[0, 2, 1]),
            helper.make_node("MatMul", ["q", "k_t"], ["logits"], "scores"),
            helper.make_node("Mul", ["logits", "factor"], ["scaled"], "scale"),
            helper.make_node("Softmax", ["scaled"], ["weights"], "softmax", axis=-1),
            helper.make_node("MatMul", ["weights", "v"], ["mixed"], "context"),
            helper.make_node("MatMul", ["mixed", "out_w"], ["projected"], "projection"),
            helper.make_node("Add", ["projected", "h"], ["residual"], "residual"),
            helper.make_node("MatMul", ["residual", "head_w"], ["head_t"], "head"),
            helper.make_node("Add", ["head_t", "head_b"], ["y"], "head_bias"),
        ],
        [tensor("x", [1, 12, 32])],
        [tensor("y", [1, 12, 8])],
        [
            weight("stem_w", 0.3, 32, 64), weight("stem_b", 0.3, 64), weight("q_w", 30, 64, 64),
            weight("k_w", 30, 64, 64), weight("v_w", 0.1, 64, 64), weight("out_w", 0.1, 64, 64),
            weight("head_w", 0.1, 64, 8), weight("head_b", 0.1, 8),
            numpy_helper.from_array(numpy.array(2.0 ** -17, numpy.float32), "factor"),
        ],
    )


@model
def pointwise_convolutions():
    """1x1 convolutions one after the other, each with another number of channels: one kernel for all of them."""
    random = numpy.random.RandomState(11)
    channels = [4, 8, 12, 24, 10, 6, 16, 5]
    nodes, weights = [], []
    for i, (inputs, outputs) in enumerate(zip(channels, channels[1:])):
        values = (random.standard_normal((outputs, inputs, 1, 1)) / numpy.sqrt(inputs)).astype(numpy.float32)
        weights.append(numpy_helper.from_array(values, f"w{i}"))
        nodes.append(helper.make_node("Conv", [f"t{i}", f"w{i}"], [f"t{i + 1}"], f"conv{i}"))
    return (
        nodes,
        [tensor("t0", [1, channels[0], 9, 9])],
        [tensor(f"t{len(channels) - 1}", [1, channels[-1], 9, 9])],
        weights,
    )


@model
def reflecting_pads():
    """It does not run where `time` is 1: pads that reflect need two elements. How much is padded is computed, from constants alone, so
    nobody can infer what is behind the first pad, which has two columns more; the second pad needs two of them again."""
    return (
        [
            helper.make_node("Abs", ["x"], ["magnitude"], "abs"),
            helper.make_node("Cast", ["amounts"], ["pads"], "cast", to=TensorProto.INT64),
            helper.make_node("Pad", ["magnitude", "pads"], ["padded"], "pad", mode="reflect"),
            helper.make_node("Sqrt", ["padded"], ["roots"], "sqrt"),
            helper.make_node("Pad", ["roots", "pads"], ["padded_again"], "pad_again", mode="reflect"),
            helper.make_node("Neg", ["padded_again"], ["y"], "neg"),
        ],
        [tensor("x", ["batch", "time"])],
        [tensor("y", ["batch", "after"])],
        [numpy_helper.from_array(numpy.array([0, 1, 0, 1], numpy.float32), "amounts")],
    )


def two_from_one(outputs, nodes=(), more_outputs=()):
    """A model in which a call of one function makes a float32 and a float16 tensor, `nodes` being those behind it."""
    opsets = [helper.make_opsetid("", 15)]
    third = numpy_helper.from_array(numpy.array(1, numpy.float32) / numpy.float32(3))
    body = [
        helper.make_node("Constant", [], ["least"], value=third),
        helper.make_node("Constant", [], ["first"], value_ints=[0]),
        helper.make_node("Constant", [], ["row"], value_ints=[3]),
        helper.make_node("Add", ["a", "a"], ["doubled"]),
        helper.make_node("Max", ["doubled", "least"], ["b"]),
        helper.make_node("Gather", ["a", "first"], ["rows"]),
        helper.make_node("Reshape", ["rows", "row"], ["flat"]),
        helper.make_node("Cast", ["flat"], ["c"], to=TensorProto.FLOAT16),
    ]
    function = helper.make_function("local", "TwoFromOne", ["a"], ["b", "c"], body, opsets)
    call = helper.make_node("TwoFromOne", ["x"], outputs, name='l0 "q"', domain="local")
    proto = whole(
        [call, *nodes],
        [tensor("x", [2, 3])],
        [tensor("y/out:0", [2, 3]), tensor("h", None, TensorProto.FLOAT16), *more_outputs],
        opset=15,
        functions=[function],
    )
    proto.opset_import.append(helper.make_opsetid("local", 1))
    return proto


@model
def odd_names():
    """What its only node and its outputs are called is in nobody's way but that of who writes it to a file."""
    return two_from_one(["y/out:0", "h"])


@model
def odd_names_inside():
    """The same for tensors between nodes."""
    inside = ["__myln_k_arg__bb1_4/weird name:0", "h_"]
    proto = two_from_one(
        inside,
        [
            helper.make_node("Reshape", [inside[0], "shape"], ["y/out:0"], name="y"),
            helper.make_node("Flatten", [inside[1]], ["h"], name="h", axis=1),
        ],
    )
    proto.graph.initializer.append(numpy_helper.from_array(numpy.array([2, 3]), "shape"))
    proto.graph.value_info.append(tensor(inside[0], [2, 3]))
    proto.graph.value_info.append(tensor(inside[1], [3], TensorProto.FLOAT16))
    return proto


@model
def size_from_values():
    """The size of an output is not known before it is there: it has the rows of a constant for which x[1] is below 5."""
    proto = two_from_one(
        ["y/out:0", "h"],
        [
            helper.make_node("Gather", ["x", "one"], ["column"], axis=0),
            helper.make_node("Less", ["column", "five"], ["wanted"]),
            helper.make_node("Compress", ["rows", "wanted"], ["dds"], name="rows", axis=0),
        ],
        [tensor("dds", ["n", 2], TensorProto.INT64)],
    )
    for name, values in ("one", 1), ("rows", [[0, 1], [2, 3], [4, 5]]):
        proto.graph.initializer.append(numpy_helper.from_array(numpy.array(values), name))
    proto.graph.initializer.append(numpy_helper.from_array(numpy.array(5, numpy.float32), "five"))
    return proto


@model
def names_for_no_command_line():
    """No list of names with commas between them can have these, and two of them become one where "/" and ":" cannot be."""
    return (
        [
            helper.make_node("Add", ["a,b", "it's"], ["sum/1"], "sum"),
            helper.make_node("Mul", ["a,b", "it's"], ["sum:1"], "product"),
        ],
        [tensor("a,b", [2, 3]), tensor("it's", [2, 3])],
        [tensor("sum/1", [2, 3]), tensor("sum:1", [2, 3])],
    )


@model
def masked_and_negative():
    """A mask of -inf that a Softmax takes away again, and the logarithm of numbers below 0."""
    return (
        [
            helper.make_node("Add", ["x", "mask"], ["masked"], "add_mask"),
            helper.make_node("Softmax", ["masked"], ["weights"], "softmax"),
            helper.make_node("Sub", ["weights", "fifth"], ["shifted"], "shift"),
            helper.make_node("Log", ["shifted"], ["y"], "log"),
        ],
        [tensor("x", [2, 4])], [tensor("y", [2, 4])],
        [constant("mask", [0, 0, -numpy.inf, 0]), constant("fifth", 0.2)],
    )


@model
def transposed_before_a_vector():
    """A Transpose and a MatMul with a vector, which optimizers of ONNX Runtime make a wrong fused product of."""
    return (
        [helper.make_node("Transpose", ["x"], ["t"], "transpose"), helper.make_node("MatMul", ["t", "w"], ["y"], "matmul")],
        [tensor("x", [2, 16])], [tensor("y", [16])], [constant("w", [0.25, 0.75])],
    )


@model
def constants_in_bodies():
    """Bodies of If, Loop and Scan with constants of their own and of the graphs around them, a name that three bodies
    share (`c`), and an If that is decided by the shape of an outer tensor."""
    def branch(name, op, *nodes):
        return helper.make_graph([*nodes, helper.make_node(op, ["inner", "k"], ["c"], f"{name}_{op}")], name, [],
                                 [tensor("c", None)])

    rank = [helper.make_node("Shape", ["x"], ["sizes"], "sizes"), helper.make_node("Shape", ["sizes"], ["rank"], "rank"),
            helper.make_node("Equal", ["rank", "two"], ["is_matrix"], "is_matrix"),
            helper.make_node("Squeeze", ["is_matrix"], ["flat"], "flat")]
    nested = helper.make_node(
        "If", ["flat"], ["chosen"], "by_rank",
        then_branch=branch("matrix", "Mul", helper.make_node("Sqrt", ["k"], ["root"], "root"),
                           helper.make_node("Add", ["x", "root"], ["inner"], "use_root")),
        else_branch=branch("other", "Add", helper.make_node("Neg", ["x"], ["inner"], "unused")),
    )
    hidden = [helper.make_node("Exp", ["own"], ["exp"], "exp"), *rank, nested,
              helper.make_node("Add", ["chosen", "exp"], ["then_out"], "then_out")]
    step = body(
        "step",
        [helper.make_node("Identity", ["going"], ["still"], "still"),
         helper.make_node("Neg", ["k"], ["minus"], "minus"),
         helper.make_node("Add", ["minus", "minus"], ["twice"], "twice"),
         helper.make_node("Add", ["sum", "twice"], ["next"], "next")],
        [tensor("i", [], TensorProto.INT64), tensor("going", [], TensorProto.BOOL), tensor("sum", [2, 3])],
        [tensor("still", [], TensorProto.BOOL), tensor("next", [2, 3])],
    )
    row = body(
        "row",
        [helper.make_node("Abs", ["k"], ["c"], "abs"), helper.make_node("Div", ["each", "c"], ["scaled"], "scaled")],
        [tensor("each", [3])], [tensor("scaled", [3])],
    )
    outside = [helper.make_node("Loop", ["three", "yes", "x"], ["summed"], "loop", body=step),
               helper.make_node("Scan", ["summed"], ["else_out"], "scan", body=row, num_scan_inputs=1)]
    return helper.make_model(
        helper.make_graph(
            [helper.make_node(
                "If", ["flag"], ["y"], "if",
                then_branch=helper.make_graph(hidden, "then", [], [tensor("then_out", None)], [constant("own", [1, 2, 3])]),
                else_branch=helper.make_graph(outside, "else", [], [tensor("else_out", None)]))],
            "constants_in_bodies", [tensor("flag", [], TensorProto.BOOL), tensor("x", [2, 3])], [tensor("y", [2, 3])],
            [constant("k", [4, 9, 16]), constant("two", [2], numpy.int64), constant("three", 3, numpy.int64),
             constant("yes", True, bool)],
        ),
        producer_name="polygraphy tests", opset_imports=[helper.make_opsetid("", 13)], ir_version=8,
    )


@model
def constants_in_functions():
    """A function with a chain of constants, one with a reference to an attribute of its caller, and a decided If."""
    opsets = [helper.make_opsetid("", 15)]
    step = helper.make_node("Cast", ["seven"], ["cast"], "cast")
    step.attribute.add(name="to", ref_attr_name="type", type=2)
    decided = helper.make_node(
        "If", ["yes"], ["kept"], "decided",
        then_branch=helper.make_graph([helper.make_node("Add", ["a", "sum"], ["t"], "add")], "then", [],
                                      [tensor("t", None)]),
        else_branch=helper.make_graph([helper.make_node("Sub", ["a", "sum"], ["t"], "sub")], "else", [],
                                      [tensor("t", None)]))
    scaled = helper.make_function(
        "local", "Scaled", ["a"], ["b"],
        [helper.make_node("Constant", [], ["one"], "one", value=constant("", [1, 2])),
         helper.make_node("Constant", [], ["seven"], "seven", value=constant("", [7], numpy.int64)),
         helper.make_node("Constant", [], ["no"], "no", value=constant("", False, bool)),
         helper.make_node("Not", ["no"], ["yes"], "yes"),
         helper.make_node("Exp", ["one"], ["e"], "e"), helper.make_node("Add", ["e", "one"], ["sum"], "sum"), decided,
         step, helper.make_node("Mul", ["kept", "cast"], ["b"], "product")],
        opsets, ["type"],
    )
    proto = whole([helper.make_node("Scaled", ["x"], ["y"], name="call", domain="local", type=TensorProto.FLOAT)],
                  [tensor("x", [2])], [tensor("y", [2])], opset=15, functions=[scaled])
    proto.opset_import.append(helper.make_opsetid("local", 1))
    return proto


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for function in MODELS:
        proto = function()
        if not isinstance(proto, ModelProto):
            nodes, inputs, outputs, *initializers = proto
            graph = helper.make_graph(nodes, function.__name__, inputs, outputs, *initializers)
            proto = helper.make_model(
                graph, producer_name="polygraphy tests", opset_imports=[helper.make_opsetid("", 21)], ir_version=10
            )
        with open(os.path.join(folder, f"{function.__name__}.onnx"), "wb") as file:
            file.write(proto.SerializeToString(deterministic=True))
    numpy.arange(256, dtype="<f4").tofile(os.path.join(folder, "weights.data"))


if __name__ == "__main__":
    main()
