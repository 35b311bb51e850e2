# run_engine.bats: `run --trt` and `convert` to engines, with the built-in engine.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
warning='TensorRT is not installed: the built-in CPU engine is used'

# Without the warning of the built-in engine there is nothing on standard error, and it is in the log otherwise.
quietly()
{
    POLYGRAPHY_TRT=builtin run --separate-stderr polygraphy "$@"
}

@test "an engine and ONNX Runtime agree on convolutions, activations and all" {
    quietly run "$models/convolutions.onnx" --trt --onnxrt --atol 1e-4 --rtol 1e-4
    worked
    logged 'trt-runner-N0-.* vs\. onnxrt-runner-N0-'
    logged 'PASSED \| simple \| All outputs matched'
    not_logged "$warning"
}

@test "one warning says that it is not TensorRT, and one what means nothing to it" {
    run polygraphy run "$models/identity.onnx" --trt --fp16 --pool-limit workspace:1G --max-aux-streams 2
    [ "$status" -eq 0 ]
    [ "$(grep -c "$warning" <<<"$output")" -eq 1 ]
    logged '^\[W\] These options have no effect on the built-in engine: --pool-limit, --max-aux-streams$'
}

@test "what would change results if it were ignored is refused" {
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt --fp8
    refused 'does not support 8-bit floating point'
    run --separate-stderr polygraphy run "$models/identity.onnx" --trt --trt-config-script x.py
    refused 'Python scripts are not run'
}

@test "TensorRT can be pinned, and is then missing" {
    POLYGRAPHY_TRT=tensorrt run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    refused 'POLYGRAPHY_TRT=tensorrt'
    POLYGRAPHY_TRT=other run --separate-stderr polygraphy run "$models/identity.onnx" --trt
    refused "POLYGRAPHY_TRT is 'other'"
}

@test "a converted engine runs, is shown, and gives what the model gives" {
    quietly convert "$models/convolutions.onnx" -o x.engine --save-tactics replay.json --save-timing-cache cache.json
    worked
    quietly run "$models/convolutions.onnx" --onnxrt --save-inputs in.json --save-outputs golden.json
    worked
    quietly run x.engine --trt --load-inputs in.json --load-outputs golden.json --atol 1e-4 --rtol 1e-4
    worked
    quietly inspect model x.engine --show layers --json layers.json
    worked
    logged '==== Built-in Engine ===='
    logged '---- 1 Engine Input\(s\) ----'
    layers=$(sed -n 's/.*---- \([0-9]*\) Layer(s) ----.*/\1/p' <<<"$output")
    [ "$layers" -gt 0 ]
    [ "$(grep -c '^ *Tactic: [a-z]*:' <<<"$output")" -eq "$layers" ]
    [ "$(grep -c '"tactic"' layers.json)" -eq "$layers" ]
    quietly inspect tactics replay.json
    worked
    [ "$(grep -c 'Layer: ' <<<"$output")" -eq "$layers" ]
}

@test "a replay gives every layer the same tactic again" {
    quietly convert "$models/convolutions.onnx" -o first.engine --save-tactics first.json
    worked
    quietly convert "$models/convolutions.onnx" -o second.engine --load-tactics first.json
    worked
    quietly inspect model first.engine --show layers
    first=$(grep -o 'Tactic: [^,]*' <<<"$output")
    quietly inspect model second.engine --show layers
    [ "$(grep -o 'Tactic: [^,]*' <<<"$output")" = "$first" ]
}

@test "oneDNN is the library that is named, of a version that is known" {
    local library
    POLYGRAPHY_ONEDNN=$POLYGRAPHY_TEST_PROGRAMS/plugins/onednn_of_tomorrow.so quietly run "$models/identity.onnx" --trt
    refused 'oneDNN 4.0.0 is installed, but a version from 2.6 to 3.x is needed'
    POLYGRAPHY_ONEDNN=$POLYGRAPHY_TEST_PROGRAMS/plugins/no_plugin.so quietly run "$models/identity.onnx" --trt
    refused 'what is loaded as oneDNN is another library'
    POLYGRAPHY_ONEDNN=/nowhere/libdnnl.so quietly run "$models/identity.onnx" --trt --tactic-sources onednn
    refused 'cannot load oneDNN, which POLYGRAPHY_ONEDNN names: /nowhere/libdnnl.so'

    library=$(find /usr/lib -name 'libdnnl.so.[23]*' -print -quit)
    [ -n "$library" ] || skip "oneDNN is not installed where Debian puts it"
    POLYGRAPHY_ONEDNN=$library quietly run "$models/identity.onnx" --trt -v
    worked
    logged "Using oneDNN $(sed -E 's/.*\.so\.([23]).*/\1/' <<<"$library")\."
}

@test "a replay with a tactic that does not exist names the layer" {
    quietly convert "$models/identity.onnx" -o x.engine --save-tactics replay.json
    worked
    sed -i -E 's/"name": "[^"]*"/"name": "onednn:no such tactic"/; s/"(implementation|tactic)": -?[0-9]+/"\1": 1/' replay.json
    quietly convert "$models/identity.onnx" -o y.engine --load-tactics replay.json
    [ "$status" -eq 1 ]
    [[ $stderr == *'no such tactic'* ]]
    [ ! -e y.engine ]
}

@test "a timing cache spares a build all times, and without one none may be missing" {
    quietly convert "$models/convolutions.onnx" -o x.engine --save-timing-cache cache.json
    worked
    quietly convert "$models/convolutions.onnx" -o y.engine --load-timing-cache cache.json --error-on-timing-cache-miss
    worked
    logged '\(0 tactics timed'
    quietly convert "$models/convolutions.onnx" -o z.engine --error-on-timing-cache-miss
    [ "$status" -eq 1 ]
    [ ! -e z.engine ]
}

@test "builds that save to one timing cache add to it" {
    quietly convert "$models/convolutions.onnx" -o x.engine --save-timing-cache cache.json
    worked
    quietly convert "$models/identity.onnx" -o y.engine --tactic-sources onnxrt --deterministic --save-timing-cache cache.json
    worked
    quietly convert "$models/convolutions.onnx" -o z.engine --load-timing-cache cache.json --error-on-timing-cache-miss
    worked
    logged '\(0 tactics timed'
}

@test "what is no timing cache is refused before a build that would add to it" {
    echo '{"precious": 1}' >notes.json
    quietly convert "$models/identity.onnx" -o x.engine --save-timing-cache notes.json
    refused "'notes.json' is no timing cache of this program"
    [ "$(cat notes.json)" = '{"precious": 1}' ]
    [ ! -e x.engine ]
}

@test "layers at float16 round what they store, and only those" {
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import helper, TensorProto
nodes = [helper.make_node("Mul", ["x", "k"], ["a"], name="mul"), helper.make_node("Mul", ["a", "d"], ["y"], name="back")]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
                          [helper.make_tensor("k", TensorProto.FLOAT, [1], [100000.0]),
                           helper.make_tensor("d", TensorProto.FLOAT, [1], [0.00001])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "overflow.onnx")
EOF
    quietly run overflow.onnx --trt --onnxrt --val-range '[1,2]' --atol 1e-3
    worked
    quietly run overflow.onnx --trt --onnxrt --val-range '[1,2]' --atol 1e-3 --fp16
    [ "$status" -eq 1 ]
    quietly run overflow.onnx --trt --onnxrt --val-range '[1,2]' --atol 1e-2 --fp16 \
        --precision-constraints obey --layer-precisions mul:float32 back:float32
    worked
}

@test "each build says in what its layers compute, and what was asked for in vain" {
    quietly run "$models/convolutions.onnx" --trt --fp16
    worked
    logged '^\[I\] Built [0-9]+ layers: [0-9]+ float16(, [0-9]+ that only move data)?; '
    not_logged 'requested precision'
    quietly run "$models/convolutions.onnx" --trt
    logged '^\[I\] Built [0-9]+ layers: [0-9]+ float32(, [0-9]+ that only move data)?; '
    quietly run "$models/all_in_an_if.onnx" --trt --onnxrt --fp16 --val-range rate:[8,8]
    [ "$status" -eq 0 ]
    logged "^\[W\] No layer uses the requested precision float16: all that computes lies inside of 'choice' \(If\).*--decide-branches"
    logged '^\[I\] Built 2 layers: 1 float32, 1 without floating-point numbers; '
    quietly run "$models/all_in_an_if.onnx" --trt --onnxrt --fp16 --decide-branches --val-range rate:[8,8] --atol 1e-2
    worked
    logged '^\[I\] Built [0-9]+ layers: 1 float16, '
    quietly run "$models/convolutions.onnx" --trt --fp16 --strongly-typed
    worked
    logged '^\[W\] No layer uses float16: with --strongly-typed'
}

@test "names of layers and tensors that do not exist are refused" {
    quietly run "$models/identity.onnx" --trt --fp16 --precision-constraints obey --layer-precisions nothing:float16
    [ "$status" -eq 1 ]
    [[ $stderr == *nothing* ]]
    quietly run "$models/identity.onnx" --trt --trt-outputs nothing
    [ "$status" -eq 1 ]
    [[ $stderr == *nothing* ]]
}

@test "any tensor can be an output, with a warning where that keeps layers apart" {
    quietly run "$models/convolutions.onnx" --onnxrt --onnx-outputs mark all --save-outputs golden.json
    quietly run "$models/convolutions.onnx" --trt --trt-outputs mark all --load-outputs golden.json --atol 1e-4 --rtol 1e-4
    [ "$status" -eq 0 ]
    [ "$(grep -c 'PASSED | Output: ' <<<"$output")" -gt 1 ]
    logged '^\[W\] .*(fused|fusion)'
}

@test "shapes are those of the profile, and others inside of it work as well" {
    quietly convert "$models/dynamic_identity.onnx" -o x.engine --trt-min-shapes 'X:[1,2,1,1]' \
        --trt-opt-shapes 'X:[1,2,4,4]' --trt-max-shapes 'X:[1,2,8,8]'
    worked
    quietly run x.engine --trt --input-shapes 'X:[1,2,5,3]'
    worked
    quietly run x.engine --trt --input-shapes 'X:[1,2,9,3]'
    [ "$status" -eq 1 ]
    [[ $stderr == *"'X'"* ]]
}

@test "data of several shapes run through the profile that the engine is built for" {
    for size in 1 3 8; do
        quietly run "$models/dynamic_identity.onnx" --onnxrt --input-shapes "X:[1,2,$size,$size]" --save-inputs in$size.json
        worked
    done
    quietly run "$models/dynamic_identity.onnx" --trt --onnxrt --trt-min-shapes 'X:[1,2,1,1]' \
        --trt-opt-shapes 'X:[1,2,3,3]' --trt-max-shapes 'X:[1,2,8,8]' --load-inputs in1.json in3.json in8.json
    worked
    logged 'Passed: 3/3 iterations'
}

@test "a profile must be complete and in order" {
    quietly convert "$models/dynamic_identity.onnx" -o x.engine --trt-min-shapes 'X:[1,2,9,9]' \
        --trt-opt-shapes 'X:[1,2,4,4]' --trt-max-shapes 'X:[1,2,8,8]'
    [ "$status" -eq 1 ]
    quietly convert "$models/dynamic_identity.onnx" -o x.engine --trt-min-shapes 'X:[1,2,1,1]' --trt-max-shapes 'Y:[1,2,8,8]'
    refused ", --trt-max-shapes does not: name the same inputs in both"
}

@test "files that are no engines get one clear error" {
    quietly convert "$models/convolutions.onnx" -o x.engine
    worked
    head -c 100 x.engine > cut.engine
    head -c 3000 x.engine > shorter.engine
    cp "$models/convolutions.onnx" model.engine
    printf 'ftrt%0200d' 1 > tensorrt.engine
    : > empty.engine
    for file in cut shorter model tensorrt empty; do
        quietly run "$file.engine" --trt
        [ "$status" -eq 1 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [ "$file" != tensorrt ] || continue
        quietly inspect model "$file.engine"
        [ "$status" -eq 1 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    quietly run tensorrt.engine --trt
    [[ $stderr == *TensorRT* ]]
}

@test "an engine is not for --onnxrt, and does not become a model" {
    quietly convert "$models/identity.onnx" -o x.engine
    worked
    quietly run x.engine --onnxrt
    refused 'is an engine, which --onnxrt cannot run'
    quietly convert x.engine -o x.onnx
    refused 'is an engine'
}

@test "the times of all layers are shown with --profile" {
    quietly run "$models/convolutions.onnx" --trt --profile
    worked
    logged '^ +[0-9.]+ +[0-9.]+  float32 '
}

@test "int8 scales from random data are warned of, also when the cache brings them back, not those from real data" {
    local warning='^\[W\] Int8 Calibration is using (.*)randomly generated input data.$'
    quietly run "$models/convolutions.onnx" --trt --int8 --calibration-cache scales.txt --save-inputs data.json
    worked
    logged "${warning/(.*)/}"
    logged '^    You may want to consider providing real data via the --load-inputs option\.$'
    quietly run "$models/convolutions.onnx" --trt --int8 --calibration-cache scales.txt --load-inputs data.json
    worked
    logged "${warning/(.*)/a calibration cache that was made with }"
    rm scales.txt
    for i in 1 2; do
        quietly run "$models/convolutions.onnx" --trt --int8 --calibration-cache scales.txt --load-inputs data.json
        worked
        run ! grep -E "$warning" <<<"$output"
        [ -s scales.txt ]
    done
    quietly run "$models/convolutions.onnx" --trt --fp16 --calibration-cache scales.txt
    logged '^\[W\] Some int8 calibrator options were set, but int8 precision is not enabled\. '
    run ! grep -E "$warning" <<<"$output"
}

@test "what float16 cannot hold is shown with the value of the reference and the limit" {
    quietly run "$models/out_of_half_range.onnx" --trt --onnxrt --fp16 --validate --atol 1e-2 --rtol 1e-2
    [ "$status" -eq 1 ]
    local line='3 of 4 values are infinite or NaN where the reference has numbers, the first one at \(0, 0\): the reference has 1.64916e\+06 there; float16 ends at 65504$'
    [ "$(grep -cE "^\[E\] +$line" <<<"$output")" -eq 2 ]
    grep -A1 -E "^\[E\]     Inf Detected" <<<"$output" | grep -qE "$line"
}

@test "the reference of an overflow may be a file, also when outputs come layer by layer" {
    for name in large infinite; do
        /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/surgeon_models.py" make "${name}_factor" "$name.onnx"
    done
    polygraphy run large.onnx --onnxrt --onnx-outputs mark all --save-inputs in.json --save-outputs golden.json
    quietly run infinite.onnx --onnxrt --onnx-outputs mark all --load-inputs in.json --load-outputs golden.json --validate
    [ "$status" -eq 1 ]
    [ "$(grep -c '1 of 2 values are infinite or NaN where .*: the reference has 216097 there; float16 ends at 65504$' <<<"$output")" -eq 2 ]
}

@test "options of a runner that is not there are refused before anything runs" {
    quietly run "$models/convolutions.onnx" --onnxrt --fp16 --save-engine x.engine --layer-precisions c:float16
    [ "$status" -ne 0 ]
    [[ $stderr == *'--fp16, --layer-precisions, --save-engine has no effect without --trt, the only runner that reads it; add --trt, or leave out the option'* ]]
    run ! grep -q Activating <<<"$output"
    quietly run "$models/convolutions.onnx" --onnxrt --refittable --load-tactic-replay replay.json
    [ "$status" -ne 0 ]
    [[ $stderr == *'--load-tactic-replay, --refittable has no effect without --trt, the only runner that reads it'* ]]
    quietly run "$models/convolutions.onnx" --trt --execution-providers cpu
    [ "$status" -ne 0 ]
    [[ $stderr == *'--execution-providers has no effect without --onnxrt, the only runner that reads it'* ]]
    quietly run "$models/convolutions.onnx" --trt --onnxrt --fp16 --providers cpu --save-engine x.engine --atol 0.1 --rtol 0.1
    worked
    quietly run x.engine --trt --fp16 --layer-precisions c:float16 --save-engine y.engine
    worked
    logged "^\[W\] '.*x.engine' is already an engine: --fp16, --layer-precisions, --save-engine has no effect$"
}

@test "an ONNX model is not converted by options that say how an engine is built" {
    quietly convert "$models/branches.onnx" -o x.onnx --decide-branches
    refused '--decide-branches is for engines, but the output '"'x.onnx'"' is an ONNX model; use the extension .engine, or leave out the option; `polygraphy surgeon sanitize --fold-constants`'
    [ ! -e x.onnx ]
    quietly convert "$models/convolutions.onnx" -o x --convert-to onnx --fp16 --save-timing-cache times
    refused '--fp16, --save-timing-cache is for engines'
    refused '--fp-to-fp16 converts an ONNX model to float16'
}

@test "int8 scales come from the data, and are cached" {
    quietly run "$models/convolutions.onnx" --trt --onnxrt --int8 --calibration-cache scales.txt --atol 0.5 --rtol 0.5
    [ "$status" -eq 0 ]
    [ -s scales.txt ]
    cp scales.txt before.txt
    quietly run "$models/convolutions.onnx" --trt --int8 --calibration-cache scales.txt
    [ "$status" -eq 0 ]
    logged 'Reading calibration cache from scales.txt'
    cmp scales.txt before.txt
}

@test "ONNX Runtime alone computes a call of a function whose constants lie in a file" {
    POLYGRAPHY_ONEDNN=/nonexistent quietly run "$models/external_data_in_a_function.onnx" --trt --onnxrt
    [ "$status" -eq 0 ]
    logged 'PASSED \| simple \| All outputs matched'
}

# A classifier whose probabilities leave it as a sequence of maps.
make_classifier()
{
    /usr/bin/python3 - <<'EOF'
import onnx
from onnx import helper, TensorProto
node = lambda *words, **attributes: helper.make_node(*words, domain="ai.onnx.ml", **attributes)
nodes = [node("LinearClassifier", ["x"], ["label", "scores"], coefficients=[1.0, 2, -1, 0.5, 0.25, 1], intercepts=[0.0, 0.1],
              classlabels_ints=[0, 1], post_transform="SOFTMAX"),
         node("ZipMap", ["scores"], ["probabilities"], classlabels_int64s=[0, 1])]
value = lambda name, kind, *shape: helper.make_tensor_value_info(name, kind, shape)
graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, 2, 3)], [value("label", TensorProto.INT64, 2)])
maps = graph.output.add(name="probabilities").type.sequence_type.elem_type.map_type
maps.key_type, maps.value_type.tensor_type.elem_type = TensorProto.INT64, TensorProto.FLOAT
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 15)],
                            ir_version=8), "classifier.onnx")
EOF
}

@test "outputs that are sequences of maps are left out, and named" {
    make_classifier
    quietly run classifier.onnx --onnxrt --trt
    [ "$status" -eq 0 ]
    logged "^\[W\] Outputs that are sequences, maps or the like are left out of the engine: \['probabilities'\]$"
    logged "PASSED \| simple \| All outputs matched \| Outputs: \['label'\]$"
    quietly run classifier.onnx --onnxrt --onnx-outputs mark all --save-outputs golden.json
    [ "$status" -eq 0 ]
    quietly run classifier.onnx --trt --trt-outputs mark all --load-outputs golden.json
    [ "$status" -eq 0 ]
    logged "PASSED \| simple \| All outputs matched \| Outputs: \['label', 'scores'\]$"
    quietly run classifier.onnx --trt --trt-outputs probabilities
    [ "$status" -eq 1 ]
    [[ $stderr == *"output 'probabilities' is no tensor"*"polygraphy surgeon extract"* ]]
}

# 4-bit integers, two to a byte: an odd number of them, copied, made and read. The types are numbers: those of int4 and uint4.
make_narrow()
{
    /usr/bin/python3 - "$1" <<'EOF'
import sys
import numpy
import onnx
from onnx import helper, numpy_helper, TensorProto
kind = int(sys.argv[1])
nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "q"), helper.make_node("Identity", ["q"], ["copy"], "i"),
         helper.make_node("DequantizeLinear", ["copy", "s", "z"], ["y"], "d"),
         helper.make_node("Identity", ["w"], ["constant"], "iw"),
         helper.make_node("DequantizeLinear", ["constant", "s"], ["v"], "dw")]
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [7])
narrow = lambda name, shape, data: TensorProto(name=name, data_type=kind, dims=shape, raw_data=data)
graph = helper.make_graph(nodes, "g", [value("x")], [value("y"), value("v")],
                          [numpy_helper.from_array(numpy.float32(0.5), "s"), narrow("z", [], b"\x01"),
                           narrow("w", [7], b"\x78\x0f\xb3\x02")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
with open("narrow.onnx", "wb") as file:
    file.write(model.SerializeToString())
EOF
}

# narrow_values RUNNER...: what the runner gives, without what it is called.
narrow_values()
{
    polygraphy run narrow.onnx "$@" --load-inputs feed.json --save-outputs values.json --silent
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" show values.json | cut -d ' ' -f 3- | sort
}

@test "4-bit integers are right in every runner, marked or not" {
    local runner marks kind
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" feeds feed.json '[{"x": f32([-10, -4, -0.5, 0, 0.5, 3, 10])}]'
    export POLYGRAPHY_TRT=builtin
    for kind in 22 21; do
        make_narrow $kind
        if [ $kind -eq 22 ]; then
            cat >expected <<'END'
constant int8 [-8, 7, -1, 0, 3, -5, 2]
copy int8 [-8, -7, 0, 1, 2, 7, 7]
q int8 [-8, -7, 0, 1, 2, 7, 7]
v float32 [-4.0, 3.5, -0.5, 0.0, 1.5, -2.5, 1.0]
y float32 [-4.5, -4.0, -0.5, 0.0, 0.5, 3.0, 3.0]
END
        else
            cat >expected <<'END'
constant uint8 [8, 7, 15, 0, 3, 11, 2]
copy uint8 [0, 0, 0, 1, 2, 7, 15]
q uint8 [0, 0, 0, 1, 2, 7, 15]
v float32 [4.0, 3.5, 7.5, 0.0, 1.5, 5.5, 1.0]
y float32 [-0.5, -0.5, -0.5, 0.0, 0.5, 3.0, 7.0]
END
        fi
        for runner in --onnxrt --trt; do
            diff <(narrow_values $runner) <(grep -E '^[vy] ' expected)
            diff <(narrow_values $runner --onnx-outputs mark all) expected
        done
        diff <(narrow_values --trt --trt-outputs q copy) <(grep -E '^(q|copy) ' expected)
        polygraphy inspect capability narrow.onnx | grep 'fully supported'
        polygraphy surgeon sanitize narrow.onnx -o folded.onnx --fold-constants
        polygraphy inspect model folded.onnx --show weights | grep -E "constant \[dtype=u?int4, shape=\[7\]\]"
        # named tensors that are constants are folded away; the others stay
        diff <(narrow_values --trt --trt-outputs mark all) <(grep -vE '^constant ' expected)
    done
}

@test "4-bit integers as inputs have random data" {
    local kind
    for kind in 22 21; do
        make_narrow $kind
        polygraphy surgeon extract narrow.onnx -o part.onnx --inputs copy:auto:auto --outputs y:auto
        quietly run part.onnx --onnxrt --trt --val-range '[0,7]'
        [ "$status" -eq 0 ]
        logged "PASSED \| simple \| All outputs matched \| Outputs: \['y'\]$"
    done
}

# A product, "x" of [n, 1000] with ones but for a -1 in front.
make_product()
{
    /usr/bin/python3 - <<'EOF'
import numpy
import onnx
from onnx import helper, numpy_helper, TensorProto
value = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
weight = numpy.ones((1000, 1), numpy.float32)
weight[0] = -1
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "g", [value("x", "n", 1000)],
                          [value("y", "n", 1)], [numpy_helper.from_array(weight, "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "product.onnx")
EOF
}

@test "calibration that cuts off so much that results change their sign is warned of, with the tensor and its numbers" {
    make_product
    local feed='[{"x": f32([[1000] + [i * 7919 % 1000 / 1000 for i in range(999)]])}]'
    local clips="^\[W\] Int8 calibration clips tensor 'x' hard: absolute values reach 1000, and [0-9.]+ is kept; [0-9.]+% of the values and 6[0-9.]+% of their sum"
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" feeds feed.json "$feed"
    for class in IInt8EntropyCalibrator2 IInt8LegacyCalibrator; do
        quietly run product.onnx --trt --int8 --calibration-base-class $class --load-inputs feed.json
        worked
        logged "$clips"
    done
    quietly run product.onnx --trt --int8 --calibration-base-class IInt8MinMaxCalibrator --load-inputs feed.json
    worked
    run ! grep 'calibration clips' <<<"$output"
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" feeds feed.json "${feed/1000] +/1] +}"
    quietly run product.onnx --trt --int8 --load-inputs feed.json
    worked
    run ! grep 'calibration clips' <<<"$output"
    quietly run product.onnx --trt --int8 --calibration-base-class IInt8LegacyCalibrator --quantile 0.3 --load-inputs feed.json
    worked
    logged "^\[W\] Int8 calibration clips tensor 'x' hard: absolute values reach 1, and 0.3[0-9]* is kept; 70"
}

@test "a tensor that is empty during calibration leaves its layer in float32" {
    make_product
    local stays="^\[W\] Layer 'product' stays in float32: tensor 'x' had no finite values in the calibration"
    for again in 1 2; do
        quietly run product.onnx --onnxrt --trt --int8 --input-shapes 'x:[0,1000]' --calibration-cache scales.txt
        [ "$status" -eq 0 ]
        logged "$stays"
        logged "PASSED \| simple \| All outputs matched"
    done
    quietly run product.onnx --trt --int8 --input-shapes 'x:[0,1000]' --precision-constraints obey --layer-precisions \
        product:int8
    [ "$status" -eq 1 ]
    [[ $stderr == *"layer 'product': int8 needs a scale for tensor 'x', which had no finite values in the calibration"* ]]
}
