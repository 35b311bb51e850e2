# tensorrt_rtx.bats: --trt on NVIDIA's libraries: TensorRT-RTX, which parses and builds without a GPU, and a lean runtime,
# which does neither. `scripts/setup.sh tensorrt` downloads them; without them all tests are skipped. No test runs an engine:
# that needs a GPU.

load tensorrt_helper

bats_require_minimum_version 1.5.0
shared_models=$POLYGRAPHY_TEST_MODELS

setup_file()
{
    file_requires_onnxruntime || return 0
    real=$(realpath "$POLYGRAPHY_TEST_PROGRAMS/../tensorrt" 2>/dev/null) || real=
    [ -e "$real/libtensorrt_rtx.so.1" ] || { skip_file "NVIDIA's libraries are missing: run scripts/setup.sh tensorrt" && return 0; }
    mkdir "$BATS_FILE_TMPDIR/rtx" "$BATS_FILE_TMPDIR/lean"
    ln -s "$real"/libtensorrt_* "$BATS_FILE_TMPDIR/rtx"
    ln -s "$real"/libnvinfer_lean.so.10 "$BATS_FILE_TMPDIR/lean"
}

use_rtx()
{
    use_library "$BATS_FILE_TMPDIR/rtx"
}

requires_shared_models()
{
    [ -d "$shared_models/polygraphy" ] || skip "no models in $shared_models"
}

@test "models are parsed and built, and their plans are written" {
    local model
    use_rtx
    for model in matmul_chain_64 identity identity_identity external_weights branches attention_overflow reducable; do
        run polygraphy convert "$models/$model.onnx" -o "$model.engine"
        [ "$status" -eq 0 ] || {
            echo "$model: $output"
            return 1
        }
        begins_with "$model.engine" vtrt
    done
}

@test "models of public projects are parsed and built" {
    local model
    requires_shared_models
    use_rtx
    for model in matmul_2layer conv residual_block reducable const_foldable instancenorm multi_output needs_constraints \
        sparse.conv tensor_attr scan; do
        run polygraphy convert "$shared_models/polygraphy/$model.onnx" -o m.engine
        [ "$status" -eq 0 ] || {
            echo "$model: $output"
            return 1
        }
        begins_with m.engine vtrt
    done
}

@test "profiles reach TensorRT, which checks them" {
    use_rtx
    make_model empty_tensor
    run polygraphy convert empty_tensor.onnx -o m.engine --trt-min-shapes x:[1,3] --trt-opt-shapes x:[2,3] --trt-max-shapes x:[4,3]
    [ "$status" -eq 0 ]
    begins_with m.engine vtrt
    rm m.engine
    run polygraphy convert empty_tensor.onnx -o m.engine --trt-min-shapes x:[4,3] --trt-opt-shapes x:[2,3] --trt-max-shapes x:[1,3]
    [ "$status" -eq 1 ]
    logged '^\[!\] '
    [ ! -e m.engine ]
}

@test "the error names the node that the parser refuses, its operator, and the parser's code" {
    use_rtx
    make_model refused
    run polygraphy convert refused.onnx -o m.engine
    [ "$status" -eq 1 ]
    logged "^\[!\] .*'secret' \(Secret\).*Plugin not found.*code 6"
    [ ! -e m.engine ]
}

@test "inspect capability: flavour and version, and the nodes that the parser refuses" {
    use_rtx
    run polygraphy inspect capability --trt
    [ "$status" -eq 0 ]
    logged '==== TensorRT-RTX 1\.7\.1 ===='
    make_model refused
    run polygraphy inspect capability refused.onnx --with-partitioning
    [ "$status" -eq 0 ]
    logged '^ +Secret +\| +1 \| .*Plugin not found.* \| \[\[1, 2\]\]$'
    [ "$(cd polygraphy_capability_dumps && echo *.onnx)" = \
        'supported_subgraph-nodes-0-0.onnx supported_subgraph-nodes-2-3.onnx unsupported_subgraph-nodes-1-1.onnx' ]
    run polygraphy inspect capability "$models/attention_overflow.onnx"
    [ "$status" -eq 0 ]
    logged 'Graph is fully supported by TensorRT-RTX'
}

@test "debug precision builds typed models without a GPU, and a model that the parser refuses is an error" {
    use_rtx
    cp "$models/attention_overflow.onnx" model.onnx
    script check.sh <<<'[ "$(head -c 4 polygraphy_debug.engine)" = vtrt ]'
    run polygraphy debug precision model.onnx --fp16 --check ./check.sh
    [ "$status" -eq 0 ]
    logged 'each engine is built from a model in which Casts select float16'
    logged 'PASSED \| Check of all layers in lower precision'
    requires_shared_models
    run polygraphy debug precision "$shared_models/polygraphy/loop.onnx" --fp16 --check ./check.sh
    [ "$status" -eq 1 ]
    logged "\[!\] there is nothing to compare with, because no engine with all layers in higher precision could be made: TensorRT's parser refuses node"
}

@test "debug reduce finds the node that the parser refuses, in two modes" {
    local mode
    use_rtx
    make_model refused
    for mode in bisect minimal; do
        run polygraphy debug reduce refused.onnx -o reduced.onnx --mode "$mode" \
            --check polygraphy convert polygraphy_debug.onnx -o e.engine
        [ "$status" -eq 0 ]
        logged "Reduced 4 nodes to 1: 'secret' \(Secret\)"
    done
}

@test "debug reduce on models that TensorRT-RTX refuses" {
    local model
    requires_shared_models
    use_rtx
    for model in custom_op_node:NegPos nonzero:NonZero loop:Loop; do
        run polygraphy debug reduce "$shared_models/polygraphy/${model%:*}.onnx" -o reduced.onnx --mode bisect \
            --check polygraphy convert polygraphy_debug.onnx -o e.engine
        [ "$status" -eq 0 ]
        logged "Reduced [0-9]* nodes to 1: .*\(${model#*:}\)"
    done
}

@test "an assertion of the builder is an error with its text, and leaves no file" {
    requires_shared_models
    use_rtx
    run polygraphy convert "$shared_models/silero/silero_vad.onnx" -o m.engine
    [ "$status" -eq 1 ]
    logged '^\[!\] TensorRT.*Assertion'
    [ ! -e m.engine ]
}

@test "running an engine without a GPU fails with one sentence" {
    use_rtx
    run polygraphy run "$models/identity.onnx" --trt
    [ "$status" -eq 1 ]
    [ "$(grep -c '^\[!\]' <<<"$output")" -eq 1 ]
    logged '^\[!\] .*(CUDA|device|GPU|driver)'
    polygraphy convert "$models/identity.onnx" -o m.engine
    run polygraphy run m.engine --trt
    [ "$status" -eq 1 ]
    logged '^\[!\] .*(CUDA|device|GPU|driver)'
}

@test "auto uses the library where no device is needed, and the built-in engine for runs" {
    use_rtx
    export POLYGRAPHY_TRT=auto
    run polygraphy convert "$models/identity.onnx" -o m.engine
    [ "$status" -eq 0 ]
    begins_with m.engine vtrt
    run polygraphy run "$models/identity.onnx" --trt --onnxrt
    [ "$status" -eq 0 ]
    logged '^\[W\] .*built-in'
}

@test "a lean runtime is refused as a builder, and without a GPU as a runtime" {
    use_library "$BATS_FILE_TMPDIR/lean"
    run polygraphy convert "$models/identity.onnx" -o m.engine
    [ "$status" -eq 1 ]
    logged '^\[!\] .*lean'
    [ ! -e m.engine ]
    use_rtx
    polygraphy convert "$models/identity.onnx" -o m.engine
    use_library "$BATS_FILE_TMPDIR/lean"
    run polygraphy run m.engine --trt
    [ "$status" -eq 1 ]
    logged '^\[!\] '
}

@test "an engine is built for the GPUs that are named, and those it does not support are refused" {
    use_rtx
    polygraphy convert "$models/identity.onnx" -o both.engine --compute-capabilities 8.6 12.0
    polygraphy convert "$models/identity.onnx" -o one.engine --compute-capabilities 8.6
    [ "$(stat -c %s both.engine)" -gt "$(stat -c %s one.engine)" ]
    run polygraphy convert "$models/identity.onnx" -o none.engine --compute-capabilities 7.4
    [ "$status" -ne 0 ]
    logged '^\[!\] --compute-capabilities: 7.4: TensorRT-RTX refuses it'
    [ ! -e none.engine ]
}
