#!/usr/bin/env bash
# bench/llvm_reduce.sh BUILD: number of checks that `debug reduce --mode minimal` and LLVM's llvm-reduce need for the same culprits.
#
# Their inputs are of different kinds, so both get the same graph: a chain of additions, as a model and as a function, with a
# division in its middle, or with that and a remainder at its end. The check is the same as well: grep looks for them, and
# counts its runs. Needs llvm (Debian) and python3-onnx. Its output is in docs/comparison.md.
set -euo pipefail

PATH=$(realpath "$1"):$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# make LENGTH: chain.onnx and chain.ll. The model's Mod is the function's srem.
make_chain() {
    /usr/bin/python3 - "$1" <<'END_OF_SCRIPT'
import sys
import onnx
from onnx import TensorProto, helper

length = int(sys.argv[1])
operators = ["Add"] * length
operators[length // 2], operators[-1] = "Div", "Mod"
nodes = [helper.make_node(name, [f"t{i}", "one"], [f"t{i + 1}"], f"n{i}") for i, name in enumerate(operators)]
graph = helper.make_graph(
    nodes, "chain", [helper.make_tensor_value_info("t0", TensorProto.INT32, [1])],
    [helper.make_tensor_value_info(f"t{length}", TensorProto.INT32, [1])],
    [helper.make_tensor("one", TensorProto.INT32, [1], [1])],
    value_info=[helper.make_tensor_value_info(f"t{i}", TensorProto.INT32, [1]) for i in range(1, length)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 8
onnx.save(model, "chain.onnx")
with open("chain.ll", "w") as file:
    instruction = {"Add": "add", "Div": "sdiv", "Mod": "srem"}
    lines = [f"  %t{i + 1} = {instruction[name]} i32 %t{i}, 7\n" for i, name in enumerate(operators)]
    file.write(f"define i32 @chain(i32 %t0) {{\n{''.join(lines)}  ret i32 %t{length}\n}}\n")
END_OF_SCRIPT
}

# check NAME STATUS PATTERN...: a script that ends with STATUS when its file has all patterns.
make_check() {
    local name=$1 status=$2
    shift 2
    {
        echo '#!/bin/sh'
        echo "echo >>$folder/$name.checks"
        echo "if $(printf 'grep -qa %s "$1" && ' "$@") true; then exit $status; fi; exit $((1 - status))"
    } >"$name"
    chmod +x "$name"
    : >"$name.checks"
}

# measure NODES CULPRITS NAME COMMAND...: a line of the table.
measure() {
    local nodes=$1 culprits=$2 name=$3 start end
    shift 3
    start=$(date +%s%N)
    "$@" >log 2>&1 || { cat log >&2; exit 1; }
    end=$(date +%s%N)
    local left
    case $name in
        llvm-reduce) left=$(grep -c ' = ' reduced.ll) ;;
        *) left=$(polygraphy inspect model reduced.onnx | sed -n 's/.*---- \([0-9]*\) Node(s).*/\1/p') ;;
    esac
    printf '| %s | %s | %s | %s | %s | %d ms |\n' "$nodes" "$culprits" "$name" "$left" "$(wc -l <check.checks)" $(((end - start) / 1000000))
}

echo '| nodes | culprits | tool | nodes left | checks | time |'
echo '|---|---|---|---|---|---|'
for nodes in 100 1000; do
    make_chain "$nodes"
    for culprits in 1 2; do
        if [ $culprits = 1 ]; then model=(Div) function=(sdiv); else model=(Div Mod) function=(sdiv srem); fi
        make_check check 1 "${model[@]}"
        measure "$nodes" $culprits "debug reduce" polygraphy debug reduce chain.onnx -o reduced.onnx --mode minimal --check ./check polygraphy_debug.onnx
        make_check check 0 "${function[@]}"
        measure "$nodes" $culprits llvm-reduce llvm-reduce --test=./check -o reduced.ll chain.ll
    done
done
