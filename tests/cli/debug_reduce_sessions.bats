# debug_reduce_sessions.bats: replays, and sessions that end before their time.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
samples=$POLYGRAPHY_ROOT/tests/golden/debug_replay
check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes

# A check that fails on the named node, and notes down what it has checked.
fails_on()
{
    script check.sh <<<"
        cksum <\${POLYGRAPHY_ARTIFACT:-polygraphy_debug.onnx} >>runs
        exec $check_nodes \$POLYGRAPHY_ARTIFACT --fail-node $1"
}

decoded()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/reduce_replay.py" outputs,inputs "$@"
}

# ---- Replays ----

@test "Polygraphy's replays are loaded with one warning, and of what they hold only the result is checked" {
    for sample in "$samples"/reduce_{bisect,linear}_fail[157].json; do
        mode=${sample##*reduce_} node=${sample##*_fail}
        fails_on "onnx_graphsurgeon_node_${node%.json}"
        reduce "$models/reducable.onnx" -o reduced.onnx --mode "${mode%%_*}" --load-debug-replay "$sample" \
            --save-debug-replay new.json --check ./check.sh
        worked
        [ "$(grep -c '^\[W\] The debug replay does not record its model and check' <<<"$output")" -eq 1 ]
        [ "$(cat runs)" = "$(cksum <reduced.onnx)" ]
        rm runs
        [ ! -e new.json ]
        "$check_nodes" reduced.onnx --fail-node "onnx_graphsurgeon_node_${node%.json}" || [ $? -eq 1 ]
    done
}

@test "of Polygraphy's partial replay exactly one check is missing" {
    fails_on onnx_graphsurgeon_node_5
    reduce "$models/reducable.onnx" -o reduced.onnx --load-debug-replay "$samples/reduce_bisect_fail5_partial.json" --check ./check.sh
    worked
    [ "$(wc -l <runs)" -eq 1 ]
    [ "$(reduce_models show reduced.onnx)" = 'onnx_graphsurgeon_node_5 [identity_out_0,identity_out_2->add_out_4]' ]
    diff <(sed '/"_session"/,/}/d' polygraphy_debug_replay.json) "$samples/reduce_bisect_fail5.json"
}

@test "what is saved is accepted by the rules of Polygraphy's decoder" {
    for mode in bisect linear; do
        fails_on onnx_graphsurgeon_node_5
        reduce "$models/reducable.onnx" -o reduced.onnx --mode $mode --check ./check.sh
        worked
        decoded polygraphy_debug_replay.json polygraphy_debug_replay_skip_current.json "$samples/reduce_${mode}_fail5.json" >verdicts
        [ "$(wc -l <verdicts)" -eq 3 ]
        [ "$(uniq verdicts | wc -l)" -eq 1 ]
    done
}

@test "with a whole replay only the results are checked, and they are the same byte by byte" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" branches.onnx 30 0 branches
    for model in "$models"/{reducable,chain17,sequence_between,nested_bodies,dynamic_quantization}.onnx branches.onnx; do
        for mode in bisect linear; do
            node=$(reduce_models show "$model" | cut -d ' ' -f 2)
            fails_on "$node"
            reduce "$model" -o once.onnx --min-good once_good.onnx --mode $mode --check ./check.sh
            worked
            rm -f runs polygraphy_debug_replay_skip_current.json
            reduce "$model" -o again.onnx --min-good again_good.onnx --mode $mode \
                --load-debug-replay polygraphy_debug_replay.json --save-debug-replay new.json --check ./check.sh
            worked
            written=$(cksum <once.onnx; [ ! -e once_good.onnx ] || cksum <once_good.onnx)
            # A control may tell more of the types at the border of the result, which is checked with them, too, then.
            [ "$(tail -n "$(wc -l <<<"$written")" runs)" = "$written" ]
            [ "$(wc -l <runs)" -le "$(wc -l <<<"$written")" ] || logged 'RUNNING \| Control: '
            [ ! -e new.json ]
            cmp once.onnx again.onnx
            [ ! -e once_good.onnx ] || cmp once_good.onnx again_good.onnx
            rm -f once* again* polygraphy_debug_replay.json
        done
    done
}

@test "the replay of another model, check, mode or other data is refused unless forced" {
    reduce_models make chain model.onnx
    reduce_models make chain other.onnx 3
    fails_on n3
    options=(--mode bisect --seed 1)
    reduce model.onnx -o reduced.onnx "${options[@]}" --check ./check.sh
    worked
    rm runs
    load=(--load-debug-replay polygraphy_debug_replay.json)
    reduce other.onnx -o r.onnx "${options[@]}" "${load[@]}" --check ./check.sh
    refused "'polygraphy_debug_replay.json' belongs to another model, or to other options"
    reduce model.onnx -o r.onnx --mode linear "${load[@]}" --check ./check.sh
    refused 'belongs to another model, or to other options'
    reduce model.onnx -o r.onnx --mode bisect --seed 2 "${load[@]}" --check ./check.sh
    refused 'belongs to another model, or to other options'
    reduce model.onnx -o r.onnx "${options[@]}" --model-input-shapes 't0:[4]' "${load[@]}" --check ./check.sh
    refused 'belongs to another model, or to other options'
    reduce model.onnx -o r.onnx "${options[@]}" "${load[@]}" --check ./check.sh again
    refused 'belongs to another check'
    reduce model.onnx -o r.onnx "${options[@]}" "${load[@]}" --fail-code 1 --check ./check.sh
    refused 'belongs to another check'
    [ ! -e r.onnx ]
    [ ! -e runs ]
    reduce other.onnx -o r.onnx "${options[@]}" "${load[@]}" --force-debug-replay --check ./check.sh
    worked
    logged '^\[W\] The debug replay belongs to another model or check\.'
    [ "$(cat runs)" = "$(cksum <r.onnx)" ]
    [ "$(reduce_models show r.onnx)" = "$(reduce_models show reduced.onnx)" ]
}

@test "a replay without failures is followed by a check of the result" {
    reduce_models make chain model.onnx
    reduce model.onnx -o reduced.onnx --no-verify --check true
    refused "'reduced.onnx' is not written: no model failed the check"
    reduce model.onnx -o reduced.onnx --load-debug-replay polygraphy_debug_replay.json --check true
    refused "'reduced.onnx' is not written: no model failed the check"
    logged 'PASSED \| Check of the result'
    [ ! -e reduced.onnx ]
}

# ---- kill -9 ----

# reduce_and_kill KILLS MODEL OPTION...: sessions that are killed at random moments, each going on where the last one was,
# and when one gets to its end, anew, until so many were killed. The session of reference is in the folder `whole`, the
# others are in `killed`.
reduce_and_kill()
{
    local kills=$1 model=$2 killed=0 sessions=0 status started duration last
    shift 2
    local command=(polygraphy debug reduce "$model" -o reduced.onnx --min-good good.onnx --iter-info info.json --silent "$@")
    mkdir whole killed
    started=$(date +%s%N)
    (cd whole && "${command[@]}" --check ../check.sh)
    duration=$((($(date +%s%N) - started) / 1000000))
    RANDOM=1
    while [ $killed -lt "$kills" ] || [ -n "$(ls -A killed)" ]; do
        sessions=$((sessions + 1))
        [ $sessions -lt 1000 ]
        resume=() limit=$(printf '0%d.%03d' $((RANDOM % duration / 1000)) $((RANDOM % duration % 1000)))
        [ $killed -lt "$kills" ] || limit=100
        [ ! -e killed/polygraphy_debug_replay.json ] || resume=(--load-debug-replay polygraphy_debug_replay.json)
        # Before the first verdict there is nothing to go on with.
        [ ${#resume[@]} -gt 0 ] || rm -f killed/polygraphy_debug.onnx
        touch killed/runs
        cp killed/runs before
        status=0
        (cd killed && exec timeout -s KILL "$limit" "${command[@]}" "${resume[@]}" --check ../check.sh 3>&-) || status=$?
        no_process_left "$PWD/killed" || return 1

        # Of what was checked before, only the last one may have been checked again, as its verdict was not saved yet, and results.
        tail -n "+$(($(wc -l <before) + 1))" killed/runs >after
        last=$(tail -n 1 before)
        [ -z "$(sort after | uniq -d)" ]
        [ -z "$(sort after | grep -Fxf before | grep -Fxv -e "$last" -e "$(cksum <whole/reduced.onnx)" \
            -e "$(cksum <whole/good.onnx)")" ]
        if [ $status -eq 137 ]; then
            killed=$((killed + 1))
            continue
        fi
        [ $status -eq 0 ]
        [ "$(ls -A killed)" = "$(ls -A whole)" ]
        cmp killed/reduced.onnx whole/reduced.onnx
        cmp killed/good.onnx whole/good.onnx
        cmp <(sort -u killed/runs) <(sort whole/runs)
        rm -r killed
        mkdir killed
    done
}

@test "a reduction that is killed 50 times goes on where it was" {
    model=$POLYGRAPHY_TEST_MODELS/onnx_light/light_densenet121.onnx
    node=n66
    if [ ! -e "$model" ]; then
        model=$PWD/model.onnx node=node_20
        "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 60 0 chain
    fi
    fails_on $node
    reduce_and_kill 50 "$model" --no-reduce-inputs
}

@test "so does one with branches, in both phases, linearly" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 30 0 branches
    fails_on node_13
    sed -i '2s/^/[ "$POLYGRAPHY_ITERATION" -lt 0 ] \&\& [ -s runs ] ||/' check.sh # a candidate may be checked once more in the end
    reduce_and_kill 20 "$PWD/model.onnx" --mode linear
}

@test "an existing candidate is a leftover only for the session that the replay belongs to" {
    reduce_models make chain model.onnx
    fails_on_candidates
    script check.sh <<<'[ $POLYGRAPHY_ITERATION != 1 ] || [ -e again ] || kill -KILL $PPID; ./fails.sh'
    reduce model.onnx -o reduced.onnx --iter-info info.json --check ./check.sh
    [ "$status" -eq 137 ]
    [ -e polygraphy_debug.onnx ]
    [ -e info.json ]
    touch again
    reduce model.onnx -o reduced.onnx --check ./check.sh
    refused "'polygraphy_debug.onnx' already exists, refusing to overwrite"
    logged_error='If a killed session left it, resume with --load-debug-replay, or start over with --force'
    [[ $stderr == *"$logged_error" ]]
    reduce model.onnx -o reduced.onnx --mode linear --load-debug-replay polygraphy_debug_replay.json --check ./check.sh
    refused 'belongs to another model, or to other options'
    [ -e polygraphy_debug.onnx ]
    reduce model.onnx -o reduced.onnx --iter-info info.json --load-debug-replay polygraphy_debug_replay.json --check ./check.sh
    worked
    [ "$(grep -c "^\[I\] Removing 'polygraphy_debug\.onnx', which the resumed session has left$" <<<"$output")" -eq 1 ]
    [ ! -e polygraphy_debug.onnx ]
    [ ! -e info.json ]
}

@test "--force-debug-replay takes it for a leftover, too" {
    reduce_models make chain model.onnx
    echo left >polygraphy_debug.onnx
    reduce "$models/reducable.onnx" -o reduced.onnx --load-debug-replay "$samples/reduce_bisect_fail5.json" --check false
    refused 'already exists'
    reduce "$models/reducable.onnx" -o reduced.onnx --load-debug-replay "$samples/reduce_bisect_fail5.json" \
        --force-debug-replay --check false
    worked
    [ ! -e polygraphy_debug.onnx ]
}

@test "a candidate that is to stay is replaced, and what is no file is nobody's leftover" {
    reduce_models make chain model.onnx
    reduce model.onnx -o reduced.onnx --no-remove-intermediate --check "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    reduce model.onnx -o again.onnx --no-remove-intermediate --load-debug-replay polygraphy_debug_replay.json --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    logged "^\[I\] Replacing 'polygraphy_debug\.onnx'"
    cmp polygraphy_debug.onnx reduced.onnx
    rm polygraphy_debug.onnx
    mkdir polygraphy_debug.onnx
    reduce model.onnx -o again.onnx --load-debug-replay polygraphy_debug_replay.json --check \
        "$check_nodes" polygraphy_debug.onnx --fail-node n3
    refused "cannot write 'polygraphy_debug.onnx': it is a folder"
    [ -d polygraphy_debug.onnx ]
}

# What the number of a process goes without saying, in names of temporary files: this start of this machine, and the PID namespace.
space_of()
{
    printf '%.8s%08x' "$(cat /proc/sys/kernel/random/boot_id)" "$(stat -Lc %i /proc/self/ns/pid)"
}

@test "temporary files of killed sessions go, those of others and of the user stay" {
    reduce_models make chain model.onnx
    sleep 1000 3>&- &
    local alive=$! here
    here=$(space_of)
    local gone=(.polygraphy_debug.onnx.999999999.$here.abcdef .polygraphy_debug_replay.json.999999999.$here.ABC123
        .polygraphy_debug_replay_skip_current.json.999999999.$here.abcde1 .info.json.999999999.$here.zzzzzz
        .reduced.onnx.999999999.$here.a1b2c3)
    local stay=(.polygraphy_debug.onnx.$alive.$here.abcdef .polygraphy_debug.onnx.backup
        .polygraphy_debug.onnx.999999999.$here.abcdefg .polygraphy_debug.onnx.999999999.0123456789abcdef.abcdef
        .polygraphy_debug.onnx.999999999.$here.abc-ef .polygraphy_debug.onnx.0999999.$here.abcdef
        .other.onnx.999999999.$here.abcdef polygraphy_debug.onnx.999999999.$here.abcdef
        .polygraphy_debug.onnx.-5.$here.abcdef .polygraphy_debug.onnx.999999999.abcdef)
    touch "${gone[@]}" "${stay[@]}"
    mkdir .polygraphy_debug.onnx.999999999.$here.folder
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --iter-info info.json --check ./fails.sh
    kill $alive
    worked
    for file in "${gone[@]}"; do
        [ ! -e "$file" ]
    done
    for file in "${stay[@]}" .polygraphy_debug.onnx.999999999.$here.folder; do
        [ -e "$file" ]
    done
    rm -r "${stay[@]}" .polygraphy_debug.onnx.999999999.$here.folder
}

@test "in another PID namespace nothing is known of who is writing here" {
    unshare --pid --fork --mount-proc true 2>/dev/null || skip 'new PID namespaces are not permitted'
    reduce_models make chain model.onnx
    local here=$(space_of) there
    there=$(unshare --pid --fork --mount-proc bash -c "$(declare -f space_of); space_of")
    [ "$there" != "$here" ]
    touch .polygraphy_debug.onnx.$$.$here.abcdef .polygraphy_debug.onnx.999999999.$here.abcdef
    fails_on_candidates
    run --separate-stderr unshare --pid --fork polygraphy debug reduce model.onnx -o reduced.onnx --check ./fails.sh
    worked
    [ -e .polygraphy_debug.onnx.$$.$here.abcdef ]
    [ -e .polygraphy_debug.onnx.999999999.$here.abcdef ]
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --check ./fails.sh
    worked
    [ -e .polygraphy_debug.onnx.$$.$here.abcdef ]
    [ ! -e .polygraphy_debug.onnx.999999999.$here.abcdef ]
    rm .polygraphy_debug.onnx.$$.$here.abcdef
}

# ---- Ctrl-C ----

@test "after Ctrl-C or a request to end, nothing but replays is left, and the command that is printed goes on" {
    mkdir session
    cd session
    reduce_models make chain model.onnx
    script check.sh <<<"
        [ -e again ] || [ \$POLYGRAPHY_ITERATION != 1 ] || { echo >stuck; sleep 1000 & exec sleep 1000; }
        echo \$POLYGRAPHY_ITERATION >>runs
        exec $check_nodes polygraphy_debug.onnx --fail-node n3"
    for signal in INT TERM HUP; do
        # In a group of its own, as a shell would have it.
        mkfifo stuck
        env --default-signal setsid polygraphy debug reduce model.onnx -o reduced.onnx --min-good 'good one.onnx' \
            --iter-info info.json --artifacts no such file --check ./check.sh >out 2>errors 3>&- &
        session=$!
        read -r _ <stuck
        [ -e polygraphy_debug.onnx ]
        kill -$signal -- -$session
        status=0
        wait $session || status=$?
        [ $status -eq $((128 + $(kill -l $signal))) ]
        cd ..
        no_process_left "$PWD/session" || false
        cd session
        [ "$(ls -A)" = $'check.sh\nerrors\nmodel.onnx\nout\npolygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json\nruns\nstuck' ]
        [ "$(cat errors)" = "[!] Resume with: polygraphy debug reduce model.onnx -o reduced.onnx --min-good 'good one.onnx' --iter-info info.json --artifacts no such file --load-debug-replay polygraphy_debug_replay.json --check ./check.sh" ]
        [ "$(verdicts_in polygraphy_debug_replay.json)" -eq 1 ]
        touch again
        eval "run --separate-stderr $(sed 's/.*Resume with: //' errors)"
        worked
        [ "$(tr '\n' ' ' <runs)" = '-1 0 1 2 0 1 ' ]
        [ "$(reduce_models show reduced.onnx)" = 'n3 [t3->t4] const w3' ]
        rm again runs stuck ./*.json reduced.onnx 'good one.onnx'
    done
}

@test "a second Ctrl-C ends the tool at once, and leaves nothing either" {
    reduce_models make chain model.onnx
    mkfifo stuck
    script check.sh <<<'trap "" INT TERM; echo >stuck; sleep 1000 & wait; wait'
    env --default-signal setsid polygraphy debug reduce model.onnx -o reduced.onnx --iter-info info.json --check ./check.sh \
        >out 2>errors 3>&- &
    local session=$! status=0
    read -r _ <stuck
    kill -INT $session
    sleep 0.2 # the same signal sooner counts as one
    kill -INT $session 2>/dev/null || true
    wait $session || status=$?
    [ $status -eq 130 ]
    [ "$(ls -A)" = $'check.sh\nerrors\nmodel.onnx\nout\npolygraphy_debug_replay_skip_current.json\nstuck' ]
}

@test "Ctrl-C at the question leaves nothing but replays" {
    reduce_models make chain model.onnx
    mkfifo in out
    env --default-signal=INT polygraphy debug reduce model.onnx -o reduced.onnx <in >out 2>errors 3>&- &
    local session=$! status=0 question
    exec 5>in 6<out
    IFS= read -r -d '?' question <&6
    echo f >&5
    IFS= read -r -d '?' question <&6
    kill -INT $session
    cat <&6 >rest
    wait $session || status=$?
    exec 5>&- 6<&-
    [ "$status" -eq 130 ]
    [ ! -e polygraphy_debug.onnx ]
    [ "$(cat errors)" = '[!] Resume with: polygraphy debug reduce model.onnx -o reduced.onnx --load-debug-replay polygraphy_debug_replay.json' ]
}

@test "sessions that are interrupted at random moments leave nothing but replays" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" model.onnx 30 0 branches
    fails_on node_13
    local start interrupted=0 whole
    start=$(date +%s%N)
    reduce model.onnx -o whole.onnx --check ./check.sh
    worked
    whole=$((($(date +%s%N) - start) / 1000000 + 1)) # milliseconds
    rm runs ./*.json
    RANDOM=2
    for session in $(seq 40); do
        resume=()
        [ ! -e polygraphy_debug_replay.json ] || resume=(--load-debug-replay polygraphy_debug_replay.json)
        status=0
        moment=$((RANDOM % whole + 1))
        env --default-signal timeout -s INT "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))" polygraphy debug reduce model.onnx \
            -o reduced.onnx --iter-info info.json --silent "${resume[@]}" --check ./check.sh >/dev/null 2>errors 3>&- || status=$?
        [ $status -eq 0 ] || [ $status -eq 124 ]
        [ ! -e polygraphy_debug.onnx ]
        [ ! -e info.json ]
        [ -z "$(find . -name '.?*')" ]
        if [ $status -eq 0 ]; then
            cmp reduced.onnx whole.onnx
            rm -f runs ./*.json reduced.onnx
        else
            interrupted=$((interrupted + 1))
        fi
    done
    [ $interrupted -gt 5 ]
}
