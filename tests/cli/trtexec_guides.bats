# trtexec_guides.bats: the guides' commands on TensorRT, each as it is typed there, with four versions of trtexec. What stands
# in for it is tests/programs/trtexec_stand_in, so nothing here was seen on a GPU.

load guides_helper

models=$POLYGRAPHY_ROOT/tests/models
versions='8.6 10.16 11.0 11.1'
unset POLYGRAPHY_TRT
export POLYGRAPHY_TRTEXEC=$POLYGRAPHY_TEST_PROGRAMS/trtexec_stand_in

# Goes on as on a machine with that version, in a folder of its own.
on_version()
{
    export TRTEXEC_STAND_IN_VERSION=$1 XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache-$1
    mkdir -p "$BATS_TEST_TMPDIR/here/$1"
    cd "$BATS_TEST_TMPDIR/here/$1"
}

# Until TensorRT 10, precisions are the builder's; from 11 on they are the model's, and options that choose them are refused.
chooses_precisions()
{
    [ "$TRTEXEC_STAND_IN_VERSION" = 8.6 ] || [ "$TRTEXEC_STAND_IN_VERSION" = 10.16 ]
}

no_fp16="\[!\] --fp16: trtexec 11\.[01]\.0 \('.*'\) has no --fp16, which was there until TensorRT 10; from TensorRT 11 on, types are those of the model: .polygraphy convert MODEL -o half.onnx --fp-to-fp16 "

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
        not_logged 'the built-in CPU engine is used'
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
        logged 'PASSED \| All outputs matched'
    done
}
