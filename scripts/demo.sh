#!/usr/bin/env bash
# scripts/demo.sh: the main job on an example: find the node that makes a model's output infinite.
# Usage: scripts/demo.sh <build folder>. Works in a fresh temporary folder and leaves nothing behind.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
PATH=$build:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$root/examples/overflow/detector.onnx" .

show() {
    printf '\n$ %s\n' "$*"
    "$@" || true
}

echo "A detector of 60 nodes gives no usable scores. (examples/overflow/make_model.py makes it.)"
show polygraphy run detector.onnx --onnxrt --validate

printf '\n%s\n' "Which node is at fault? First by bisection, in few steps:"
check=(polygraphy run polygraphy_debug.onnx --onnxrt --validate)
show polygraphy debug reduce -q detector.onnx -o reduced.onnx --hide-fail-output --check "${check[@]}"

printf '\n%s\n' "Then node by node, on the little that is left:"
show polygraphy debug reduce -q reduced.onnx -o minimal.onnx --mode linear --hide-fail-output --check "${check[@]}"

printf '\n%s\n' "The node alone, as a model that can be attached to a bug report, still fails:"
show polygraphy run minimal.onnx --onnxrt --validate
