#!/usr/bin/env bash
# scripts/screenshots.sh: makes the pictures of reports in docs/ anew, of two of examples/faults, at 1600 and at 400 pixels.
# Usage: scripts/screenshots.sh <build folder>. Needs chromium, graphviz and python3.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

POLYGRAPHY=$build/polygraphy PATH=$build:$PATH python3 "$root/examples/faults/run.py" -o "$folder" overflow kernel_in_five_layers

# picture FAULT SIZE NAME
picture() {
    chromium --headless --no-sandbox --hide-scrollbars --force-device-scale-factor=1 --window-size="$2" \
        --screenshot="$root/docs/$3.png" "file://$folder/$1/report.html" 2>/dev/null
}

picture overflow 1600,1400 report_overflow
picture overflow 400,1600 report_overflow_narrow
picture kernel_in_five_layers 1600,1400 report_kernel
picture kernel_in_five_layers 400,1600 report_kernel_narrow
