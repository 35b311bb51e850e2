#!/usr/bin/env python3
"""four_bit_models.py: models with weights of 4 bits, one for each way to store them, and their errors with numpy.

make KIND FAULT FLOAT QUANTIZED   a float model and the same with weights of 4 bits. KIND: product (three MatMulNBits, the
                                  second one with zero points, the third one with a bias), groups (a MatMulNBits whose
                                  rows are in groups in another order), embedding (GatherBlockQuantized), experts (QMoE),
                                  blocks (DequantizeLinear in blocks). FAULT: none, or what is planted in the weight "w":
                                  scales (all times 8), scale (one), swap (two blocks of each line), shift (by a block),
                                  elements (shifted by one), halves (of each byte), zero (zero points 7 for 8), coarse
                                  (rounded with scales that are 4 times too large)
errors FLOAT QUANTIZED RESULT     for each weight of the result its error in dB according to the program and to numpy, and
                                  the share of levels that are not used; ends with status 1 where they differ
"""

import json
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE = 16  # elements of a block
DOMAIN = "com.microsoft"


def pack(integers):
    """Two in a byte along the last axis, the first one in the low half."""
    if integers.shape[-1] % 2:
        integers = numpy.concatenate([integers, numpy.zeros(integers.shape[:-1] + (1,), integers.dtype)], -1)
    return (integers[..., 0::2] | integers[..., 1::2] << 4).astype(numpy.uint8)


def unpack(data, length):
    """The inverse: `length` integers in each row."""
    integers = numpy.stack([data & 15, data >> 4], -1).reshape(data.shape[:-1] + (-1,))
    return integers[..., :length].astype(numpy.int64)


def quantize(lines, has_zero_points, fault="none"):
    """Integers [lines, blocks, SIZE] from 0 to 15, scales and zero points [lines, blocks] of a matrix [lines, length]."""
    count = -(-lines.shape[1] // SIZE)
    blocks = numpy.zeros((lines.shape[0], count * SIZE), numpy.float32)
    blocks[:, :lines.shape[1]] = lines
    blocks = blocks.reshape(lines.shape[0], count, SIZE)
    if has_zero_points:
        low, high = numpy.minimum(blocks.min(2), 0), numpy.maximum(blocks.max(2), 0)
        scales = (high - low) / 15
        zeros = numpy.rint(-low / scales).astype(numpy.int64)
    else:
        farthest = numpy.take_along_axis(blocks, numpy.abs(blocks).argmax(2)[..., None], 2)[..., 0]
        scales = farthest / -8  # as ONNX Runtime's quantizer: the farthest value has the lowest level
        zeros = numpy.full(scales.shape, 8)
    scales = scales.astype(numpy.float32) * numpy.float32(4 if fault == "coarse" else 1)
    integers = numpy.clip(numpy.rint(blocks / scales[..., None]) + zeros[..., None], 0, 15).astype(numpy.int64)
    if fault == "scales":
        scales *= 8
    elif fault == "scale":
        scales[5, 1] *= 8
    elif fault == "swap":
        integers[:, [0, 2]] = integers[:, [2, 0]]
    elif fault == "shift":
        integers = numpy.roll(integers, 1, 1)
    elif fault == "zero":
        zeros[:] = 7
    return integers, scales, zeros


def move_elements(integers, fault):
    """Faults of the order in a line, or in a byte."""
    if fault == "elements":
        return numpy.roll(integers.reshape(integers.shape[0], -1), 1, 1).reshape(integers.shape)
    if fault == "halves":
        return integers.reshape(-1, 2)[:, ::-1].reshape(integers.shape)
    return integers


def constant(name, array):
    return numpy_helper.from_array(numpy.ascontiguousarray(array), name)


def typed_constant(name, data_type, shape, integers):
    """A constant of a type that this onnx need not know: uint4 (21) or int4 (22)."""
    tensor = TensorProto()
    tensor.name, tensor.data_type, tensor.raw_data = name, data_type, pack(integers.reshape(-1) & 15).tobytes()
    tensor.dims.extend(shape)
    return tensor


class Models:
    """The nodes and constants of both models, side by side."""

    def __init__(self):
        self.random = numpy.random.default_rng(3)
        self.nodes, self.constants = ([], []), ([], [])

    def weight(self, *shape):
        return self.random.normal(size=shape).astype(numpy.float32) / numpy.float32(8)

    def both(self, *arguments, **attributes):
        for nodes in self.nodes:
            nodes.append(helper.make_node(*arguments, **attributes))

    def add(self, index, nodes, **constants):
        self.nodes[index].extend(nodes)
        self.constants[index].extend(constant(name, array) for name, array in constants.items())

    def product(self, name, x, y, rows, columns, fault="none", has_zero_points=False, bias=None, groups=None):
        weight = self.weight(rows, columns)
        order = numpy.arange(rows) if groups is None else numpy.argsort(groups, kind="stable")
        integers, scales, zeros = quantize(weight[order].T, has_zero_points, fault)
        integers = integers.reshape(columns, -1)
        if groups is not None:
            integers = integers[:, numpy.argsort(order)]
        integers = move_elements(integers, fault)
        product = y if bias is None else f"{name}_product"
        self.add(0, [helper.make_node("MatMul", [x, name], [product], name=f"{name}_node")], **{name: weight})
        inputs = [x, name, f"{name}_scales", "", "", ""]
        constants = {name: pack(integers.reshape(columns, -1, SIZE)), f"{name}_scales": scales.reshape(-1)}
        if has_zero_points or fault == "zero":
            inputs[3] = f"{name}_zeros"
            constants[inputs[3]] = pack(zeros)
        if groups is not None:
            inputs[4] = f"{name}_groups"
            constants[inputs[4]] = groups.astype(numpy.int32)
        if bias is not None:
            inputs[5] = f"{name}_bias"
            constants[inputs[5]] = bias
            self.add(0, [helper.make_node("Add", [product, inputs[5]], [y])], **{inputs[5]: bias})
        while inputs[-1] == "":
            inputs.pop()
        self.add(1, [helper.make_node("MatMulNBits", inputs, [y], name=f"{name}_node", domain=DOMAIN, K=rows, N=columns,
                                      bits=4, block_size=SIZE)], **constants)

    def save(self, paths, x, y, opset):
        for path, nodes, constants in zip(paths, self.nodes, self.constants):
            graph = helper.make_graph(nodes, "network", [x], [y], constants)
            imports = [helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)]
            onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8 if opset < 21 else 10), path)


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def make_product(models, fault, paths):
    models.product("up", "x", "a", 40, 48)
    models.both("Tanh", ["a"], ["b"])
    models.product("w", "b", "c", 48, 64, fault, has_zero_points=fault == "none")
    models.both("Tanh", ["c"], ["d"])
    models.product("down", "d", "y", 64, 32, bias=models.weight(32))
    models.save(paths, floats("x", 4, 40), floats("y", 4, 32), 17)


def make_groups(models, fault, paths):
    groups = models.random.permutation(numpy.arange(64) // SIZE)
    models.product("w", "x", "y", 64, 32, fault, groups=groups)
    models.save(paths, floats("x", 4, 64), floats("y", 4, 32), 17)


def make_embedding(models, fault, paths):
    weight = models.weight(20, 64)
    integers, scales, zeros = quantize(weight, False, fault)
    constants = {"w": pack(move_elements(integers.reshape(20, 64), fault)), "w_scales": scales}
    if fault == "zero":
        constants["w_zeros"] = pack(zeros)
    models.add(0, [helper.make_node("Gather", ["w", "ids"], ["e"], name="embedding")], w=weight)
    models.add(1, [helper.make_node("GatherBlockQuantized", ["w", "ids"] + list(constants)[1:], ["e"], name="embedding",
                                    domain=DOMAIN, gather_axis=0, quantize_axis=1, block_size=SIZE, bits=4)],
               **constants)
    models.product("head", "e", "y", 64, 32)
    models.save(paths, helper.make_tensor_value_info("ids", TensorProto.INT64, [5]), floats("y", 5, 32), 17)


def make_experts(models, fault, paths):
    weights = {"w": models.weight(3, 32, 64), "fc2": models.weight(3, 64, 32)}
    settings = {"domain": DOMAIN, "name": "moe", "activation_type": "gelu", "k": 2, "normalize_routing_weights": 1}
    router, constants, inputs = models.weight(64, 3), {}, ["x", "r"]
    for nodes, held in zip(models.nodes, models.constants):
        nodes.append(helper.make_node("MatMul", ["x", "router"], ["r"]))
        held.append(constant("router", router))
    for name, weight in weights.items():
        integers, scales, zeros = quantize(weight.reshape(-1, weight.shape[2]), False, fault if name == "w" else "none")
        integers = integers.reshape(-1, weight.shape[2])
        constants[name] = pack((move_elements(integers, fault) if name == "w" else integers).reshape(weight.shape))
        constants[f"{name}_scales"] = scales.reshape(weight.shape[0], weight.shape[1], -1)
        inputs += [name, f"{name}_scales", ""]
        if fault == "zero" and name == "w":
            constants["w_zeros"] = pack(zeros.reshape(weight.shape[0], weight.shape[1], -1))
    if fault == "zero":
        inputs += ["", "", "", "w_zeros"]
    models.add(0, [helper.make_node("MoE", ["x", "r", "w", "", "fc2"], ["y"], **settings)], **weights)
    models.add(1, [helper.make_node("QMoE", inputs, ["y"], expert_weight_bits=4, block_size=SIZE, **settings)],
               **constants)
    models.save(paths, floats("x", 5, 64), floats("y", 5, 64), 21)


def make_blocks(models, fault, paths):
    weight = models.weight(64, 32)
    integers, scales, zeros = quantize(weight.T, False, fault)
    integers = move_elements(integers.reshape(32, 64), fault).T
    models.add(0, [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], w=weight)
    models.constants[1].extend([typed_constant("w", 21, (64, 32), integers), constant("w_scales", scales.T),
                                typed_constant("w_zeros", 21, zeros.T.shape, zeros.T)])
    models.nodes[1].extend([
        helper.make_node("DequantizeLinear", ["w", "w_scales", "w_zeros"], ["d"], axis=0, block_size=SIZE),
        helper.make_node("MatMul", ["x", "d"], ["y"], name="product"),
    ])
    models.save(paths, floats("x", 4, 64), floats("y", 4, 32), 21)


def make(kind, fault, float_path, quantized_path):
    makers = {"product": make_product, "groups": make_groups, "embedding": make_embedding, "experts": make_experts,
              "blocks": make_blocks}
    makers[kind](Models(), fault, (float_path, quantized_path))


def read_constants(model):
    """Arrays; those of 4-bit types as bytes."""
    return {each.name: numpy.frombuffer(each.raw_data, numpy.uint8) if each.data_type > 20
            else numpy_helper.to_array(each) for each in model.graph.initializer}


def stored_weights(model):
    """For each weight of 4 bits its integers, scales and zero points, all in the shape of the float weight."""
    constants, ret = read_constants(model), {}

    def expand(array, axis, length):
        return numpy.repeat(array, SIZE, axis).take(numpy.arange(length), axis)

    for node in model.graph.node:
        inputs = [constants.get(name) for name in node.input]
        if node.op_type == "MatMulNBits":
            columns, blocks = inputs[1].shape[:2]
            rows = next(each.i for each in node.attribute if each.name == "K")
            integers = unpack(inputs[1], SIZE).reshape(columns, -1)[:, :rows].T
            scales = inputs[2].reshape(columns, blocks).T
            zeros = unpack(inputs[3], blocks).T if len(inputs) > 3 and inputs[3] is not None else scales * 0 + 8
            groups = numpy.arange(rows) // SIZE
            if len(inputs) > 4 and inputs[4] is not None:
                groups = inputs[4]
            ret[node.input[1]] = integers, scales[groups], zeros[groups]
        elif node.op_type == "GatherBlockQuantized":
            length = inputs[0].shape[1] * 2
            zeros = unpack(inputs[3], inputs[2].shape[1]) if len(inputs) > 3 else inputs[2] * 0 + 8
            ret[node.input[0]] = unpack(inputs[0], length), expand(inputs[2], 1, length), expand(zeros, 1, length)
        elif node.op_type == "QMoE":
            for i in 2, 5:
                length, blocks = inputs[i].shape[2] * 2, inputs[i + 1].shape[2]
                zeros = inputs[i + 1] * 0 + 8
                if i == 2 and len(inputs) > 11:
                    zeros = unpack(inputs[11], blocks)
                ret[node.input[i]] = unpack(inputs[i], length), expand(inputs[i + 1], 2, length), expand(zeros, 2, length)
        elif node.op_type == "DequantizeLinear":
            shape = next(list(each.dims) for each in model.graph.initializer if each.name == node.input[0])
            integers = unpack(inputs[0], shape[0] * shape[1]).reshape(shape)
            zeros = unpack(inputs[2], inputs[1].size).reshape(inputs[1].shape)
            ret[node.input[0]] = integers, expand(inputs[1], 0, shape[0]), expand(zeros, 0, shape[0])
    return ret


def errors(float_path, quantized_path, result_path):
    plain = read_constants(onnx.load(float_path))
    stored = stored_weights(onnx.load(quantized_path))
    with open(result_path, encoding="utf-8") as file:
        rows = {row["name"]: row for row in json.load(file)["quantizers"]}
    same = True
    for name, (integers, scales, zeros) in stored.items():
        weight = plain[name].astype(numpy.float64)
        difference = weight - (integers - zeros) * scales.astype(numpy.float64)
        own = 10 * numpy.log10((weight ** 2).sum() / (difference ** 2).sum())
        unused = 1 - (integers.max() - integers.min() + 1) / 16
        same &= abs(rows[name]["own"] - own) < 0.001 and abs(rows[name]["unused"] - unused) < 1e-6
        print(f"| `{name}` | {rows[name]['own']:.3f} | {own:.3f} | {100 * rows[name]['unused']:.2f} % |")
    sys.exit(not same)


if __name__ == "__main__":
    {"make": make, "errors": errors}[sys.argv[1]](*sys.argv[2:])
