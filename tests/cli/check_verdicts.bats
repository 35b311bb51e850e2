# check_verdicts.bats: failures that are told apart, and checks that say nothing.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
make_chain=$POLYGRAPHY_TEST_PROGRAMS/make_chain

# Fails with code 1 when nodes 7 and 71 are there; but crashes on any model that has node 30 and lacks node 7.
crashing_check()
{
    script check.sh <<EOF
if "$check_nodes" polygraphy_debug.onnx --fail-node node_30 >/dev/null; then :
elif "$check_nodes" polygraphy_debug.onnx --fail-node node_7 >/dev/null; then exit 9
fi
exec "$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_71
EOF
}

@test "a failure that turns into another one is not followed" {
    "$make_chain" model.onnx 90 0 branches
    crashing_check
    run polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --check ./check.sh
    [ "$status" -eq 0 ]
    run "$check_nodes" minimal.onnx --fail-node node_7 --fail-node node_71
    [ "$status" -eq 1 ]
    run polygraphy inspect model minimal.onnx
    logged '---- 2 Node\(s\) ----'
}

@test "without signatures it is" {
    "$make_chain" model.onnx 90 0 branches
    crashing_check
    run polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --signature off --check ./check.sh
    [ "$status" -eq 0 ]
    run "$check_nodes" minimal.onnx --fail-node node_30
    [ "$status" -eq 1 ]
    run polygraphy inspect model minimal.onnx
    logged '---- 1 Node\(s\) ----'
}

@test "a code to be skipped is neither good nor bad" {
    script check.sh <<'EOF'
echo "$POLYGRAPHY_ITERATION" > log.txt
exit $((POLYGRAPHY_ITERATION % 3 == 0 ? 0 : POLYGRAPHY_ITERATION % 3 == 1 ? 1 : 125))
EOF
    repeat --until 6 --skip-code 125 --artifacts log.txt --check ./check.sh
    [ "$status" -eq 0 ]
    logged '^\[W\] +SKIPPED \| Iteration 3 \| Duration'
    logged '^\[W\] 2 iteration\(s\) so far were skipped'
    logged 'Passed: 2/6'
    [ "$(ls polygraphy_artifacts | paste -sd ' ')" = 'bad good skipped' ]
    [ "$(ls polygraphy_artifacts/skipped | wc -l)" -eq 2 ]
}

@test "a session that is resumed knows what was skipped, and how the first failure ended" {
    "$make_chain" model.onnx 90 0 branches
    crashing_check
    polygraphy debug reduce model.onnx -o first.onnx --mode minimal --check ./check.sh > first.log
    grep -q '"skipped": true' polygraphy_debug_replay.json
    grep -q '"failure_code": 1' polygraphy_debug_replay.json
    run polygraphy debug reduce model.onnx -o second.onnx --mode minimal --load-debug-replay polygraphy_debug_replay.json \
        --check ./check.sh
    [ "$status" -eq 0 ]
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ] # on the result
    cmp first.onnx second.onnx
}

@test "running out of time can be a failure, a pass, or nothing" {
    for meaning in fail pass skip; do
        run polygraphy debug repeat --until 1 --check-timeout 0.1 --on-timeout $meaning --check "sleep 10"
        [ "$status" -eq 0 ]
        case $meaning in
            fail) logged 'FAILED \| Iteration 1' ;;
            pass) logged 'PASSED \| Iteration 1' ;;
            skip) logged 'SKIPPED \| Iteration 1' ;;
        esac
        rm -f polygraphy_debug_replay*
    done
}

@test "an original that cannot be checked is said to be so" {
    "$make_chain" model.onnx 9 0 chain
    run --separate-stderr polygraphy debug reduce model.onnx -o minimal.onnx --skip-code 125 --check "exit 125"
    refused 'the check is inconclusive for the original model'
}

# Of the model given: says "wrong" when nodes 7 and 71 are there, and "crash" when node 30 is there but node 7 is not. It fails in either
# case. $1 is a command for all other models that lack node 7.
changing_check()
{
    script check.sh <<EOF
if "$check_nodes" "\$1" --fail-node node_7 >/dev/null; then
    "$check_nodes" "\$1" --fail-node node_30 >/dev/null || { echo crash; exit 1; }
    ${1:-:}
fi
"$check_nodes" "\$1" --fail-node node_7 --fail-node node_71 >/dev/null || { echo wrong; exit 1; }
EOF
}

# Whether a model has so many nodes.
has_nodes()
{
    run polygraphy inspect model "$1"
    logged "---- $2 Node\(s\) ----"
}

@test "a failure that turns into one of another pattern is not followed" {
    "$make_chain" model.onnx 90 0 branches
    changing_check
    reduce model.onnx -o minimal.onnx --mode minimal --fail-regex crash wrong --signature regex \
        --check ./check.sh polygraphy_debug.onnx
    worked
    logged "^\[W\] +Inconclusive, a different failure: pattern 'crash'; the first failure: pattern 'wrong'"
    logged '^\[I\] Checks: [0-9]+ with the failure, [0-9]+ passed, [0-9]+ with another failure$'
    grep -q '"failure_code": 2' polygraphy_debug_replay.json
    cp polygraphy_debug_replay.json replay.json
    has_nodes minimal.onnx 2
    run "$check_nodes" minimal.onnx --fail-node node_7 --fail-node node_71
    [ "$status" -eq 1 ]

    reduce model.onnx -o again.onnx --mode minimal --fail-regex crash wrong --signature regex \
        --load-debug-replay replay.json --check ./check.sh polygraphy_debug.onnx
    worked
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ] # on the result
    cmp minimal.onnx again.onnx
}

@test "without that it leads the search astray" {
    "$make_chain" model.onnx 90 0 branches
    changing_check
    reduce model.onnx -o minimal.onnx --mode minimal --fail-regex crash wrong --check ./check.sh polygraphy_debug.onnx
    worked
    not_logged 'a different failure'
    has_nodes minimal.onnx 1
    run "$check_nodes" minimal.onnx --fail-node node_30
    [ "$status" -eq 1 ]
}

@test "telling failures apart by patterns needs patterns" {
    repeat --until 1 --signature regex --check true
    refused '--signature regex needs --fail-regex'
}

@test "the time limit follows from the first check" {
    repeat --until 3 --check-timeout auto --check 'test $POLYGRAPHY_ITERATION = 0 || exec sleep 1000'
    [ "$status" -eq 0 ]
    logged '^\[I\]     The first check took [0-9]\.[0-9]{2} s: later checks time out after [0-9]+\.[0-9] s$'
    [ "$(grep -c 'The first check took' <<<"$output")" -eq 1 ]
    [ "$(grep -cE 'Check timed out after [0-9.]+ s' <<<"$output")" -eq 2 ]
    logged '^\[I\] Checks: 2 with the failure, 1 passed; of them 2 timed out$'
    repeat --until 2 --check-timeout auto --on-timeout skip --check 'test $POLYGRAPHY_ITERATION = 0 || exec sleep 1000'
    logged 'SKIPPED \| Iteration 2'
    repeat --until 2 --check-timeout soon --check true
    refused "--check-timeout: 'soon' is not a number of seconds; write 60, 0.5, or auto"
}

@test "checks at the same time wait for the limit that follows from the first" {
    "$make_chain" model.onnx 40 0 chain
    script check.sh <<EOF
[ "\$POLYGRAPHY_ITERATION" = 0 ] || exec sleep 1000
exec "$check_nodes" "\$1" --fail-node node_7
EOF
    reduce model.onnx -o reduced.onnx --no-verify -j 4 --max-checks 3 --check-timeout auto --on-timeout skip \
        --check ./check.sh '{artifact}'
    [ "$status" -eq 0 ]
    [ "$(sed '/Testing whether the check fails on every model/q' <<<"$output" | grep -cE 'Check timed out after [0-9.]+ s')" -eq 2 ]
}

@test "checks are counted by what they say and how they end" {
    script check.sh <<'EOF'
case $POLYGRAPHY_ITERATION in
    0) exit 0 ;;
    1) exit 2 ;;
    2) exit 3 ;;
    3) exit 125 ;;
    4) kill -SEGV $$ ;;
esac
EOF
    repeat --until 5 --signature exit-code --skip-code 125 --json result.json --check ./check.sh
    logged '^\[I\] Checks: 1 with the failure, 1 passed, 2 with another failure, 1 skipped; of them 1 killed by a signal$'
    [ "$(json_value '[it[key] for key in ("passed", "failed", "skipped")], list(it["checks"].values())')" = \
        "([1, 1, 3], [1, 1, 2, 1, 0, 1])" ]
    # By itself: on a machine with much other work, the others could run out of a short time, too.
    repeat --until 2 --check-timeout 0.1 --on-timeout pass --json result.json --check sleep 1000
    logged '^\[I\] Checks: 0 with the failure, 2 passed; of them 2 timed out$'
    [ "$(json_value '[it[key] for key in ("passed", "failed", "skipped")], list(it["checks"].values())')" = \
        "([2, 0, 0], [0, 2, 0, 0, 2, 0])" ]
    repeat --until 2 --check true
    not_logged 'Checks:'
}

# ./tool tells good from bad; the check does not find it any more from iteration $1 on.
vanishing_check()
{
    "$make_chain" model.onnx 90 0 branches
    script tool <<EOF
exec "$check_nodes" "\$1" --fail-node node_7 --fail-node node_71
EOF
    cp tool kept
    script check.sh <<EOF
[ "\$POLYGRAPHY_ITERATION" != $1 ] || rm -f tool
./tool "\$1"
EOF
}

@test "a check that does not work any more ends the session, and its verdict does not count" {
    vanishing_check 4
    reduce model.onnx -o minimal.onnx --mode minimal --check ./check.sh polygraphy_debug.onnx
    refused "the check no longer works: on the original, too, './check.sh polygraphy_debug.onnx' now exits with code 127"
    logged '^\[W\]     The check exited with code 127, as a shell does if a command cannot run\. Re-checking the original'
    logged 'RUNNING \| Check of the original model'
    [ "$(verdicts_in polygraphy_debug_replay.json)" -eq 4 ]
    [ ! -e minimal.onnx ]
    [ ! -e polygraphy_debug.onnx ]

    mv kept tool
    sed -i '/rm -f/d' check.sh
    cp polygraphy_debug_replay.json replay.json
    reduce model.onnx -o minimal.onnx --mode minimal --load-debug-replay replay.json --force-debug-replay \
        --check ./check.sh polygraphy_debug.onnx
    worked
    has_nodes minimal.onnx 2
}

@test "with several checks at a time that ends the session, too" {
    vanishing_check 4
    reduce model.onnx -o minimal.onnx --mode minimal -j 4 --check ./check.sh '{artifact}'
    refused 'the check no longer works'
    [ ! -e minimal.onnx ]
}

# The log without what differs from session to session.
plain_log()
{
    sed -E 's/Duration [^ ]+s$/Duration/; s/in [0-9.]+ s$/in/; /Runtime|Command:/d' <<<"$output"
}

@test "a candidate on which the check cannot be run is looked into once, and the search goes on" {
    "$make_chain" model.onnx 90 0 branches
    changing_check 'exit 127'
    reduce model.onnx -o minimal.onnx --mode minimal --check ./check.sh '{artifact}'
    worked
    [ "$(grep -c 'Re-checking the original' <<<"$output")" -eq 1 ]
    [ "$(grep -c 'RUNNING | Check of the original model' <<<"$output")" -eq 2 ]
    [ "$(grep -c 'Inconclusive, a different failure: exit code 127' <<<"$output")" -gt 1 ]
    plain_log >one.log
    grep -q '"_verify_again"' polygraphy_debug_replay.json
    mv polygraphy_debug_replay.json replay.json

    reduce model.onnx -o minimal4.onnx --mode minimal -j 4 --check ./check.sh '{artifact}'
    worked
    plain_log | sed 's/minimal4/minimal/' | diff one.log -
    cmp minimal.onnx minimal4.onnx
    diff replay.json polygraphy_debug_replay.json

    reduce model.onnx -o again.onnx --mode minimal --load-debug-replay replay.json --check ./check.sh '{artifact}'
    worked
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ] # on the result
    cmp minimal.onnx again.onnx
}

@test "the other modes of reduce look into that, too" {
    "$make_chain" model.onnx 40 0 chain
    script check.sh <<EOF
[ "\$POLYGRAPHY_ITERATION" -ge 0 ] || echo >>apart
[ "\$POLYGRAPHY_ITERATION" -ge 0 ] || [ "\$(wc -l <apart)" -le 2 ] || exit 0 # a control
"$check_nodes" "\$1" --fail-node node_7 >/dev/null && exit 126
exit 1
EOF
    reduce model.onnx -o reduced.onnx --check ./check.sh polygraphy_debug.onnx
    worked
    [ "$(grep -c 'Re-checking the original' <<<"$output")" -eq 1 ]
}

@test "an original on which the check cannot be run is an error at once" {
    "$make_chain" model.onnx 9 0 chain
    reduce model.onnx -o minimal.onnx --check 'no-such-program polygraphy_debug.onnx'
    refused "the check cannot run: 'no-such-program polygraphy_debug.onnx' exits with code 127"
    not_logged 'Iteration'
    touch plain
    reduce model.onnx -o minimal.onnx --check './plain polygraphy_debug.onnx'
    refused "the check cannot run: './plain polygraphy_debug.onnx' exits with code 126"
    reduce model.onnx -o minimal.onnx --mode minimal --fail-code 127 --check 'exit 127'
    refused 'the check fails on every model'
    not_logged 'Re-checking the original'
}

# A Gemm whose shapes do not fit comes first, an operator that nobody knows second, in a branch of its own.
make_model_with_two_mistakes()
{
    /usr/bin/python3 - <<'END'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
weights = numpy_helper.from_array(numpy.ones((4, 5), numpy.float32), "w")
nodes = [node("Gemm", ["x", "w"], ["b"], "gemm"), node("Relu", ["b"], ["c"], "behind"), node("Foo", ["x"], ["f0"], "foo")]
nodes += [node("Relu", [f"f{i}"], [f"f{i + 1}"], f"relu{i}") for i in range(5)]
nodes += [node("Add", ["c", "f5"], ["y"], "add")]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [weights])
onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), "model.onnx")
END
}

@test "a mistake that the runtime complains of is not followed to another one, by words and by scripts" {
    require_onnxruntime
    make_model_with_two_mistakes
    script check.sh <<<'polygraphy run "$POLYGRAPHY_ARTIFACT" --onnxrt || exit $?'
    for check in "polygraphy run {artifact} --onnxrt" ./check.sh; do
        run polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --json result.json --check $check
        [ "$status" -eq 0 ]
        logged "^\\[I\\] Reduced 9 nodes to 1: 'gemm' \\(Gemm\\)"
        logged '^\[W\]     Inconclusive, a different failure: exit code 3 \(error [0-9]+ of the runtime, Foo\); the first failure: exit code 3 \(error [0-9]+ of the runtime, Gemm\)'
        grep -q '"failure_reason": "error [0-9]* of the runtime, Gemm"' polygraphy_debug_replay.json
        rm polygraphy_debug_replay.json
    done
    run polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --signature exit-code --check ./check.sh
    logged "^\\[I\\] Reduced 9 nodes to 1: 'foo' \\(Foo\\)"
}

@test "a session that is resumed, and a verdict cache, know what the runtime complained of" {
    require_onnxruntime
    make_model_with_two_mistakes
    for session in first second; do
        run polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --verdict-cache cache \
            --save-debug-replay "$session.json" --check polygraphy run polygraphy_debug.onnx --onnxrt
        logged "^\\[I\\] Reduced 9 nodes to 1: 'gemm' \\(Gemm\\)"
    done
    logged 'Found in the verdict cache'
    grep -q '"reason": "error [0-9]* of the runtime, Gemm"' -r cache
    grep -q '"failure_reason": "error [0-9]* of the runtime, Gemm"' first.json
    run polygraphy debug reduce model.onnx -o minimal.onnx --mode minimal --load-debug-replay first.json \
        --save-debug-replay third.json --check polygraphy run polygraphy_debug.onnx --onnxrt
    logged "^\\[I\\] Reduced 9 nodes to 1: 'gemm' \\(Gemm\\)"
}

@test "of a check that writes for ever both ends are kept, and nothing is concluded from what is missing" {
    script check.sh <<'EOF'
echo first; yes | head -c 40000000; echo " IN THE MIDDLE"; yes | head -c 40000000; echo last; exit 1
EOF
    # Nothing of that grows beyond 70 MB.
    ulimit -f 71680
    run polygraphy debug repeat --until 1 --fail-regex '^first' --show-output --check ./check.sh
    [ "$status" -eq 0 ]
    logged 'Passed: 0/1'
    logged '\[\.\.\. 79868[0-9]{3} bytes left out \.\.\.\]'
    not_logged 'disk of temporary files is full'
    run polygraphy debug repeat --until 1 --fail-regex 'last\n$' --hide-fail-output --check ./check.sh
    logged 'Passed: 0/1'
    run polygraphy debug repeat --until 1 --fail-regex 'IN THE MIDDLE' --check ./check.sh
    [ "$status" -eq 1 ]
    logged '12[0-9]{6} bytes in the middle, which might match --fail-regex, were dropped'
    run polygraphy debug repeat --until 1 --fail-regex 'bytes left out' --check ./check.sh
    [ "$status" -eq 1 ]
}
