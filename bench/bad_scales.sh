#!/usr/bin/env bash
# bench/bad_scales.sh BUILD: whether debug quantization finds bad scales without a hint. docs/quantization.md has
# what it prints.
#
# Two models of POLYGRAPHY_TEST_MODELS are quantized by bench/quantize_model.c, with random weights: without bad scales, with
# one of an activation and one of a weight, and one with two of each. Prints rows of a table in Markdown: which quantizers
# the table of debug quantization has on top, which its search leaves out, what the repaired model has in their place, and
# how many checks and seconds that took, the table included.
set -euo pipefail

: "${POLYGRAPHY_TEST_MODELS:?names the folder with the models}"
. "$(dirname "$0")/workplace.sh"

# row SECONDS MODEL BAD...: of result.json
row()
{
    /usr/bin/python3 - "$@" <<'PYTHON'
import json
import sys

seconds, model, *bad = sys.argv[1:]
result = json.load(open("result.json"))
search = result["search"]


def words(names):
    return ", ".join(f"`{name}`" for name in names) or "none"


top = [row["name"] for row in result["quantizers"][: max(len(bad), 1)]]
found = words(search["left_out"]) if search["outcome"] == "found" else search["outcome"]
repair = search.get("repaired", {})
ways = [f"{way.replace('_', ' ')}: {len(names)}" for way, names in repair.items() if way != "path" and names]
outputs = [f"{output['as_run']:.1f}" for output in result["outputs"]]
checks = sum(result["checks"][verdict] for verdict in ("failed", "passed", "other_failure", "skipped"))
cells = [model, words(bad), words(top), found, ", ".join(ways) or "-", " ".join(outputs), str(checks), seconds]
print("| " + " | ".join(cells) + " |", flush=True)
PYTHON
}

# search MODEL TOLERANCE [TENSOR=FACTOR ...]
search()
{
    local model=$1 tolerance=$2 bad=() scale path begin end
    shift 2
    for scale in "$@"; do
        bad+=(--bad-scale "$scale")
    done
    path=$(real_model "light_$model")
    "$build/bench/quantize_model" "$path" --random-weights --per-channel --float float.onnx -o quantized.onnx "${bad[@]}"
    begin=$EPOCHREALTIME
    "$build/polygraphy" debug quantization quantized.onnx --float float.onnx --atol "$tolerance" --json result.json \
        >log.txt 2>&1 || { cat log.txt; exit 1; }
    end=$EPOCHREALTIME
    row "$(awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.1f", b - a }')" "$model, $tolerance" "$@"
}

echo '| model, `--atol` | bad scales | on top of the table | left out by the search | repaired | dB at the output | checks | seconds |'
echo '|---|---|---|---|---|---|---|---|'
search squeezenet 0.03
search squeezenet 0.03 r19=0.1 fire6/squeeze1x1_w_0=16
search squeezenet 0.03 r19=0.1 r26=0.1 fire6/squeeze1x1_w_0=16 fire3/expand3x3_w_0=16
search resnet50 0.02
search resnet50 0.02 r50=0.1 gpu_0/res2_0_branch2b_w_0=16
