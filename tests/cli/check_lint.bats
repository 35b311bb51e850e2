# check_lint.bats: what `check lint` finds in good and bad models.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
golden=$POLYGRAPHY_ROOT/tests/golden
theirs=$POLYGRAPHY_TEST_MODELS/polygraphy

# Lints $1 with further options, into report.json.
lint()
{
    run --separate-stderr polygraphy check lint "$1" -o report.json "${@:2}"
    [ -z "$stderr" ] || {
        echo "$stderr"
        return 1
    }
}

# Entries as "level source node", then "passing: names" and "failing: names". With the option "-m" the messages, too.
report()
{
    /usr/bin/python3 - "$@" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    report = json.load(file)
for entry in report["lint_entries"]:
    print(entry["level"], entry["source"], *entry.get("nodes", ["-"]), entry["message"] if "-m" in sys.argv else "")
for kind in "passing", "failing":
    names = report["summary"][kind]
    assert kind != "passing" or sys.argv[1] != "report.json" or names == sorted(names)
    print(kind + ":", *sorted(names))
END
}

# The same, without blanks at line ends, compared with the text on standard input.
found()
{
    diff <(report report.json | sed 's/ *$//') -
}

@test "on Polygraphy's models, level, source and node of every finding are Polygraphy's" {
    [ -d "$theirs" ] || skip 'the models of Polygraphy are not there'
    for expected in "$golden"/lint/*.json; do
        name=$(basename "$expected" .json)
        lint "$theirs/$name.onnx"
        diff <(report report.json) <(report "$expected")
        ! grep -q '^\[E\] FAILED' "$golden/logs/lint_$name.log" || [ "$status" -eq 1 ]
        ! grep -q '^\[I\] PASSED' "$golden/logs/lint_$name.log" || [ "$status" -eq 0 ]
        # Words differ only where ONNX Runtime has changed its own: it ends the sentence about missing imports without a
        # full stop, and refuses an operator of a domain without import before it looks for the operator.
        case $name in bad_graph_with_no_import_domains | custom_op_node) continue ;; esac
        diff <(report report.json -m) <(report "$expected" -m)
    done
}

@test "the log is Polygraphy's" {
    [ -d "$theirs" ] || skip 'the models of Polygraphy are not there'
    mask()
    {
        sed -E 's#Runtime: [0-9.]+s#Runtime: TIME#; s#(<samples>/lint|ir8)/##g; s#/[^ ]*/##g' "$@"
    }
    for name in add_with_dup_inputs bad_graph_conditionally_invalid bad_graph_with_multi_level_errors \
        bad_graph_with_no_name bad_graph_with_parallel_invalid_nodes cleanable empty identity reducable; do
        run --separate-stderr polygraphy check lint "$theirs/$name.onnx" -o "$name.json"
        diff <(mask <<<"$output") <(mask "$golden/logs/lint_$name.log")
    done
}

# Small models with one flaw each, made by the onnx package: $1.onnx.
make_model()
{
    /usr/bin/python3 - "$1" <<'END'
import sys, onnx
from onnx import helper, TensorProto
node = helper.make_node
tensor = lambda name, shape=(2,): helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
nodes, inputs, outputs, described = {
    "named_as_if_unnamed": ([node("Neg", ["x"], ["a"]), node("Abs", ["a"], ["y"], "polygraphy_unnamed_node_0")],
                            [tensor("x")], [tensor("y")], []),
    "input_twice": ([node("Neg", ["x"], ["y"], "neg")], [tensor("x"), tensor("x")], [tensor("y")], []),
    "impossible_and_useless": ([node("MatMul", ["x", "x"], ["y"], "matmul"), node("Abs", ["unused"], ["a"], "useless")],
                               [tensor("x", (2, 3)), tensor("unused")], [tensor("y", (2, 2))], []),
    "described_wrongly": ([node("Neg", ["x"], ["a"], "neg"), node("Abs", ["a"], ["y"], "abs")],
                          [tensor("x")], [tensor("y")], [tensor("a", (3,))]),
}[sys.argv[1]]
graph = helper.make_graph(nodes, "graph", inputs, outputs, value_info=described)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), sys.argv[1] + ".onnx")
END
}

@test "names made up for nameless nodes are not those of others" {
    make_model named_as_if_unnamed
    lint named_as_if_unnamed.onnx
    [ "$status" -eq 0 ]
    found <<'END'
passing: polygraphy_unnamed_node_0 polygraphy_unnamed_node_0_0
failing:
END
}

@test "two inputs of one name are found without a runtime" {
    make_model input_twice
    lint input_twice.onnx
    [ "$status" -eq 1 ]
    found <<'END'
exception onnx_checker -
passing: neg
failing:
END
    logged "LINT \| Graph must be in single static assignment \(SSA\) form, however 'x' has been used as graph input names multiple times\.$"
}

@test "what no output depends on is also reported of a model that does not run" {
    make_model impossible_and_useless
    lint impossible_and_useless.onnx
    [ "$status" -eq 1 ]
    found <<'END'
exception onnxruntime matmul
warning onnx_graphsurgeon -
warning onnx_graphsurgeon useless
passing: useless
failing: matmul
END
}

@test "warnings of ONNX Runtime are entries, and the model passes" {
    make_model described_wrongly
    lint described_wrongly.onnx
    [ "$status" -eq 0 ]
    found <<'END'
warning onnxruntime -
passing: abs neg
failing:
END
    logged "^\[W\] LINT \| Error merging shape info for output\. 'a' source:\{2\} target:\{3\}\. Falling back to lenient merge$"
}

@test "a model that is in order passes" {
    lint "$models/reducable.onnx" --json same.json
    [ "$status" -eq 0 ]
    found <<'END'
passing: onnx_graphsurgeon_node_1 onnx_graphsurgeon_node_3 onnx_graphsurgeon_node_5 onnx_graphsurgeon_node_7 onnx_graphsurgeon_node_9
failing:
END
    cmp report.json same.json
}

# Behind them are also those whose bodies take a tensor from around them: captures_b.
@test "all nodes at fault are found at once, and those behind them are not judged" {
    lint "$models/impossible_nodes.onnx"
    [ "$status" -eq 1 ]
    found <<'END'
exception onnxruntime matmul
exception onnxruntime add
passing: abs captures_a polygraphy_unnamed_node_4
failing: add matmul
END
    logged '^\[E\] LINT \| Name: matmul, Op: MatMul \|  Incompatible dimensions for matrix multiplication$'
}

@test "duplicate names fail the check although nothing else is wrong" {
    lint "$models/duplicate_node_names.onnx"
    [ "$status" -eq 1 ]
    found <<'END'
exception onnx_graphsurgeon twice
passing: once
failing: twice
END
    logged "^\[E\] LINT \| Duplicate node name: 'twice' for nodes with topological IDs: \[0, 2\] found\.$"
}

@test "missing imports and a missing name are found without a runtime" {
    lint "$models/no_imports_and_no_name.onnx"
    [ "$status" -eq 1 ]
    logged '^\[E\] LINT \| model with IR version >= 3 must specify opset_import for ONNX$'
    logged "^\[E\] LINT \| Field 'name' of 'graph' is required to be non-empty\.$"
}

@test "tensors that nothing makes are found" {
    lint "$models/unknown_tensors.onnx"
    [ "$status" -eq 1 ]
    found <<'END'
exception onnx_checker -
exception onnx_checker add
passing: neg
failing: add
END
    logged "'void'"
    logged "Name: add, Op: Add \| Input 'nothing'"
}

@test "nodes in the wrong order are found, and judged in the right one" {
    lint "$models/unsorted_nodes.onnx"
    [ "$status" -eq 1 ]
    found <<'END'
exception onnx_checker third
exception onnx_checker second
passing: first
failing: second third
END
}

@test "an operator that the runtime does not know is a warning" {
    lint "$models/unknown_operator.onnx"
    [ "$status" -eq 0 ]
    found <<'END'
warning onnxruntime secret
passing: neg secret
failing:
END
    logged '^\[W\] LINT \| Name: secret, Op: Secret \| Fatal error: test\.secret:Secret\(-1\) is not a registered function/op$'
}

@test "what no output depends on is a warning" {
    lint "$models/useless_parts.onnx"
    [ "$status" -eq 0 ]
    found <<'END'
warning onnx_graphsurgeon -
warning onnx_graphsurgeon useless
passing: neg
failing:
END
}

@test "outputs that are sequences or maps are no fault" {
    /usr/bin/python3 - <<'END'
import onnx
from onnx import helper, TensorProto
def save(name, nodes, tensors):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])], tensors)
    maps = graph.output.add(name="maps").type.sequence_type.elem_type.map_type
    maps.key_type, maps.value_type.tensor_type.elem_type = TensorProto.INT64, TensorProto.FLOAT
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 15)],
                                ir_version=8), name)
zip_map = lambda tensor: helper.make_node("ZipMap", [tensor], ["maps"], "zip", domain="ai.onnx.ml", classlabels_int64s=[5, 6, 7])
save("both.onnx", [helper.make_node("Neg", ["x"], ["y"], "neg"), zip_map("y")],
     [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])])
save("maps.onnx", [zip_map("x")], [])
END
    lint both.onnx
    [ "$status" -eq 0 ]
    run ! grep -E '^\[[WE]\] LINT' <<<"$output"
    lint maps.onnx
    [ "$status" -eq 0 ]
    logged '^\[W\] LINT \| Not run: no output is a tensor$'
}

@test "sequences cannot be handed on, so what reads them is not judged" {
    lint "$models/sequence_node.onnx"
    [ "$status" -eq 1 ]
    found <<'END'
exception onnxruntime reshape
passing: pair
failing: reshape
END
}

@test "a file that is no model is a finding" {
    : >empty.onnx
    head -c 100 "$models/reducable.onnx" >torn.onnx
    for model in empty torn; do
        lint "$model.onnx"
        [ "$status" -eq 1 ]
        [ "$(report report.json | head -1)" = 'exception onnx_loader - ' ]
    done
}

@test "a model that is not there, or data that do not fit, are errors, and no report is written" {
    run --separate-stderr polygraphy check lint missing.onnx -o report.json
    refused missing.onnx
    [ ! -e report.json ]
    run --separate-stderr polygraphy check lint "$models/identity.onnx" --input-shapes 'x:[3]' -o report.json
    refused "x"
    [ ! -e report.json ]
}

@test "a model that loads but fails on generated data is no finding of lint" {
    /usr/bin/python3 - <<'END'
from onnx import TensorProto, helper, save
def value(name, sizes):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
node = helper.make_node("SpaceToDepth", ["x"], ["y"], "blocks", blocksize=2)
graph = helper.make_graph([node], "g", [value("x", [1, 1, "h", "w"])], [value("y", [1, 4, "a", "b"])])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "blocks.onnx")
END
    run polygraphy check lint blocks.onnx
    [ "$status" -eq 0 ]
    logged '^\[W\] LINT \| Not checked at run time: the model loads, but does not run on the generated data'
    run polygraphy check lint blocks.onnx --input-shapes 'x:[1,1,3,2]'
    [ "$status" -eq 1 ]
    logged '^\[E\] LINT \| Name: blocks, Op: SpaceToDepth'
}

@test "the log shows the shapes that are used" {
    run --separate-stderr polygraphy check lint "$POLYGRAPHY_ROOT/tests/models/symbolic_dimensions.onnx" --input-shapes a:[2,3,2]
    [ "$status" -eq 0 ]
    [[ "$output" == *"TensorMetadata: {a [dtype=float32, shape=(2, 3, 2)],"$'\n'"     b [dtype=float32, shape=('m', 1, 2)]}"* ]]
}

@test "of findings that differ in names only the log shows the first ones, and reports have all" {
    PYTHONPATH=$POLYGRAPHY_ROOT/examples/faults PYTHONDONTWRITEBYTECODE=1 python3 - <<'END'
from onnx_file import constant, model, node, tensor
nodes = [node("Mul", ["x", "k"], [f"t{i}"], f"unused{i}") for i in range(40)] + [node("Relu", ["x"], ["y"], "relu")]
with open("many.onnx", "wb") as file:
    file.write(model("many", nodes, [tensor("x", [2])], [tensor("y", [2])], [constant("k", [], [2.0])]))
END
    run --separate-stderr polygraphy check lint many.onnx -o report.json
    echo "$output"
    [ "$(grep -c 'LINT | Name: unused[0-9]*, Op: Mul | Does not affect outputs' <<<"$output")" -eq 5 ]
    logged '^\[W\] LINT \| 35 more like: Op: Mul \| Does not affect outputs, can be removed\. \(-v shows each\)$'
    [ "$(grep -c 'Does not affect outputs' report.json)" -eq 40 ]
    run --separate-stderr polygraphy check lint many.onnx -v
    [ "$(grep -c 'LINT | Name: unused[0-9]*, Op: Mul | Does not affect outputs' <<<"$output")" -eq 40 ]
}
