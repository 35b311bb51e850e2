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

@test "parts do not write over each other's weights" {
    /usr/bin/python3 - <<'EOF'
import numpy
import onnx
from onnx import helper, numpy_helper, TensorProto
nodes = [helper.make_node("Mul", ["x", "two"], ["a"]), helper.make_node("Mystery", ["a"], ["b"], domain="mine"),
         helper.make_node("Mul", ["x", "three"], ["y"])]
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])
weight = lambda name, number: numpy_helper.from_array(numpy.full(4, number, numpy.float32), name)
graph = helper.make_graph(nodes, "g", [value("x")], [value("b"), value("y")], [weight("two", 2), weight("three", 3)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("mine", 1)], ir_version=8),
          "model.onnx")
EOF
    run polygraphy inspect capability model.onnx --with-partitioning -o parts --save-external-data w.bin \
        --external-data-size-threshold 0
    [ "$status" -eq 0 ]
    [ "$(ls parts | grep bin | paste -sd ' ')" = 'w.bin.nodes-0-0 w.bin.nodes-2-2' ]
    polygraphy inspect model parts/supported_subgraph-nodes-0-0.onnx --show weights | grep -F '[2. 2. 2. 2.]'
    polygraphy inspect model parts/supported_subgraph-nodes-2-2.onnx --show weights | grep -F '[3. 3. 3. 3.]'
}

@test "without --with-partitioning there is only the report, a line for each node" {
    make_unknown
    run polygraphy inspect capability unknown.onnx
    [ "$status" -eq 0 ]
    [ "$(ls polygraphy_capability_dumps)" = results.txt ]
    logged '^    Stack trace \| Operator  \| Node  \| Reason *$'
    logged '^                \| Mystery   \| odd   \| .*Mystery.* is not a registered function/op$'
}

# A function that calls another one: an operator that nobody has in each, one of them fed by the other, and attributes and an
# input that come from the caller or do not come.
make_nested()
{
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import helper, TensorProto
opsets = [helper.make_opsetid("", 15), helper.make_opsetid("local", 1), helper.make_opsetid("other", 1)]
node = helper.make_node
cat = node("Concat", ["a", "a"], ["aa"], "cat")
cat.attribute.add(name="axis", ref_attr_name="along", type=onnx.AttributeProto.INT)
inner = helper.make_function("local", "NestedLocalFake2", ["a"], ["b"],
                             [node("Fake_2", ["a"], ["b"], "nested_node_fake_2", domain="other")], opsets)
outer = helper.make_function(
    "local", "OuterFunction", ["a", "least"], ["b", "d"],
    [cat, node("NestedLocalFake2", ["aa"], ["b"], "inner", domain="local"),
     node("Fake_1", ["b"], ["c"], "nested_node_fake_1", domain="other"), node("Clip", ["aa", "least"], ["d"], "clip")],
    opsets, ["along"])
value = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
graph = helper.make_graph(
    [node("Relu", ["x"], ["r"], "relu"), node("OuterFunction", ["r"], ["y", "z"], "outer", domain="local", along=0)],
    "graph", [value("x", 4)], [value("y", 8), value("z", 8)])
onnx.save(helper.make_model(graph, opset_imports=opsets, functions=[inner, outer], ir_version=8), "nested.onnx")
EOF
}

@test "functions of the model are looked into, and the stack trace says where a node is" {
    make_nested
    run polygraphy inspect capability nested.onnx --json nested.json
    [ "$status" -eq 0 ]
    logged '^    Stack trace +\| Operator  \| Node +\| Reason *$'
    logged '^    outer \(OuterFunction\) -> inner \(NestedLocalFake2\) \| Fake_2    \| nested_node_fake_2 \| .*Fake_2.* is not a registered function/op$'
    logged '^    outer \(OuterFunction\) +\| Fake_1    \| nested_node_fake_1 \| .*Fake_1.* is not a registered function/op$'
    [ "$(grep -c '^ .*| .* |' <<<"$output")" -eq 3 ]
    /usr/bin/python3 -c '
import json
assert [(r["node"], r["stack_trace"], r["operator"], r["name"]) for r in json.load(open("nested.json"))] == [
    (1, "outer (OuterFunction) -> inner (NestedLocalFake2)", "Fake_2", "nested_node_fake_2"),
    (1, "outer (OuterFunction)", "Fake_1", "nested_node_fake_1")]'
}

@test "the refusals are in the JSON twin, too" {
    make_unknown
    run polygraphy inspect capability unknown.onnx --json refusals.json
    [ "$status" -eq 0 ]
    /usr/bin/python3 -c '
import json
[refusal] = json.load(open("refusals.json"))
assert refusal["node"] == 1 and refusal["stack_trace"] == "" and refusal["operator"] == "Mystery" and refusal["name"] == "odd" and "Mystery" in refusal["reason"]'
}

@test "each provider of ONNX Runtime is tried" {
    run polygraphy inspect capability --providers --json providers.json
    [ "$status" -eq 0 ]
    logged '^    CPUExecutionProvider +\| works$'
    /usr/bin/python3 -c '
import json
runtime = json.load(open("providers.json"))
[cpu] = [p for p in runtime["providers"] if p["name"] == "CPUExecutionProvider"]
assert cpu == {"name": "CPUExecutionProvider", "loads": True, "works": True, "reason": None}, cpu
assert runtime["version"].startswith("1.") and "libonnxruntime" in runtime["path"], runtime'
    run polygraphy inspect capability --providers --onnxruntime-lib "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_records.so"
    [ "$status" -eq 0 ]
    logged '^    VitisAIExecutionProvider  \| does not load: VitisAI: Failed to load shared library \(Failed to load library libvitisai\.so: no such file\)$'
    logged '^    SNPEExecutionProvider     \| does not load: ONNX Runtime 1.30.0 crashes: signal 6 '
    logged '^    ROCMExecutionProvider     \| loads, but of a small model 3 of 5 nodes run on CPUExecutionProvider instead: RandomNormalLike \(random\), Loop \(loop\), Identity \(\)$'
    logged '^    CPUExecutionProvider      \| works$'
}

@test "each provider of a library is tried with its device, and a library that is no use says why" {
    local library=$POLYGRAPHY_TEST_PROGRAMS/plugins/provider_with_faults.so
    export VIRTUAL_ENV='' CONDA_PREFIX='' HOME=$PWD
    run polygraphy inspect capability --providers --json providers.json \
        --onnxrt-provider-library "ours=$library" "none=$POLYGRAPHY_TEST_PROGRAMS/plugins/no_plugin.so"
    [ "$status" -eq 0 ]
    logged '^    ours \| .*/provider_with_faults\.so$'
    logged '^        FaultyExecutionProvider 1\.2\.3 by Tests \| works$'
    logged '^            CPU of .* \(0x[0-9a-f]+:0x[0-9a-f]+\)$'
    logged '^                version=1\.2\.3$'
    logged "^        cannot be used: '.*/no_plugin\.so' is no usable library of execution providers: Failed to get symbol"
    python3 -c '
import json
ours, none = json.load(open("providers.json"))["libraries"]
[device] = ours["devices"]
assert ours["name"] == "ours" and ours["reason"] is None and none["devices"] == [], (ours, none)
assert device["provider"] == "FaultyExecutionProvider" and device["works"] and device["type"] == "CPU", device
assert device["metadata"]["version"] == "1.2.3", device'
    FAULTY_PROVIDER=no_device run polygraphy inspect capability --providers --onnxrt-provider-library "ours=$library"
    [ "$status" -eq 0 ]
    logged "^        cannot be used: '.*', registered as 'ours', has no provider for a device of this machine \(CPU of vendor '.*'\)$"
    run --separate-stderr polygraphy inspect capability model.onnx --onnxrt-provider-library "ours=$library"
    refused '--onnxrt-provider-library has no effect without --providers'
}

@test "either a model is looked at, or providers" {
    run --separate-stderr polygraphy inspect capability
    refused 'no model was given'
    run --separate-stderr polygraphy inspect capability "$models/identity.onnx" --providers
    refused '--providers tests ONNX Runtime, not a model'
}
