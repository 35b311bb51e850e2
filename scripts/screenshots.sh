#!/usr/bin/env bash
# scripts/screenshots.sh: makes the screenshots of reports in docs/: of README's example, of two of examples/faults at 1600 and
# at 400 pixels, and of the pages of two models.
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
PYTHONPATH=$root/examples/faults python3 -B - <<'END'
from onnx_file import model, node, tensor
nodes, before = [], "x"
for block in range(100):
    for layer in range(25):
        for op in "Neg", "Relu":
            name = f"block_{block}/layer_{layer}/{op.lower()}"
            nodes.append(node(op, [before], [f"{name}_out"], name))
            before = f"{name}_out"
with open("blocks.onnx", "wb") as file:
    file.write(model("blocks", nodes, [tensor("x", [3])], [tensor(before, [3])], []))
END
mkdir model large
polygraphy debug accuracy -q attention.onnx --onnxrt --trt --fp16 -o why
polygraphy debug accuracy -q overflow.onnx --onnxrt --trt --fp16 -o overflow
polygraphy debug accuracy -q kernel_in_five_layers.onnx --onnxrt --trt --plugins ./vector_norm.so -o kernel_in_five_layers

# picture FAULT SIZE NAME
picture() {
    chromium --headless --no-sandbox --hide-scrollbars --force-device-scale-factor=1 --window-size="$2" \
        --screenshot="$root/docs/$3.png" "file://$folder/$1/report.html" 2>/dev/null
}

polygraphy inspect model -q detector.onnx --save-visual model/report.html
polygraphy inspect model -q blocks.onnx --save-visual large/report.html
picture model 1400,1000 visual
picture large 1400,700 visual_large
picture why 1200,1930 report_attention
picture overflow 1600,1900 report_overflow
picture overflow 400,1600 report_overflow_narrow
picture kernel_in_five_layers 1600,1900 report_kernel
picture kernel_in_five_layers 400,1600 report_kernel_narrow
