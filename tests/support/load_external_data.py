#!/usr/bin/env python3
"""Compares the weights of two models, external data loaded: python3 tests/support/load_external_data.py MODEL ORIGINAL.

Weights are initializers and the tensors of Constant nodes. Exits with 0 when all of ORIGINAL's are in MODEL with the
same values, 1 when not, 77 without the onnx package.
"""

import sys

try:
    import onnx
    from onnx import numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def weights(path):
    graph = onnx.load(path).graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            tensors[node.output[0]] = node.attribute[0].t
    return {name: numpy_helper.to_array(tensor) for name, tensor in tensors.items()}


def main():
    loaded, original = map(weights, sys.argv[1:3])
    if loaded.keys() != original.keys():
        print(f"other weights: {sorted(loaded)} and {sorted(original)}")
        return 1
    for name, expected in original.items():
        if loaded[name].dtype != expected.dtype or loaded[name].tolist() != expected.tolist():
            print(f"{name} differs")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
