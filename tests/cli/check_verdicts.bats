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
    not_logged 'Running check command'
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
    refused 'the check says nothing about the original model'
}
