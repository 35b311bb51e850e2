#!/usr/bin/env python3
"""quantize_models.py: what bench/quantize_model and debug quantization are tried on, and what the former has made.

make RESULT                 a small network whose weights ConstantOfShape makes, all 0.02, in operator set 9
computed RESULT             a product in float16 whose left side is quantized with a scale that is computed
unusual RESULT              two products, with a sparse weight, and with one in float8 that does not saturate
problems RESULT             two products in a row, whose weights have scales that are 0 or no number, behind a quantizer
                            that dequantizes with another scale and has a line break in its name
chain QUANTIZED WEIGHTS     two products in a row whose weights are stored in int8; in the second model only these are
                            quantized
thrice FLOAT QUANTIZED      three products with one constant, which the second one dequantizes with another scale, and one
                            behind these
repaired MODEL              ends with status 1 where the second product has that scale, or the last one has a single scale
relu FLOAT QUANTIZED        two products with a Relu between them, in whose place there is a quantizer
float-weight RESULT         a convolution without a bias whose float weight has an outlier
bias RESULT                 a convolution with a float bias that does not fit 32-bit integers in units of its scales
transposed RESULT           a product with a transposed matrix and a sum, which two optimizers together make one Gemm
clipping RESULT             a quantizer that clips at 0.7, and one with wide steps behind it
scores RESULT               numbers in the hundreds next to scores of at most 1, in one tensor, from two quantizers
saturating RESULT           a product of uint8 activations and int8 weights, two of which added do not fit 16 bits when
                            the activations are near 1
refused RESULT              a quantized pooling whose dilations the runtime's fused operator does not have, so that it refuses
                            the model that it has optimized
random RESULT               a quantized sum of its input and random numbers
show MODEL                  its operator set, how many nodes of each quantizing operator, and constants of each type
weights MODEL NAME          how many different numbers a weight has
types FLOAT QUANTIZED       four products in a row, with weights in int4 (in blocks, their scales three times what they
                            should be), uint4 (in blocks), float8 and int16, activations in uint16
"""

import collections
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def make(result):
    shapes = {"w1": (8, 3, 3, 3), "scale": (8,), "bias": (8,), "mean": (8,), "variance": (8,), "w2": (8, 8, 3, 3),
              "b2": (8,), "w3": (8, 10)}
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.02])
    nodes = [helper.make_node("ConstantOfShape", [name + "_shape"], [name], value=value) for name in shapes]
    nodes += [
        helper.make_node("Conv", ["x", "w1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c1", "scale", "bias", "mean", "variance"], ["n1"]),
        helper.make_node("Relu", ["n1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Sum", ["c2", "r1"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Dropout", ["f"], ["d"]),
        helper.make_node("MatMul", ["d", "w3"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(numpy.array(shape, numpy.int64), name + "_shape") for name, shape in shapes.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=4), result)


def computed(result):
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("ReduceMax", ["a"], ["m"], keepdims=0),
        helper.make_node("Mul", ["m", "step"], ["scale"]),
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["i"]),
        helper.make_node("DequantizeLinear", ["i", "scale", "zero"], ["d"]),
        helper.make_node("MatMul", ["d", "w"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "computed", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [2, 4])],
        [numpy_helper.from_array(numpy.float16(1 / 127), "step"), numpy_helper.from_array(numpy.int8(0), "zero"),
         numpy_helper.from_array(numpy.linspace(-1, 1, 12, dtype=numpy.float16).reshape(3, 4), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), result)


def unusual(result):
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1.0, -2.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("at", TensorProto.INT64, [2], [0, 5]), [4, 4])
    nodes = [
        helper.make_node("QuantizeLinear", ["sparse", "scale", "zero"], ["i"]),
        helper.make_node("DequantizeLinear", ["i", "scale", "zero"], ["d"]),
        helper.make_node("MatMul", ["x", "d"], ["p"]),
        helper.make_node("QuantizeLinear", ["w", "scale", "zero8"], ["j"], saturate=0),
        helper.make_node("DequantizeLinear", ["j", "scale", "zero8"], ["e"]),
        helper.make_node("MatMul", ["p", "e"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "scale", "zero"], ["k"]),
        helper.make_node("DequantizeLinear", ["k", "scale", "zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "unusual", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        [numpy_helper.from_array(numpy.float32(0.03), "scale"), numpy_helper.from_array(numpy.int8(0), "zero"),
         stored("zero8", 17, [], b"\0"),
         numpy_helper.from_array(numpy.linspace(-20, 1, 16, dtype=numpy.float32).reshape(4, 4), "w")],
        sparse_initializer=[sparse])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), result)


def chain(quantized_path, weights_path):
    generator = numpy.random.default_rng(1)
    constants = {"step": numpy.float32(0.04), "zero": numpy.int8(0)}
    weights, activations = [[], []], [[], []]
    for i, (source, result) in enumerate((("x", "h"), ("h", "y"))):
        constants[f"w{i}"] = generator.normal(0, 40, (64, 64)).clip(-127, 127).astype(numpy.int8)
        constants |= {f"scale{i}": numpy.float32(0.004 + 0.001 * i), f"zero{i}": numpy.int8(0)}
        weights[i] = [helper.make_node("DequantizeLinear", [f"w{i}", f"scale{i}", f"zero{i}"], [f"d{i}"])]
        activations[i] = [helper.make_node("QuantizeLinear", [source, "step", "zero"], [f"{source}_q"]),
                          helper.make_node("DequantizeLinear", [f"{source}_q", "step", "zero"], [f"{source}_d"])]
    for path, end in ((quantized_path, "_d"), (weights_path, "")):
        nodes = []
        for i, (source, result) in enumerate((("x", "h"), ("h", "y"))):
            nodes += [*(activations[i] if end else []), *weights[i],
                      helper.make_node("MatMul", [source + end, f"d{i}"], [result])]
        graph = helper.make_graph(
            nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 64])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 64])],
            [numpy_helper.from_array(numpy.asarray(values), name) for name, values in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def problems(result):
    def pair(source, integers, target, scale, other, zero, **attributes):
        return [helper.make_node("QuantizeLinear", [source, scale, zero], [integers], **attributes),
                helper.make_node("DequantizeLinear", [integers, other, zero], [target], **attributes)]

    weight = numpy.linspace(-1, 1, 16, dtype=numpy.float32).reshape(4, 4)
    nodes = [helper.make_node("Neg", ["x"], ["two\nlines"]),
             *pair("two\nlines", "lines_q", "d", "scale", "other", "zero"),
             *pair("w", "j", "e", "with_0", "with_0", "zeros", axis=1),
             helper.make_node("MatMul", ["d", "e"], ["p"]),
             *pair("v", "k", "f", "with_nan", "with_nan", "zeros", axis=1),
             helper.make_node("MatMul", ["p", "f"], ["y"])]
    constants = {"scale": numpy.float32(0.05), "other": numpy.float32(0.1), "zero": numpy.int8(0),
                 "with_0": numpy.array([0.01, 0, 0.01, 0.01], numpy.float32), "zeros": numpy.zeros(4, numpy.int8),
                 "with_nan": numpy.array([0.01, 0.01, 0.01, numpy.nan], numpy.float32), "w": weight, "v": weight + 2}
    graph = helper.make_graph(
        nodes, "problems", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 4])],
        [numpy_helper.from_array(numpy.asarray(values), name) for name, values in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), result)


def thrice(float_path, quantized_path):
    generator = numpy.random.default_rng(2)
    integers = generator.integers(-127, 128, (2, 8, 8)).astype(numpy.int8)
    plain = {"w": integers[0] * numpy.float32(0.005), "v": integers[1] * numpy.float32(0.01)}
    stored_as = {"w_q": integers[0], "v_q": integers[1], "good": numpy.float32(0.005), "bad": numpy.float32(0.02),
                 "single": numpy.float32(0.01)}
    weights = [helper.make_node("DequantizeLinear", ["w_q", scale], [f"w{i}"], f"dequantize_{i}")
               for i, scale in enumerate(("good", "bad", "good"))]
    weights += [helper.make_node("DequantizeLinear", ["v_q", "single"], ["v_d"], "dequantize_v")]
    for path, before, names, constants in ((float_path, [], ("w", "w", "w", "v"), plain),
                                           (quantized_path, weights, ("w0", "w1", "w2", "v_d"), stored_as)):
        tensors = ["x", "a", "b", "c", "y"]
        nodes = before + [helper.make_node("MatMul", [tensors[i], names[i]], [tensors[i + 1]], f"product_{i}")
                          for i in range(4)]
        graph = helper.make_graph(
            nodes, "thrice", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 8])],
            [numpy_helper.from_array(numpy.asarray(values), name) for name, values in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def repaired(path):
    graph = onnx.load(path).graph
    constants = {constant.name: numpy_helper.to_array(constant) for constant in graph.initializer}
    scales = {node.name: constants[node.input[1]] for node in graph.node if node.op_type == "DequantizeLinear"}
    is_bad = "dequantize_1" in scales and numpy.isclose(scales["dequantize_1"], 0.02).all()
    sys.exit(bool(is_bad or ("dequantize_v" in scales and scales["dequantize_v"].size == 1)))


def relu(float_path, quantized_path):
    weight = numpy.linspace(-1, 1, 16, dtype=numpy.float32).reshape(4, 4)
    constants = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(weight.T.copy(), "v")]
    parameters = [numpy_helper.from_array(numpy.float32(0.02), "scale"),
                  numpy_helper.from_array(numpy.uint8(0), "zero")]
    pair = [helper.make_node("QuantizeLinear", ["h", "scale", "zero"], ["i"]),
            helper.make_node("DequantizeLinear", ["i", "scale", "zero"], ["r"])]
    for path, nodes, more in ((float_path, [helper.make_node("Relu", ["h"], ["r"])], []),
                              (quantized_path, pair, parameters)):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), *nodes, helper.make_node("MatMul", ["r", "v"], ["y"])]
        graph = helper.make_graph(
            nodes, "relu", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 4])], constants + more)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def saturating(result):
    pair = ["scale", "zero"]
    nodes = [helper.make_node("QuantizeLinear", ["x", *pair], ["x_q"]),
             helper.make_node("DequantizeLinear", ["x_q", *pair], ["x_d"]),
             helper.make_node("DequantizeLinear", ["w", "weight_scale"], ["w_d"]),
             helper.make_node("MatMul", ["x_d", "w_d"], ["h"], "product"),
             helper.make_node("QuantizeLinear", ["h", "result_scale", "zero"], ["h_q"]),
             helper.make_node("DequantizeLinear", ["h_q", "result_scale", "zero"], ["y"])]
    constants = {"scale": numpy.float32(1 / 255), "zero": numpy.uint8(0), "weight_scale": numpy.float32(1 / 127),
                 "w": numpy.full((64, 64), 127, numpy.int8), "result_scale": numpy.float32(0.5)}
    graph = helper.make_graph(
        nodes, "saturating", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 64])],
        [numpy_helper.from_array(numpy.asarray(values), name) for name, values in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), result)


def outlier(float_path, quantized_path):
    """A weight of which the scale of channel 3 is 30 times too large."""
    generator = numpy.random.default_rng(3)
    integers = generator.integers(-127, 128, (8, 8)).astype(numpy.int8)
    scales = generator.uniform(0.004, 0.006, 8).astype(numpy.float32)
    wrong = numpy.where(numpy.arange(8) == 3, 30 * scales, scales).astype(numpy.float32)
    pair = [helper.make_node("QuantizeLinear", ["h", "step", "zero"], ["h_q"], "quantize_h"),
            helper.make_node("DequantizeLinear", ["h_q", "step", "zero"], ["y"], "dequantize_h")]
    for path, nodes, constants in (
            (float_path, [helper.make_node("MatMul", ["x", "w"], ["y"], "product")], {"w": integers * scales}),
            (quantized_path, [helper.make_node("DequantizeLinear", ["w_q", "scales", "zeros"], ["w"], "dequantize_w", axis=1),
                              helper.make_node("MatMul", ["x", "w"], ["h"], "product"), *pair],
             {"w_q": integers, "scales": wrong, "zeros": numpy.zeros(8, numpy.int8), "step": numpy.float32(0.02),
              "zero": numpy.int8(0)})):
        graph = helper.make_graph(
            nodes, "outlier", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
            [numpy_helper.from_array(numpy.asarray(values), name) for name, values in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def save_quantized(name, nodes, x, y, constants, path):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
        [numpy_helper.from_array(numpy.asarray(values), name) for name, values in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def pair(source, scale, result):
    return [helper.make_node("QuantizeLinear", [source, scale, "zero"], [f"{result}_q"], f"quantize_{source}"),
            helper.make_node("DequantizeLinear", [f"{result}_q", scale, "zero"], [result], f"dequantize_{source}")]


def float_weight(result):
    weight = numpy.random.default_rng(2).normal(size=(4, 3, 3, 3)).astype(numpy.float32) / 2
    weight[0, 0, 0, 0] = 20
    constants = {"in": numpy.float32(0.02), "zero": numpy.int8(0), "out": numpy.float32(0.16), "w": weight}
    nodes = [*pair("x", "in", "x_d"), helper.make_node("Conv", ["x_d", "w"], ["h"], "conv"), *pair("h", "out", "y")]
    save_quantized("float_weight", nodes, [1, 3, 8, 8], [1, 4, 6, 6], constants, result)


def bias(result):
    generator = numpy.random.default_rng(2)
    constants = {"in": numpy.float32(0.02), "zero": numpy.int8(0), "out": numpy.float32(0.05),
                 "w_q": generator.integers(-127, 128, (4, 3, 3, 3)).astype(numpy.int8),
                 "scales": numpy.full(4, 1e-12, numpy.float32), "zeros": numpy.zeros(4, numpy.int8),
                 "b": numpy.array([1, -2, 0.5, 1.5], numpy.float32)}
    nodes = [*pair("x", "in", "x_d"),
             helper.make_node("DequantizeLinear", ["w_q", "scales", "zeros"], ["w"], "dequantize_w", axis=0),
             helper.make_node("Conv", ["x_d", "w", "b"], ["h"], "conv"), *pair("h", "out", "y")]
    save_quantized("bias", nodes, [1, 3, 8, 8], [1, 4, 6, 6], constants, result)


def transposed(result):
    constants = {"w": numpy.ones((8, 4), numpy.float32), "b": numpy.ones(4, numpy.float32)}
    nodes = [helper.make_node("Transpose", ["x"], ["t"], "transpose", perm=[1, 0]),
             helper.make_node("MatMul", ["t", "w"], ["p"], "product"), helper.make_node("Add", ["p", "b"], ["y"], "sum")]
    save_quantized("transposed", nodes, [8, 2], [2, 4], constants, result)


def clipping(result):
    constants = {"fine": numpy.float32(0.7 / 127), "coarse": numpy.float32(0.3), "zero": numpy.int8(0)}
    nodes = [*pair("x", "fine", "h"), helper.make_node("Neg", ["h"], ["n"], "negate"), *pair("n", "coarse", "y")]
    save_quantized("clipping", nodes, [1, 4], [1, 4], constants, result)


def scores(result):
    constants = {"hundreds": numpy.float32(600), "fine": numpy.float32(4.7), "coarse": numpy.float32(0.1),
                 "zero": numpy.int8(0)}
    nodes = [helper.make_node("Mul", ["x", "hundreds"], ["boxes"], "multiply"), *pair("boxes", "fine", "boxes_d"),
             helper.make_node("Sigmoid", ["x"], ["scores"], "sigmoid"), *pair("scores", "coarse", "scores_d"),
             helper.make_node("Concat", ["boxes_d", "scores_d"], ["y"], "join", axis=1)]
    save_quantized("scores", nodes, [1, 1, 64], [1, 2, 64], constants, result)


def show(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    operators = collections.Counter(node.op_type for node in model.graph.node)
    types = collections.Counter(
        TensorProto.DataType.Name(constant.data_type) for constant in model.graph.initializer if len(constant.dims))
    print(model.opset_import[0].version, operators["BatchNormalization"], operators["QuantizeLinear"],
          operators["DequantizeLinear"], types["INT8"], types["INT32"])


def weights(path, name):
    constants = {constant.name: constant for constant in onnx.load(path).graph.initializer}
    print(len(numpy.unique(numpy_helper.to_array(constants[name]))))


def stored(name, data_type, shape, data):
    """A constant of a type that this onnx need not know."""
    tensor = TensorProto()
    tensor.name, tensor.data_type, tensor.raw_data = name, data_type, data
    tensor.dims.extend(shape)
    return tensor


def four_bits(levels):
    low, high = numpy.rint(levels).astype(numpy.int64).reshape(-1, 2).T & 15
    return (low | high << 4).astype(numpy.uint8).tobytes()


def float8(values):
    """float8e4m3fn, to the nearest."""
    numbers = numpy.array([(b & 7) / 512 if b < 8 else (1 + (b & 7) / 8) * 2.0 ** ((b >> 3) - 7) for b in range(127)])
    nearest = numpy.abs(numpy.abs(values.reshape(-1, 1)) - numbers).argmin(1)
    return (nearest | (values.reshape(-1) < 0) * 128).astype(numpy.uint8).tobytes()


def quantized_weight(kind, weight):
    """Constants, and inputs and attributes of the DequantizeLinear."""
    name = f"{kind}_q"
    scale = numpy.float32(1 / 448 if kind == "float8" else 1 / 32767)
    if kind.endswith("int4"):
        scale = numpy.abs(weight.reshape(4, 4, 16)).max(1) / 7 * (3 if kind == "int4" else 1)
        levels = weight / scale.repeat(4, axis=0)
    constants = [numpy_helper.from_array(numpy.array(scale, numpy.float32), f"{kind}_scale")]
    inputs = [name, f"{kind}_scale"]
    if kind == "int4":
        constants.append(stored(name, 22, (16, 16), four_bits(levels)))
    elif kind == "uint4":
        constants.append(stored(name, 21, (16, 16), four_bits(levels + 8)))
        constants.append(stored(f"{kind}_zero", 21, (4, 16), four_bits(numpy.full((4, 16), 8))))
        inputs.append(f"{kind}_zero")
    elif kind == "float8":
        constants.append(stored(name, 17, (16, 16), float8(weight / scale)))
    else:
        constants.append(stored(name, 5, (16, 16), numpy.rint(weight / scale).astype(numpy.int16).tobytes()))
    return constants, inputs, {"axis": 0, "block_size": 4} if kind.endswith("int4") else {}


def refused(result):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "step", "zero"], ["i"]),
        helper.make_node("DequantizeLinear", ["i", "step", "zero"], ["d"]),
        helper.make_node("AveragePool", ["d"], ["p"], name="pool", kernel_shape=[3, 3], dilations=[2, 2]),
        helper.make_node("QuantizeLinear", ["p", "step", "zero"], ["o"]),
        helper.make_node("DequantizeLinear", ["o", "step", "zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "refused", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 9, 9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 5, 5])],
        [numpy_helper.from_array(numpy.float32(0.05), "step"), numpy_helper.from_array(numpy.uint8(128), "zero")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), result)


def random(result):
    nodes = [
        helper.make_node("RandomNormal", [], ["r"], shape=[8, 8]),
        helper.make_node("Add", ["x", "r"], ["s"]),
        helper.make_node("QuantizeLinear", ["s", "step"], ["i"]),
        helper.make_node("DequantizeLinear", ["i", "step"], ["d"]),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 8])],
        [numpy_helper.from_array(numpy.float32(0.05), "step")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), result)


def types(float_path, quantized_path):
    kinds = ["int4", "uint4", "float8", "int16"]
    random = numpy.random.default_rng(1)
    weights = {kind: random.uniform(-1, 1, (16, 16)).astype(numpy.float32) for kind in kinds}
    nodes, changed, constants, before = [], [], [stored("zero", 4, (), b"\x00\x80")], "x"
    for kind, weight in weights.items():
        after = "y" if kind == kinds[-1] else f"{kind}_made"
        scale = numpy.array((2 if before == "x" else 40) / 32768, numpy.float32)
        constants.append(numpy_helper.from_array(scale, f"{kind}_read_scale"))
        more, inputs, attributes = quantized_weight(kind, weight)
        constants += more
        nodes.append(helper.make_node("MatMul", [before, kind], [after], name=f"product_{kind}"))
        parameters = [f"{kind}_read_scale", "zero"]
        changed += [
            helper.make_node("QuantizeLinear", [before] + parameters, [f"{kind}_read_q"]),
            helper.make_node("DequantizeLinear", [f"{kind}_read_q"] + parameters, [f"{kind}_read"]),
            helper.make_node("DequantizeLinear", inputs, [f"{kind}_d"], **attributes),
            helper.make_node("MatMul", [f"{kind}_read", f"{kind}_d"], [after], name=f"product_{kind}"),
        ]
        before = after
    weights = [numpy_helper.from_array(weight, kind) for kind, weight in weights.items()]
    for path, made, held in (float_path, nodes, weights), (quantized_path, changed, constants):
        graph = helper.make_graph(made, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])], held)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


if __name__ == "__main__":
    commands = {"make": make, "computed": computed, "show": show, "weights": weights, "types": types, "unusual": unusual,
                "chain": chain, "problems": problems, "repaired": repaired,
                "thrice": thrice, "relu": relu, "random": random, "refused": refused, "bias": bias,
                "float-weight": float_weight, "scores": scores,
                "clipping": clipping, "transposed": transposed, "saturating": saturating, "outlier": outlier}
    commands[sys.argv[1]](*sys.argv[2:])
