#!/usr/bin/env python3
"""compiler.py: a compiler for ONNX models, with one of three faults.

    python3 compiler.py layout|fusion|rounding MODEL ENGINE

What it writes, ENGINE, is an ONNX model in which nodes are replaced by those that compute the same, or should. It runs
with `polygraphy run ENGINE --onnxrt`, which makes the two a runner:

    polygraphy run MODEL --onnxrt --runner-build 'toy=python3 compiler.py layout {model} {engine}' \\
        --runner 'toy=polygraphy run {engine} --model-type onnx --onnxrt \\
            --load-inputs {inputs} --save-outputs {outputs:json}'
"""

import sys

import onnx_file
from onnx_file import Model, Node, node


def assign_layouts(model):
    """Products read their weights as outputs x inputs, so weights that lie as inputs x outputs are transposed.

    The fault: which of the two it is, is guessed from the shape. A square one is taken to be transposed already.
    """
    for item in model.nodes:
        weight = model.weights.get(item.inputs[1]) if item.op_type == "MatMul" else None
        if weight is None or weight.values is None or weight.shape[0] != weight.shape[1]:
            continue
        size = weight.shape[0]
        name = item.name + "/as_it_lies"
        # Read by the other axis, for the runtime that stands in for the hardware.
        columns = [weight.values[row * size + column] for column in range(size) for row in range(size)]
        model.add_constant(onnx_file.constant(name, weight.shape, columns))
        item.message = node("MatMul", [item.inputs[0], name], item.outputs, item.name)


def is_pointwise(model, item):
    return item.op_type == "Conv" and model.weight_shape(item.inputs[1])[2:] == [1, 1]


def fuse(model):
    """A 1x1 convolution, a tensor that is added, and a Relu are one kernel, unless what lies between them is an output
    of the model, or read by others.

    The fault: the kernel does the Relu before the sum.
    """
    for first in [item for item in model.nodes if is_pointwise(model, item)]:
        chain = [first]
        for op_type in "Add", "Relu":
            readers = model.readers(chain[-1].outputs[0])
            if len(readers) != 1 or readers[0].op_type != op_type or chain[-1].outputs[0] in model.outputs:
                break
            chain.append(readers[0])
        if len(chain) < 3:
            continue
        _, sum_, relu = chain
        added = [name for name in sum_.inputs if name != first.outputs[0]]
        if len(added) != 1 or added[0] in model.weights:
            continue
        before = first.outputs[0] + "/relu"
        sum_.message = node("Relu", first.outputs, [before], first.name + "/relu")
        relu.message = node("Add", [before, added[0]], relu.outputs, relu.name)


def round_as_the_hardware_does(model):
    """The hardware has no Round, so it becomes sign(x) * floor(|x| + 1/2).

    The fault: that rounds 0.5 to 1 and 2.5 to 3, and ONNX wants the even neighbours, 0 and 2.
    """
    nodes = []
    for item in model.nodes:
        if item.op_type != "Round":
            nodes.append(item)
            continue
        scope, x = item.name or item.outputs[0], item.inputs[0]
        half = f"{scope}/half"
        model.add_constant(onnx_file.constant(half, [], [0.5]))
        for op_type, inputs, output in (
            ("Abs", [x], f"{scope}/abs"),
            ("Add", [f"{scope}/abs", half], f"{scope}/sum"),
            ("Floor", [f"{scope}/sum"], f"{scope}/floor"),
            ("Sign", [x], f"{scope}/sign"),
            ("Mul", [f"{scope}/floor", f"{scope}/sign"], item.outputs[0]),
        ):
            nodes.append(Node(node(op_type, inputs, [output], output)))
    model.nodes = nodes


PASSES = {"layout": assign_layouts, "fusion": fuse, "rounding": round_as_the_hardware_does}


def main(passes=PASSES, usage=__doc__):
    if len(sys.argv) != 4 or sys.argv[1] not in passes:
        sys.exit(usage)
    model = Model(sys.argv[2])
    passes[sys.argv[1]](model)
    model.write(sys.argv[3])


if __name__ == "__main__":
    main()
