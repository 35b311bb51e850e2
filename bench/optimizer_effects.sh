#!/usr/bin/env bash
# bench/optimizer_effects.sh BUILD: the tables of docs/optimizers.md, in Markdown: what each of ONNX Runtime's optimizers
# does to the outputs of real models, in float32 and quantized (make bench-optimizers).
#
# POLYGRAPHY_TEST_MODELS is the folder with the models, as for the tests. Models in onnx_light have weights that are all one
# number; they get random ones, and are quantized (bench/quantize_model.c). A model that the runtime does
# not run on generated data, or not with equal results twice, is left out, with a message.
set -euo pipefail

: "${POLYGRAPHY_TEST_MODELS:?names the folder with the models}"
. "$(dirname "$0")/workplace.sh"
idle=() left_out=() shown=0

# table NAME MODEL: its table, unless no optimizer makes a difference, alone or left out, and none is refused
table()
{
    local name=$1 status=0

    "$build/bench/optimizer_effects" "$2" >effects 2>errors || status=$?
    if [ "$status" -ne 0 ]; then
        left_out+=("$name")
        printf '%s: %s\n' "$name" "$(tail -1 errors)" >&2
        return
    fi
    if [ "$shown" -eq 0 ]; then
        awk -F '\t' '$1 == "runtime" { version = $2 }
            $1 == "processor" { printf "ONNX Runtime %s, %s, %s processors.\n", version, $2, $3 }' effects
        shown=1
    fi
    if awk -F '\t' '(NR >= 4 && $4 != 0) || (NR > 4 && $6 != 0) { exit 1 }' effects; then
        idle+=("$name")
        return
    fi
    awk -F '\t' -v name="$name" '
        $1 == "model" {
            printf "\n**%s**: %s node%s, of which the optimizers make %s; %s numbers come out, the largest is %s.\n\n", name, $2, $2 == 1 ? "" : "s", $3, $4, $5
            print "| optimizer | nodes replaced | by | alone: largest | mean | left out: largest | mean |"
            print "|---|---|---|---|---|---|---|"
        }
        $1 == "all" { printf "| all of them | %s | %s | %s | %s | | |\n", $2, $3, $4, $5 }
        NR > 4 && ($4 != 0 || $6 != 0) { printf "| %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7 }
        NR > 4 && !($4 != 0 || $6 != 0) { without++ }
        END { if (without > 0) printf "\n%d more change%s nodes, and no number.\n", without, without == 1 ? "s" : "" }' effects
}

# quantized NAME MODEL OPTION...: as float32, and as QDQ
quantized()
{
    local name=$1 model=$2

    shift 2
    "$build/bench/quantize_model" "$model" -o quantized.onnx --float float.onnx "$@" >/dev/null
    table "$name" float.onnx
    table "$name (quantized)" quantized.onnx
    rm float.onnx quantized.onnx
}

for name in squeezenet resnet50 densenet121 bvlc_alexnet; do
    quantized "$name" "$(real_model "light_$name")" --random-weights --all-operators --per-channel
done
quantized silero_vad "$(real_model silero_vad)" --shape input=1x512 --shape state=2x1x128 \
    --set sr=16000 --per-channel
for model in "$POLYGRAPHY_TEST_MODELS"/polygraphy/*.onnx; do
    name=$(basename "$model" .onnx)
    table "$name" "$model"
done
if [ ${#idle[@]} -gt 0 ]; then
    printf '\nOn these %d models no optimizer was seen to change any number: %s.\n' ${#idle[@]} "$(printf '%s, ' "${idle[@]}" | sed 's/, $//')"
fi
if [ ${#left_out[@]} -gt 0 ]; then
    printf '\nLeft out, because the runtime does not run them on generated data, or not to the same numbers twice (a NaN equals nothing): %s.\n' \
        "$(printf '%s, ' "${left_out[@]}" | sed 's/, $//')"
fi
