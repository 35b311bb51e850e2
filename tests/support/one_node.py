"""one_node.py PATH OPERATOR NUMBER: a model y = OPERATOR(x, NUMBER) with two elements, whose node is called 'the node'."""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

path, operator, number = sys.argv[1], sys.argv[2], float(sys.argv[3])
x, y = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
constant = numpy_helper.from_array(numpy.float32([number, number]), "c")
graph = helper.make_graph([helper.make_node(operator, ["x", "c"], ["y"], name="the node")], "g", [x], [y], [constant])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 8
onnx.save(model, path)
