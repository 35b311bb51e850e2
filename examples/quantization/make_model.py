"""Makes float.onnx, three convolutions and a classifier, and quantized.onnx: the same in 8 bits, with two bad scales."""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.RandomState(0)
CHANNELS = [4, 8, 8, 8]
# What is wrong: the range of one activation is an eighth of what it should be, the steps of one weight are too wide.
BAD_SCALES = {"relu_1": 1 / 8, "conv_3_weight": 24}


def make_float():
    nodes, constants, x = [], [], "x"
    for i in range(1, len(CHANNELS)):
        shape = (CHANNELS[i], CHANNELS[i - 1], 3, 3)
        weight = RANDOM.normal(0, numpy.sqrt(2 / numpy.prod(shape[1:])), shape).astype(numpy.float32)
        constants.append(numpy_helper.from_array(weight, f"conv_{i}_weight"))
        nodes.append(helper.make_node("Conv", [x, f"conv_{i}_weight"], [f"conv_{i}"], f"conv_{i}", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"conv_{i}"], [f"relu_{i}"], f"relu_{i}"))
        x = f"relu_{i}"
    constants.append(numpy_helper.from_array(RANDOM.normal(0, 1, (8, 10)).astype(numpy.float32), "classifier_weight"))
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["pooled"], "pool"))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"], "flatten"))
    nodes.append(helper.make_node("MatMul", ["flat", "classifier_weight"], ["y"], "classifier"))
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 12, 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def convolve(x, weight):
    padded = numpy.pad(x, ((0, 0), (1, 1), (1, 1)))
    windows = [padded[:, i : i + x.shape[1], k : k + x.shape[2]] for i in range(3) for k in range(3)]
    return numpy.einsum("ock,kchw->ohw", weight.reshape(*weight.shape[:2], 9), numpy.stack(windows))


def find_ranges(weights):
    """The largest element of each tensor that a convolution or the classifier reads; the least is 0."""
    ranges = {"x": 1.0}
    for _ in range(4):
        x = RANDOM.uniform(0, 1, (4, 12, 12))
        for i in range(1, len(CHANNELS)):
            x = numpy.maximum(convolve(x, weights[f"conv_{i}_weight"]), 0)
            name = f"relu_{i}" if i < len(CHANNELS) - 1 else "flat"
            ranges[name] = max(ranges.get(name, 0), (x if name != "flat" else x.mean(axis=(1, 2))).max())
    return ranges


def quantize(model):
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    ranges = find_ranges(weights)
    nodes, constants, readers = [], [], {}

    def add_scale(name, scale, zero_point):
        scale = numpy.float32(scale * BAD_SCALES.get(name, 1))
        constants.append(numpy_helper.from_array(scale, name + "_scale"))
        constants.append(numpy_helper.from_array(zero_point, name + "_zero_point"))
        readers[name] = name + "_dequantized"
        return scale

    def add_pair(name):
        add_scale(name, ranges[name] / 255, numpy.uint8(0))
        parameters = [name + "_scale", name + "_zero_point"]
        nodes.append(helper.make_node("QuantizeLinear", [name] + parameters, [name + "_q"], name + "_quantize"))
        nodes.append(helper.make_node("DequantizeLinear", [name + "_q"] + parameters, [readers[name]], name + "_dequantize"))

    for name, weight in weights.items():
        scale = add_scale(name, numpy.abs(weight).max() / 127, numpy.int8(0))
        stored = numpy.clip(numpy.rint(weight / scale), -128, 127).astype(numpy.int8)
        constants.append(numpy_helper.from_array(stored, name + "_q"))
        parameters = [name + "_q", name + "_scale", name + "_zero_point"]
        nodes.append(helper.make_node("DequantizeLinear", parameters, [readers[name]], name + "_dequantize"))
    add_pair("x")
    for node in model.graph.node:
        inputs = [readers.get(name, name) for name in node.input]
        changed = onnx.NodeProto()
        changed.CopyFrom(node)
        changed.ClearField("input")
        changed.input.extend(inputs)
        nodes.append(changed)
        if node.output[0] in ranges:
            add_pair(node.output[0])
    graph = helper.make_graph(nodes, "classifier", list(model.graph.input), list(model.graph.output), constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


if __name__ == "__main__":
    float_model = make_float()
    onnx.save(float_model, "float.onnx")
    quantized = quantize(float_model)
    onnx.checker.check_model(quantized, full_check=True)
    onnx.save(quantized, "quantized.onnx")
