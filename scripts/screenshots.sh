#!/usr/bin/env bash
# scripts/screenshots.sh: makes the screenshots of reports in docs/: of README's example, and of two of examples/faults at 1600
# and at 400 pixels.
# Usage: scripts/screenshots.sh <build folder>. Needs chromium and python3.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

export PATH=$build:$PATH POLYGRAPHY_TRT=builtin
python3 "$root/examples/faults/run.py" -o "$folder" --make-only
cd "$folder"
cp "$root/examples/accuracy/attention.onnx" .
cp "$root/examples/overflow/detector.onnx" .
mkdir model
polygraphy debug accuracy -q attention.onnx --onnxrt --trt --fp16 -o why
polygraphy debug accuracy -q overflow.onnx --onnxrt --trt --fp16 -o overflow
polygraphy debug accuracy -q kernel_in_five_layers.onnx --onnxrt --trt --plugins ./vector_norm.so -o kernel_in_five_layers

# picture FAULT SIZE NAME
picture() {
    chromium --headless --no-sandbox --hide-scrollbars --force-device-scale-factor=1 --window-size="$2" \
        --screenshot="$root/docs/$3.png" "file://$folder/$1/report.html" 2>/dev/null
}

polygraphy inspect model -q detector.onnx --save-visual model/report.html
picture model 1400,1000 visual
picture why 1200,1930 report_attention
picture overflow 1600,1900 report_overflow
picture overflow 400,1600 report_overflow_narrow
picture kernel_in_five_layers 1600,1900 report_kernel
picture kernel_in_five_layers 400,1600 report_kernel_narrow
