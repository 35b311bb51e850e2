# debug_quantization_4bit.bats: what debug quantization says of weights of 4 bits, in each form in which they are stored.

load debug_helper

setup_file()
{
    file_requires_onnxruntime || return 0
}

models()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/four_bit_models.py" "$@"
}

quantization()
{
    run --separate-stderr polygraphy debug quantization quantized.onnx --float float.onnx --val-range ids:[0,19] \
        --json result.json "$@"
}

# The fault of the weight w in a model of this kind, and that each error is numpy's.
fault_is()
{
    local kind=$1 fault=$2 key=$3 words=$4

    models make "$kind" "$fault" float.onnx quantized.onnx
    quantization
    [ "$status" -eq 0 ]
    [ "$(json_value '[(row["name"], row["kind"]) for row in it["weight_faults"]]')" = "[('w', '$key')]" ]
    logged "Against the float model, 'w' $words"
    [ "$(json_value 'it["weight_faults"][0]["own_undone"] > 20')" = True ]
    [ "$(json_value 'it["quantizers"][0]["name"]')" = w ]
    models errors float.onnx quantized.onnx result.json
}

@test "weights of each form have their own errors, as numpy computes them, and no fault" {
    local kind
    for kind in product groups embedding experts blocks; do
        models make "$kind" none float.onnx quantized.onnx
        quantization
        [ "$status" -eq 0 ]
        [ "$(json_value 'it["weight_faults"], all(15 < q["alone"] < 40 for q in it["quantizers"])')" = "([], True)" ]
        [ "$(json_value 'it["outputs"][0]["simulation"] is None or it["outputs"][0]["simulation"] > 30')" = True ]
        [ "$(json_value 'it["outputs"][0]["all_off"] > 100')" = True ]
        models errors float.onnx quantized.onnx result.json
    done
    [ "$(json_value 'it["quantizers"][0]["granularity"]')" = "blocks of 16 along axis 0" ]
    models make groups none float.onnx quantized.onnx
    quantization
    [ "$(json_value 'it["quantizers"][0]["granularity"]')" = "4 groups along axis 0, assigned by index" ]
}

@test "faults of a MatMulNBits are named" {
    fault_is product scales scales "has scales that are 8 times too large \(192 of 192 blocks\)"
    fault_is product scale scales "has scales that are 8 times too large \(1 of 192 blocks\)"
    fault_is product swap blocks-swapped "has the integers of blocks 0 and 2 swapped"
    fault_is product shift blocks-shifted "has the integers of blocks shifted by 1 along the axis"
    fault_is product elements elements-shifted "has elements shifted by 1 along the axis"
    fault_is product halves halves-swapped "has the two halves of each byte swapped"
    fault_is product zero zero-points "has zero point 7 in place of 8"
    fault_is product coarse coarse-scales "was rounded with scales about 3.8 times as large as its values need"
}

@test "faults of a MatMulNBits with groups, an embedding, experts, and a DequantizeLinear in blocks are named" {
    local kind
    for kind in groups embedding experts blocks; do
        fault_is "$kind" scale scales "has scales that are 8 times too large \(1 of "
        fault_is "$kind" swap blocks-swapped "has the integers of blocks 0 and 2 swapped"
        fault_is "$kind" halves halves-swapped "has the two halves of each byte swapped"
        fault_is "$kind" zero zero-points "has zero point 7 in place of 8"
    done
}

@test "the weight with the wrong scales is what the search excludes, and the others keep their operators" {
    models make product scales float.onnx quantized.onnx
    quantization --compare quality --snr-threshold 15 --emit left-out
    [ "$status" -eq 0 ]
    [ "$(json_value 'it["outcome"], it["left_out"]')" = "('found', ['w'])" ]
    run polygraphy inspect model polygraphy_quantization/repaired.onnx --show layers
    [ "$(grep -c "Op: com.microsoft.MatMulNBits\|\[Op: .*MatMulNBits\]" <<<"$output")" -eq 2 ]
    run ! grep -q DequantizeLinear <<<"$output"
}

@test "wrong scales of blocks are repaired by other scales, in 4 bits" {
    models make blocks scales float.onnx quantized.onnx
    quantization --compare quality --snr-threshold 13
    [ "$status" -eq 0 ]
    [ "$(json_value 'it["repaired"]["other_scales"], it["repaired"]["left_out"]')" = "(['w'], [])" ]
    [ "$(json_value 'it["improvement"]["quantized"] < 0, it["improvement"]["repaired"] > 15')" = "(True, True)" ]
    logged "the same type, with scales that fit the observed values: 'w'"
}

@test "without a float model packed weights are listed with the levels that they use" {
    models make product none float.onnx quantized.onnx
    run --separate-stderr polygraphy debug quantization quantized.onnx --json result.json
    [ "$status" -eq 0 ]
    [ "$(json_value 'sorted((q["name"], q["type"], q["own"], q["unused"] < 0.1) for q in it["quantizers"])')" = \
        "[('down', 'int4', None, True), ('up', 'int4', None, True), ('w', 'uint4', None, True)]" ]
    [ "$(json_value 'it["weight_faults"]')" = "[]" ]
}
