# guides.bats: the commands that the guides show their readers, each as it is typed there, in an empty folder with the
# files that it names, on a machine without TensorRT. Where a guide goes on in the same folder, so does the test.
#
# Some of these lines are tested elsewhere, in more detail:
#
#   run --save-outputs golden.json, debug build --fp16 ... --until=2,  debug_build.bats: "flaky tactics: the guide's three
#   debug diff-tactics --dir replays                                   commands"; here again, without POLYGRAPHY_TRT
#   the four sessions of debug build                                   debug_build.bats: "build: the guide's commands"
#   diff-tactics with failures, under inspect and under debug          debug_diff_tactics.bats, inspect_tactics.bats
#   debug precision, both commands                                     debug_precision.bats: "guide: ..."
#   debug reduce: a quoted check and one of bare words, the user as    debug_reduce.bats: "guide: ..."
#   the check, --no-reduce-inputs, --artifacts, --min-good, bisection
#   and then a linear search, golden values merged by a script
#   --force-fallback-shape-inference                                   debug_reduce.bats
#   --fail-regex, and the two ways to write a check                   check_command.bats

load guides_helper

models=$POLYGRAPHY_ROOT/tests/models
unset POLYGRAPHY_TRT

# Whether the folder holds these files and no others.
files_are()
{
    diff <(LC_ALL=C ls -A) <(printf '%s\n' "$@" | LC_ALL=C sort)
}

# Whether both folders hold the artifacts of as many iterations as are given: folder, name, good ones, bad ones.
sorted()
{
    local counts
    counts="$(kept "$1/good" "$2") good, $(kept "$1/bad" "$2") bad"
    [ "$counts" = "$3 good, $4 bad" ] || {
        echo "$1 holds $2 of $counts iterations, not $3 and $4"
        return 1
    }
}

# ---- Flaky tactics ----

@test "flaky tactics: golden outputs, two builds, and what their tactics tell" {
    cp "$models/identity.onnx" .
    run polygraphy run identity.onnx --onnxrt --save-outputs golden.json
    succeeded
    run polygraphy debug build identity.onnx --fp16 --save-tactics replay.json --artifacts-dir replays --artifacts replay.json --until=2 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json
    succeeded
    [ "$(grep -c 'Saving engine to polygraphy_debug.engine$' <<<"$output")" -eq 2 ]
    logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 2/2 \| Pass Rate: 100\.0%$'
    sorted replays replay.json 2 0
    run polygraphy debug diff-tactics --dir replays
    succeeded
    expected='[I] Loaded 2 good tactic replays.
[I] Loaded 0 bad tactic replays.
[I] Could not determine potentially bad tactics. Try generating more tactic replay files?'
    [ "$output" = "$expected" ]
    run polygraphy inspect diff-tactics --dir replays
    succeeded
    [ "$output" = "$expected" ]
    files_are golden.json identity.onnx replays
}

# ---- build ----

@test "build: until the user sees a bad one" {
    cp "$models/identity.onnx" model.onnx
    run polygraphy debug build model.onnx --until bad --save-tactics tactics.json --artifacts tactics.json <<<$'p\np\nf'
    succeeded
    logged "^>>> Did 'polygraphy_debug\.engine' \[p\]ass or \[f\]ail\? "
    logged '^\[I\] Finished 3 iteration\(s\) \| Passed: 2/3 '
    sorted polygraphy_artifacts tactics.json 2 1
    files_are model.onnx polygraphy_artifacts
}

@test "build: five engines, each kept" {
    cp "$models/identity.onnx" model.onnx
    run polygraphy debug build model.onnx --until 5 --check "polygraphy run polygraphy_debug.engine --trt" --artifacts polygraphy_debug.engine
    succeeded
    [ "$(grep -c '^\[I\]     Running check command: polygraphy run polygraphy_debug.engine --trt$' <<<"$output")" -eq 5 ]
    logged '^\[I\] Finished 5 iteration\(s\) \| Passed: 5/5 '
    sorted polygraphy_artifacts polygraphy_debug.engine 5 0
    polygraphy run "$(find polygraphy_artifacts -name '*_N4.engine')" --trt
    files_are model.onnx polygraphy_artifacts
}

@test "build: until a script finds a bad one" {
    cp "$models/identity.onnx" model.onnx
    cat >check_model.py <<'SCRIPT'
import os

assert os.path.getsize("polygraphy_debug.engine") > 0
with open("builds", "a") as builds:
    builds.write("x")
raise SystemExit(os.path.getsize("builds") == 3)
SCRIPT
    run polygraphy debug build model.onnx --until bad --check "python check_model.py"
    succeeded
    logged '^\[W\] `--artifacts` was not specified; No artifacts will be stored'
    logged '^\[E\]     FAILED \| Iteration 3 '
    logged '^\[I\] Finished 3 iteration\(s\) \| Passed: 2/3 '
    files_are builds check_model.py model.onnx
}

@test "build: ten builds, in a folder of their own, sorted into another one" {
    cp "$models/identity.onnx" model.onnx
    mkdir debug_session; cd debug_session
    run polygraphy debug build ../model.onnx --until 10 --save-tactics tactics.json --artifacts tactics.json polygraphy_debug.engine --art-dir ./sorted_artifacts <<<$'p\nf\np\np\np\nf\np\np\np\np'
    succeeded
    logged '^\[I\] Finished 10 iteration\(s\) \| Passed: 8/10 '
    sorted sorted_artifacts tactics.json 8 2
    sorted sorted_artifacts polygraphy_debug.engine 8 2
    run ls sorted_artifacts/good/ sorted_artifacts/bad/
    succeeded
    logged '^polygraphy_debug_.*_N1\.engine$'
    logged '^tactics_.*_N9\.json$'
    files_are sorted_artifacts
}

# ---- precision ----

@test "precision: a script says how many of the first layers have to be float32" {
    cp "$models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt --save-outputs golden.json
    cat >validate_precision.py <<'SCRIPT'
import subprocess

command = "polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2"
raise SystemExit(subprocess.call(command.split()))
SCRIPT
    run polygraphy debug precision model.onnx --mode bisect --dir forward --precision float32 --check "python validate_precision.py"
    succeeded
    [ "$(grep -c '^\[W\] --fp16 is implied' <<<"$output")" -eq 1 ]
    not_logged '^\[W\] --int8 is implied'
    logged '^\[I\] To achieve acceptable accuracy, try running the first 7 layer\(s\) in higher precision$'
    # What it says can be typed: the layers that need it get their precision, and the accuracy is there.
    readarray -t words < <(sed -n 's/^\[I\]     Fix: //p' <<<"$output" | xargs -n 1)
    polygraphy run model.onnx --trt --fp16 "${words[@]}" --load-outputs golden.json --atol 1e-2 --rtol 1e-2
    run polygraphy run model.onnx --trt --fp16 --load-outputs golden.json --atol 1e-2 --rtol 1e-2
    [ "$status" -eq 1 ]
    logged 'Difference exceeds tolerance'
}

@test "precision: the user says how many of the last layers have to be float16" {
    cp "$models/attention_overflow.onnx" model.onnx
    run polygraphy debug precision model.onnx --mode linear --dir reverse --precision float16 <<<$'f\nf\np'
    succeeded
    [ "$(grep -c '^\[W\] --fp16 is implied' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^\[W\] --int8 is implied' <<<"$output")" -eq 1 ]
    logged '^\[I\] To achieve acceptable accuracy, try running the last 2 layer\(s\) in higher precision$'
    [ ! -e polygraphy_debug.engine ]
}

# ---- reduce ----

@test "reduce: ONNX Runtime and the engine are compared in the check" {
    reduce_models make infinity model.onnx
    run polygraphy debug reduce model.onnx -o reduced_model.onnx --check "polygraphy run polygraphy_debug.onnx --onnxrt --trt"
    succeeded
    logged '^ +\[E\] Accuracy Summary \| onnxrt-runner-N0-.* vs\. trt-runner-N0-'
    logged "^\[I\] Reduced 6 nodes to 1: 'div' \(Div\), 5 iterations in "
    [ "$(reduce_models show reduced_model.onnx)" = 'div [t3->t4] const zero' ]
    [ ! -e polygraphy_debug.onnx ]
    run polygraphy run reduced_model.onnx --onnxrt --trt
    [ "$status" -eq 1 ]
    logged '^\[E\] +FAILED \| Output: '\''t4'\'' \| Difference exceeds tolerance'
}

@test "reduce: the user is asked, once with a shape in the command and once with inputs left alone" {
    reduce_models make dynamic model.onnx
    run polygraphy debug reduce model.onnx --model-input-shapes input:[1,3,224,224] --mode bisect -o minimal_failure.onnx <<<$'f\np\nf\nf'
    succeeded
    [ "$(reduce_models show minimal_failure.onnx)" = 'abs [b->c]' ]
    [ "$(reduce_models shapes minimal_failure.onnx)" = $'b float [1, 3, 224, 224]\nc float [1, 3, 224, 224]' ]
    run polygraphy debug reduce model.onnx --no-reduce-inputs -o output_reduced.onnx <<<$'f\np'
    succeeded
    [ "$(reduce_models show output_reduced.onnx)" = 'relu neg abs [input->c]' ]
}

@test "reduce: dynamic shapes are fixed by surgeon sanitize first" {
    reduce_models make dynamic model.onnx
    polygraphy surgeon sanitize model.onnx --override-input-shapes input:[1,3,224,224] --fold-constants -o folded.onnx
    [ "$(reduce_models shapes folded.onnx)" = $'input float [1, 3, 224, 224]\noutput float [1, 3, 224, 224]' ]
    run polygraphy debug reduce folded.onnx -o reduced.onnx --check \
        "$POLYGRAPHY_TEST_PROGRAMS/check_nodes" polygraphy_debug.onnx --fail-node abs
    succeeded
    not_logged 'dynamic input shapes'
    [ "$(reduce_models shapes reduced.onnx)" = $'b float [1, 3, 224, 224]\nc float [1, 3, 224, 224]' ]
}

@test "reduce: golden values for all layers, merged by data to-input" {
    reduce_models make chain right.onnx
    reduce_models make chain model.onnx 5
    polygraphy run right.onnx --onnxrt --onnx-outputs mark all --save-inputs inputs.json --save-outputs layerwise_golden.json
    run polygraphy data to-input inputs.json layerwise_golden.json -o layerwise_inputs.json
    succeeded
    run polygraphy debug reduce model.onnx -o reduced.onnx --load-inputs layerwise_inputs.json --check polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs layerwise_inputs.json --load-outputs layerwise_golden.json
    succeeded
    [ "$(reduce_models show reduced.onnx)" = 'n5 [t5->t6] const w5' ]
    logged 'Mismatched: 1 of 1 outputs'
}

@test "reduce: a check that asks for the message keeps a failure of another kind out" {
    # Nodes that cannot run alone fail, too: a loose check takes that for the failure that is looked for.
    reduce_models make infinity model.onnx
    script check.sh <<'SCRIPT'
case $(polygraphy inspect model polygraphy_debug.onnx --show layers) in
    *'| div '*) echo 'Error: infinity' ;;
    *) echo 'Error: cannot run alone' ;;
esac
exit 1
SCRIPT
    run polygraphy debug reduce model.onnx -o loose.onnx --check ./check.sh
    [ "$status" -eq 1 ]
    [[ $output == *'the check fails on every model'* ]]
    [ ! -e loose.onnx ]
    run polygraphy debug reduce model.onnx -o tight.onnx --fail-regex 'infinity' --check ./check.sh
    succeeded
    [ "$(reduce_models show tight.onnx)" = 'div [t3->t4] const zero' ]
}

# ---- repeat ----

@test "repeat: until a script fails, with its log kept" {
    cat >test_model.py <<'SCRIPT'
import os

tests = len([name for _, _, names in os.walk(".") for name in names if name.startswith("test_logs")])
with open("test_logs.txt", "w") as log:
    log.write(f"test {tests}\n")
raise SystemExit(tests == 3)
SCRIPT
    run polygraphy debug repeat --until bad --check "python test_model.py" --artifacts test_logs.txt
    succeeded
    logged '^\[I\] Finished 4 iteration\(s\) \| Passed: 3/4 '
    sorted polygraphy_artifacts test_logs.txt 3 1
    [ "$(cat polygraphy_artifacts/bad/*)" = 'test 3' ]
}

@test "repeat: ten runs of the engine; outputs that nobody saved are missed, not invented" {
    cp "$models/identity.onnx" model.onnx
    run polygraphy debug repeat --until 10 --check "polygraphy run model.onnx --trt" --artifacts engine_outputs.json
    succeeded
    [ "$(grep -c '^\[E\] .*Artifact: engine_outputs\.json does not exist, skipping\.$' <<<"$output")" -eq 10 ]
    logged '^\[I\] Finished 10 iteration\(s\) \| Passed: 10/10 '
    [ ! -e polygraphy_artifacts ]
    # The same with the option that saves them.
    run polygraphy debug repeat --until 2 --check "polygraphy run model.onnx --trt --save-outputs engine_outputs.json" --artifacts engine_outputs.json
    succeeded
    sorted polygraphy_artifacts engine_outputs.json 2 0
}

# ---- docs/coming-from-polygraphy.md ----

@test "the page for those who come from Polygraphy: each of its commands does what it says" {
    cp "$models/convolutions.onnx" model.onnx
    POLYGRAPHY_TRT=builtin PATH=$(dirname "$(command -v polygraphy)"):/usr/bin:$PATH \
        /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" "$POLYGRAPHY_ROOT/docs/coming-from-polygraphy.md"
}

# ---- docs/finding-the-cause.md ----

# Its commands for the classifier are those of example_faulty_tactic.bats.
@test "the accuracy guide: each command of docs/finding-the-cause.md and docs/accuracy.md says what the page shows" {
    local page
    cp "$models/attention_overflow.onnx" attention.onnx
    cp "$models/transposed_before_a_vector.onnx" .
    cp "$POLYGRAPHY_ROOT/examples/overflow/detector.onnx" .
    # The second one asks what the first one has asked already.
    for page in finding-the-cause accuracy; do
        POLYGRAPHY_TRT=builtin /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" "$POLYGRAPHY_ROOT/docs/$page.md" classifier
    done
}
