# large_models.bats: small models that ask for much memory are told how much, before it is asked for.

load debug_helper

export POLYGRAPHY_TRT=builtin

setup_file()
{
    file_requires_onnxruntime || return 0
}

# Runs the program in a folder with the models, and looks whether it ends with one line of error that holds the text.
refuses()
{
    local text=$1

    shift
    [ -e large_input.onnx ] || python3 "$POLYGRAPHY_ROOT/tests/cli/hostile_models.py" .
    run --separate-stderr polygraphy "$@"
    refused "$text"
}

@test "an activation beyond --max-memory is refused with its node and its size" {
    refusal="would take 8.0 GiB, but --max-memory allows 1.0 GiB; --max-memory 9G would let it"
    for model in large_expand large_constant large_stretch; do
        echo "$model"
        refuses "Name:'grow': its result $refusal" run "$model.onnx" --onnxrt --max-memory 1G
        refuses "Name:'grow': its result $refusal" run "$model.onnx" --onnxrt --max-memory 1G --use-subprocess
    done
    refuses "layer 'grow'" run large_expand.onnx --trt --max-memory 1G
    refuses "$refusal" run large_expand.onnx --trt --max-memory 1G
    refuses "layer 'grow': a float32 tensor of shape (1, 1, 46341, 46341) $refusal" \
        run large_stretch.onnx --trt --max-memory 1G
}

@test "so is one whose size is known only during the run" {
    shape='shape:[1024,1024,2048]'
    refuses "Name:'grow': its result would take 8.0 GiB" \
        run large_expand_to_input.onnx --onnxrt --input-shapes "$shape" --max-memory 1G
    refuses "layer 'grow'" run large_expand_to_input.onnx --trt --input-shapes "$shape" --max-memory 1G
    # The same model with a size that is allowed.
    run polygraphy run large_expand_to_input.onnx --onnxrt --input-shapes 'shape:[16,16,16]' --max-memory 1G
    [ "$status" -eq 0 ]
}

@test "tensors that are small enough one by one are refused when they are too much together" {
    refuses "it asks for 128.0 MiB where" run large_together.onnx --onnxrt --max-memory 1G
    refuses "there is not enough memory for a tensor of 134217728 bytes" run large_together.onnx --trt --max-memory 1G
    refuses "not enough memory for tensor 'sum" run large_constants_together.onnx --trt --max-memory 300M
}

@test "stacks of threads are not what the model asks for, however large they may become" {
    local options
    for options in --trt '--onnxrt --onnx-outputs mark all'; do
        run bash -c 'ulimit -S -s 1048576 && polygraphy run "$1" $2 --max-memory 100M' - \
            "$POLYGRAPHY_ROOT/tests/models/convolutions.onnx" "$options"
        [ "$status" -eq 0 ]
    done
}

@test "where sessions give memory back at once the system refuses it" {
    refuses "running Expand node. Name:'grow'" run large_expand.onnx --onnxrt --onnx-outputs mark all --max-memory 1G
    run polygraphy run large_expand_to_input.onnx --onnxrt --onnx-outputs mark all --input-shapes 'shape:[16,16,16]' \
        --max-memory 1G
    [ "$status" -eq 0 ]
}

@test "data for large inputs are generated only for those who ask, and for a model that was accepted" {
    refuses "input 'x' (float32 of shape (1024, 1024, 2048)) would take 8.0 GiB: more than 1 GiB is generated only for \
those who ask for it, by giving its shape, x:[1024,1024,2048], or with --max-memory 9G" run large_input.onnx --onnxrt
    refuses "input 'x' (float32 of shape (1024, 1024, 2048)) would take 8.0 GiB, but --max-memory allows 1.0 GiB" \
        run large_input.onnx --onnxrt --input-shapes 'x:[1024,1024,2048]' --max-memory 1G
    refuses "No Op registered for NoSuchOperator" run large_no_such_operator.onnx --onnxrt
    refuses "generated data for input 'x'" check lint large_input.onnx
}

@test "as a check that is a model that does not run, not a question without sense" {
    python3 "$POLYGRAPHY_ROOT/tests/cli/hostile_models.py" .
    POLYGRAPHY_ITERATION=0 run polygraphy run large_expand.onnx --onnxrt --max-memory 1G
    [ "$status" -eq 3 ]
    POLYGRAPHY_ITERATION=0 run polygraphy run large_input.onnx --onnxrt
    [ "$status" -eq 3 ]
}
