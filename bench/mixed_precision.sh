#!/usr/bin/env bash
# bench/mixed_precision.sh BUILD: the table of docs/precision.md, in Markdown: which nodes `debug precision` keeps in
# float32, and which the rules of AutoCast do (bench/autocast_rules.c), on the same models and data; and the result
# with every node in 16 bits that supports it.
#
# Models are prepared first (bench/quantize_model --float): constants are computed, and branches that depend on them are
# inlined. Errors are those of float32 models whose tensors are rounded, so that they do not depend on which kernels the runtime
# has. Seconds are of the whole command on this machine. Models of POLYGRAPHY_TEST_MODELS are left out
# where it is not set.
set -euo pipefail

. "$(dirname "$0")/workplace.sh"
export POLYGRAPHY_TRT=builtin

# row TYPE WHO FLOAT32 MOVING LOW CASTS ERROR WITHIN CHECKS SECONDS
row()
{
    printf '| %s ' "$name" "$@"
    printf '|\n'
}

# keeps MODEL: yes or no, by the check of the search
keeps()
{
    if "$build/polygraphy" run "$1" --onnxrt --load-inputs in.json --load-outputs golden.json "${tolerance[@]}" >log 2>&1; then
        echo yes
    else
        echo no
    fi
}

since()
{
    awk -v begin="$1" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.1f", end - begin }'
}

# by_rules TYPE WHO rules|all
by_rules()
{
    local begin=$EPOCHREALTIME line float32 moving low casts error

    line=$("$build/bench/autocast_rules" model.onnx in.json "$1" "$3" rounded.onnx)
    read -r float32 moving low casts error <<<"$line"
    row "$1" "$2" "$float32" "$moving" "$low" "$casts" "$error" "$(keeps rounded.onnx)" 0 "$(since "$begin")"
}

# of_answer EXPRESSION: of `it`, the result of debug precision
of_answer()
{
    python3 -c "import json; it = json.load(open('answer.json')); print($1)"
}

# by_search TYPE OPTION
by_search()
{
    local begin=$EPOCHREALTIME seconds who="\`debug precision\`"

    "$build/polygraphy" debug precision model.onnx --mode minimal --emit onnx "$2" --load-inputs in.json \
        --json answer.json --save-debug-replay '' --hide-fail-output --check "$build/polygraphy" run \
        polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs golden.json "${tolerance[@]}" >log 2>&1 || {
        tail -5 log >&2
        exit 1
    }
    seconds=$(since "$begin")
    [ "$(of_answer 'it["found"]')" = True ] || { echo "$name, $1: nothing was found" >&2 && exit 1; }
    [ "$(of_answer 'len(it["largest_errors"])')" -gt 1 ] || who="$who (no kernels here)"
    row "$1" "$who" "$(of_answer 'it["costs"]["float32_nodes"]')" "$(of_answer 'it["costs"]["float32_moving"]')" \
        "$(of_answer 'it["costs"]["low_nodes"]')" \
        "$(of_answer 'it["costs"]["casts"]')" "$(of_answer 'format(it["largest_errors"][0]["absolute"], ".2g")')" yes \
        "$(of_answer 'it["checks"]["failed"] + it["checks"]["passed"]')" "$seconds"
    found+=("$name, $1: $(of_answer 'sum(not layer["saves_casts"] for layer in it["layers"])') needed, $(of_answer 'it["without_added"]["casts"]') Casts; $(of_answer 'sum(layer["saves_casts"] for layer in it["layers"])') added, $(of_answer 'it["costs"]["casts"]') Casts; bytes $(of_answer 'round(100 * (it["costs"]["node_bytes"] + it["costs"]["cast_bytes"]) / it["costs"]["float32_bytes"])') % of those in float32")
}

# compare NAME MODEL OPTION... -- OPTION...: of quantize_model, and of the run that makes the inputs
compare()
{
    local type prepare=()

    name=$1 model=$2
    shift 2
    while [ "$1" != -- ]; do
        prepare+=("$1")
        shift
    done
    shift
    "$build/bench/quantize_model" "$model" --float model.onnx "${prepare[@]}"
    "$build/polygraphy" run model.onnx --onnxrt "$@" --save-inputs in.json --save-outputs golden.json >log 2>&1
    for type in float16 bfloat16; do
        by_search $type "${option[$type]}"
        by_rules $type "the rules" rules
        by_rules $type "all that can be" all
    done
}

declare -A option=([float16]=--fp16 [bfloat16]=--bf16)
found=()
echo '| model | type | who | nodes in float32 | that only move data | in 16 bits | Casts | largest error | within tolerance | checks | seconds |'
echo '|---|---|---|---|---|---|---|---|---|---|---|'
tolerance=(--atol 1e-2 --rtol 1e-2)
compare attention_overflow "$root/tests/models/attention_overflow.onnx" -- --seed 1
if [ -n "${POLYGRAPHY_TEST_MODELS:-}" ]; then
    tolerance=(--atol 1e-4 --rtol 1e-3)
    compare silero_vad "$(real_model silero_vad)" --set sr=16000 --shape input=1x512 --shape state=2x1x128 -- \
        --seed 1 --val-range 'input:[-1,1]' 'state:[-1,1]'
    tolerance=(--atol 5e-5 --rtol 0)
    compare light_densenet121 "$(real_model light_densenet121)" -- --seed 1
fi
printf '\n'
printf '%s\n' "${found[@]}"
