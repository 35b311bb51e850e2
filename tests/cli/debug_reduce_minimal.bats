# debug_reduce_minimal.bats: --mode minimal: any set of nodes, down to one that no single node can be left out of.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
make_chain=$POLYGRAPHY_TEST_PROGRAMS/make_chain

@test "one search finds the node that makes an infinity" {
    reduce_models make infinity model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    [ "$(reduce_models show minimal.onnx)" = 'div [t3->t4] const zero' ]
    logged '^\[I\] The model is 1-minimal: it is a single node$'
    valid_models minimal.onnx
}

@test "of two nodes that fail only together, far apart, nothing else stays" {
    "$make_chain" model.onnx 90 0 branches
    reduce model.onnx -o minimal.onnx --mode minimal --min-good good.onnx --json result.json \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_71
    worked
    [ "$(names_of minimal.onnx)" = 'node_7 node_71' ]
    logged '^\[I\] The model is 1-minimal: removing any single one of its 2 nodes makes the check pass$'
    run "$check_nodes" good.onnx --fail-node node_7 --fail-node node_71
    [ "$status" -eq 0 ]
    valid_models minimal.onnx good.onnx
    /usr/bin/python3 -c '
import json
result = json.load(open("result.json"))
assert result["outcome"] == "reduced" and result["one_minimal"] is True and result["original_nodes"] == 90
assert [node["name"] for node in result["nodes"]] == ["node_7", "node_71"]'
}

@test "the check can be given the values that a candidate's inputs and outputs had in the original" {
    reduce_models make infinity model.onnx
    cat > check.sh <<'EOF'
#!/bin/sh
polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs golden.json \
    --infinities-compare-equal > comparison.log || exit 2
polygraphy inspect data golden.json --show-values | grep -q inf && exit 1
rm comparison.log
exit 0
EOF
    chmod +x check.sh
    reduce model.onnx -o minimal.onnx --mode minimal --iter-inputs in.json --iter-golden golden.json --fail-code 1 \
        --check ./check.sh
    worked
    [ "$(reduce_models show minimal.onnx)" = 'div [t3->t4] const zero' ]
    [ ! -e in.json ]
    [ ! -e golden.json ]
}

@test "files of the user's are not taken for a candidate's data" {
    reduce_models make infinity model.onnx
    echo mine > in.json
    reduce model.onnx -o minimal.onnx --mode minimal --iter-inputs in.json --check false
    refused "'in.json' already exists, refusing to overwrite"
    [ "$(cat in.json)" = mine ]
}

@test "a session that was interrupted goes on to the same result" {
    "$make_chain" model.onnx 90 0 branches
    cat > check.sh <<EOF
#!/bin/sh
[ ! -e stop ] || [ "\$POLYGRAPHY_ITERATION" -lt 5 ] || kill -INT \$PPID
exec "$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_71
EOF
    chmod +x check.sh
    touch stop
    reduce model.onnx -o minimal.onnx --mode minimal --check ./check.sh
    [ "$status" -ne 0 ]
    [ ! -e minimal.onnx ]
    [ ! -e polygraphy_debug.onnx ]
    rm stop
    reduce model.onnx -o minimal.onnx --mode minimal --load-debug-replay polygraphy_debug_replay.json --check ./check.sh
    worked
    logged 'Loading iteration information from debug replay'
    [ "$(names_of minimal.onnx)" = 'node_7 node_71' ]
}

@test "integers that are cut off become constants, so that shapes stay what they were" {
    reduce_models make infinity model.onnx
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import helper, TensorProto
nodes = [helper.make_node("Shape", ["x"], ["s"], name="shape"), helper.make_node("Abs", ["x"], ["a"], name="abs"),
         helper.make_node("Expand", ["one", "s"], ["e"], name="expand"), helper.make_node("Add", ["a", "e"], ["y"], name="add")]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
                          [helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "shapes.onnx")
EOF
    reduce shapes.onnx -o minimal.onnx --mode minimal --check "$check_nodes" polygraphy_debug.onnx --fail-node expand
    worked
    [ "$(reduce_models show minimal.onnx)" = 'expand [->e] const one,s' ]
    run polygraphy run minimal.onnx --onnxrt
    [ "$status" -eq 0 ]
}

@test "what belongs to other modes is refused" {
    reduce_models make infinity model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --no-reduce-inputs --check true
    refused '--no-reduce-inputs and --no-reduce-outputs are for the other modes'
    reduce model.onnx -o minimal.onnx --iter-golden golden.json --check true
    refused '--iter-inputs and --iter-golden need --mode minimal'
}

@test "a budget of checks ends the search with the best so far" {
    "$make_chain" model.onnx 90 0 branches
    for mode in minimal bisect; do
        reduce model.onnx -o smaller.onnx --mode $mode --max-checks 4 --json result.json \
            --check "$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_71
        worked
        logged '^\[W\] Budget exhausted after 4 checks: the result is not proven minimal$'
        not_logged '1-minimal'
        grep -q '"one_minimal": false' result.json
        run "$check_nodes" smaller.onnx --fail-node node_7 --fail-node node_71
        [ "$status" -eq 1 ]
        rm -f smaller.onnx polygraphy_debug_replay*
    done
}

@test "a deadline that has passed leaves the original" {
    "$make_chain" model.onnx 90 0 branches
    reduce model.onnx -o same.onnx --mode minimal --deadline 0.000001 \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_71
    worked
    logged 'Budget exhausted after 1 checks'
    run polygraphy inspect model same.onnx
    logged '---- 90 Node\(s\) ----'
}

names_of()
{
    polygraphy inspect model "$1" --show layers | sed -n 's/^ *Node [0-9]* *| \([^ ]*\) .*/\1/p' | sort | paste -sd ' '
}

@test "what could not be tested is not called 1-minimal" {
    "$make_chain" model.onnx 12 0 chain
    script check.sh <<'EOF'
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_4 && exit 0
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_5 && exit 125
exit 1
EOF
    reduce model.onnx -o minimal.onnx --mode minimal --skip-code 125 --json result.json --check ./check.sh polygraphy_debug.onnx
    worked
    [ "$(names_of minimal.onnx)" = 'node_4 node_5' ]
    logged '^\[W\] No single one of the 2 nodes can be removed, but 1 of them only because the check is inconclusive without them$'
    grep -q '"one_minimal": false' result.json
}

# Each node of the model is the culprit once, and found alone.
finds_every_node()
{
    local node
    for node in $(names_of "$1"); do
        rm -rf minimal.onnx polygraphy_debug_*
        reduce "$1" -o minimal.onnx --mode minimal --check "$check_nodes" polygraphy_debug.onnx --fail-node "$node"
        worked
        [ "$(names_of minimal.onnx)" = "$node" ]
    done
}

@test "an operator that ONNX Runtime does not have is a border, wherever the culprit is" {
    reduce_models make unusable model.onnx unknown
    finds_every_node model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --check "$check_nodes" polygraphy_debug.onnx --fail-node d
    logged "^\[W\] +The type or shape of some tensors is unknown\."
    [ "$(grep -c 'type or shape of some tensors is unknown' <<<"$output")" -eq 1 ]
    [ "$(reduce_models show minimal.onnx)" = 'd [c->d]' ]
    run polygraphy inspect model minimal.onnx
    logged '\{c \[dtype=float32\]\}'
}

@test "behind an unknown operator tensors have the types that follow" {
    reduce_models make unusable model.onnx unknown
    reduce model.onnx -o minimal.onnx --mode minimal --check "$check_nodes" polygraphy_debug.onnx --fail-node f
    worked
    run polygraphy inspect model minimal.onnx
    logged 'i \[dtype=int64'
}

@test "a sequence behind an unknown operator is nothing that a part is fed" {
    reduce_models make unknown_before_sequence model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --check "$check_nodes" polygraphy_debug.onnx --fail-node join
    worked
    [ "$(reduce_models show minimal.onnx)" = 'split join [u->c]' ]
}

@test "a node that ONNX Runtime refuses or that fails is a border, wherever the culprit is" {
    for kind in refused failing unfed; do
        reduce_models make unusable $kind.onnx $kind
        finds_every_node $kind.onnx
    done
}

@test "nodes that no output needs are dropped first, and found when they are the culprit" {
    reduce_models make unusable model.onnx dead
    reduce model.onnx -o minimal.onnx --mode minimal --check "$check_nodes" polygraphy_debug.onnx --fail-node e
    worked
    logged 'the model without nodes that no output depends on'
    finds_every_node model.onnx
}

@test "outputs have a shape when their rank can be told" {
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import TensorProto, helper
nodes = [helper.make_node("NonZero", ["x"], ["where"], "find"), helper.make_node("Cast", ["where"], ["a"], "cast", to=1),
         helper.make_node("Neg", ["a"], ["y"], "neg")]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                          value_info=[helper.make_tensor_value_info("where", TensorProto.INT64, [2, "n"]),
                                      helper.make_tensor_value_info("a", TensorProto.FLOAT, None)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "sizes.onnx")
EOF
    for node in cast neg; do
        for mode in minimal bisect; do
            rm -rf minimal.onnx polygraphy_debug_*
            reduce sizes.onnx -o minimal.onnx --mode $mode --check "$check_nodes" polygraphy_debug.onnx --fail-node $node
            worked
            outputs_have_shapes minimal.onnx
        done
    done
    polygraphy surgeon extract sizes.onnx -o part.onnx --inputs where:auto:auto --outputs a:auto
    outputs_have_shapes part.onnx
}

outputs_have_shapes()
{
    /usr/bin/python3 -c '
import sys, onnx
outputs = onnx.load(sys.argv[1]).graph.output
sys.exit(not all(output.type.tensor_type.HasField("shape") for output in outputs))' "$1"
}
