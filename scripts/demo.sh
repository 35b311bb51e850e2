#!/usr/bin/env bash
# scripts/demo.sh: the main jobs on examples: find out why an engine is wrong, and which node makes an output infinite.
# Usage: scripts/demo.sh <build folder>. Works in a fresh temporary folder and leaves nothing behind.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
PATH=$build:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$root/examples/overflow/detector.onnx" .
cp "$root/tests/models/attention_overflow.onnx" attention.onnx
export POLYGRAPHY_TRT=builtin

# show STATUS COMMAND...: runs the command; fails when it ends with another exit status.
show() {
    local expected=$1 status=0
    shift
    printf '\n$ %s\n' "$*"
    "$@" || status=$?
    [ "$status" = "$expected" ] || {
        echo "demo.sh: that should have ended with status $expected, not $status" >&2
        exit 1
    }
}

echo "An attention block is right in float32, and wrong as a float16 engine. Why?"
show 0 polygraphy debug accuracy -q attention.onnx --onnxrt --trt --fp16 -o why

printf '\n%s\n' "The folder has the smallest model that fails, and a script that reproduces it:"
show 1 sh why/reproduce.sh

printf '\n%s\n' "A detector of 60 nodes gives no usable scores. (examples/overflow/make_model.py makes it.)"
show 1 polygraphy run detector.onnx --onnxrt --validate

printf '\n%s\n' "Which nodes cause the failure? The smallest set that still fails the check:"
show 0 polygraphy debug reduce -q detector.onnx -o minimal.onnx --mode minimal --hide-fail-output \
    --check polygraphy run polygraphy_debug.onnx --onnxrt --validate

printf '\n%s\n' "One node, as a model that can be attached to a bug report. It still fails:"
show 1 polygraphy run minimal.onnx --onnxrt --validate
