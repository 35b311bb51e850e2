# tensorrt_guides.bats: the commands of the guides on TensorRT, as they are typed there, with several releases of the
# stand-in (tests/tensorrt_stand_in/): nothing here ran on a GPU.

load tensorrt_helper
load guides_helper

versions='8.6 10.0 10.16 11.1'

# Continues as on a machine with that release, in a folder for it.
on_version()
{
    release=$1
    mkdir -p "$BATS_TEST_TMPDIR/here/$1"
    cd "$BATS_TEST_TMPDIR/here/$1"
    use_release "$1"
}

# Until TensorRT 10, precisions are the builder's; from 11 on they are the model's, and options that choose them are refused.
chooses_precisions()
{
    [ "${release%%.*}" -lt 11 ]
}

no_fp16='^\[!\] --fp16: in TensorRT 11 .* types are those of the model: .polygraphy convert MODEL -o half.onnx --fp-to-fp16 '

@test "flaky tactics: golden outputs, two builds, and what their tactics tell" {
    local version
    for version in $versions; do
        on_version "$version"
        cp "$models/identity.onnx" .
        polygraphy run identity.onnx --onnxrt --save-outputs golden.json
        run polygraphy debug build identity.onnx --fp16 --save-tactics replay.json --artifacts-dir replays --artifacts replay.json --until=2 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json
        if ! chooses_precisions; then
            [ "$status" -eq 1 ]
            logged "$no_fp16"
            continue
        fi
        succeeded
        not_logged 'the built-in CPU engine takes its place'
        logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 2/2 \| Pass Rate: 100\.0%$'
        [ "$(kept replays/good replay.json)" -eq 2 ]
        run polygraphy debug diff-tactics --dir replays
        succeeded
        logged '^\[I\] Loaded 2 good tactic replays\.$'
        run polygraphy inspect diff-tactics --dir replays
        succeeded
    done
}

@test "build: until the user, or a script, sees a bad one" {
    local version
    for version in $versions; do
        on_version "$version"
        cp "$models/identity.onnx" model.onnx
        run polygraphy debug build model.onnx --until bad --save-tactics tactics.json --artifacts tactics.json <<<$'p\nf'
        succeeded
        logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 1/2 '
        [ "$(kept polygraphy_artifacts/good tactics.json)" -eq 1 ]
        [ "$(kept polygraphy_artifacts/bad tactics.json)" -eq 1 ]
        script check_model.py <<'SCRIPT'
import os
assert open("polygraphy_debug.engine", "rb").read(4) == b"ftrt"
open("builds", "a").write("x")
raise SystemExit(os.path.getsize("builds") == 2)
SCRIPT
        run polygraphy debug build model.onnx --until bad --check "python check_model.py"
        succeeded
        logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 1/2 '
    done
}

@test "build: engines are kept, and sorted into another folder" {
    local version
    for version in $versions; do
        on_version "$version"
        cp "$models/identity.onnx" model.onnx
        mkdir -p debug_session; cd debug_session
        run polygraphy debug build ../model.onnx --until 10 --save-tactics tactics.json --artifacts tactics.json polygraphy_debug.engine --art-dir ./sorted_artifacts <<<$'p\nf\np\np\np\nf\np\np\np\np'
        succeeded
        logged '^\[I\] Finished 10 iteration\(s\) \| Passed: 8/10 '
        [ "$(kept sorted_artifacts/good polygraphy_debug.engine)" -eq 8 ]
        [ "$(kept sorted_artifacts/bad tactics.json)" -eq 2 ]
        on_version "$version"
        run polygraphy debug build model.onnx --until 5 --check "polygraphy run polygraphy_debug.engine --trt" --artifacts polygraphy_debug.engine
        succeeded
        logged '^\[I\] Finished 5 iteration\(s\) \| Passed: 5/5 '
        [ "$(kept polygraphy_artifacts/good polygraphy_debug.engine)" -eq 5 ]
    done
}

@test "precision: a script says how many of the first layers have to be float32" {
    local version
    for version in $versions; do
        on_version "$version"
        cp "$models/attention_overflow.onnx" model.onnx
        polygraphy run model.onnx --onnxrt --save-outputs golden.json
        cat >validate_precision.py <<'SCRIPT'
import subprocess

command = "polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2"
raise SystemExit(subprocess.call(command.split()))
SCRIPT
        run polygraphy debug precision model.onnx --mode bisect --dir forward --precision float32 --check "python validate_precision.py"
        succeeded
        logged '^\[I\] To achieve acceptable accuracy, try running the first 9 layer\(s\) in higher precision$'
    done
}

@test "precision: int8 is calibrated with data, and precisions of layers are refused from 11 on" {
    local version
    for version in $versions; do
        on_version "$version"
        cp "$models/attention_overflow.onnx" model.onnx
        run polygraphy debug precision model.onnx --mode linear --dir reverse --precision float16 <<<$'f\nf\np'
        if chooses_precisions; then
            succeeded
            logged '\[W\] +Int8 Calibration is using randomly generated input data'
            logged '^\[I\] To achieve acceptable accuracy, try running the last 4 layer\(s\) in higher precision$'
        else
            [ "$status" -eq 1 ]
            logged '^\[!\] TensorRT 11\..*sets precisions by the types of the model'
        fi
    done
}

@test "reduce, and repeated runs" {
    local version
    for version in $versions; do
        on_version "$version"
        reduce_models make infinity model.onnx
        run polygraphy debug reduce model.onnx -o reduced_model.onnx --check "polygraphy run polygraphy_debug.onnx --onnxrt --trt"
        succeeded
        logged "^\[I\] Reduced 6 nodes to 1: 'div' \(Div\), "
        [ "$(reduce_models show reduced_model.onnx)" = 'div [t3->t4] const zero' ]
        cp "$models/identity.onnx" model.onnx
        run polygraphy debug repeat --until 10 --check "polygraphy run model.onnx --trt" --artifacts engine_outputs.json
        succeeded
        logged '^\[I\] Finished 10 iteration\(s\) \| Passed: 10/10 '
    done
}

@test "layer by layer: all tensors marked, on either side" {
    local version
    for version in $versions; do
        on_version "$version"
        run polygraphy run "$models/reducable.onnx" --trt --trt-outputs mark all --onnxrt --onnx-outputs mark all
        succeeded
        logged 'PASSED \| simple \| All outputs matched'
    done
}

@test "flaky tactics on 10.16: the wrong one is named, proven by builds with and without it, and replaced" {
    on_version 10.16
    cp "$models/convolutions.onnx" model.onnx
    export TENSORRT_STAND_IN_SEED=@$PWD/seed TENSORRT_STAND_IN_WRONG_TACTIC='padded=onnxrt:*'
    check=(--check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --load-inputs inputs.json)
    polygraphy run model.onnx --onnxrt --save-outputs golden.json --save-inputs inputs.json --input-shapes x:[1,3,12,11]
    run polygraphy debug build model.onnx --save-tactics replay.json --artifacts-dir replays --artifacts replay.json --until=12 \
        --trt-opt-shapes x:[1,3,12,11] "${check[@]}"
    succeeded
    [ "$(kept replays/good replay.json)" -ge 2 ]
    [ "$(kept replays/bad replay.json)" -ge 2 ]
    run polygraphy inspect diff-tactics --dir replays --json ranking.json
    succeeded
    logged "Layer: padded"
    run /usr/bin/python3 -c 'import json; print(json.load(open("ranking.json"))["ranking"]["suspects"][0]["tactics"][0]["layer"])'
    [ "$output" = padded ]
    run polygraphy debug tactics model.onnx --dir replays --trt-opt-shapes x:[1,3,12,11] --json found.json \
        --save-fixed-tactics fixed.json "${check[@]}"
    succeeded
    logged "Cause: the tactic of 'padded'"
    run polygraphy convert model.onnx -o fixed.engine --load-tactics fixed.json --trt-opt-shapes x:[1,3,12,11]
    succeeded
    run polygraphy run fixed.engine --trt --load-inputs inputs.json --load-outputs golden.json
    succeeded
    TENSORRT_STAND_IN_FAULTS=unpinned run polygraphy debug tactics model.onnx --dir replays --trt-opt-shapes x:[1,3,12,11] \
        "${check[@]}"
    [ "$status" -eq 1 ]
    logged '^\[!\] .*the tactics of the two replays, mixed, were not forced: '
    use_release 11.1
    run polygraphy debug tactics model.onnx --dir replays --trt-opt-shapes x:[1,3,12,11] "${check[@]}"
    [ "$status" -eq 1 ]
    logged '^\[!\] debug tactics: TensorRT 11\.1.* cannot be told the tactics of layers'
}
