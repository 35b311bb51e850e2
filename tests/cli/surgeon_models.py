#!/usr/bin/python3
"""Makes and shows models for tests of `surgeon`.

    surgeon_models.py make NAME FILE   the model that the function NAME below makes
    surgeon_models.py show FILE        all that it holds, one line each
    surgeon_models.py values FILE NAME the elements of an initializer
    surgeon_models.py sparse FILE      the initializers with 2:4 sparsity, "name:axis", in order
"""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
BFLOAT16 = TensorProto.BFLOAT16


def tensor(name, shape=(2,), element_type=FLOAT):
    return helper.make_tensor_value_info(name, element_type, shape)


def weight(name, values, element_type=numpy.float32):
    return numpy_helper.from_array(numpy.array(values, element_type), name)


def bfloat16(name, values):
    """The upper halves of float32 values, which have to be exact."""
    values = numpy.array(values, numpy.float32)
    bits = values.view(numpy.uint32) >> 16
    return TensorProto(name=name, data_type=BFLOAT16, dims=values.shape, raw_data=bits.astype(numpy.uint16).tobytes())


def whole(nodes, inputs, outputs, initializers=(), opset=13, **fields):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **fields)


def random(shape, seed=0):
    return numpy.random.RandomState(seed).standard_normal(shape).astype(numpy.float32)


def chain():
    """Three nodes; nothing is said of the tensors between them. Names hold what is special to the command line."""
    nodes = [
        helper.make_node("Neg", ["x"], ["a:0"], "neg"),
        helper.make_node("Abs", ["a:0"], ["scope/b"], "abs"),
        helper.make_node("Exp", ["scope/b"], ["y"], "exp"),
    ]
    return whole(nodes, [tensor("x", ["n", 2])], [tensor("y", ["n", 2])])


def two_inputs():
    nodes = [helper.make_node("Neg", ["x"], ["a"], "neg"), helper.make_node("Add", ["a", "z"], ["y"], "add")]
    return whole(nodes, [tensor("x"), tensor("z")], [tensor("y")])


def product():
    """The columns of `x` have to be three, which only the weights of the nameless node say. They are not small."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Neg", ["a"], ["y"], "neg")]
    w = weight("w", numpy.ones((3, 500)))
    return whole(nodes, [tensor("x", ["n", "k"])], [tensor("y", ["n", 500])], [w])


def known_rank_behind_constants():
    """What is multiplied has as many dimensions as the sum of those of `x` has fives: known once that is folded."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("ReduceSum", ["shape"], ["sum"], keepdims=0),
        helper.make_node("Range", ["zero", "sum", "five"], ["fives"]),
        helper.make_node("Sub", ["fives", "one"], ["target"]),
        helper.make_node("Reshape", ["x", "target"], ["z"]),
        helper.make_node("Gemm", ["z", "w"], ["y"], "gemm"),
    ]
    numbers = [weight(name, value, numpy.int64) for name, value in (("zero", 0), ("five", 5), ("one", 1))]
    return whole(nodes, [tensor("x", ["n", "k"])], [tensor("y", ["n", "k"])], [*numbers, weight("w", numpy.ones((6, 4)))])


def unknown_shape():
    """NonZero makes as many columns as it finds; not even the rank of what is reshaped is known before run time."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"], "nonzero"),
        helper.make_node("Shape", ["places"], ["shape"], "shape"),
        helper.make_node("Reshape", ["places", "shape"], ["reshaped"], "reshape"),
        helper.make_node("Neg", ["reshaped"], ["y"], "neg"),
    ]
    return whole(nodes, [tensor("x", [2])], [tensor("y", ["a", "b"], TensorProto.INT64)])


def unknown_operator():
    """A node that no runtime knows between two that they do."""
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], "neg"),
        helper.make_node("Mystery", ["a"], ["b"], "mystery", domain="org.example"),
        helper.make_node("Exp", ["b"], ["y"], "exp"),
    ]
    model = whole(nodes, [tensor("x")], [tensor("y")])
    model.opset_import.append(helper.make_opsetid("org.example", 1))
    return model


def without_own_operators(ir_version=8):
    """Only an operator for classical machine learning; ONNX's own are not imported."""
    node = helper.make_node("Scaler", ["x"], ["y"], "scaler", domain="ai.onnx.ml", offset=[1.0], scale=[2.0])
    model = whole([node], [tensor("x", [1, 2])], [tensor("y", [1, 2])])
    model.opset_import[0].domain, model.opset_import[0].version = "ai.onnx.ml", 1
    model.ir_version = ir_version
    return model


def without_own_operators_of_old():
    return without_own_operators(4)


def own_operators_in_functions():
    """Only a call of a function of the model, which says by itself what it imports."""
    model = function_and_metadata()
    del model.graph.node[1], model.graph.initializer[:], model.opset_import[0]
    model.graph.node[0].output[0] = "y"
    model.graph.output[0].CopyFrom(tensor("y", [1, 4]))
    return model


def function_and_metadata():
    """A MatMul whose weight can be pruned, beside what must not get lost."""
    nodes = [
        helper.make_node("Twice", ["x"], ["a"], "twice", domain="local"),
        helper.make_node("MatMul", ["a", "w"], ["y"], "matmul"),
    ]
    model = whole(nodes, [tensor("x", [1, 4])], [tensor("y", [1, 2])],
                  [weight("w", [[1, -8], [2, 7], [-3, 6], [4, 5]])], producer_name="someone", producer_version="1.5")
    twice = helper.make_function("local", "Twice", ["p"], ["q"], [helper.make_node("Add", ["p", "p"], ["q"])],
                                 [helper.make_opsetid("", 13)])
    model.functions.append(twice)
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.metadata_props.add(key="who", value="me")
    model.doc_string = "documentation"
    return model


def prunable():
    """Weights of every kind that counts, and some that do not. Values grow with the index, so that of every four along
    an axis the first two go."""
    def growing(*shape):
        return numpy.arange(1, 1 + numpy.prod(shape)).reshape(shape) / 8

    half = weight("transposed", growing(3, 8), numpy.float16)
    nodes = [
        helper.make_node("Conv", ["image", "kernel"], ["convolved"], "conv"),
        helper.make_node("Gemm", ["x", "plain"], ["g0"], "gemm"),
        helper.make_node("Gemm", ["x", "transb"], ["g1"], "gemm_b", transB=1),
        helper.make_node("Gemm", ["left", "x4"], ["g2"], "gemm_a", transA=1),
        helper.make_node("Transpose", ["transposed"], ["t"], "transpose"),
        helper.make_node("Cast", ["t"], ["t32"], "cast", to=FLOAT),
        helper.make_node("MatMul", ["x", "t32"], ["m0"], "matmul"),
        helper.make_node("QuantizeLinear", ["quantized", "scale"], ["q"], "q"),
        helper.make_node("DequantizeLinear", ["q", "scale"], ["dq"], "dq"),
        helper.make_node("MatMul", ["x", "dq"], ["m1"], "matmul_q"),
        helper.make_node("MatMul", ["x64", "odd_one_out"], ["m2"], "matmul_odd"),
        helper.make_node("Add", ["x", "bias"], ["added"], "add"),
    ]
    initializers = [
        weight("kernel", growing(2, 4, 1, 1)), weight("plain", growing(8, 2)), weight("transb", growing(2, 8)),
        weight("left", growing(4, 3)), half, weight("quantized", growing(8, 2)), weight("scale", 0.5),
        weight("odd_one_out", growing(8, 2), numpy.float64), weight("bias", growing(8)),
    ]
    inputs = [tensor("image", [1, 4, 2, 2]), tensor("x", [1, 8]), tensor("x4", [4, 2]),
              tensor("x64", [1, 8], TensorProto.DOUBLE)]
    outputs = [tensor("convolved", [1, 2, 2, 2]), tensor("g0", [1, 2]), tensor("g1", [1, 2]), tensor("g2", [3, 2]),
               tensor("m0", [1, 3]), tensor("m1", [1, 2]), tensor("m2", [1, 2], TensorProto.DOUBLE),
               tensor("added", [1, 8])]
    return whole(nodes, inputs, outputs, initializers)


def bfloat16_weight():
    """A bfloat16 weight with magnitudes that differ in the upper byte only, in the lower byte only, and in the sign."""
    values = [[1.0, 2.0], [-512.0, 1.0078125], [0.5, -1.015625], [4.0, 1.0]]
    nodes = [helper.make_node("Cast", ["w"], ["w32"], "cast", to=FLOAT),
             helper.make_node("MatMul", ["x", "w32"], ["y"], "matmul")]
    return whole(nodes, [tensor("x", [1, 4])], [tensor("y", [1, 2])], [bfloat16("w", values)])


def ties():
    """Equal magnitudes, zeros of both signs, an infinity and a NaN."""
    rows = [[1, -1, 1, -1], [0, 3, -0.0, 2], [5, 0, 0, 0], [numpy.inf, numpy.nan, 1, 2]]
    nodes = [helper.make_node("MatMul", ["w", "x"], ["y"], "matmul")]
    return whole(nodes, [tensor("x", [4, 1])], [tensor("y", [4, 1])], [weight("w", rows)])


def weights():
    """What is stripped and what is not: two large weights, one of them sparse, a Constant, indices, and small ones."""
    sparse = random((64, 64), 1)
    sparse.reshape(16, 4, 64)[:, :2] = 0
    nodes = [
        helper.make_node("MatMul", ["x", "dense"], ["a"], "matmul"),
        helper.make_node("MatMul", ["a", "sparse"], ["b"], "matmul_sparse"),
        helper.make_node("Constant", [], ["constant"], "constant", value=weight("", random((64, 64), 2))),
        helper.make_node("MatMul", ["b", "constant"], ["c"], "matmul_constant"),
        helper.make_node("BatchNormalization", ["c", "scale", "scale", "scale", "scale"], ["d"], "norm"),
        helper.make_node("Gather", ["d", "indices"], ["e"], "gather", axis=1),
        helper.make_node("Add", ["e", "bias"], ["y"], "add"),
    ]
    initializers = [
        weight("dense", random((64, 64), 3)), weight("sparse", sparse), weight("scale", 1 + random(256, 4)[:64] ** 2),
        weight("indices", numpy.arange(256) % 64, numpy.int64), weight("bias", random((1, 256), 5)[:, :1]),
    ]
    return whole(nodes, [tensor("x", [1, 64])], [tensor("y", [1, 256])], initializers)


def weights_of_every_user():
    """What each operator that has weights reads, below and from the size on that counts for tables, and what has none."""
    def integers(shape, element_type, name):
        return weight(name, numpy.arange(numpy.prod(shape)).reshape(shape) % 3, element_type)

    nodes = [
        helper.make_node("Conv", ["image", "kernel", "kernel_bias"], ["conv"]),
        helper.make_node("ConvTranspose", ["image", "up"], ["upsampled"]),
        helper.make_node("Gemm", ["x", "gemm", "gemm_bias"], ["g"]),
        helper.make_node("QuantizeLinear", ["quantized", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["dq"]),
        helper.make_node("MatMul", ["x", "dq"], ["m0"]),
        helper.make_node("DequantizeLinear", ["int8", "scale", "zero"], ["dq8"]),
        helper.make_node("Transpose", ["dq8"], ["dq8_t"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "dq8_t"], ["m1"]),
        helper.make_node("MatMulInteger", ["x8", "integer"], ["m2"]),
        helper.make_node("DequantizeLinear", ["uint8", "scale", "uzero"], ["dqu"]),
        helper.make_node("MatMul", ["x", "dqu"], ["m3"]),
        helper.make_node("Gather", ["table", "few"], ["t0"]),
        helper.make_node("Gather", ["small_table", "many"], ["t1"]),
        helper.make_node("Slice", ["long", "starts", "ends"], ["s0"]),
        helper.make_node("Slice", ["short", "starts", "ends"], ["s1"]),
        helper.make_node("Plug", ["x", "large", "small"], ["p"], domain="org.example"),
        helper.make_node("Add", ["m0", "added"], ["a"]),
    ]
    initializers = [
        weight("kernel", random((2, 4, 1, 1))), weight("kernel_bias", [1, 2]), weight("up", random((4, 2, 1, 1))),
        weight("gemm", random((8, 2))), weight("gemm_bias", [1, 2]), weight("quantized", random((8, 2))),
        weight("scale", 0.5), weight("zero", 0, numpy.int8), weight("uzero", 0, numpy.uint8),
        integers((2, 8), numpy.int8, "int8"), integers((8, 2), numpy.int8, "integer"),
        integers((8, 2), numpy.uint8, "uint8"), weight("table", random((512, 2))), integers((2,), numpy.int64, "few"),
        weight("small_table", random((3, 2))), integers((1024,), numpy.int64, "many"), weight("long", random(1024)),
        weight("short", random(1023)), weight("starts", [0], numpy.int64), weight("ends", [2], numpy.int64),
        weight("large", random(1024)), weight("small", random(1023)), weight("added", random(4096)[:2]),
    ]
    inputs = [tensor("image", [1, 4, 2, 2]), tensor("x", [1, 8]), tensor("x8", [1, 8], TensorProto.INT8)]
    outputs = [tensor(name, None) for name in ["conv", "upsampled", "g", "m1", "m3", "t0", "t1", "s0", "s1", "p", "a"]]
    model = whole(nodes, inputs, outputs + [tensor("m2", None, TensorProto.INT32)], initializers)
    model.opset_import.append(helper.make_opsetid("org.example", 1))
    return model


def stripped_elsewhere():
    """As Polygraphy writes it: raw data are there and empty, what was in typed fields stays, the model has a mark, too."""
    model = weights()
    model.doc_string = "documentation-TRT_WEIGHTLESS"
    for initializer in model.graph.initializer:
        if initializer.name in ("dense", "sparse"):
            if initializer.name == "dense":
                initializer.float_data.extend(array_of(initializer).ravel())
            initializer.raw_data = b""
            initializer.doc_string = "TRT_WEIGHTLESS/" + ("SPARSE_2_4" if initializer.name == "sparse" else "")
    return model


def stripped_by_an_older_version():
    model = stripped_elsewhere()
    model.doc_string = ""
    for initializer in model.graph.initializer:
        if initializer.name in ("dense", "sparse"):
            initializer.ClearField("raw_data")
            initializer.ClearField("float_data")
            initializer.doc_string = "polygraphy:stripped" + (" 2:4:0" if initializer.name == "sparse" else "")
    return model


def stripped_in_an_unknown_way():
    model = stripped_elsewhere()
    for initializer in model.graph.initializer:
        if initializer.doc_string:
            initializer.doc_string = "TRT_WEIGHTLESS/SPARSE_1_8"
    return model


def factor(value):
    nodes = [helper.make_node("Mul", ["x", "c"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    return whole(nodes, [tensor("x")], [tensor("y")], [weight("c", [1, value])])


def large_factor():
    return factor(3e5)


def infinite_factor():
    return factor(numpy.inf)


def text_of_type(kind):
    if not kind.HasField("tensor_type"):
        return kind.WhichOneof("value") or "unknown"
    element = TensorProto.DataType.Name(kind.tensor_type.elem_type).lower()
    if not kind.tensor_type.HasField("shape"):
        return element
    dims = kind.tensor_type.shape.dim
    texts = [str(dim.dim_param or (dim.dim_value if dim.HasField("dim_value") else "?")) for dim in dims]
    return f"{element}[{','.join(texts)}]"


def text_of_attribute(attribute):
    if attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.TENSOR):
        return f"{attribute.name}=..."
    return f"{attribute.name}={helper.get_attribute_value(attribute)}"


def show(path):
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    print(f"made by {model.producer_name} {model.producer_version}".rstrip())
    if model.doc_string:
        print(f"about {model.doc_string}")
    for opset in model.opset_import:
        print(f"opset {opset.domain or 'ai.onnx'} {opset.version}")
    for entry in model.metadata_props:
        print(f"metadata {entry.key}={entry.value}")
    for function in model.functions:
        print(f"function {function.domain}.{function.name}")
    constants = {initializer.name for initializer in graph.initializer}
    for value in graph.input:
        if value.name not in constants:
            print(f"input {value.name} {text_of_type(value.type)}")
    for value in graph.output:
        print(f"output {value.name} {text_of_type(value.type)}")
    for value in graph.initializer:
        where = " external" if value.data_location == TensorProto.EXTERNAL else ""
        note = f" '{value.doc_string}'" if value.doc_string else ""
        element = TensorProto.DataType.Name(value.data_type).lower()
        print(f"constant {value.name} {element}{list(value.dims)}{where}{note}")
    for node in graph.node:
        attributes = "".join(f" {text_of_attribute(attribute)}" for attribute in node.attribute)
        name = f"{node.name}: " if node.name else ""
        print(f"node {name}{node.op_type}({','.join(node.input)}) -> {','.join(node.output)}{attributes}")


def array_of(initializer):
    if initializer.data_type == BFLOAT16:
        bits = numpy.frombuffer(initializer.raw_data, numpy.uint16).astype(numpy.uint32) << 16
        return bits.view(numpy.float32).reshape(tuple(initializer.dims))
    return numpy_helper.to_array(initializer)


def values(path, name):
    initializer, = (value for value in onnx.load(path).graph.initializer if value.name == name)
    for row in array_of(initializer).reshape(initializer.dims[0], -1):
        print(" ".join(f"{value:g}" for value in row))


def sparse(path):
    for initializer in onnx.load(path).graph.initializer:
        array = array_of(initializer)
        for axis in range(array.ndim):
            groups = numpy.moveaxis(array, axis, -1)
            if array.dtype.kind == "f" and groups.shape[-1] % 4 == 0:
                zeros = (groups.reshape(groups.shape[:-1] + (-1, 4)) == 0).sum(-1)
                if (zeros >= 2).all():
                    print(f"{initializer.name}:{axis}")


def main():
    command, *arguments = sys.argv[1:]
    if command == "make":
        with open(arguments[1], "wb") as file:
            file.write(globals()[arguments[0]]().SerializeToString(deterministic=True))
    else:
        {"show": show, "values": values, "sparse": sparse}[command](*arguments)


main()
