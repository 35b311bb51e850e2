#!/usr/bin/env python3
"""make_blocked.py: writes blocked_matmul.onnx: a MatMul whose weights are 4-bit integers, in blocks of 32 with a scale each.

The model says that the weights become float32 again, and then are multiplied. ONNX Runtime makes one node of both, MatMulNBits,
which rounds the other factor to 8 bits as well, unless the session configuration says otherwise."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INT4 = 22  # of TensorProto.DataType, for releases of the package that have no name for it
ROWS, COLUMNS, BLOCK = 64, 32, 32

random = np.random.default_rng(0)
integers = (random.integers(-8, 8, (ROWS, COLUMNS)) & 0xF).astype(np.uint8).flatten()
weights = TensorProto(
    name="weights",
    data_type=INT4,
    dims=[ROWS, COLUMNS],
    raw_data=(integers[0::2] | (integers[1::2] << 4)).tobytes(),
)
scales = numpy_helper.from_array(random.random((ROWS // BLOCK, COLUMNS)).astype(np.float32), "scales")
graph = helper.make_graph(
    [
        helper.make_node("DequantizeLinear", ["weights", "scales"], ["factor"], name="dequantize", axis=0, block_size=BLOCK),
        helper.make_node("MatMul", ["x", "factor"], ["y"], name="matmul"),
    ],
    "blocked_matmul",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, ROWS])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, COLUMNS])],
    [weights, scales],
)
onnx.save(
    helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
    "blocked_matmul.onnx",
)
