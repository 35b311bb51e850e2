#!/usr/bin/env bash
# bench/four_bit_errors.sh BUILD: the errors of stored 4-bit weights according to debug quantization and to numpy, and
# the faults that it names. docs/quantization.md has what it prints.
#
# The models are those of tests/cli/four_bit_models.py: one for each form in which weights are stored, and each fault
# planted in one weight of it. Prints a row of a table in Markdown for each weight, then one for each fault and form.
# Exit status 1: an error differs from numpy's by more than 0.001 dB. Needs numpy and onnx (python3-onnx).
set -euo pipefail

program=$(realpath "$1")/polygraphy
models=$(realpath "$(dirname "$0")/../tests/cli/four_bit_models.py")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# measure KIND FAULT
measure()
{
    /usr/bin/python3 "$models" make "$1" "$2" float.onnx quantized.onnx
    "$program" debug quantization quantized.onnx --float float.onnx --val-range ids:[0,19] --json result.json >log 2>&1
}

echo "| form | weight | \`own\` | numpy | \`unused\` |"
echo "|---|---|---|---|---|"
for kind in product groups embedding experts blocks; do
    measure "$kind" none
    /usr/bin/python3 "$models" errors float.onnx quantized.onnx result.json | sed "s/^/| $kind /"
done
echo
echo "| planted | named in a MatMulNBits | \`own\` | undone | also named in |"
echo "|---|---|---|---|---|"
for fault in scales scale swap shift elements halves zero coarse; do
    also=
    for kind in groups embedding experts blocks product; do
        measure "$kind" "$fault"
        /usr/bin/python3 "$models" errors float.onnx quantized.onnx result.json >/dev/null
        /usr/bin/python3 -c 'import json, sys
sys.exit([row["name"] for row in json.load(open("result.json"))["weight_faults"]] != ["w"])' && also="$also, $kind"
    done
    /usr/bin/python3 - "$fault" "${also#, }" <<'PYTHON'
import json
import sys

fault, also = sys.argv[1:]
row = json.load(open("result.json"))["weight_faults"][0]
also = also.replace(", product", "")
print(f"| {fault} | {row['what']} | {row['own']:.1f} | {row['own_undone']:.1f} | {also} |")
PYTHON
done
