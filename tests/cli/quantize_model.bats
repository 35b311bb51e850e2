# quantize_model.bats: bench/quantize_model, which makes quantized models to try other things on.

load debug_helper

setup_file()
{
    file_requires_onnxruntime || return 0
    [ -x "$POLYGRAPHY_TEST_PROGRAMS/../bench/quantize_model" ] || { skip_file "programs that measure are not there"; return; }
    export POLYGRAPHY_ONNXRUNTIME=${POLYGRAPHY_ONNXRUNTIME:-$POLYGRAPHY_TEST_PROGRAMS/..}
}

quantize()
{
    "$POLYGRAPHY_TEST_PROGRAMS/../bench/quantize_model" "$@"
}

models()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/quantize_models.py" "$@"
}

# Whether a quantized model's output is as near as that to the float model's, also on processors where 8-bit products
# saturate.
is_near()
{
    polygraphy run float.onnx --onnxrt --save-outputs float.safetensors >/dev/null
    polygraphy run "$1" --onnxrt --load-outputs float.safetensors --atol "$2" --rtol 0 \
        --session-config session.x64quantprecision=1 >run.log
}

@test "a quantized model has its quantizers where they are asked for, and computes what the float model does" {
    models make model.onnx
    quantize model.onnx --random-weights --seed 3 --float float.onnx -o layers.onnx
    quantize float.onnx --all-operators --per-channel -o all.onnx
    quantize float.onnx --float-weights --float-bias --symmetric -o float_weights.onnx

    # Operator set, batch normalizations, QuantizeLinear, DequantizeLinear, constants of int8 and of int32 with dimensions.
    [ "$(models show float.onnx)" = "13 0 0 0 0 0" ]
    [ "$(models show layers.onnx)" = "13 0 3 8 3 2" ]      # x, r1 and d; three weights; two biases
    [ "$(models show all.onnx)" = "13 0 8 13 6 4" ]        # c2, s, p, f and m, too; zero points of channels
    [ "$(models show float_weights.onnx)" = "13 0 6 6 0 0" ]
    [ "$(models weights layers.onnx w1_quantized)" -gt 100 ] # of 216
    for model in layers all float_weights; do
        is_near $model.onnx 0.02
        run ! is_near $model.onnx 1e-5
    done
}

@test "a scale can be made bad, if it is one, and the same words make the same model" {
    models make model.onnx
    quantize model.onnx --random-weights --float float.onnx -o good.onnx --list >list
    [ "$(cut -f 1,2,3 list | sort | tr '\t\n' ' ,')" = "b2 bias int32,d activation uint8,r1 activation uint8,w1 weight \
int8,w1_bias bias int32,w2 weight int8,w3 weight int8,x activation uint8," ]
    quantize float.onnx --bad-scale r1=0.02 -o bad.onnx
    is_near good.onnx 0.02
    run ! is_near bad.onnx 0.02

    quantize model.onnx --random-weights -o again.onnx
    cmp good.onnx again.onnx
    run quantize float.onnx --bad-scale c1=2 -o none.onnx
    [ "$status" -eq 2 ]
    [[ $output == *"'c1' has no scale of its own"* ]]
    [ ! -e none.onnx ]
}
