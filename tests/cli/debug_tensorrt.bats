# debug_tensorrt.bats: `debug passes` and `debug accuracy` on TensorRT's library (tests/tensorrt_stand_in/).

load tensorrt_helper

convolutions=$models/convolutions.onnx

setup_file()
{
    file_requires_onnxruntime || return 0
}

passes()
{
    run --separate-stderr polygraphy debug passes "$convolutions" --trt --atol 1e-3 --json result.json "$@"
}

@test "the fusion of TensorRT that is wrong is named by the tensor across which it is, and by the knob that disables it" {
    use_release 11.1
    export TENSORRT_STAND_IN_WRONG_LAYER='pointwise + relu'
    passes
    logged "3 of 3 knobs of TensorRT's compiler can be turned down"
    logged "Cause: across:t4$"
    logged "Evidence: fails with only route:-cask_fusion=off, across:t4 enabled"
    logged "Nodes without it: 'pointwise' \(convolution\), 'relu' \("
    logged "Nodes with it: 'pointwise \+ relu' \(convolution\)"
    logged "with trtexec: --markDebug=t4"
    [ "$(json_value 'it["off"], it["culprits"]')" = "(['across:t4'], [['route:-cask_fusion=off', 'across:t4']])" ]
    # a knob that TensorRT refuses next to another one is left as it is
    TENSORRT_STAND_IN_FAULTS=routes-refused passes --among routes
    logged "\[W\] 1 of 3 optimizations stay enabled and are not tried \('route:-kgen:tiling=0'\)"
    logged "Cause: route:-cask_fusion=off$"
    logged "Not tested: whether the kernels .* \(which tactics TensorRT takes is not held fixed\)"
    [ "$(json_value 'it["not_tried"], len(it["decisions"])')" = "(['route:-kgen:tiling=0'], 2)" ]
    logged "Fix: polygraphy run ... --build-route cask_fusion=off$"
    logged "with trtexec: --setBuildRoute='-cask_fusion=off'$"
}

@test "releases without knobs have barriers, and an engine is built without a device where a check only builds" {
    local release
    export TENSORRT_STAND_IN_WRONG_LAYER='pointwise + relu'
    for release in 8.6 10.16 rtx-1.7; do
        use_release "$release"
        passes
        logged "Only barriers are tried, since knobs are there from TensorRT 11.1 on: .* has no VBuilderConfig::getAllBuildRoutes"
        logged "Cause: across:t4$"
    done
    POLYGRAPHY_TRT=auto CUDA_STAND_IN_ERROR=100 run --separate-stderr polygraphy debug passes "$convolutions" --trt \
        --check polygraphy convert "$convolutions" --convert-to trt -o model.engine
    logged "Only barriers are tried"
    logged "The check passes with all optimizations enabled: nothing to find"
}

@test "debug accuracy finds the fusion of TensorRT that is wrong, and keeps what it knows for the same library only" {
    use_release 10.16
    export TENSORRT_STAND_IN_WRONG_LAYER='pointwise + relu'
    run --separate-stderr polygraphy debug accuracy "$convolutions" --onnxrt --trt --atol 1e-3 -o folder --json result.json
    [ "$status" -eq 0 ]
    logged "Cause: 'pointwise' \(Conv\) and 'relu' \(Relu\) are fused wrongly: they agree when 't4', which lies between them, is an output$"
    logged "Evidence: the minimal case fails in a fresh process"
    logged "Fix: 't4' as extra output: --onnx-outputs y t4$"
    grep -q libnvinfer folder/session.json
    use_release 11.1 # before any experiment
    run --separate-stderr polygraphy debug accuracy "$convolutions" --onnxrt --trt --fp16 -o typed
    [ "$status" -eq 1 ]
    [[ $stderr == *'--fp16: types are those of the model in TensorRT 11.1.0: `polygraphy debug precision` with the same option'* ]]
    [ ! -e typed ]
}

@test "debug precision: a build that fails is no failed check, and an error where the check has to pass" {
    local release
    make_model overflow
    for release in 8.6 11.1; do
        use_release "$release"
        TENSORRT_STAND_IN_FAULTS=build-fails run --separate-stderr polygraphy debug precision overflow.onnx --fp16 --check true
        [ "$status" -eq 1 ]
        [[ $stderr == *'[!] there is nothing to compare with, because no engine with all layers in higher precision could be made: TensorRT could not build an engine: '* ]]
    done
}

@test "debug reduce --golden trt: TensorRT computes the values, in the types of the model" {
    local golden
    make_model data_dependent empty_tensor
    script check.sh <<'EOF'
[ "$POLYGRAPHY_ITERATION" -ge 0 ] || exit 0 # a control
cp polygraphy_debug.onnx "candidate$POLYGRAPHY_ITERATION.onnx"
exit 1
EOF
    for golden in onnxrt 8.6 10.16 11.1; do
        [ $golden = onnxrt ] || use_release $golden
        run --separate-stderr polygraphy debug reduce "$models/reducable.onnx" -o reduced.onnx --no-reduce-outputs \
            --golden "$([ $golden = onnxrt ] && echo onnxrt || echo trt)" --no-verify --mode linear --check ./check.sh
        [ "$status" -eq 0 ]
        logged 'Freezing tensor: Variable \(X0\)'
        [ $golden = onnxrt ] || logged 'Running inference with TensorRT to determine metadata'
        [ $golden = onnxrt ] || recorded 'output identity_out_0 float32'
        /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/reduce_models.py" show candidate*.onnx >$golden.txt
        cmp onnxrt.txt $golden.txt
        rm -f polygraphy_debug_replay* candidate*
    done
    grep -q 'const [a-z]' 8.6.txt
    script check.sh <<<'cp golden.json kept.json; exit 1'
    use_release 8.6 # which has no int64
    run polygraphy debug reduce data_dependent.onnx -o reduced.onnx --mode minimal --golden trt --iter-inputs in.json \
        --iter-golden golden.json --check ./check.sh
    run polygraphy inspect data kept.json
    logged 'dtype=int64'
    run polygraphy run empty_tensor.onnx --onnxrt --input-shapes x:[4,3] --save-inputs four.json
    run polygraphy debug reduce empty_tensor.onnx -o reduced.onnx --mode minimal --golden trt --iter-inputs in.json \
        --iter-golden golden.json --load-inputs four.json --check ./check.sh
    run polygraphy inspect data kept.json
    logged 'shape=\(4, 3\)'
}
