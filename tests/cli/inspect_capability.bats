# inspect_capability.bats: which nodes the built-in engine takes.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

# Two operators that nobody has, between others.
make_unknown()
{
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import helper, TensorProto
nodes = [helper.make_node("Relu", ["x"], ["a"], name="relu"), helper.make_node("Mystery", ["a"], ["b"], name="odd", domain="mine"),
         helper.make_node("Abs", ["x"], ["c"], name="abs"), helper.make_node("Neg", ["c"], ["y"], name="neg")]
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])
graph = helper.make_graph(nodes, "g", [value("x")], [value("b"), value("y")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("mine", 1)], ir_version=8),
          "unknown.onnx")
EOF
}

@test "a model that is supported leaves nothing behind" {
    run polygraphy inspect capability "$models/convolutions.onnx"
    [ "$status" -eq 0 ]
    logged 'Graph is fully supported'
    [ -z "$(ls)" ]
}

@test "what is not supported is listed with the reason, and the parts can be saved" {
    make_unknown
    run polygraphy inspect capability unknown.onnx --with-partitioning -o parts
    [ "$status" -eq 0 ]
    logged '^ +Operator +\| Count +\| Reason +\| Nodes$'
    logged '^ +Mystery +\| +1 \| .*Mystery.* \| \[\[1, 2\]\]$'
    [ "$(ls parts | paste -sd ' ')" = \
        'results.txt supported_subgraph-nodes-0-0.onnx supported_subgraph-nodes-2-3.onnx unsupported_subgraph-nodes-1-1.onnx' ]
    grep -q Mystery parts/results.txt
    run polygraphy run parts/supported_subgraph-nodes-2-3.onnx --onnxrt
    [ "$status" -eq 0 ]
}

@test "without --with-partitioning there is only the report" {
    make_unknown
    run polygraphy inspect capability unknown.onnx
    [ "$status" -eq 0 ]
    [ "$(ls polygraphy_capability_dumps)" = results.txt ]
}

@test "the refusals are in the JSON twin, too" {
    make_unknown
    run polygraphy inspect capability unknown.onnx --json refusals.json
    [ "$status" -eq 0 ]
    /usr/bin/python3 -c '
import json
[refusal] = json.load(open("refusals.json"))
assert refusal["node"] == 1 and refusal["name"] == "odd" and "Mystery" in refusal["reason"]'
}
