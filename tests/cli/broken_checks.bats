# broken_checks.bats: ways to get a check wrong, tool by tool: what is said, with which exit status, and that nothing is called proven.

load debug_helper

tactic_options=(--plugins "$POLYGRAPHY_TEST_PROGRAMS/plugins/wrong_on_one_shape.so" --tactic-sources pointwise onnxrt)
export POLYGRAPHY_TRT=builtin

# Two replays of one model that have different tactics, in a folder that all tests share.
setup_file()
{
    file_requires_onnxruntime || return 0
    cd "$BATS_FILE_TMPDIR" || return 1
    cp "$POLYGRAPHY_ROOT/tests/models/pointwise_convolutions.onnx" network.onnx
    for seed in 1 2; do
        polygraphy debug build network.onnx "${tactic_options[@]}" --explore --explore-within 100000 --until 1 --seed $seed \
            --save-tactics tactics.json --artifacts tactics.json --artifacts-dir "seed$seed" --check true >/dev/null
    done
    mv seed1/good/* good.json
    mv seed2/good/* bad.json
}

make_model()
{
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 20 0 chain
}

# Whether nothing of a result is there, nor is any called so.
nothing_is_proven()
{
    [ ! -e out.onnx ] || return 1
    [ ! -e result.json ] || return 1
    not_logged '1-minimal|^\[I\] (Reduced|Cause|    Evidence:)|To achieve|PASSED \| Runtime'
}

# reduce_wrongly TEXT OPTION...: in all modes the session ends with an error that says this.
reduce_wrongly()
{
    local text=$1 mode
    shift
    for mode in bisect linear minimal; do
        rm -rf model.onnx polygraphy_debug_replay*
        make_model
        reduce model.onnx -o out.onnx --json result.json --mode $mode -q --hide-fail-output "$@"
        refused "$text"
        nothing_is_proven
    done
}

build()
{
    rm -f polygraphy_debug*
    run --separate-stderr polygraphy debug build model.onnx --artifacts none "$@"
}

precision()
{
    rm -f polygraphy_debug*
    run --separate-stderr polygraphy debug precision model.onnx --fp16 --output-onnx out.onnx --json result.json "$@"
}

tactics()
{
    rm -f polygraphy_debug*
    run --separate-stderr polygraphy debug tactics "$BATS_FILE_TMPDIR/network.onnx" --good "$BATS_FILE_TMPDIR/good.json" \
        --bad "$BATS_FILE_TMPDIR/bad.json" "${tactic_options[@]}" --json result.json "$@"
}

# two_ends_say TEXT OPTION...: the tools that begin with two engines end with an error that says this.
two_ends_say()
{
    local text=$1 tool
    shift
    for tool in precision tactics; do
        $tool "$@"
        refused "$text"
        nothing_is_proven
    done
}

# tools_say TEXT OPTION...: all tools that make engines do.
tools_say()
{
    build --until 2 "${@:2}"
    refused "$1"
    two_ends_say "$@"
}

@test "a mistyped option" {
    reduce_wrongly 'the check is inconclusive for the original model' \
        --check polygraphy run polygraphy_debug.onnx --onxrt --validate
    [[ $stderr == *--onxrt* ]]
    logged 'CAPTURED STDERR'
    tools_say onxrt --check polygraphy run polygraphy_debug.engine --onxrt --validate
    repeat --until 2 --check polygraphy run model.onnx --onxrt
    refused 'the check is inconclusive on its first run'
}

@test "a script that is missing" {
    reduce_wrongly "can't open file" --check /usr/bin/python3 nope.py
    logged 'CAPTURED STDERR'
    tools_say "can't open file" --check /usr/bin/python3 nope.py
    repeat --until 2 --check /usr/bin/python3 nope.py
    worked
    logged "^\[W\] All 2 iterations failed with the same output.*can't open file"
}

@test "a candidate that is never looked at" {
    reduce_wrongly 'the check fails on every model' --check 'echo wrong; exit 1'
    logged "^\[W\] *The first 5 models all failed with the same output, and so did a file that is not a valid model: .*wrong.* controls follow"
    logged "^\[W\] Neither the check's command nor a script in it mentions 'polygraphy_debug.onnx', \{artifact\} or \\\$POLYGRAPHY_ARTIFACT"
    tools_say wrong --check 'echo wrong; exit 1'
}

@test "a wrong working folder" {
    reduce_wrongly 'the check is inconclusive for the original model' \
        --check 'cd / && polygraphy run polygraphy_debug.onnx --onnxrt --validate'
    tools_say polygraphy_debug.engine --check 'cd / && polygraphy run polygraphy_debug.engine --trt --validate'
    repeat --until 2 --check 'cd / && polygraphy run model.onnx --onnxrt'
    refused 'the check is inconclusive on its first run'
}

@test "golden values that lack the tensors of a part" {
    local check=(polygraphy run polygraphy_debug.onnx --onnxrt --load-inputs in.json --load-outputs golden.json)
    feeds in.json '[{"x": f32([[1]*16])}]'
    results golden.json '[("golden", [{"t19": f32([[2]*16])}])]'
    reduce_wrongly 'the check is inconclusive for every part of the model' --check "${check[@]}"
    [[ $stderr == *'exit code 125'* ]]
    logged "^\[W\] The check lacks data for some subgraphs, which are skipped: 'golden.json' contains 1 of the 20 possible output tensors"
    results golden.json '[("golden", [{"nothing": f32([[2]*16])}])]'
    reduce_wrongly "'golden.json' contains none of the outputs" --check "${check[@]}"
}

@test "golden values of another model" {
    make_model
    results golden.json '[("golden", [{"nothing": f32([[2]*16])}])]'
    tools_say 'no common outputs found' \
        --check polygraphy run polygraphy_debug.engine --trt "${tactic_options[@]:0:2}" --load-outputs golden.json
    repeat --until 2 --check polygraphy run model.onnx --trt --load-outputs golden.json
    refused 'the check is inconclusive on its first run'
}

@test "a check that always fails" {
    reduce_wrongly 'the check fails on every model' --check false
    tools_say 'exit code 1, no output' --check false
    two_ends_say 'without output also on a file that is not a valid engine, so it may not read its input' --check false
    two_ends_say 'with the same output on a file that is not a valid engine, so it may not read its input' --check 'echo wrong; exit 1'
    repeat --until 2 --check false
    worked
    logged '^\[W\] All 2 iterations failed'
}

@test "a check that always passes" {
    reduce_wrongly 'but also on a file that is not a valid model' --check true
    precision --check true
    refused 'passes on the engine with all layers in lower precision, but also on a file that is not a valid engine'
    nothing_is_proven
    tactics --check true
    refused 'passes on the engine with the tactics of the bad replay, but also on a file that is not a valid engine'
    nothing_is_proven
    build --until 2 --check true
    worked
    logged 'Passed: 2/2'
    repeat --until 2 --artifacts none --check true
    worked
    logged 'Passed: 2/2'
}

@test "a check that only says that something failed finds the part that does, and none that does not is called broken" {
    local mode
    for mode in bisect linear minimal; do
        rm -f polygraphy_debug_replay*
        make_model
        reduce model.onnx -o out.onnx --mode $mode --check \
            "$POLYGRAPHY_TEST_PROGRAMS/check_nodes polygraphy_debug.onnx --fail-node node_3 >log 2>&1 || { echo FAILED; exit 1; }"
        worked
        logged "Reduced 20 nodes to 1: 'node_3'"
    done
}

@test "a check that passes on everything does not have builds go on for ever" {
    make_model
    build --until bad --check true
    refused 'passed on the first 5 engines, but also on a file that is not a valid engine'
}

@test "whether a check that says the same of all looks at engines cannot be told: builds go on, and a warning says so" {
    make_model
    build --until good --check '! cmp -s polygraphy_debug.engine wanted || exit 1; [ $POLYGRAPHY_ITERATION -ge 7 ]'
    worked
    [ "$(grep -c '^\[W\] *The first 5 engines all failed .*, and the check also fails without output on a file that is not a valid engine: ' \
        <<<"$output")" -eq 1 ]
    logged 'Passed: 1/8'
    build --until good --skip-code 7 --check '[ $POLYGRAPHY_ITERATION -ge 7 ] || exit 7'
    worked
    logged '^\[W\] *The first 5 engines all were skipped .*: exit code 7, no output\. .*The session continues'
    build --until good --check '[ $POLYGRAPHY_ITERATION -ge 7 ] || { echo FAILED; exit 1; }'
    worked
    logged '^\[W\] *The first 5 engines all failed .*, and so did a file that is not a valid engine: .*FAILED'
}

@test "a check that looks at the engine, or at its tactics, has builds go on until it says something else" {
    make_model
    build --until bad --check '[ "$(wc -c <polygraphy_debug.engine)" -gt 200 ] && [ $POLYGRAPHY_ITERATION -lt 7 ]'
    worked
    logged 'Passed: 7/8'
    logged 'PASSED \| Control: '
    build --until good --save-tactics tactics.json --check 'wc -c <tactics.json; [ $POLYGRAPHY_ITERATION -ge 7 ]'
    worked
    logged 'Passed: 1/8'
}

@test "repeat has nothing to show to a check: it warns once, and goes on" {
    repeat --until good --artifacts none --check '[ $POLYGRAPHY_ITERATION -ge 12 ]'
    worked
    [ "$(grep -c '^\[W\] *The first 5 iterations all failed with the same output' <<<"$output")" -eq 1 ]
    logged 'Passed: 1/13'
    repeat --until bad --artifacts none --check '[ $POLYGRAPHY_ITERATION -lt 6 ]'
    worked
    logged '^\[W\] *The first 5 iterations all passed with the same output'
    repeat --until bad --artifacts none --check 'echo $POLYGRAPHY_ITERATION; [ $POLYGRAPHY_ITERATION -lt 6 ]'
    worked
    not_logged 'The first 5 iterations'
}

@test "a check that runs out of time" {
    reduce_wrongly 'the check fails on every model' --check-timeout 0.1 --check 'sleep 100'
    [[ $stderr == *'timed out after'* ]]
    reduce_wrongly 'timed out, which is not a failure by --fail-regex or --fail-code' --check-timeout 0.1 --fail-regex wrong \
        --check 'sleep 100'
    make_model
    tools_say 'timed out after' --check-timeout 0.1 --check 'sleep 100'
    repeat --until 2 --artifacts none --check-timeout 0.1 --check 'sleep 100'
    worked
    logged '^\[W\] All 2 iterations failed.*timed out after'
}

@test "a check that depends on the time" {
    for from in 1 0; do # fails at first and passes later, or the other way round
        script check.sh <<EOF
: \$POLYGRAPHY_ARTIFACT
[ "\$POLYGRAPHY_ITERATION" -ge 0 ] || [ -e again ] || { touch again; exit 1; }
[ "\$POLYGRAPHY_ITERATION" -lt 0 ] || [ "\$POLYGRAPHY_ITERATION" -gt 0 ] || exit $from
exit $((1 - from))
EOF
        make_model
        reduce model.onnx -o out.onnx --json result.json --mode minimal --check ./check.sh
        refused 'not reproducible'
        nothing_is_proven
        [[ $stderr == *--flaky*'polygraphy debug repeat'* ]]
        rm -f again polygraphy_debug*
    done
}

# script_of_counts FROM TO: ./check.sh passes on so many runs, then fails up to another one, and passes from then on.
script_of_counts()
{
    script check.sh <<EOF
: \$POLYGRAPHY_ARTIFACT
echo >>"$BATS_TEST_TMPDIR/runs"
n=\$(wc -l <"$BATS_TEST_TMPDIR/runs")
[ \$n -gt $1 ] && [ \$n -le $2 ] || exit 0
echo wrong
exit 1
EOF
    rm -f "$BATS_TEST_TMPDIR/runs"
}

@test "a check that depends on the time, in tools that begin with two engines" {
    local tool
    make_model
    for tool in precision 'precision --mode linear' 'precision --mode minimal' tactics; do
        script_of_counts 1 2
        $tool --check ./check.sh
        refused 'no longer fails when re-checked, so the verdicts of the check are not reproducible'
        nothing_is_proven
        script_of_counts 1 1000
        $tool --check ./check.sh
        refused 'no longer passes when re-checked, so the verdicts of the check are not reproducible'
        nothing_is_proven
    done
}

@test "a check that depends on the time, in tools that count" {
    make_model
    script_of_counts 1 3
    build --until 6 --check ./check.sh
    worked
    logged 'Passed: 4/6'
    script_of_counts 1 3
    repeat --until 6 --artifacts none --check ./check.sh
    worked
    logged 'Passed: 4/6'
}

@test "what a check writes itself, each time, it may read" {
    make_model
    echo old >in.json
    reduce model.onnx -o out.onnx --check "date +%N >in.json; : --load-inputs ./in.json
        $POLYGRAPHY_TEST_PROGRAMS/check_nodes polygraphy_debug.onnx --fail-node node_3"
    worked
    logged "Reduced 20 nodes to 1: 'node_3'"
    rm -f polygraphy_debug_replay*
    reduce model.onnx -o out.onnx --check 'echo more >>in.json; : --load-inputs other.json in.json; exit 1'
    refused "'in.json' was modified while the check ran"
    reduce model.onnx -o out.onnx --check ': --load-inputs other.json && sed -i s/^/x/ in.json; exit 1'
    logged "^\[W\] +'in.json', which the check names, was modified while the check ran"
}

@test "a check that changes what it is given" {
    reduce_wrongly "the check modified its input 'polygraphy_debug.onnx'" --check 'echo x >>polygraphy_debug.onnx; exit 1'
    reduce_wrongly "model.onnx' was modified while the check ran" --check 'echo x >>model.onnx; exit 1'
    make_model
    tools_say "the check modified its input 'polygraphy_debug.engine'" --check 'echo x >>polygraphy_debug.engine; exit 1'
    echo 0 >counter
    repeat --until 2 --check 'read n < counter; echo $((n + 1)) > other; cp other counter'
    worked
    logged "^\[W\] +'counter', which the check names, was modified while the check ran"
}

@test "an answer without a passing candidate says that a control has passed" {
    make_model
    fails_on_candidates
    reduce model.onnx -o out.onnx --mode minimal --json result.json --check ./fails.sh
    worked
    logged 'PASSED \| Control: '
    grep -q '"always_failing_ruled_out_by": "control"' result.json
    grep -q '"one_minimal": true' result.json
    rm "$BATS_TEST_TMPDIR/original" # the result is what is checked first now
    reduce model.onnx -o again.onnx --mode minimal --load-debug-replay polygraphy_debug_replay.json --check ./fails.sh
    worked
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ]
}
