# check_flaky.bats: --flaky: checks that do not always tell the truth.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
make_chain=$POLYGRAPHY_TEST_PROGRAMS/make_chain

# A check that fails in $1 % of its runs on models with nodes 7 and 30, and in $2 % on others. Chance is a hash of $3 and of
# how many runs there were before, so that it comes out the same each time.
flaky_check()
{
    script check.sh <<EOF
runs=\$(cat runs 2>/dev/null || echo 0)
echo \$((runs + 1)) >runs
chance=\$((\$(echo "$3 \$runs" | cksum | cut -d ' ' -f 1) % 100))
"$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_30 >/dev/null
case \$? in
    0) [ \$chance -ge $2 ] ;;
    1) [ \$chance -ge $1 ] ;;
    *) exit 99 ;;
esac
EOF
}

has_culprits()
{
    local status=0
    "$check_nodes" "$1" --fail-node node_7 --fail-node node_30 >/dev/null || status=$?
    [ $status -eq 1 ]
}

# The lines of $output that tell what was found, without times.
findings()
{
    grep -E 'interval|Reduced|(PASSED|FAILED|SKIPPED) .* Duration' <<<"$output" | sed -E 's/(Duration|in) [0-9.e-]+ ?s.*//'
}

@test "a reduction by a check that is wrong now and then keeps the failure" {
    "$make_chain" model.onnx 40 0 branches
    flaky_check 80 5 first
    reduce model.onnx -o minimal.onnx --mode minimal --flaky --check ./check.sh
    worked
    logged '^\[I\] +Failed in [0-9]+ of [0-9]+ runs$'
    logged '^\[I\] The original model fails in [3-5] of [3-9] runs \(95 % interval 0\.[0-9]+ \.\. [01]\.[0-9]+\)$'
    logged '^\[I\] The result fails in [0-9]+ of [0-9]+ runs \(95 % interval 0\.[0-9]+ \.\. [01]\.[0-9]+\)$'
    grep -q '"fails": ' polygraphy_debug_replay.json
    has_culprits minimal.onnx
    [ "$(polygraphy inspect model minimal.onnx | grep -oE '[0-9]+ Node' | head -1 | cut -d ' ' -f 1)" -le 6 ]
}

@test "without --flaky it goes wrong, and that is found out" {
    "$make_chain" model.onnx 40 0 branches
    flaky_check 80 5 first
    reduce model.onnx -o minimal.onnx --mode minimal --check ./check.sh
    refused 'the result no longer fails when re-checked, so the verdicts of the check are not reproducible'
    not_logged 'Failed in [0-9]+ of'
    not_logged '95 % interval'
    not_logged '1-minimal'
    [ ! -e minimal.onnx ]
    run ! grep -q '"fails"' polygraphy_debug_replay.json
}

@test "a check that is reliable after all takes one run for each verdict" {
    "$make_chain" model.onnx 40 0 branches
    flaky_check 100 0 any
    reduce model.onnx -o minimal.onnx --mode minimal --flaky --no-false-failures --check ./check.sh
    worked
    [ "$(grep -c 'Failed in 5 of 5 runs' <<<"$output")" -eq 1 ]
    logged "Reduced 40 nodes to 2: '[a-z0-9_]+' \\([A-Z][a-z]+\\), '[a-z0-9_]+' \\([A-Z][a-z]+\\), [0-9]+ iterations in"
    run ! grep -vE 'Failed in (5 of 5|0 of 1|1 of 1) runs' <(grep 'Failed in' <<<"$output")
}

@test "a session that is resumed repeats no run, but for those of the result" {
    "$make_chain" model.onnx 40 0 branches
    flaky_check 80 5 second
    reduce model.onnx -o first.onnx --mode minimal --flaky --check ./check.sh
    worked
    first=$(findings | grep -v result)
    cp runs runs_before
    reduce model.onnx -o second.onnx --mode minimal --flaky --load-debug-replay polygraphy_debug_replay.json \
        --check ./check.sh
    worked
    [ "$(findings | grep -v result)" = "$first" ]
    [ "$(cat runs)" -gt "$(cat runs_before)" ]
    run ! grep 'Running check command' <<<"${output%%Check of the result*}"
    cmp first.onnx second.onnx
}

@test "a session that was interrupted goes on where it was" {
    "$make_chain" model.onnx 40 0 branches
    flaky_check 80 5 second
    cp check.sh whole.sh
    script check.sh <<'EOF'
[ "$(cat runs 2>/dev/null)" != 25 ] || [ -e stopped ] || { touch stopped; kill -INT $PPID; exec sleep 60; }
exec ./whole.sh
EOF
    run polygraphy debug reduce model.onnx -o result.onnx --mode minimal --flaky --save-debug-replay half.json \
        --check ./check.sh
    [ "$status" -ne 0 ]
    [ ! -e result.onnx ]
    verdicts_in half.json
    reduce model.onnx -o result.onnx --mode minimal --flaky --load-debug-replay half.json --check ./check.sh
    worked
    has_culprits result.onnx
}

@test "what was wrongly accepted is taken back" {
    "$make_chain" model.onnx 40 0 branches
    # All of the first candidates fail, whatever they are; from the fifth on the check tells the truth.
    script check.sh <<EOF
"$check_nodes" polygraphy_debug.onnx --fail-node node_7 --fail-node node_30 >/dev/null && [ \$POLYGRAPHY_ITERATION -gt 3 ]
EOF
    reduce model.onnx -o minimal.onnx --mode minimal --flaky --check ./check.sh
    worked
    logged 'Re-checking the remaining [0-9]+ node\(s\)'
    logged 'The remaining nodes do not fail when re-checked'
    logged 'The result fails in [2-9] of [2-9] runs'
    logged 'Reduced 40 nodes to 2'
    has_culprits minimal.onnx
    cp polygraphy_debug_replay.json first.json
    reduce model.onnx -o again.onnx --mode minimal --flaky --load-debug-replay first.json --check ./check.sh
    worked
    run ! grep 'Running check command' <<<"${output%%Check of the result*}"
    cmp minimal.onnx again.onnx
}

@test "a bisection that was led astray says so" {
    "$make_chain" model.onnx 40 0 chain
    # Fails until the search is over, never after it.
    script check.sh <<'EOF'
[ "$POLYGRAPHY_ITERATION" -ge 0 ] || [ ! -e searched ] || exit 0
[ "$POLYGRAPHY_ITERATION" -lt 0 ] || touch searched
exit 1
EOF
    reduce model.onnx -o minimal.onnx --flaky --check ./check.sh
    refused "'minimal.onnx' is not written: no model failed the check"
    logged 'does not fail when re-checked'
    [ ! -e minimal.onnx ]
}

@test "debug precision finds its layers by a check that is wrong now and then" {
    cp "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt --save-outputs golden.json >/dev/null
    script check.sh <<'EOF'
runs=$(cat runs 2>/dev/null || echo 0)
echo $((runs + 1)) >runs
chance=$(($(echo "any $runs" | cksum | cut -d ' ' -f 1) % 100))
status=0
polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-2 --rtol 1e-2 >/dev/null || status=1
[ $chance -ge $((status ? 80 : 5)) ]
EOF
    run polygraphy debug precision model.onnx --fp16 --mode minimal --flaky --check ./check.sh
    [ "$status" -eq 0 ]
    logged 'The model in lower precision fails in [3-9] of [0-9]+ runs'
    logged 'The result fails in [0-9] of [0-9]+ runs'
    logged 'try running these 2 layer\(s\) in higher precision'
    logged '--layer-precisions scores:float32 scale:float32'
}

@test "debug repeat takes it, too" {
    script check.sh <<'EOF'
echo x >>runs
[ $(($(wc -l <runs) % 4)) -eq 0 ]
EOF
    repeat --until 3 --flaky --check ./check.sh
    worked
    [ "$(grep -cE 'Failed in [0-9]+ of [0-9]+ runs' <<<"$output")" -eq 3 ]
    [ "$(grep -c 'FAILED | Iteration' <<<"$output")" -eq 3 ]
}

@test "all runs of a candidate have its number, and find the artifact" {
    script check.sh <<'EOF'
[ "$POLYGRAPHY_ITERATION" -ge 0 ] || [ ! -e searched ] || exit 0 # a control
[ "$POLYGRAPHY_ITERATION" -lt 0 ] || touch searched
test -e polygraphy_debug.onnx || exit 99
echo "$POLYGRAPHY_ITERATION $(cksum <polygraphy_debug.onnx)" >>seen
rm polygraphy_debug.onnx
[ $(($(wc -l <seen) % 3)) -eq 0 ]
EOF
    "$make_chain" model.onnx 6 0 chain
    reduce model.onnx -o minimal.onnx --mode minimal --flaky --check ./check.sh
    worked
    # The runs of a number follow each other, and have one file only.
    [ "$(cut -d ' ' -f 1 seen | uniq | wc -l)" -eq "$(cut -d ' ' -f 1 seen | sort -u | wc -l)" ]
    [ "$(cut -d ' ' -f 1 seen | sort -u | wc -l)" -eq "$(sort -u seen | wc -l)" ]
    [ "$(wc -l <seen)" -gt "$(sort -u seen | wc -l)" ]
}

@test "runs that are skipped do not count" {
    script check.sh <<'EOF'
runs=$(cat runs 2>/dev/null || echo 0)
echo $((runs + 1)) >runs
[ $((runs % 2)) -eq 0 ] || exit 125
exit 0
EOF
    repeat --until 1 --flaky --skip-code 125 --check ./check.sh
    worked
    logged 'PASSED \| Iteration 1'
    logged 'fail in at least half of the runs'
    logged 'Failed in 0 of [0-9]+ runs'
    logged 'more run\(s\) were skipped'
}

@test "a candidate that is always skipped is skipped" {
    repeat --until 1 --flaky --skip-code 125 --check 'echo x >>runs; exit 125'
    worked
    logged 'SKIPPED \| Iteration 1'
    [ "$(wc -l <runs)" -eq 3 ]
}

@test "a replay of single runs is not taken for one of many" {
    "$make_chain" model.onnx 6 0 chain
    fails_on_candidates
    polygraphy debug reduce model.onnx -o minimal.onnx --check ./fails.sh >/dev/null
    rm minimal.onnx
    reduce model.onnx -o minimal.onnx --flaky --load-debug-replay polygraphy_debug_replay.json --check ./fails.sh
    refused 'belongs to another check'
}

@test "nobody is asked again and again" {
    repeat --until 1 --flaky
    refused '--flaky needs --check'
}
