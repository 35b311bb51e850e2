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

printf '\n%s\n' "Which nodes are at fault? The smallest set that still fails the check:"
show polygraphy debug reduce -q detector.onnx -o minimal.onnx --mode minimal --hide-fail-output \
    --check polygraphy run polygraphy_debug.onnx --onnxrt --validate

printf '\n%s\n' "One node, as a model that can be attached to a bug report. It still fails:"
show polygraphy run minimal.onnx --onnxrt --validate
