# convert.bats: from ONNX to ONNX, in float32 and float16.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models

convert()
{
    run --separate-stderr polygraphy convert "$@"
    [ "$status" -eq 0 ] && [ -z "$stderr" ] || {
        echo "status $status; $stderr"
        echo "$output"
        return 1
    }
}

# Whether the onnx package, if it is there, finds the model valid.
valid()
{
    local status=0
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/check_model.py" "$1" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ]
}

# Whether the outputs of the second model are those of the first, within a tolerance, and it is valid.
close_outputs()
{
    local before=$1 after=$2 tolerance=$3
    shift 3
    polygraphy run "$before" --onnxrt --iterations 2 --save-outputs expected.json "$@" >/dev/null &&
        polygraphy run "$after" --onnxrt --iterations 2 --load-outputs expected.json --rtol "$tolerance" \
            --atol "$tolerance" "$@" && valid "$after"
}

shown()
{
    polygraphy inspect model "$@" --show layers
}

@test "a model without changes is the same model" {
    convert "$models/reducable.onnx" -o same.onnx
    close_outputs "$models/reducable.onnx" same.onnx 0
    convert "$models/reducable.onnx" -o same --convert-to onnx
    cmp same same.onnx
}

@test "outputs are marked and shapes inferred on the way" {
    convert "$models/reducable.onnx" -o marked.onnx --onnx-outputs mark all --shape-inference
    valid marked.onnx
    shown marked.onnx | grep -E -- '---- 5 Graph Output\(s\) ----'
}

@test "what is changed is loaded by ONNX Runtime once, a copy is not" {
    convert "$models/reducable.onnx" -o marked.onnx --onnx-outputs mark all
    not_logged 'ONNX Runtime'
    convert "$models/reducable.onnx" -o marked.onnx --onnx-outputs mark all --onnxruntime-lib /nowhere
    logged "^\[I\] The output model was not tested with ONNX Runtime: ONNX Runtime's shared library"
    convert "$models/unknown_operator.onnx" -o marked.onnx --onnx-outputs mark all
    logged '^\[W\] ONNX Runtime accepts neither the output model nor the original: .*Secret'
    convert "$models/unknown_operator.onnx" -o same.onnx --onnxruntime-lib /nowhere
    not_logged 'ONNX Runtime'
}

@test "what an extension says may be unknown, or not supported" {
    run --separate-stderr polygraphy convert "$models/reducable.onnx" -o model.xyz
    refused 'Could not automatically determine model type based on output path: model.xyz'
    run --separate-stderr polygraphy convert "$models/reducable.onnx" -o model.hdf5
    refused "Cannot convert to model type: keras"
    run --separate-stderr polygraphy convert "$models/reducable.onnx" -o model.onnx --convert-to onnx-like-trt-network
    refused '--convert-to onnx-like-trt-network is not supported: '
    [ ! -e model.onnx ]
}

@test "float16 within, float32 at the border, and operators that take no float16" {
    convert "$models/out_of_half_range.onnx" -o half.onnx --fp-to-fp16
    logged "^\[W\] Weight 'huge': 1 of 2 values exceed the range of float16 \(65504\) and become infinite"
    logged '^\[I\] 1 values in 1 weights are too small for float16 and become 0$'
    logged '^\[I\] Converted 5 nodes to float16; 1 others compute in float32$'
    valid half.onnx
    run shown half.onnx
    logged 'x \[dtype=float32, shape=\(2, 2\)\]'
    logged '\{a \[dtype=float32, shape=\(2, 2\)\],$'
    logged 'Initializer \| good \[dtype=float16'
    logged '\{c_float32 \[dtype=float32, shape=\(2, 2\)\],$' # CumSum
    polygraphy run half.onnx --onnxrt --save-outputs half.json
}

@test "--keep-float32 takes names, patterns and operators" {
    convert "$models/out_of_half_range.onnx" -o half.onnx --fp-to-fp16 --keep-float32 b c --keep-float32 Softmax
    not_logged 'Weight|too small'
    logged 'Converted 2 nodes to float16; 4 others compute in float32'
    close_outputs "$models/out_of_half_range.onnx" half.onnx 1e-2
    convert "$models/out_of_half_range.onnx" -o half.onnx --fp-to-fp16 --keep-float32 '[a-f]' nothing
    logged 'Converted 0 nodes to float16; 6 others compute in float32'
    logged "^\[W\] --keep-float32: no node has the name or operator 'nothing'$"
    close_outputs "$models/out_of_half_range.onnx" half.onnx 0
    convert "$models/out_of_half_range.onnx" -o half.onnx --keep-float32 a
    logged '^\[W\] --keep-float32 has no effect without --fp-to-fp16$'
}

@test "bodies are converted, sizes are not" {
    convert "$models/half_and_bodies.onnx" -o half.onnx --fp-to-fp16
    logged 'Converted 7 nodes to float16; 2 others compute in float32'
    close_outputs "$models/half_and_bodies.onnx" half.onnx 1e-2 --seed 1
    close_outputs "$models/half_and_bodies.onnx" half.onnx 1e-2 --seed 2
    run shown half.onnx
    logged 'size \[dtype=float32, shape=\(\)\]'
}

@test "external data are converted without being copied first" {
    convert "$models/external_weights.onnx" -o half.onnx --fp-to-fp16 --save-external-data half.bin \
        --external-data-size-threshold 0
    close_outputs "$models/external_weights.onnx" half.onnx 1
    size=$(polygraphy inspect model "$models/external_weights.onnx" --show weights | wc -c)
    [ -s half.bin ]
    [ "$size" -gt 0 ]
}

@test "run converts, too, and saves what it runs" {
    run --separate-stderr polygraphy run "$models/half_and_bodies.onnx" --onnxrt --fp-to-fp16 --save-onnx half.onnx
    [ "$status" -eq 0 ]
    convert "$models/half_and_bodies.onnx" -o other.onnx --fp-to-fp16
    cmp half.onnx other.onnx
}

@test "debug reduce names the way to a float16 model" {
    run --separate-stderr polygraphy debug reduce "$models/reducable.onnx" -o r.onnx --fp-to-fp16 --check true
    refused 'polygraphy convert --fp-to-fp16'
}

@test "real models in float16 run, and their outputs are close" {
    [ -d "$POLYGRAPHY_TEST_MODELS" ] || skip 'no real models'
    convert "$POLYGRAPHY_TEST_MODELS/silero/silero_vad.onnx" -o half.onnx --fp-to-fp16
    close_outputs "$POLYGRAPHY_TEST_MODELS/silero/silero_vad.onnx" half.onnx 1e-2 \
        --input-shapes 'input:[1,512]' 'state:[2,1,128]' --val-range 'sr:[16000,16000]'
    convert "$POLYGRAPHY_TEST_MODELS/onnx_light/light_resnet50.onnx" -o half.onnx --fp-to-fp16
    close_outputs "$POLYGRAPHY_TEST_MODELS/onnx_light/light_resnet50.onnx" half.onnx 1e-2
}

# Models of one operator between two others.
middle_model()
{
    /usr/bin/python3 - "$@" <<'EOT'
import sys
import numpy
from onnx import TensorProto, helper, numpy_helper, save
name, opset = sys.argv[1], int(sys.argv[2])
nodes = {
    "MeanVarianceNormalization": helper.make_node("MeanVarianceNormalization", ["a"], ["b"], "middle", axes=[2, 3]),
    "ScatterND": helper.make_node("ScatterND", ["a", "where", "what"], ["b"], "middle", reduction="add"),
    "ScatterElements": helper.make_node("ScatterElements", ["a", "place", "number"], ["b"], "middle", reduction="add"),
    "Identity": helper.make_node("Identity", ["a"], ["b"], "middle"),
}
constants = {
    "where": numpy.array([[0], [1]], numpy.int64), "what": numpy.ones((2, 2, 3, 4), numpy.float32),
    "place": numpy.zeros((1, 1, 1, 1), numpy.int64), "number": numpy.ones((1, 1, 1, 1), numpy.float32),
}
shape = [2, 2, 3, 4]
graph = helper.make_graph(
    [helper.make_node("Softmax", ["x"], ["a"], "first"), nodes[name], helper.make_node("Softmax", ["b"], ["y"], "last")], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    [numpy_helper.from_array(array, key) for key, array in constants.items() if key in nodes[name].input])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), "middle.onnx")
EOT
}

@test "what ONNX Runtime does not take in float16 stays float32, and is named" {
    ! ldd "$(command -v polygraphy)" | grep -qE 'lib[a-z]*san' || skip "sanitizers tell of crashes themselves"
    local b_in_float16=$'\001b\022\026\n\024\b\n' # as a model has it: the name, and behind it type 10
    middle_model ScatterND 16
    ONNXRUNTIME_REAL=${POLYGRAPHY_ONNXRUNTIME:-$POLYGRAPHY_TEST_PROGRAMS/libonnxruntime.so.1} \
        ONNXRUNTIME_CRASHES=given:$b_in_float16 convert middle.onnx -o half.onnx --fp-to-fp16 \
        --onnxruntime-lib "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_crashes.so"
    logged '^\[W\] ONNX Runtime does not support these operators in float16, so they stay float32: ScatterND$'
    logged 'Converted 2 nodes to float16; 1 others compute in float32'
    close_outputs middle.onnx half.onnx 0.01
}

@test "what has no float16 stays float32, and what has it does not" {
    for opset in 9 13 18; do
        middle_model MeanVarianceNormalization $opset
        convert middle.onnx -o half.onnx --fp-to-fp16
        logged 'Converted 2 nodes to float16; 1 others compute in float32'
        not_logged '^\[W\]'
        close_outputs middle.onnx half.onnx 0.01
    done
    for operator in ScatterND ScatterElements; do
        middle_model $operator 16
        convert middle.onnx -o half.onnx --fp-to-fp16
        logged 'Converted 3 nodes to float16; 0 others compute in float32'
        close_outputs middle.onnx half.onnx 0.01
    done
}

@test "a model of an operator set without a Cast for float16 stays float32" {
    middle_model Identity 5
    convert middle.onnx -o half.onnx --fp-to-fp16
    logged '^\[W\] The model uses operator set 5'
    valid half.onnx
    run shown half.onnx
    not_logged 'float16'
}

@test "masks become the largest finite float16, with one line, and the result has no NaN" {
    /usr/bin/python3 - <<'END'
import numpy
from onnx import TensorProto, helper, numpy_helper, save
def value(name, kind, sizes):
    return helper.make_tensor_value_info(name, kind, sizes)
least = numpy_helper.from_array(numpy.array(numpy.finfo(numpy.float32).min), "least")
nodes = [helper.make_node("Where", ["mask", "scores", "least"], ["masked"], "mask_scores"),
         helper.make_node("Softmax", ["masked"], ["y"], "softmax", axis=-1)]
graph = helper.make_graph(nodes, "g", [value("mask", TensorProto.BOOL, [2, 3]), value("scores", TensorProto.FLOAT, [2, 3])],
                          [value("y", TensorProto.FLOAT, [2, 3])], [least])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "masked.onnx")
END
    run polygraphy convert masked.onnx --fp-to-fp16 -o half.onnx
    worked
    [ "$(grep -c "^\[I\] Weight 'least': 1 of 1 values are beyond 1e30, .* clamped to the largest finite float16 (65504)" <<<"$output")" -eq 1 ]
    not_logged 'become infinite'
    # All places masked: infinities would give NaN.
    polygraphy run half.onnx --onnxrt --validate --val-range 'mask:[0,0]'
}

@test "--fp-to-fp16: casts from float32 to float32, which exporters write, do not keep a model in float32" {
    for model in gpt2_legacy t5_decoder mamba; do
        run --separate-stderr polygraphy convert "$models/exported/$model.onnx" --fp-to-fp16 -o half.onnx
        [ "$status" -eq 0 ]
        logged '^\[I\] Converted [1-9][0-9]* nodes to float16'
        not_logged 'does not support these operators'
        polygraphy run half.onnx --onnxrt
    done
}
