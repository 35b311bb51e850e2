#!/usr/bin/env python3
"""make.py: makes the networks of README.md's table.

    python3 make.py [FOLDER [SEED]]

Each function below that is marked with @network is one of them, and its docstring says where the fault strikes. The
weights are random numbers; another SEED makes others. Nothing but Python's standard library is needed.
"""

import math
import os
import random
import sys

import onnx_file
from onnx_file import INT64

NETWORKS = []


def network(function):
    NETWORKS.append(function)
    return function


class Network:
    """A network in the making. A method that adds a node returns the name of the tensor that it computes."""

    def __init__(self, name, seed):
        self.name, self.random = name, random.Random(name + seed)
        self.nodes, self.inputs, self.outputs, self.constants = [], [], [], []

    def input(self, name, shape):
        self.inputs.append(onnx_file.tensor(name, shape))
        return name

    def output(self, name, shape):
        self.outputs.append(onnx_file.tensor(name, shape))

    def constant(self, name, shape, values, element_type=onnx_file.FLOAT):
        self.constants.append(onnx_file.constant(name, shape, values, element_type))
        return name

    def scalar(self, name, value):
        return self.constant(name, [], [value])

    def weight(self, name, shape, size):
        """Random numbers whose mean square is size^2."""
        bound = size * math.sqrt(3)
        values = [self.random.uniform(-bound, bound) for _ in range(math.prod(shape))]
        return self.constant(name, shape, values)

    def add(self, name, op_type, *inputs, **attributes):
        self.nodes.append(onnx_file.node(op_type, inputs, [name + "_out"], name, **attributes))
        return name + "_out"

    def write(self, folder):
        data = onnx_file.model(self.name, self.nodes, self.inputs, self.outputs, self.constants)
        with open(os.path.join(folder, self.name + ".onnx"), "wb") as file:
            file.write(data)


# --- Parts of networks -------------------------------------------------------------------------------------------------


def linear(net, scope, x, width, to, size=1.0):
    """x W + b, whose elements are about `size` times as large as those of x."""
    weight = net.weight(f"{scope}/weight", [width, to], size / math.sqrt(width))
    bias = net.weight(f"{scope}/bias", [to], 0.1 * size)
    return net.add(f"{scope}/add", "Add", net.add(f"{scope}/matmul", "MatMul", x, weight), bias)


def rms_norm(net, scope, x, epsilon=1e-5):
    """x / sqrt(mean(x^2) + epsilon) over the last axis."""
    square = net.add(f"{scope}/square", "Mul", x, x)
    mean = net.add(f"{scope}/mean", "ReduceMean", square, axes=[-1], keepdims=1)
    sum_ = net.add(f"{scope}/add_epsilon", "Add", mean, net.scalar(f"{scope}/epsilon", epsilon))
    return net.add(f"{scope}/div", "Div", x, net.add(f"{scope}/sqrt", "Sqrt", sum_))


def layer_norm(net, scope, x, width):
    """The same in one node, with a mean that is taken off."""
    scale = net.constant(f"{scope}/scale", [width], [net.random.uniform(0.8, 1.2) for _ in range(width)])
    return net.add(f"{scope}/normalize", "LayerNormalization", x, scale, axis=-1)


def attention(net, scope, x, width):
    """x + softmax(q k^T / sqrt(width)) v W."""
    normed = rms_norm(net, f"{scope}/norm", x)
    q = linear(net, f"{scope}/q", normed, width, width)
    k = linear(net, f"{scope}/k", normed, width, width)
    v = linear(net, f"{scope}/v", normed, width, width)
    transposed = net.add(f"{scope}/transpose", "Transpose", k, perm=[0, 2, 1])
    scores = net.add(f"{scope}/scores", "MatMul", q, transposed)
    scaled = net.add(f"{scope}/scale", "Mul", scores, net.scalar(f"{scope}/factor", 1 / math.sqrt(width)))
    mixed = net.add(f"{scope}/mix", "MatMul", net.add(f"{scope}/softmax", "Softmax", scaled, axis=-1), v)
    return net.add(f"{scope}/residual", "Add", x, linear(net, f"{scope}/out", mixed, width, width))


def feed_forward(net, scope, x, width, inner, norm=rms_norm):
    """x + W2 relu(W1 norm(x))."""
    hidden = linear(net, f"{scope}/expand", norm(net, f"{scope}/norm", x), width, inner)
    active = net.add(f"{scope}/relu", "Relu", hidden)
    return net.add(f"{scope}/residual", "Add", x, linear(net, f"{scope}/contract", active, inner, width))


def convolution(net, scope, x, channels, to, kernel):
    weight = net.weight(f"{scope}/weight", [to, channels, kernel, kernel], 1 / (kernel * math.sqrt(channels)))
    bias = net.weight(f"{scope}/bias", [to], 0.1)
    pads = [kernel // 2] * 4
    return net.add(f"{scope}/conv", "Conv", x, weight, bias, kernel_shape=[kernel, kernel], pads=pads)


def residual_block(net, scope, x, channels, last_kernel=3):
    """relu(x + conv(relu(conv(x))) / 2), as in a ResNet."""
    first = net.add(f"{scope}/first/relu", "Relu", convolution(net, f"{scope}/first", x, channels, channels, 3))
    second = convolution(net, f"{scope}/second", first, channels, channels, last_kernel)
    half = net.add(f"{scope}/half", "Mul", second, net.scalar(f"{scope}/factor", 0.5)) if last_kernel == 3 else second
    return net.add(f"{scope}/relu", "Relu", net.add(f"{scope}/sum", "Add", half, x))


# --- The networks ------------------------------------------------------------------------------------------------------


@network
def overflow(net):
    """The squares of block2's hidden values, some hundreds, are beyond 65504; the norm's root brings them back."""
    x = net.input("x", [1, 12, 32])
    for block in 1, 2, 3:
        x = attention(net, f"block{block}/attention", x, 32)
        size = 800.0 if block == 2 else 1.0
        hidden = linear(net, f"block{block}/mlp/expand", x, 32, 48, size)
        normed = rms_norm(net, f"block{block}/mlp/norm", hidden)
        x = net.add(f"block{block}/residual", "Add", x, linear(net, f"block{block}/mlp/contract", normed, 48, 32))
    net.output(linear(net, "head", x, 32, 8), [1, 12, 8])


@network
def underflow(net):
    """Each norm has an epsilon of 1e-12. The one of `pool` sees rows of zeros, which only the epsilon keeps from 0/0."""
    x = net.input("x", [1, 12, 32])
    for block in 1, 2:
        x = attention(net, f"block{block}/attention", x, 32)
        x = feed_forward(net, f"block{block}/mlp", x, 32, 48)
    mask = net.constant("pool/mask", [1, 12, 1], [1.0] * 9 + [0.0] * 3)
    masked = net.add("pool/apply_mask", "Mul", x, mask)
    pooled = rms_norm(net, "pool/norm", masked, epsilon=1e-12)
    mean = net.add("pool/mean", "ReduceMean", pooled, axes=[1], keepdims=0)
    net.output(linear(net, "head", mean, 32, 8), [1, 8])


@network
def not_a_number(net):
    """`features/log` takes logarithms of powers from which a noise floor was subtracted: some are negative."""
    x = net.input("x", [1, 12, 32])
    bands = net.constant("features/bands", [32, 32], [net.random.uniform(0, 1 / 16) for _ in range(1024)])
    power = net.add("features/power", "MatMul", net.add("features/square", "Mul", x, x), bands)
    above = net.add("features/denoise", "Sub", power, net.scalar("features/noise", 0.25))
    x = net.add("features/log", "Log", above)
    for block in 1, 2:
        x = attention(net, f"block{block}/attention", x, 32)
        x = feed_forward(net, f"block{block}/mlp", x, 32, 48)
    net.output(linear(net, "head", x, 32, 8), [1, 12, 8])


def bottlenecks(net, widths):
    """Feed-forward blocks with a layer norm of 32 before and one of another width inside."""
    x = net.input("x", [1, 4, 32])
    for block, width in enumerate(widths, 1):
        scope = f"block{block}"
        narrow = linear(net, f"{scope}/narrow", layer_norm(net, f"{scope}/norm", x, 32), 32, width)
        inner = net.add(f"{scope}/relu", "Relu", layer_norm(net, f"{scope}/inner", narrow, width))
        x = net.add(f"{scope}/residual", "Add", x, linear(net, f"{scope}/widen", inner, width, 32))
    net.output(linear(net, "head", layer_norm(net, "norm", x, 32), 32, 8), [1, 4, 8])


@network
def kernel_in_one_layer(net):
    """Of thirteen norms one, block3/inner, is not a multiple of 16 wide."""
    bottlenecks(net, [16, 48, 40, 64, 16, 32])


@network
def kernel_in_five_layers(net):
    """Of fifteen norms five, those inside of the blocks 2 to 6, are not a multiple of 16 wide."""
    bottlenecks(net, [16, 24, 40, 20, 36, 44, 64])


def vector_block(net, scope, x, width):
    """x + relu(x W) W', of a single vector."""
    weight = net.weight(f"{scope}/in/weight", [width, width], 1 / math.sqrt(width))
    active = net.add(f"{scope}/relu", "Relu", net.add(f"{scope}/in", "MatMul", x, weight))
    weight = net.weight(f"{scope}/out/weight", [width, width], 1 / math.sqrt(width))
    return net.add(f"{scope}/residual", "Add", x, net.add(f"{scope}/out", "MatMul", active, weight))


@network
def fusion(net):
    """relu(x + h W) is there once, in `gate`: the other blocks have no relu behind the sum."""
    x = net.input("x", [1, 16])
    for block in range(1, 13):
        x = vector_block(net, f"block{block}", x, 16)
        if block == 6:
            weight = net.weight("gate/weight", [16, 16], 0.25)
            sum_ = net.add("gate/sum", "Add", net.add("gate/matmul", "MatMul", x, weight), x)
            x = net.add("gate/relu", "Relu", sum_)
        if block % 3 == 0:
            x = rms_norm(net, f"block{block}/norm", x)
    net.output(x, [1, 16])


def images(net, blocks, pointwise=None):
    """A convolutional network; the block of the number `pointwise` ends with a 1x1 convolution."""
    x = net.input("x", [1, 3, 12, 12])
    x = net.add("stem/relu", "Relu", convolution(net, "stem", x, 3, 8, 3))
    for block in range(1, blocks + 1):
        x = residual_block(net, f"block{block}", x, 8, 1 if block == pointwise else 3)
    mean = net.add("pool", "GlobalAveragePool", x)
    net.output(linear(net, "head", net.add("flatten", "Flatten", mean, axis=1), 8, 8), [1, 8])


@network
def fusion_of_a_compiler(net):
    """relu(x + conv(h)) with a 1x1 convolution is there once, in block5."""
    images(net, 9, pointwise=5)


@network
def rounding(net):
    """Activations are rounded to integers. In block2, `smooth` makes means of two of them, so that half of these end in
    .5: what `requantize` does with those is what `round half to even` says, or not. Elsewhere nothing lies that near."""
    x = net.input("x", [1, 12, 32])
    eight = net.scalar("levels", 8.0)
    for block in 1, 2, 3:
        scope = f"block{block}"
        x = attention(net, f"{scope}/attention", x, 32)
        levels = net.add(f"{scope}/quantize/scale", "Mul", rms_norm(net, f"{scope}/norm", x), eight)
        levels = net.add(f"{scope}/quantize/round", "Round", levels)
        if block == 2:
            halves = net.constant("block2/smooth/weight", [12, 12], smoothing(12))
            smooth = net.add("block2/smooth/matmul", "MatMul", halves, levels)
            levels = net.add("block2/requantize/round", "Round", smooth)
        x = net.add(f"{scope}/dequantize", "Div", levels, eight)
    net.output(linear(net, "head", x, 32, 8, size=4.0), [1, 12, 8])


def smoothing(size):
    """A matrix whose product with x holds the means of x's neighbouring rows."""
    return [0.5 if column in (row, (row + 1) % size) else 0.0 for row in range(size) for column in range(size)]


@network
def tactic(net):
    """`embed/unit` has two tactics of the same speed, one of which is wrong."""
    x = net.input("x", [1, 12, 32])
    for block in 1, 2:
        x = attention(net, f"block{block}/attention", x, 32)
        x = feed_forward(net, f"block{block}/mlp", x, 32, 48)
    x = net.add("embed/unit", "LpNormalization", linear(net, "embed", x, 32, 64), axis=-1, p=2)
    net.output(linear(net, "head", x, 64, 8, size=8.0), [1, 12, 8])


@network
def race(net):
    """`memory/scan`, the only running sum, is computed by workers of which the last is not always waited for."""
    x = net.input("x", [1, 12, 32])
    x = attention(net, "block1/attention", x, 32)
    x = feed_forward(net, "block1/mlp", x, 32, 48)
    decayed = net.add("memory/decay", "Mul", rms_norm(net, "memory/norm", x), net.scalar("memory/rate", 0.25))
    axis = net.constant("memory/axis", [], [1], INT64)
    x = net.add("memory/residual", "Add", x, net.add("memory/scan", "CumSum", decayed, axis))
    x = feed_forward(net, "block2/mlp", x, 32, 48)
    x = feed_forward(net, "block3/mlp", x, 32, 48)
    net.output(linear(net, "head", x, 32, 8), [1, 12, 8])


@network
def weight_layout(net):
    """The only square weight is block2/adapt/weight: its shape does not tell which axis is which."""
    x = net.input("x", [1, 12, 32])
    for block in range(1, 6):
        x = feed_forward(net, f"block{block}/mlp", x, 32, 48)
        if block == 2:
            x = net.add("block2/tanh", "Tanh", linear(net, "block2/adapt", x, 32, 32))
    net.output(linear(net, "head", x, 32, 8), [1, 12, 8])


@network
def sound(net):
    """Nothing is wrong here."""
    x = net.input("x", [1, 12, 32])
    for block in 1, 2:
        x = attention(net, f"block{block}/attention", x, 32)
        x = feed_forward(net, f"block{block}/mlp", x, 32, 48)
    net.output(linear(net, "head", x, 32, 8), [1, 12, 8])


@network
def sound_images(net):
    """Nothing is wrong here, in float16 either."""
    images(net, 9)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    seed = sys.argv[2] if len(sys.argv) > 2 else ""
    os.makedirs(folder, exist_ok=True)
    for function in NETWORKS:
        net = Network(function.__name__, seed)
        function(net)
        net.write(folder)


if __name__ == "__main__":
    main()
