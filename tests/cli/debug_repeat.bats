# debug_repeat.bats: the loop around a check, its artifacts, and sessions that are interrupted and resumed.

load debug_helper

# The log without what differs from run to run.
masked_output()
{
    sed -E 's/Duration [0-9.e-]+s/Duration #s/; s/Runtime: [0-9.]+s/Runtime: #s/' <<<"$output"
}

@test "the log is Polygraphy's" {
    repeat --until 3 --fail-code 3 --check sh -c 'exit $(cat n 2>/dev/null || (echo 3 > n; echo 0))'
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == '[W] `--artifacts` was not specified; No artifacts will be st'* ]]
    diff <(masked_output | tail -n +2) \
        <(output=$(tail -n +2 "$POLYGRAPHY_ROOT/tests/golden/logs/repeat_3iters.log") && masked_output)
}

@test "the replay is Polygraphy's, with the session in front" {
    repeat --until 3 --check sh -c 'test $POLYGRAPHY_ITERATION = 0'
    sed -n 2p polygraphy_debug_replay.json | grep -qx '    "_session": {'
    diff <(sed '/"_session"/,/}/d' polygraphy_debug_replay.json) \
        "$POLYGRAPHY_ROOT/tests/golden/debug_replay/repeat_3iters.json"
    cmp polygraphy_debug_replay.json polygraphy_debug_replay_skip_current.json
}

@test "--until takes a number, good or bad" {
    repeat --until 2 --check true
    logged 'Finished 2 iteration\(s\) \| Passed: 2/2 \| Pass Rate: 100\.0%'
    repeat --until=-3 --check true
    logged 'Finished 1 iteration'
    repeat --until good --check sh -c 'test $POLYGRAPHY_ITERATION = 2'
    logged 'Finished 3 iteration\(s\) \| Passed: 1/3 \| Pass Rate: 33\.333333333333336%'
    repeat --until bad --check sh -c 'test $POLYGRAPHY_ITERATION != 3'
    logged 'Finished 4 iteration\(s\) \| Passed: 3/4 \| Pass Rate: 75\.0%'
    repeat --until Good --check true
    refused "--until value must be an integer, 'good', or 'bad', but was: Good"
    repeat --check true
    [ "$status" -eq 2 ]
}

@test "artifacts are sorted by verdict, named after moment and iteration" {
    repeat --until 2 --artifacts log.txt --check \
        sh -c 'echo $POLYGRAPHY_ITERATION >log.txt; exit $POLYGRAPHY_ITERATION'
    [ "$status" -eq 0 ]
    [ "$(ls)" = "$(printf 'polygraphy_artifacts\npolygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json')" ]
    [ "$(cat polygraphy_artifacts/good/*)" = 0 ]
    [ "$(cat polygraphy_artifacts/bad/*)" = 1 ]
    logged '^\[I\]     Moving log\.txt to polygraphy_artifacts/good/log_[0-9]{2}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2}_N0\.txt$'
    logged '^\[I\]     Moving log\.txt to polygraphy_artifacts/bad/log_[0-9_-]+_N1\.txt$'
    not_logged '^\[W\]'
}

@test "artifacts may share a name, be folders, or be missing" {
    repeat --until 1 --art-dir sorted --artifacts a/x b/x folder/ missing --check \
        'mkdir -p a b folder && echo a >a/x && echo b >b/x && echo c >folder/file'
    [ "$status" -eq 0 ]
    [ "$(cat sorted/good/x_??-??-??_??-??-??_N0)" = a ]
    [ "$(cat sorted/good/x_*_2_N0)" = b ]
    [ "$(cat sorted/good/folder_*_N0/file)" = c ]
    logged '^\[E\]     Artifact: missing does not exist, skipping\.$'
}

@test "an artifact folder on another file system receives copies" {
    small_disk other
    repeat --until 1 --art-dir other --artifacts log folder --check 'mkdir folder && echo 1 >folder/file && echo 2 >log'
    [ "$status" -eq 0 ]
    [ "$(cat other/good/log_*_N0)" = 2 ]
    [ "$(cat other/good/folder_*_N0/file)" = 1 ]
    [ ! -e log ]
    [ ! -e folder ]
}

@test "iteration info is there during the check only" {
    repeat --until 2 --iter-info info.json --check 'cat info.json >>seen'
    [ "$(tr -d '\n ' <seen)" = '{"iteration":0}{"iteration":1}' ]
    [ ! -e info.json ]
    not_logged 'Could not clean up'
    repeat --until 1 --iter-info info.json --check 'rm info.json'
    logged '^\[W\] Could not clean up: info\.json$'
}

@test "iteration info that goes to a device leaves the device alone" {
    mkfifo pipe
    cat pipe >seen 3>&- &
    repeat --until 1 --iter-info pipe --check true
    wait $!
    [ -p pipe ]
    [ "$(tr -d '\n ' <seen)" = '{"iteration":0}' ]
}

@test "the user is asked when there is no check" {
    run --separate-stderr polygraphy debug repeat --until 3 --artifacts log <<<$'d\n\n p\nPass\nFAIL\nf'
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "[I] Starting interactive debugging session since no \`--check\` command was provided" ]
    [[ $output == *"[I]     RUNNING | Iteration 1
>>> Did 'this iteration' [p]ass or [f]ail? >>> Please choose either: 'p' or 'f': >>> Please choose either: 'p' or 'f': >>> Please choose either: 'p' or 'f': [E]     Artifact: log does not exist, skipping.
[I]     Saving debug replay to polygraphy_debug_replay.json
[I]     PASSED | Iteration 1 | Duration "* ]]
    logged 'Passed: 1/3'
}

@test "the end of input leaves no question open" {
    run --separate-stderr polygraphy debug repeat --until 2 <<<p
    refused 'end of standard input'
    logged 'PASSED \| Iteration 1'
    [ "$(verdicts_in polygraphy_debug_replay.json)" -eq 1 ]
}

@test "an interrupt at the prompt ends the session" {
    mkfifo in out
    env --default-signal=INT polygraphy debug repeat --until 2 <in >out 2>errors 3>&- &
    local session=$! status=0 question
    exec 5>in 6<out
    IFS= read -r -d '?' question <&6
    kill -INT $session
    cat <&6 >rest
    wait $session || status=$?
    exec 5>&- 6<&-
    [ "$status" -eq 130 ]
}

@test "a whole replay needs no check and saves nothing" {
    repeat --until 2 --check 'date >>runs'
    rm polygraphy_debug_replay_skip_current.json
    repeat --until 2 --load-debug-replay polygraphy_debug_replay.json --save-debug-replay other.json --check 'date >>runs'
    [ "$status" -eq 0 ]
    [ "$(wc -l <runs)" -eq 2 ]
    [ "$(ls)" = "$(printf 'polygraphy_debug_replay.json\nruns')" ]
    logged '^\[I\] Loading debug replay from polygraphy_debug_replay\.json$'
    logged '^\[I\]     Loading iteration information from debug replay: success=True$'
    logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 2/2'
}

@test "a replay that Polygraphy wrote is accepted with one warning" {
    repeat --until 4 --load-debug-replay "$POLYGRAPHY_ROOT/tests/golden/debug_replay/repeat_3iters.json" --artifacts x \
        --check 'echo $POLYGRAPHY_ITERATION >>runs'
    [ "$status" -eq 0 ]
    [ "$(cat runs)" = 3 ]
    logged '^\[I\] Finished 4 iteration\(s\) \| Passed: 2/4'
    [ "$(grep -c '^\[W\]' <<<"$output")" -eq 1 ]
    [ "$(verdicts_in polygraphy_debug_replay.json)" -eq 4 ]
}

@test "the replay of another check is refused unless forced" {
    repeat --until 1 --check true
    repeat --until 1 --load-debug-replay polygraphy_debug_replay.json --check true again
    refused "'polygraphy_debug_replay.json' belongs to another check"
    repeat --until 1 --load-debug-replay polygraphy_debug_replay.json --fail-code 1 --check true
    refused 'belongs to another check'
    repeat --until 1 --load-debug-replay polygraphy_debug_replay.json --force-debug-replay --check true again
    [ "$status" -eq 0 ]
    logged 'Loading iteration information from debug replay: success=True'
}

@test "a replay that is missing or damaged is refused" {
    echo '{"_N0": {"state"' >torn.json
    repeat --until 1 --load-debug-replay missing.json --check true
    refused 'missing.json'
    repeat --until 1 --load-debug-replay torn.json --check true
    refused 'torn.json'
}

@test "an interrupted session resumes with the command that it prints" {
    for signal in INT TERM HUP; do
        rm -f again runs ./*.json
        script check.sh <<<"
            echo \$POLYGRAPHY_ITERATION >>runs
            [ \$POLYGRAPHY_ITERATION != 2 ] || [ -e again ] || { kill -$signal \$PPID; exec sleep 1000; }"
        repeat --until 4 --iter-info info.json --artifacts 'a b' --check ./check.sh
        [ "$status" -eq $((128 + $(kill -l $signal))) ]
        [ ! -e info.json ]
        [ "$(verdicts_in polygraphy_debug_replay.json)" -eq 2 ]
        not_logged '^\[I\] Finished'
        [ "$stderr" = "[!] Resume with: polygraphy debug repeat --until 4 --iter-info info.json --artifacts 'a b' --load-debug-replay polygraphy_debug_replay.json --check ./check.sh" ]
        touch again
        eval "repeat ${stderr#*debug repeat }"
        [ "$status" -eq 0 ]
        logged 'Finished 4 iteration\(s\) \| Passed: 4/4'
        [ "$(tr '\n' ' ' <runs)" = '0 1 2 2 3 ' ]
    done
}

@test "an interrupt before the first verdict gives no hint" {
    repeat --until 2 --check sh -c 'kill -INT $PPID; exec sleep 1000'
    [ "$status" -eq 130 ]
    [ "$stderr" = '' ]
}

@test "a check that takes the machine down is left behind by the other replay" {
    script check.sh <<<'[ $POLYGRAPHY_ITERATION != 1 ] || kill -KILL $PPID'
    repeat --until 3 --check ./check.sh
    [ "$status" -eq 137 ]
    [ "$(verdicts_in polygraphy_debug_replay.json)" -eq 1 ]
    [ "$(verdicts_in polygraphy_debug_replay_skip_current.json)" -eq 2 ]
    repeat --until 3 --load-debug-replay polygraphy_debug_replay_skip_current.json --check ./check.sh
    [ "$status" -eq 0 ]
    logged 'Passed: 2/3'
}

@test "a session that is killed at any moment checks nothing twice" {
    script check.sh <<<'echo $POLYGRAPHY_ITERATION >>runs'
    local pause=1 patience=1 in_vain=0 saved=0 before sessions=0 first limit
    while [ "$saved" -lt 60 ]; do
        : >runs
        [ "$saved" -eq 0 ] || resume=(--load-debug-replay polygraphy_debug_replay.json)
        limit=$(((pause % 90 + 10) * patience)) before=$saved
        timeout -s KILL "$(printf '%d.%03d' $((limit / 1000)) $((limit % 1000)))" polygraphy debug repeat --until 60 --silent \
            "${resume[@]}" --check ./check.sh 3>&- || true
        pause=$((pause * 7 % 89 + 1))
        [ ! -s runs ] || read -r first <runs
        [ ! -s runs ] || [ "$first" -eq "$saved" ]
        [ ! -e polygraphy_debug_replay.json ] || saved=$(verdicts_in polygraphy_debug_replay.json)
        in_vain=$((saved > before ? 0 : in_vain + 1))
        patience=$((patience + in_vain / 5)) # a machine with much other work gets nothing done in so short a time
        sessions=$((sessions + 1))
        [ "$sessions" -lt 1000 ]
    done
    rm -f .polygraphy_debug_replay* # what a session may leave that was killed while it wrote
}

@test "a folder that cannot be written to is one clear error before any check" {
    touch file
    repeat --until 2 --save-debug-replay file/replay.json --check 'touch ran'
    refused "'file"
    repeat --until 2 --save-debug-replay /proc/replay.json --check 'touch ran'
    refused '/proc/'
    repeat --until 2 --iter-info /proc/info.json --check 'touch ran'
    refused '/proc/'
    [ "$(ls)" = file ]
}

@test "artifacts that cannot be moved are one clear error" {
    mkdir sorted
    touch sorted/good
    repeat --until 2 --art-dir sorted --iter-info info.json --artifacts log --check 'echo 1 >log'
    refused "'sorted/good"
    [ "$(cat log)" = 1 ]
    [ ! -e info.json ]
}

@test "a full disk ends the session with the last replay intact" {
    small_disk disk
    script check.sh <<<'
        echo $POLYGRAPHY_ITERATION >>runs
        [ $POLYGRAPHY_ITERATION != 2 ] || [ -e again ] || head -c 1000000 /dev/zero >disk/fill 2>/dev/null || true'
    repeat --until 4 --save-debug-replay disk/r.json --iter-info disk/info.json --check ./check.sh
    refused 'disk/r.json'
    [ "$(verdicts_in disk/r.json)" -eq 2 ]
    [ "$(ls -A disk)" = "$(printf 'fill\nr.json\nr_skip_current.json')" ]
    rm disk/fill
    touch again
    repeat --until 4 --save-debug-replay disk/r.json --load-debug-replay disk/r.json --check ./check.sh
    [ "$status" -eq 0 ]
    [ "$(tr '\n' ' ' <runs)" = '0 1 2 2 3 ' ]
}

@test "no replay is kept when its path is empty" {
    repeat --until 2 --save-debug-replay '' --check true
    [ "$status" -eq 0 ]
    [ -z "$(ls -A)" ]
    not_logged 'Saving debug replay'
}

@test "sessions that begin in the same second keep all of their artifacts" {
    local session sessions=()
    for session in 1 2 3 4 5 6; do
        mkdir $session
        (cd $session && exec polygraphy debug repeat --until 3 --art-dir ../kept --artifacts out.txt \
            --check sh -c "echo $session \$POLYGRAPHY_ITERATION >out.txt" 3>&-) >$session.log &
        sessions+=($!)
    done
    for session in "${sessions[@]}"; do
        wait "$session"
    done
    [ "$(cat kept/good/out_*_N*.txt | LC_ALL=C sort | tr '\n' ,)" = \
        '1 0,1 1,1 2,2 0,2 1,2 2,3 0,3 1,3 2,4 0,4 1,4 2,5 0,5 1,5 2,6 0,6 1,6 2,' ]
    [ "$(ls kept/good/out_*_N1.txt | wc -l)" -eq 6 ]
    [ ! -e 1/out.txt ]
}
