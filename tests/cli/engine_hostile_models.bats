# engine_hostile_models.bats: models that contradict themselves are refused by the built-in engine as by ONNX Runtime.

load debug_helper

export POLYGRAPHY_TRT=builtin

setup_file()
{
    file_requires_onnxruntime || return 0
}

@test "a model that lies about types, inputs or producers ends in one error" {
    python3 "$POLYGRAPHY_ROOT/tests/cli/hostile_models.py" .
    for model in type_*.onnx no_inputs_*.onnx one_input_*.onnx made_twice.onnx kernel_shape.onnx; do
        echo "$model"
        run --separate-stderr polygraphy run "$model" --trt
        [ "$status" -eq 1 ]
        [ "$(grep -c '^\[!\]' <<<"$output"$'\n'"$stderr")" -eq 1 ]
        run polygraphy run "$model" --onnxrt
        [ "$status" -eq 1 ]
    done
}

@test "an input that is an output, too, keeps the shape that the input has" {
    python3 "$POLYGRAPHY_ROOT/tests/cli/hostile_models.py" .
    run --separate-stderr polygraphy run good.onnx --trt --onnxrt
    worked
    logged 'PASSED \| simple \| All outputs matched'
}
