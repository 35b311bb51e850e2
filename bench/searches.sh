#!/usr/bin/env bash
# bench/searches.sh BUILD: checks and seconds of the searches for a decision, for quantizers and for layers
# (part of make bench). The faults come from bench/quantize_model.c or examples/; the searches are not
# told about them.
#
# Seconds are of the whole command on this machine. Models of POLYGRAPHY_TEST_MODELS are left out where it is not set.
set -euo pipefail

. "$(dirname "$0")/workplace.sh"
export POLYGRAPHY_TRT=builtin
polygraphy=$build/polygraphy

# search WHAT ANSWER TOOL SUBTOOL WORD...: a line; ANSWER is what Python makes of `it`, the result, as text.
search()
{
    local what=$1 answer=$2 begin=$EPOCHREALTIME

    shift 2
    "$polygraphy" "$1" "$2" --json result.json "${@:3}" >log.txt 2>&1 || {
        tail -5 log.txt >&2
        printf '%-60s  failed\n' "$what"
        return
    }
    /usr/bin/python3 -c '
import json, sys
it = json.load(open("result.json"))
checks = it.get("checks", {})
checks = sum(checks.get(verdict, 0) for verdict in ("failed", "passed", "other_failure", "skipped"))
print("%-60s %4d %7.1f  %s" % (sys.argv[1], checks, float(sys.argv[3]) - float(sys.argv[2]), eval(sys.argv[4])))
' "$what" "$begin" "$EPOCHREALTIME" "$answer"
}

off='", ".join(it["off"])'
left_out='", ".join(it["search"]["left_out"]) or it["search"]["outcome"]'
layers='"%d layers" % len(it["layers"])'

# quantized NAME BAD...: the table alone, and the search, of a model in which these scales are made bad
quantized()
{
    local name=$1 bad=()

    shift
    local what="$# bad scales"
    [ $# -gt 0 ] || what='no bad scale'
    for scale in "$@"; do
        bad+=(--bad-scale "$scale")
    done
    "$build/bench/quantize_model" "$(real_model "light_$name")" --random-weights --per-channel \
        --all-operators --float float.onnx -o quantized.onnx "${bad[@]}" >/dev/null
    search "debug quantization, $name, $what: table" '", ".join(q["name"] for q in it["quantizers"][:3])' \
        debug quantization quantized.onnx --float float.onnx
    search "    search, --snr-threshold 20" "$left_out" debug quantization quantized.onnx --float float.onnx \
        --compare quality --snr-threshold 20 --psnr-threshold 20 --emit left-out
}

printf '%-60s %4s %7s  %s\n' search checks seconds found
search "debug passes, quantized_add" "$off" debug passes "$root/examples/optimizers/quantized_add.onnx" \
    --val-range '[-5,5]' --atol 0.01
"$polygraphy" run "$root/tests/models/attention_overflow.onnx" --onnxrt --save-inputs inputs.json \
    --save-outputs golden.json >/dev/null 2>&1
search "debug precision --emit onnx, attention_overflow" "$layers" debug precision \
    "$root/tests/models/attention_overflow.onnx" --fp16 --mode minimal --emit onnx --load-inputs inputs.json \
    --check polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs inputs.json --load-outputs golden.json \
    --atol 1e-2 --rtol 1e-2
if [ -n "${POLYGRAPHY_TEST_MODELS:-}" ]; then
    quantized squeezenet
    quantized squeezenet fire3/expand3x3_w_0=10 r46=0.2 fire7/squeeze1x1_w_0=0.25
    search "debug passes, squeezenet, quantized" "$off" debug passes quantized.onnx --atol 1e-4 --rtol 0
fi
