# barriers.bats: across:TENSOR in POLYGRAPHY_DISABLED: whoever runs a model gives that tensor out, so that nothing is fused
# across it, and keeps it to itself. TensorRT is tests/tensorrt_stand_in/.

load tensorrt_helper

model=$POLYGRAPHY_ROOT/tests/models/convolutions.onnx # whose Conv 'pointwise' makes t4, of which a Relu makes y

setup_file()
{
    file_requires_onnxruntime || return 0
}

# disabled LIST COMMAND ...: polygraphy has to do without these decisions.
disabled()
{
    run env POLYGRAPHY_DISABLED="$1" polygraphy "${@:2}"
}

works()
{
    [ "$status" -eq 0 ] || {
        echo "$output"
        return 1
    }
}

fails()
{
    [ "$status" -eq 1 ] && logged "$1"
}

@test "the engines fuse nothing across a tensor that is a barrier, and their outputs are the model's" {
    local layers
    export POLYGRAPHY_TRT=builtin
    for layers in builtin tensorrt; do
        [ "$layers" = builtin ] || use_release 11.1
        disabled '' run "$model" --trt --onnxrt --save-layer-info fused.json --atol 1e-3
        works
        disabled 'across:t4;Nothing' run "$model" --trt --onnxrt --atol 1e-3 \
            --save-layer-info apart.json --save-outputs out.json
        works
        grep -q '"pointwise + relu"' fused.json
        run -1 grep -q '"pointwise + relu"' apart.json
        grep -q '"pointwise"' apart.json
        disabled '' inspect data out.json
        works
        logged 'y \[dtype=float32'
        not_logged 't4'
    done
}

@test "an engine that was built with a barrier gives it out to those who do not know of it" {
    export POLYGRAPHY_TRT=builtin
    disabled across:t4 convert "$model" -o engine.plan
    works
    disabled across:t4 run engine.plan --trt
    works
    not_logged 't4 \[dtype'
    disabled '?across:t4' run engine.plan --trt
    works
    not_logged 't4 \[dtype'
    disabled '' run engine.plan --trt
    works
    logged 't4 \[dtype'
    disabled across:t3 run engine.plan --trt
    fails "'t3' is no output of what is run"
    disabled '?across:t3' run engine.plan --trt
    fails "'t3' is no output of what is run"
}

@test "a barrier that is an output anyway stays one" {
    disabled 'across:y;across:t4' run "$model" --onnxrt --onnx-outputs t4 y
    works
    logged 't4 \[dtype'
    logged 'y \[dtype'
}

@test "a tensor that is not there is an error, for each runner" {
    export POLYGRAPHY_TRT=builtin
    disabled across:t5 run "$model" --onnxrt
    fails "POLYGRAPHY_DISABLED: The following tensors were not found in the model: \\['t5'\\].*did you mean 't1'"
    disabled across:t5 run "$model" --onnxrt --onnx-outputs mark all
    fails "not found in the model: \\['t5'\\]"
    disabled across:t5 convert "$model" -o engine.plan
    fails "not found in the model: \\['t5'\\]"
    disabled '?across:t5;?across:t4;?fusion:relu@rellu' run "$model" --trt --onnxrt --save-layer-info apart.json --atol 1e-3
    works
    run -1 grep -q '"pointwise + relu"' apart.json
    use_release 11.1
    disabled across:t5 convert "$model" -o engine.plan
    fails "outputs that keep layers apart: TensorRT's network has no tensor 't5'"
}

@test "TensorRT is told knobs of its compiler, and only such as it has" {
    use_release 11.1
    disabled '' run "$model" --trt --build-route kgen:tiling=2 cask_fusion=on --save-layer-info l.json
    works
    recorded 'route -kgen:tiling=2 -cask_fusion=on'
    grep -q '"pointwise + relu"' l.json
    rm record
    disabled route:-cask_fusion=off run "$model" --trt --build-route cask_fusion=on --save-layer-info l.json
    works
    recorded 'route -cask_fusion=off'
    run -1 grep -q '"pointwise + relu"' l.json
    disabled '' run "$model" --trt --build-route cask_fusions=on
    fails "no knob 'cask_fusions'.*cask_fusion"
    disabled route:-kgen:tiling=7 run "$model" --trt
    fails "'7' is not a value of TensorRT's knob 'kgen:tiling': expected one of 0, 1, 2"
}
