#!/usr/bin/env bash
# bench/instructions.sh BUILD PROGRAM...: instructions that each program executes for three commands, without child processes
# (valgrind --tool=callgrind): that depends neither on the machine's load nor on its clock. BUILD has the test programs.
# Two programs give a ratio, of the second to the first. The checks are programs of their own and are not counted.
set -euo pipefail

build=$(cd "$1" && pwd)
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
programs=()
for program in "$@"; do
    programs+=("$(realpath "$program")")
done
cd "$folder"

"$build/tests/make_chain" large.onnx 20000 0 chain
"$build/tests/make_chain" chain.onnx 2000 0 chain
awk 'BEGIN { printf "{\"x\": [0"; for (i = 1; i < 300000; i++) printf ", %d.5", i; print "]}" }' >data.json

# count PROGRAM WORD...: the instructions of that process alone.
count()
{
    local process
    valgrind --tool=callgrind --callgrind-out-file=count.%p "$@" >log 2>&1 &
    process=$!
    wait $process || {
        tail -5 log >&2
        exit 1
    }
    sed -n 's/^\(summary\|totals\): //p' "count.$process" | tail -1
    rm -f count.* result.json reduced.onnx # another run would read them
}

# row WHAT WORD...: a line of the table
row()
{
    local what=$1 counts=()
    shift
    for program in "${programs[@]}"; do
        counts+=("$(count "$program" "$@")")
    done
    printf '%-50s' "$what"
    printf ' %14s' "${counts[@]}"
    if [ ${#counts[@]} -eq 2 ]; then
        awk -v a="${counts[0]}" -v b="${counts[1]}" 'BEGIN { printf "  %.3f", b / a }'
    fi
    echo
}

row "inspect model --show layers attrs, 20,000 nodes" inspect model large.onnx --show layers attrs
row "debug reduce --mode bisect, 2,000 nodes" debug reduce chain.onnx --mode bisect -o reduced.onnx --json result.json \
    --save-debug-replay '' --check "$build/tests/check_nodes" polygraphy_debug.onnx --fail-node node_1234
row "inspect data --show-values, 300,000 numbers" inspect data data.json --show-values --histogram --json result.json
