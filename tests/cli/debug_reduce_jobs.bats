# debug_reduce_jobs.bats: -j: several checks at a time, and nothing else is different.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
make_chain=$POLYGRAPHY_TEST_PROGRAMS/make_chain

# A log without what every run has of its own: durations, and how many jobs there were.
without_times()
{
    sed -E 's/(Duration|Runtime:) [0-9.e-]+s/\1/; s/ in [0-9.]+ s$//; s/ -j [0-9]+ / /; s/[0-9]{2}-[0-9]{2}-[0-9]{2}_[0-9-]{8}//' "$1"
}

# same_with_jobs MODEL OPTION...: reduces in the folders j1, j2 and j7, with so many jobs, and compares all that is left.
same_with_jobs()
{
    local jobs
    for jobs in 1 2 7; do
        rm -rf "j$jobs" && mkdir "j$jobs"
        (cd "j$jobs" && polygraphy debug reduce "$1" -o reduced.onnx -j $jobs "${@:2}" >log 2>&1) || {
            cat "j$jobs/log"
            return 1
        }
    done
    for jobs in 2 7; do
        diff <(without_times j1/log) <(without_times j$jobs/log) || return 1
        diff -r -x log -x sorted j1 j$jobs || return 1
    done
}

# With POLYGRAPHY_TEST_THOROUGH 200 searches, else a few: each in a model of other branches, with one to three culprits.
@test "results, replays and logs are the same for 1, 2 and 7 jobs" {
    local modes=(bisect linear minimal minimal) searches=12 search culprit culprits shape
    [ -z "${POLYGRAPHY_TEST_THOROUGH:-}" ] || searches=200
    RANDOM=5
    for search in $(seq $searches); do
        shape=$([ $((search % 5)) -eq 0 ] && echo chain || echo branches)
        "$make_chain" model.onnx $((20 + RANDOM % 50)) 0 "$shape"
        culprits=()
        for culprit in $(seq $((1 + RANDOM % 3))); do
            culprits+=(--fail-node node_$((RANDOM % 20)))
        done
        same_with_jobs "$PWD/model.onnx" --mode ${modes[search % 4]} --check "$check_nodes" polygraphy_debug.onnx \
            "${culprits[@]}" || return 1
    done
}

@test "so they are where the check gets values of the original, and artifacts are sorted" {
    reduce_models make infinity model.onnx
    script check.sh <<'EOF'
echo "checking $1 with $2 and $3"
polygraphy run "$1" --onnxrt --load-inputs "$2" --load-outputs "$3" --infinities-compare-equal >/dev/null || exit 2
! polygraphy inspect data "$3" --show-values | grep -q inf
EOF
    same_with_jobs "$PWD/model.onnx" --mode minimal --iter-inputs in.json --iter-golden golden.json --fail-code 1 \
        --artifacts polygraphy_debug.onnx --artifacts-dir sorted --check ../check.sh '{artifact}' in.json golden.json
    [ "$(reduce_models show j7/reduced.onnx)" = 'div [t3->t4] const zero' ]
    [ "$(ls j1/sorted/bad)" != '' ]
    diff <(cd j1 && ls sorted/* | sed 's/debug_[0-9_-]*_N/N/') <(cd j7 && ls sorted/* | sed 's/debug_[0-9_-]*_N/N/')
    grep -q 'checking polygraphy_debug.onnx with in.json and golden.json' j7/log
}

@test "types that are found out on the way, for candidates that are never needed, change no result" {
    "$make_chain" model.onnx 40 0 branches untyped
    for mode in bisect linear minimal; do
        same_with_jobs "$PWD/model.onnx" --mode $mode --no-shape-inference --min-good good.onnx \
            --check "$check_nodes" '{artifact}' --fail-node node_9 --fail-node node_31
    done
}

@test "results of real models are the same, too" {
    model=$POLYGRAPHY_TEST_MODELS/onnx_light/light_resnet50.onnx
    [ -e "$model" ] || skip 'no models'
    same_with_jobs "$model" --mode minimal --check "$check_nodes" '{artifact}' --fail-node n30 --fail-node n120
    same_with_jobs "$model" --check "$check_nodes" '{artifact}' --fail-node n120
}

@test "checks run at the same time" {
    "$make_chain" model.onnx 40 0 chain
    mkdir met
    # The first one waits for two more: alone it would wait for ever.
    script check.sh <<'EOF'
touch "met/$POLYGRAPHY_ITERATION.$$"
[ "$POLYGRAPHY_ITERATION" != 0 ] || while [ "$(ls met | wc -l)" -lt 4 ]; do sleep 0.01; done
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_9
EOF
    reduce model.onnx -o reduced.onnx -j 3 --check ./check.sh '{artifact}'
    worked
    [ "$(reduce_models show reduced.onnx | wc -l)" -eq 1 ]
}

@test "a check that is not needed any more is ended, with all that it has started" {
    "$make_chain" model.onnx 40 0 chain
    # The first candidate fails. Was it going to pass, the next one would have node 25: that check never ends by itself.
    script check.sh <<'EOF'
if [ "$POLYGRAPHY_ITERATION" = 1 ] && ! "$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_25; then
    sleep 1000 &
    touch asleep
    wait
fi
[ "$POLYGRAPHY_ITERATION" != 0 ] || while [ ! -e asleep ]; do sleep 0.01; done
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_9
EOF
    reduce model.onnx -o reduced.onnx -j 4 --check ./check.sh '{artifact}'
    worked
    [ -e asleep ]
}

@test "files of candidates lie in --work-dir, and nothing is left there" {
    "$make_chain" model.onnx 20 0 chain
    script check.sh <<'EOF'
case $1 in shared/polygraphy_debug*.onnx) ;; *) exit 9 ;; esac
[ "$1" = "$POLYGRAPHY_ARTIFACT" ] || exit 8
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_9
EOF
    for jobs in 1 3; do
        reduce model.onnx -o reduced.onnx -j $jobs --work-dir shared --skip-code 8 9 --check ./check.sh '{artifact}'
        worked
        not_logged SKIPPED
        [ "$(ls -A shared)" = '' ]
    done
}

@test "weights outside of the model are in reach of all candidates" {
    mkdir model
    reduce_models make weights model/weights.data
    reduce_models make external model/external.onnx weights.data
    reduce model/external.onnx -o reduced.onnx -j 3 --work-dir work --mode linear --skip-code 9 \
        --check "polygraphy run {artifact} --onnxrt >/dev/null || exit 9; $check_nodes {artifact} --fail-node n3"
    worked
    not_logged SKIPPED
    [ "$(reduce_models show reduced.onnx)" = 'n3 [t3->t4] const w3' ]
    polygraphy run reduced.onnx --onnxrt --silent
    [ "$(ls -A work)" = '' ]
    # The last candidate stays where its weights are.
    for jobs in 1 3; do
        rm -rf work
        reduce model/external.onnx -o reduced.onnx -j $jobs --work-dir work --no-remove-intermediate --no-verify \
            --check "polygraphy run {artifact} --onnxrt >/dev/null || exit 9; $check_nodes {artifact} --fail-node n3"
        worked
        [ "$(ls work | tr '\n' ' ')" = 'polygraphy_debug.onnx weights.data ' ]
        polygraphy run work/polygraphy_debug.onnx --onnxrt --silent
    done
}

@test "what does not go together is refused" {
    "$make_chain" model.onnx 10 0 chain
    script check.sh <<<'exit 1'
    reduce model.onnx -o reduced.onnx -j 2 --check ./check.sh
    refused "the check does not name 'polygraphy_debug.onnx': with --jobs or --work-dir each candidate has separate files. Write {artifact} in the command"
    reduce model.onnx -o reduced.onnx -j 2 --mode minimal --iter-inputs in.json --check ./check.sh '{artifact}'
    refused "the check does not name 'in.json'"
    reduce model.onnx -o reduced.onnx -j 2 --artifacts replay.json --check ./check.sh '{artifact}'
    refused "--artifacts: with --jobs, parallel checks would overwrite each other's 'replay.json'"
    reduce model.onnx -o reduced.onnx -j 0 --check ./check.sh '{artifact}'
    refused '--jobs: expected 1 to 64'
    echo mine > polygraphy_debug.j2.onnx
    reduce model.onnx -o reduced.onnx -j 2 --check ./check.sh '{artifact}'
    refused "'polygraphy_debug.j2.onnx' already exists, refusing to overwrite"
    [ "$(cat polygraphy_debug.j2.onnx)" = mine ]
}

@test "the last candidate stays at its usual path when asked" {
    "$make_chain" model.onnx 20 0 chain
    for jobs in 1 3; do
        rm -f polygraphy_debug.onnx
        reduce model.onnx -o reduced.onnx -j $jobs --no-remove-intermediate --check "$check_nodes" '{artifact}' \
            --fail-node node_9
        worked
        cp polygraphy_debug.onnx left$jobs.onnx
        [ "$(ls polygraphy_debug*.onnx)" = polygraphy_debug.onnx ]
    done
    cmp left1.onnx left3.onnx
}

@test "an unreliable check is run several times at once on the same candidate" {
    "$make_chain" model.onnx 30 0 chain
    mkdir met
    script check.sh <<'EOF'
touch "met/$POLYGRAPHY_ITERATION.$$"
[ "$POLYGRAPHY_ITERATION" != -1 ] || while [ "$(ls met | wc -l)" -lt 3 ]; do sleep 0.01; done
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_9 --fail-node node_21
EOF
    reduce model.onnx -o reduced.onnx -j 3 --flaky --mode minimal --check ./check.sh '{artifact}'
    worked
    logged '^\[I\] The model is 1-minimal: removing any single one of its 2 nodes makes the check pass$'
}

@test "paths with blanks are one word to a shell, quoted or not" {
    "$make_chain" model.onnx 20 0 chain
    for artifact in '{artifact}' "'{artifact}'" '"{artifact}"'; do
        reduce model.onnx -o reduced.onnx -j 2 --work-dir "it's mine" \
            --check "$check_nodes $artifact --fail-node node_9 || exit 1"
        worked
        [ "$(reduce_models show reduced.onnx | cut -d ' ' -f 1)" = node_9 ]
    done
    reduce model.onnx -o reduced.onnx --work-dir work --mode minimal --iter-inputs in/data.json \
        --iter-golden golden/data.json --check "$check_nodes" '{artifact}' '{inputs}' '{golden}'
    refused "--iter-inputs and --iter-golden both write 'work/data.json'"
}

@test "a check that breaks where it is asked apart from the iterations lets the original be checked again" {
    "$make_chain" model.onnx 30 0 branches
    script check.sh <<'EOF'
[ "$POLYGRAPHY_ITERATION" != -1 ] || echo >>apart
[ "$POLYGRAPHY_ITERATION" != -1 ] || [ "$(wc -l <apart)" -ne 2 ] || exit 127
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_3 --fail-node node_7
EOF
    for jobs in 1 3; do
        rm -f apart
        reduce model.onnx -o reduced.onnx -j $jobs --mode minimal --all --check ./check.sh '{artifact}'
        worked
        logged 'Re-checking the original to find out whether the check still works$'
        logged '^\[I\] Found 1 part\(s\)'
    done
}

# ---- --all ----

@test "--all finds three producers of infinities" {
    reduce_models make infinities model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --all --json result.json \
        --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    logged '^\[I\] Found 3 part\(s\) that fail independently of each other$'
    [ "$(reduce_models show minimal.onnx minimal_2.onnx minimal_3.onnx | cut -d ' ' -f 1 | sort | tr '\n' ' ')" = 'div_0 div_1 div_2 ' ]
    [ ! -e minimal_4.onnx ]
    valid_models minimal.onnx minimal_2.onnx minimal_3.onnx
    /usr/bin/python3 -c '
import json
result = json.load(open("result.json"))
found = [result] + result["more_culprits"]
assert sorted(node["name"] for part in found for node in part["nodes"]) == ["div_0", "div_1", "div_2"]
assert all(part["one_minimal"] for part in found)'
    same_with_jobs "$PWD/model.onnx" --mode minimal --all \
        --check polygraphy run polygraphy_debug.onnx --onnxrt --validate --silent
}

@test "--all goes on where it was, and leaves files alone that it was not told of" {
    reduce_models make infinities model.onnx
    echo mine > minimal_2.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --all --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    [ "$(cat minimal_2.onnx)" = mine ]
    [ -e minimal_3.onnx ]
    reduce model.onnx -o again.onnx --mode minimal --all --load-debug-replay polygraphy_debug_replay.json \
        --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 3 ] # on each result
    [ "$(grep -c 'FAILED | Check of the result' <<<"$output")" -eq 3 ]
    cmp again_2.onnx minimal_3.onnx
}

@test "--all checks each result in the form that it is saved in" {
    reduce_models make infinities model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --all --save-external-data --external-data-size-threshold 0 \
        --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    [ "$(grep -c 'FAILED | Check of the result' <<<"$output")" -eq 3 ]
    [ "$(ls ./*.data | wc -l)" -eq 3 ]
    valid_models minimal.onnx minimal_2.onnx minimal_3.onnx
}

@test "--all says so when its budget was not enough for all of them" {
    reduce_models make infinities model.onnx
    reduce model.onnx -o minimal.onnx --mode minimal --all --max-checks 7 \
        --check polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    logged 'there may be more$'
    reduce model.onnx -o minimal.onnx --all --check false
    refused '--all needs --mode minimal'
    reduce model.onnx -o polygraphy_debug.onnx --all --mode minimal --check false
    refused "-o 'polygraphy_debug.onnx': with --all, candidates would overwrite the first result"
}

# ---- Verdicts of other sessions ----

@test "with a verdict cache nothing but the original and the result is checked twice, also from another folder" {
    "$make_chain" model.onnx 40 0 branches
    script check.sh <<'EOF'
echo >>"$RUNS"
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_9 --fail-node node_31
EOF
    export RUNS=$PWD/runs
    reduce model.onnx -o first.onnx --mode minimal --verdict-cache cache --check "$PWD/check.sh" '{artifact}'
    worked
    [ -s runs ]
    for jobs in 1 4; do
        rm -f runs
        mkdir folder$jobs
        (cd folder$jobs && polygraphy debug reduce ../model.onnx -o second.onnx -j $jobs --mode minimal \
            --verdict-cache ../cache --check "$OLDPWD/check.sh" '{artifact}' >log)
        [ "$(wc -l <runs)" -eq 2 ] # whether the check still works, and whether the answer is right
        cmp first.onnx folder$jobs/second.onnx
        grep -q 'Found in the verdict cache: its verdict is reused' folder$jobs/log
    done
}

@test "what is known of a candidate that was written ahead of the first failure is asked again after it" {
    "$make_chain" model.onnx 30 0 branches
    script check.sh <<'EOF'
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_3 && exit 0
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_20 || exit 3
exit 2
EOF
    for jobs in 1 4; do
        reduce model.onnx -o reduced$jobs.onnx -j $jobs --mode minimal --no-verify --verdict-cache cache$jobs \
            --check ./check.sh '{artifact}'
        worked
    done
    cmp reduced1.onnx reduced4.onnx
    diff -r cache1 cache4
}

@test "what somebody has changed in a verdict cache is ignored and counted, and no link is followed to one" {
    "$make_chain" model.onnx 30 0 branches
    script check.sh <<<'"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_9 --fail-node node_20'
    reduce model.onnx -o first.onnx --mode minimal --verdict-cache cache --check ./check.sh '{artifact}'
    worked
    find cache -name '*.json' -exec sed -i 's/"fail"/"other"/; s/"pass"/"fail"/; s/"other"/"pass"/' '{}' +
    reduce model.onnx -o second.onnx --mode minimal --verdict-cache cache --check ./check.sh '{artifact}'
    worked
    cmp first.onnx second.onnx
    not_logged 'Found in the verdict cache'
    logged '^\[W\] [1-9][0-9]* entries of the verdict cache were ignored\. The first one: cache/.*\.json: checksum mismatch'
    reduce model.onnx -o third.onnx --mode minimal --verdict-cache cache --check ./check.sh '{artifact}'
    worked
    cmp first.onnx third.onnx
    logged 'Found in the verdict cache'
    not_logged 'ignored'
    ln -s cache link
    reduce model.onnx -o fourth.onnx --mode minimal --verdict-cache link --check ./check.sh '{artifact}'
    worked
    cmp first.onnx fourth.onnx
    not_logged 'Found in the verdict cache'
    logged "^\[W\] The verdict cache is not used: 'link' is a symbolic link, which the verdict cache does not follow"
}

# ---- Data of several samples ----

@test "a failure that only the fourth sample shows is reduced like any other" {
    reduce_models make reciprocal model.onnx
    polygraphy run model.onnx --onnxrt --silent --val-range '[1,2]' --iterations 3 --save-inputs three.json
    polygraphy run model.onnx --onnxrt --silent --val-range '[0,0]' --save-inputs zero.json
    /usr/bin/python3 -c '
import json
json.dump(json.load(open("three.json")) + json.load(open("zero.json")), open("four.json", "w"))'
    check=(--check polygraphy run '{artifact}' --onnxrt --load-inputs in.json --validate)
    reduce model.onnx -o reduced.onnx --mode minimal --load-inputs three.json --iter-inputs in.json "${check[@]}"
    logged 'The original model does not fail the check'
    same_with_jobs "$PWD/model.onnx" --mode minimal --load-inputs ../four.json --iter-inputs in.json "${check[@]}" --silent
    [ "$(reduce_models show j1/reduced.onnx)" = 'reciprocal [t3->t4]' ]
}

# ---- kill -9 ----

# reduce_and_kill KILLS MODEL OPTION...: sessions with four jobs that are killed at random moments, each going on where the last one was,
# and when one gets to its end, anew, until so many were killed. What is left is that of a session in the folder `whole`,
# which had one job and was not disturbed.
reduce_and_kill()
{
    local kills=$1 model=$2 killed=0 status limit
    shift 2
    local command=(polygraphy debug reduce "$model" -o reduced.onnx --iter-info info.json --silent "$@")
    local check=(--check "$PWD/check.sh" '{artifact}' '{information}')
    mkdir whole killed
    (cd whole && "${command[@]}" "${check[@]}")
    RANDOM=1
    while [ $killed -lt "$kills" ] || [ -n "$(ls -A killed)" ]; do
        resume=() limit=0.$(printf %03d $((RANDOM % 700)))
        [ $killed -lt "$kills" ] || limit=100
        [ ! -e killed/polygraphy_debug_replay.json ] || resume=(--load-debug-replay polygraphy_debug_replay.json)
        # Before the first verdict there is nothing to go on with.
        [ ${#resume[@]} -gt 0 ] || rm -f killed/*.onnx killed/info*.json
        status=0
        (cd killed && exec timeout -s KILL "$limit" "${command[@]}" -j 4 "${resume[@]}" "${check[@]}" 3>&-) || status=$?
        no_process_left "$PWD/killed" || return 1
        if [ $status -eq 137 ]; then
            killed=$((killed + 1))
            continue
        fi
        [ $status -eq 0 ] || return 1
        diff -r killed whole || return 1
        rm -r killed
        mkdir killed
    done
}

@test "a reduction with four jobs that is killed 50 times goes on where it was, and leaves no process" {
    "$make_chain" model.onnx 60 0 branches
    # Without a guard these would outlive the session by far.
    script check.sh <<'EOF'
sleep 0.03
[ -e "$2" ] || exit 9
"$POLYGRAPHY_TEST_PROGRAMS/check_nodes" "$1" --fail-node node_13 --fail-node node_44 && exit 0
(sleep 100 & sleep 0.03)
exit 1
EOF
    reduce_and_kill 50 "$PWD/model.onnx" --mode minimal
}
