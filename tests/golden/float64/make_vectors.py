#!/usr/bin/env python3
"""make_vectors.py [FOLDER]: golden values of operators, computed by mpmath with 60 digits from float32 inputs.

Writes operators.onnx, a model in which each node has inputs of its own and whose outputs are called like the cases;
inputs.npz; and expected.npz, float64, which backend/exact has to reach. Needs onnx, numpy and mpmath.
"""

import itertools
import os
import sys

import mpmath
import numpy
import onnx
from mpmath import mpf
from onnx import TensorProto, helper, numpy_helper

mpmath.mp.dps = 60
random = numpy.random.RandomState(28)
nodes, inputs, expected, kinds = [], {}, {}, {}
exact = numpy.vectorize(lambda x: mpf(float(x)), otypes=[object])
TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8}


def case(name, operator, arrays, formula, outputs=None, skip=(), **attributes):
    """`skip`: positions of inputs that are omitted, before which the arrays go on."""
    names = []
    for i, array in enumerate(arrays):
        while len(names) in skip:
            names.append("")
        names.append(f"{name}.{i}")
        inputs[names[-1]] = array
    nodes.append(helper.make_node(operator, names, outputs or [name], name=name, **attributes))
    wide = [exact(array) if array.dtype.kind == "f" else array for array in arrays]
    result = numpy.asarray(formula(*wide))
    expected[name] = numpy.vectorize(float, otypes=[numpy.float64])(result) if result.size else result


def each(function):
    return numpy.vectorize(function, otypes=[object])


def normal(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(numpy.float32)


def positive(*shape):
    return numpy.exp(normal(*shape, scale=3)).astype(numpy.float32)


half, one = mpf(1) / 2, mpf(1)
wide = numpy.concatenate([normal(40, scale=4), numpy.float32([0, -0.0, 1e-30, -1e-7, 30, -30, 87, -87])])
unit = (random.uniform(-1, 1, 24)).astype(numpy.float32)
f32 = lambda value: mpf(float(numpy.float32(value)))


def nearest(x):
    below = mpmath.floor(x)
    if x - below == half:
        return below if int(below) % 2 == 0 else below + 1
    return mpmath.floor(x + half)


for operator, array, function in [
    ("Exp", wide, mpmath.exp), ("Log", positive(32), mpmath.log), ("Sqrt", positive(32), mpmath.sqrt),
    ("Reciprocal", positive(32), lambda x: 1 / x), ("Sin", wide, mpmath.sin), ("Cos", wide, mpmath.cos),
    ("Tan", wide, mpmath.tan), ("Asin", unit, mpmath.asin), ("Acos", unit, mpmath.acos), ("Atan", wide, mpmath.atan),
    ("Sinh", wide, mpmath.sinh), ("Cosh", wide, mpmath.cosh), ("Tanh", wide, mpmath.tanh),
    ("Asinh", wide, mpmath.asinh), ("Acosh", 1 + positive(24), mpmath.acosh), ("Atanh", unit, mpmath.atanh),
    ("Erf", wide, mpmath.erf), ("Sigmoid", wide, lambda x: 1 / (1 + mpmath.exp(-x))),
    ("Softplus", wide, lambda x: mpmath.log(1 + mpmath.exp(x))), ("Softsign", wide, lambda x: x / (1 + abs(x))),
    ("Mish", wide, lambda x: x * mpmath.tanh(mpmath.log(1 + mpmath.exp(x)))), ("Abs", wide, abs),
    ("Neg", wide, lambda x: -x), ("Relu", wide, lambda x: max(x, mpf(0))), ("Sign", wide, mpmath.sign),
    ("Floor", wide, mpmath.floor), ("Ceil", wide, mpmath.ceil),
    ("Round", numpy.float32([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 7.25, -3.75]), nearest),
    ("HardSwish", wide, lambda x: x * max(mpf(0), min(one, x / 6 + half))),
    ("Gelu", wide, lambda x: x * half * mpmath.erfc(-x / mpmath.sqrt(2))),
]:
    case(operator, operator, [array], each(function))
case("LeakyRelu", "LeakyRelu", [wide], each(lambda x: x if x >= 0 else f32(0.2) * x), alpha=0.2)
case("Elu", "Elu", [wide], each(lambda x: x if x >= 0 else f32(1.5) * (mpmath.exp(x) - 1)), alpha=1.5)
case("Selu", "Selu", [wide], each(lambda x: f32(1.05070102214813232421875) * (x if x > 0 else
     f32(1.67326319217681884765625) * (mpmath.exp(x) - 1))))
case("Celu", "Celu", [wide], each(lambda x: max(mpf(0), x) + min(mpf(0), f32(0.7) * (mpmath.exp(x / f32(0.7)) - 1))),
     alpha=0.7)
case("HardSigmoid", "HardSigmoid", [wide], each(lambda x: max(mpf(0), min(one, f32(0.2) * x + f32(0.5)))))
case("GeluTanh", "Gelu", [wide], each(lambda x: half * x * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) *
     (x + mpf("0.044715") * x**3)))), approximate="tanh")

for operator, function in [("Add", lambda a, b: a + b), ("Sub", lambda a, b: a - b), ("Mul", lambda a, b: a * b),
                           ("Div", lambda a, b: a / b)]:
    case(operator, operator, [normal(2, 3, 4), normal(3, 1)], function)
case("Pow", "Pow", [positive(3, 4), normal(4)], each(lambda a, b: mpmath.power(a, b)))
case("Max", "Max", [normal(3, 4), normal(4), normal(3, 1)], lambda *a: each(max)(*a))
case("Mean", "Mean", [normal(3, 4), normal(4)], lambda a, b: (a + b) / 2)
case("PRelu", "PRelu", [normal(3, 4), normal(4)], each(lambda a, b: a if a >= 0 else a * b))

case("MatMul", "MatMul", [normal(2, 1, 3, 40), normal(5, 40, 4)],
     lambda a, b: numpy.stack([numpy.stack([a[i, 0].dot(b[j]) for j in range(5)]) for i in range(2)]))
case("MatMulVector", "MatMul", [normal(40), normal(40, 4)], lambda a, b: a.dot(b))
case("Gemm", "Gemm", [normal(40, 3), normal(4, 40), normal(4)],
     lambda a, b, c: f32(0.3) * a.T.dot(b.T) + f32(1.7) * c, transA=1, transB=1, alpha=0.3, beta=1.7)


def convolve(x, w, bias, strides, dilations, pads, group):
    """NCHW, OIHW; by its definition."""
    features, channels, rows, columns = w.shape
    size = [(x.shape[2 + i] + pads[i] + pads[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1
            for i in range(2)]
    ret = numpy.empty((x.shape[0], features, *size), object)
    for n, f, i, j in itertools.product(range(x.shape[0]), range(features), range(size[0]), range(size[1])):
        total = bias[f]
        for c, k, m in itertools.product(range(channels), range(rows), range(columns)):
            row, column = i * strides[0] - pads[0] + k * dilations[0], j * strides[1] - pads[1] + m * dilations[1]
            if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                total += x[n, f // (features // group) * channels + c, row, column] * w[f, c, k, m]
        ret[n, f, i, j] = total
    return ret


case("Conv", "Conv", [normal(2, 4, 7, 6), normal(6, 2, 3, 2), normal(6)],
     lambda x, w, b: convolve(x, w, b, [2, 1], [1, 2], [1, 0, 2, 1], 2), strides=[2, 1], dilations=[1, 2],
     pads=[1, 0, 2, 1], group=2)


def pooled(x, function, size, stride, pad):
    count = [(x.shape[2 + i] + 2 * pad - size) // stride + 1 for i in range(2)]
    ret = numpy.empty((*x.shape[:2], *count), object)
    for n, c, i, j in itertools.product(range(x.shape[0]), range(x.shape[1]), range(count[0]), range(count[1])):
        rows = range(max(0, i * stride - pad), min(x.shape[2], i * stride - pad + size))
        columns = range(max(0, j * stride - pad), min(x.shape[3], j * stride - pad + size))
        ret[n, c, i, j] = function([x[n, c, k, m] for k in rows for m in columns])
    return ret


case("MaxPool", "MaxPool", [normal(1, 2, 7, 6)], lambda x: pooled(x, max, 3, 2, 1), kernel_shape=[3, 3],
     strides=[2, 2], pads=[1] * 4)
case("AveragePool", "AveragePool", [normal(1, 2, 7, 6)], lambda x: pooled(x, lambda v: sum(v) / len(v), 3, 2, 1),
     kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
case("AveragePoolOfPads", "AveragePool", [normal(1, 2, 7, 6)], lambda x: pooled(x, lambda v: sum(v) / 9, 3, 2, 1),
     kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=1)
case("GlobalAveragePool", "GlobalAveragePool", [normal(2, 3, 5, 4)],
     lambda x: x.sum(axis=(2, 3), keepdims=True) / 20)


def reduced(function):
    def formula(x, axes):
        rows = numpy.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
        return each(lambda i: function(list(rows[i])))(numpy.arange(len(rows))).reshape(x.shape[0], 1, x.shape[2])
    return formula


for operator, function in [
    ("ReduceSum", sum), ("ReduceMean", lambda v: sum(v) / len(v)), ("ReduceMax", max), ("ReduceMin", min),
    ("ReduceProd", mpmath.fprod), ("ReduceL1", lambda v: sum(abs(x) for x in v)),
    ("ReduceL2", lambda v: mpmath.sqrt(sum(x * x for x in v))), ("ReduceSumSquare", lambda v: sum(x * x for x in v)),
    ("ReduceLogSumExp", lambda v: mpmath.log(sum(mpmath.exp(x) for x in v))),
]:
    case(operator, operator, [normal(2, 50, 3), numpy.int64([-2])], reduced(function))
case("CumSum", "CumSum", [normal(3, 20), numpy.int64(1)], lambda x, axis: numpy.cumsum(x, axis=1))


def softmax(x, axis):
    powers = each(mpmath.exp)(x)
    return powers / powers.sum(axis=axis, keepdims=True)


def normalized(x, axes, epsilon, count):
    x = x - x.sum(axis=axes, keepdims=True) / count
    return x / each(mpmath.sqrt)((x * x).sum(axis=axes, keepdims=True) / count + f32(epsilon))


case("Softmax", "Softmax", [normal(2, 30, 3, scale=8)], lambda x: softmax(x, 1), axis=1)
case("LogSoftmax", "LogSoftmax", [normal(4, 30, scale=8)], lambda x: each(mpmath.log)(softmax(x, -1)))
case("LayerNormalization", "LayerNormalization", [1000 + normal(3, 40), normal(40), normal(40)],
     lambda x, s, b: normalized(x, -1, 1e-5, 40) * s + b)
case("InstanceNormalization", "InstanceNormalization", [normal(2, 3, 5, 4), normal(3), normal(3)],
     lambda x, s, b: normalized(x, (2, 3), 1e-5, 20) * s.reshape(1, 3, 1, 1) + b.reshape(1, 3, 1, 1))
case("GroupNormalization", "GroupNormalization", [normal(2, 4, 5), normal(4), normal(4)],
     lambda x, s, b: normalized(x.reshape(2, 2, 10), 2, 1e-3, 10).reshape(2, 4, 5) * s.reshape(1, 4, 1) +
     b.reshape(1, 4, 1), num_groups=2, epsilon=1e-3)
case("BatchNormalization", "BatchNormalization", [normal(2, 3, 4), normal(3), normal(3), normal(3), positive(3)],
     lambda x, s, b, m, v: (x - m.reshape(1, 3, 1)) / each(mpmath.sqrt)(v.reshape(1, 3, 1) + f32(1e-5)) *
     s.reshape(1, 3, 1) + b.reshape(1, 3, 1))
case("LpNormalization", "LpNormalization", [normal(3, 20)],
     lambda x: x / each(mpmath.sqrt)((x * x).sum(axis=1, keepdims=True)), axis=1)
case("DequantizeLinear", "DequantizeLinear", [random.randint(0, 255, (3, 4)).astype(numpy.uint8), positive(3),
     numpy.uint8([0, 128, 255])], lambda x, s, z: (x.astype(int) - z.astype(int).reshape(3, 1)) * s.reshape(3, 1),
     axis=0)

# What only moves elements, by numpy.
x = normal(2, 5, 6)
case("Transpose", "Transpose", [x], lambda x: x.transpose(2, 0, 1), perm=[2, 0, 1])
case("Slice", "Slice", [x, numpy.int64([-1, 0]), numpy.int64([-100, 5]), numpy.int64([1, 2]), numpy.int64([-2, 3])],
     lambda x, *rest: x[:, ::-2, 0:5:3])
case("Concat", "Concat", [x, normal(2, 3, 6)], lambda a, b: numpy.concatenate([a, b], 1), axis=1)
case("Gather", "Gather", [x, numpy.int64([[3, -1], [0, 2]])], lambda x, i: numpy.take(x, i, 1), axis=1)
case("Pad", "Pad", [x, numpy.int64([0, 2, 1, 1, 0, 3])],
     lambda x, pads: numpy.pad(x, [(0, 1), (2, 0), (1, 3)], "reflect"), mode="reflect")
case("Tile", "Tile", [x, numpy.int64([2, 1, 3])], lambda x, r: numpy.tile(x, (2, 1, 3)))
case("Expand", "Expand", [normal(5, 1), numpy.int64([3, 1, 4])], lambda x, s: numpy.broadcast_to(x, (3, 5, 4)))
case("Reshape", "Reshape", [x, numpy.int64([0, -1, 2])], lambda x, s: x.reshape(2, 15, 2))
case("ArgMax", "ArgMax", [x], lambda x: numpy.argmax(x.astype(float), 1)[:, None], axis=1)
case("Clip", "Clip", [wide, numpy.float32(-1.5), numpy.float32(2.25)],
     each(lambda x, low, high: max(low, min(high, x))))



def transposed(x, w, b, stride, pad, more, group):
    channels, features = x.shape[1] // group, w.shape[1]
    size = [stride * (x.shape[2 + i] - 1) + more + w.shape[2 + i] - 2 * pad for i in range(2)]
    ret = numpy.full((x.shape[0], features * group, *size), mpf(0), object) + b.reshape(1, -1, 1, 1)
    for n, c, f, i, j, k, m in itertools.product(*map(range, (x.shape[0], x.shape[1], features, *x.shape[2:],
                                                              *w.shape[2:]))):
        row, column = i * stride + k - pad, j * stride + m - pad
        if 0 <= row < size[0] and 0 <= column < size[1]:
            ret[n, c // channels * features + f, row, column] += x[n, c, i, j] * w[c, f, k, m]
    return ret


case("ConvTranspose", "ConvTranspose", [normal(2, 4, 3, 4), normal(4, 3, 3, 2), normal(6)],
     lambda x, w, b: transposed(x, w, b, 2, 1, 1, 2), strides=[2, 2], pads=[1] * 4, output_padding=[1, 1], group=2)
case("Einsum", "Einsum", [normal(2, 4, 3, 5), normal(2, 6, 3, 5)],
     lambda q, k: numpy.array([[[[sum(q[b, i, h] * k[b, j, h]) for j in range(6)] for i in range(4)]
                                for h in range(3)] for b in range(2)]), equation="bqhd,bkhd->bhqk")
case("EinsumDiagonal", "Einsum", [normal(4, 4, 3)], lambda x: numpy.array([sum(x[i, i]) for i in range(4)]),
     equation="iij->i")
case("GatherElements", "GatherElements", [x, numpy.int64(random.randint(-5, 5, (2, 3, 6)))],
     lambda x, i: numpy.take_along_axis(x, i % 5, 1), axis=1)


def scattered(x, i, updates):
    ret = x.copy()
    numpy.put_along_axis(ret, i % 5, updates, 1)
    return ret


case("ScatterElements", "ScatterElements", [x, numpy.int64([[[4] * 6, [-5] * 6]] * 2), normal(2, 2, 6)], scattered, axis=1)
case("TopK", "TopK", [x, numpy.int64([3])], lambda x, k: numpy.sort(x, 1)[:, :-4:-1], outputs=["TopK", "TopKIndices"],
     axis=1)
expected["TopKIndices"] = numpy.argsort(-x, 1, kind="stable")[:, :3].astype(float)
sigmoid, tanh = each(lambda v: 1 / (1 + mpmath.exp(-v))), each(mpmath.tanh)


def recurrent(step, gates):
    def formula(x, w, r, b, state, *cell):
        rows = []
        for d in range(w.shape[0]):
            h, c = state[d], cell[0][d] if cell else None
            wb, rb = b[d][:len(b[d]) // 2], b[d][len(b[d]) // 2:]
            made = []
            for item in x if d == 0 else x[::-1]:
                h, c = step(numpy.split(item.dot(w[d].T) + wb, gates, 1), h, c, r[d], rb)
                made.append(h)
            rows.append(made if d == 0 else made[::-1])
        return numpy.array(rows).transpose(1, 0, 2, 3)
    return formula


def lstm_step(a, h, c, r, rb):
    i, o, f, g = [p + q for p, q in zip(a, numpy.split(h.dot(r.T) + rb, 4, 1))]
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


def gru_step(is_last):
    def step(a, h, c, r, rb):
        z, s, n = numpy.split(h.dot(r.T) + rb, 3, 1)
        z, s = sigmoid(a[0] + z), sigmoid(a[1] + s)
        size = h.shape[1]
        n = tanh(a[2] + (s * n if is_last else (s * h).dot(r[2 * size:].T) + rb[2 * size:]))
        return (1 - z) * n + z * h, c
    return step


case("LSTM", "LSTM", [normal(5, 2, 3), normal(2, 16, 3), normal(2, 16, 4), normal(2, 32), normal(2, 2, 4), normal(2, 2, 4)],
     recurrent(lstm_step, 4), skip=[4], hidden_size=4, direction="bidirectional")
for is_last in 0, 1:
    case(f"GRU{is_last}", "GRU", [normal(5, 2, 3), normal(1, 12, 3), normal(1, 12, 4), normal(1, 24), normal(1, 2, 4)],
         recurrent(gru_step(is_last), 3), skip=[4], hidden_size=4, linear_before_reset=is_last)
case("RNN", "RNN", [normal(5, 2, 3), normal(1, 4, 3), normal(1, 4, 4), normal(1, 8), normal(1, 2, 4)],
     recurrent(lambda a, h, c, r, rb: (tanh(a[0] + h.dot(r.T) + rb), c), 1), skip=[4], hidden_size=4)


def interpolated(x, size, coordinate):
    for axis, count in enumerate(size):
        rows = []
        for k in range(count):
            at = min(max(coordinate(k, x.shape[axis], count), mpf(0)), mpf(x.shape[axis] - 1))
            low = int(mpmath.floor(at))
            high = min(low + 1, x.shape[axis] - 1)
            rows.append(numpy.take(x, low, axis) * (1 - (at - low)) + numpy.take(x, high, axis) * (at - low))
        x = numpy.stack(rows, axis)
    return x


case("ResizeNearest", "Resize", [normal(1, 2, 3, 4), numpy.float32([1, 1, 2, 2])],
     lambda x, s: x.repeat(2, 2).repeat(2, 3), skip=[1], mode="nearest", coordinate_transformation_mode="asymmetric",
     nearest_mode="floor")
case("ResizeLinear", "Resize", [normal(1, 2, 3, 4), numpy.int64([1, 2, 5, 7])],
     lambda x, s: interpolated(x, [1, 2, 5, 7], lambda k, a, b: (k + half) * a / mpf(b) - half), skip=[1, 2],
     mode="linear")
case("ResizeCorners", "Resize", [normal(1, 2, 5, 4), numpy.int64([1, 2, 3, 6])],
     lambda x, s: interpolated(x, [1, 2, 3, 6], lambda k, a, b: mpf(k) * (a - 1) / (b - 1) if b > 1 else mpf(0)),
     skip=[1, 2], mode="linear", coordinate_transformation_mode="align_corners")

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
graph = helper.make_graph(
    nodes, "operators",
    [helper.make_tensor_value_info(name, TYPES[array.dtype.name], array.shape) for name, array in inputs.items()],
    [helper.make_tensor_value_info(name, TensorProto.INT64 if name in ("ArgMax", "TopKIndices") else TensorProto.FLOAT, array.shape)
     for name, array in expected.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
model.ir_version = 10
onnx.checker.check_model(model)
onnx.save(model, os.path.join(folder, "operators.onnx"))
numpy.savez_compressed(os.path.join(folder, "inputs.npz"), **inputs)
numpy.savez_compressed(os.path.join(folder, "expected.npz"), **expected)
