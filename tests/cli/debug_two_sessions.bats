# debug_two_sessions.bats: debug tools that would write the same files at the same time.

load debug_helper

# Starts `polygraphy debug reduce` behind the test's back, with these options. Its check waits for the file `go`; it runs when this
# returns, as $first.
begin_first()
{
    cp "$POLYGRAPHY_ROOT/tests/models/reducable.onnx" model.onnx
    script slow.sh <<'EOT'
touch running
until [ -e go ]; do sleep 0.05; done
[ "$POLYGRAPHY_ITERATION" -lt 0 ] || [ "$(head -c 1 "$1" | wc -c)" -eq 1 ]
[ "$POLYGRAPHY_ITERATION" -ge 0 ]
EOT
    polygraphy debug reduce model.onnx -o first.onnx "$@" --check ./slow.sh '{artifact}' >first.log 2>&1 3>&- &
    first=$!
    until [ -e running ]; do sleep 0.05; done
}

end_first()
{
    touch go
    wait $first
}

@test "a second session at the same candidate is refused at once, says whose it is, and harms nothing" {
    begin_first
    cp polygraphy_debug.onnx before.onnx
    reduce model.onnx -o second.onnx --check touch checked
    refused "process $first (polygraphy debug reduce model.onnx -o first.onnx --check ./slow.sh {artifact}) already writes candidates to 'polygraphy_debug.onnx': wait until it terminates, work in another folder, or choose another path with --intermediate-artifact (and with --save-debug-replay)"
    for spelling in ../here/polygraphy_debug.onnx "$PWD/polygraphy_debug.onnx"; do
        reduce model.onnx -o second.onnx --iter-artifact "$spelling" --save-debug-replay '' --force --check touch checked
        refused "already writes candidates to '$spelling': wait until it terminates, work in another folder, or choose another path with --intermediate-artifact"
    done
    ln -s polygraphy_debug.onnx link.onnx
    run --separate-stderr polygraphy debug precision model.onnx --emit onnx --mode linear --iter-artifact link.onnx \
        --save-debug-replay other.json --check touch checked
    refused "already writes candidates to 'link.onnx'"
    (cd / && reduce "$OLDPWD/model.onnx" -o "$OLDPWD/second.onnx" --work-dir "$OLDPWD" --save-debug-replay '' \
        --check touch '{artifact}' "$OLDPWD/checked" && refused "process $first ")
    [ ! -e checked ]
    cmp polygraphy_debug.onnx before.onnx
    end_first
}

@test "another candidate in the same folder needs another debug replay, and nothing else" {
    begin_first
    reduce model.onnx -o second.onnx --iter-artifact mine.onnx --check touch checked
    refused "process $first (polygraphy debug reduce model.onnx -o first.onnx --check ./slow.sh {artifact}) already saves its debug replay to 'polygraphy_debug_replay.json': wait until it terminates, work in another folder, or choose another path with --save-debug-replay"
    [ ! -e checked ]
    [ ! -e mine.onnx ]
    for given in mine.json ''; do
        reduce model.onnx -o second.onnx --iter-artifact mine.onnx --save-debug-replay "$given" \
            --check sh -c '[ "$POLYGRAPHY_ITERATION" -ge 0 ] || exit 1; test -s mine.onnx'
        worked
    done
    repeat --until 2 --save-debug-replay mine.json --check true
    [ "$status" -eq 0 ]
    end_first
}

@test "a file of --iter-info belongs to one session, too" {
    begin_first --iter-info info.json
    repeat --until 1 --save-debug-replay mine.json --iter-info info.json --check touch checked
    refused "process $first (polygraphy debug reduce model.onnx -o first.onnx --iter-info info.json --check ./slow.sh {artifact}) already writes 'info.json': wait until it terminates, work in another folder, or choose another path with --iter-info"
    [ ! -e checked ]
    end_first
}

@test "a session that has ended, or was killed, leaves no lock" {
    begin_first
    [ -e .polygraphy_debug.onnx.lock ]
    [ -e .polygraphy_debug_replay.json.lock ]
    kill -KILL $first
    wait $first || [ $? -eq 137 ]
    reduce model.onnx -o second.onnx --force --check sh -c '[ "$POLYGRAPHY_ITERATION" -ge 0 ] || exit 1; test -s polygraphy_debug.onnx'
    worked
    run ! compgen -G '.*.lock'
    rm running
    begin_first
    kill $first
    wait $first || [ $? -eq 143 ]
    run ! compgen -G '.*.lock'
}

@test "of many sessions that begin at once, one at a time is let in" {
    cp "$POLYGRAPHY_ROOT/tests/models/reducable.onnx" model.onnx
    script check.sh <<'EOT'
mkdir alone || { touch clash; exit 0; }
[ "$POLYGRAPHY_ITERATION" -ge 0 ] && test -s polygraphy_debug.onnx
code=$?
rmdir alone
exit $code
EOT
    for round in 1 2 3 4 5; do
        for i in 1 2 3 4 5 6; do
            (
                status=0
                polygraphy debug reduce model.onnx -o $i.onnx --silent --check ./check.sh 2>$i.err >/dev/null 3>&- || status=$?
                echo "$status $(cat $i.err)" >>ends
            ) &
        done
        wait $(jobs -p | grep -vx "$watchdog")
    done
    [ ! -e clash ]
    [ "$(wc -l <ends)" -eq 30 ]
    grep -q '^0 $' ends
    run ! grep -vE '^0 $|^1 \[!\] (process [0-9]+ .*|a process in .*) already (writes candidates|saves its debug replay) to ' ends
    run ! compgen -G '.*.lock'
}

@test "a debug tool in the check of another one works with other candidates, and leaves its debug replay alone" {
    cp "$POLYGRAPHY_ROOT/tests/models/reducable.onnx" model.onnx
    script check.sh <<'EOT'
polygraphy debug build "$1" --until 1 --artifacts-dir inner --check test -s polygraphy_debug.engine >inner.log 2>&1 &&
    polygraphy debug repeat --until 1 --iter-info inner.json --check test -s inner.json >>inner.log 2>&1 || touch inner_failed
polygraphy debug reduce model.onnx -o inner.onnx --check false >refused.log 2>&1
[ $? -eq 125 ] || touch not_refused
[ "$POLYGRAPHY_ITERATION" -ge 0 ]
EOT
    reduce model.onnx -o outer.onnx --check ./check.sh polygraphy_debug.onnx
    worked
    [ ! -e inner_failed ]
    [ ! -e not_refused ]
    grep -qE "^\[W\] No debug replay is saved, because this session runs inside a check: process [0-9]+ \(polygraphy debug reduce model.onnx .*\) already saves its debug replay to 'polygraphy_debug_replay.json'" inner.log
    grep -qE "^\[!\] process [0-9]+ \(polygraphy debug reduce model.onnx .*\) already writes candidates to 'polygraphy_debug.onnx'" refused.log
    [ "$(verdicts_in polygraphy_debug_replay.json)" -ge 1 ]
    [ ! -e polygraphy_debug_replay.json.old ]
}

@test "a session in another container is seen, though not by its number" {
    unshare --pid --fork true 2>/dev/null || skip 'new PID namespaces are not permitted'
    begin_first
    run --separate-stderr unshare --pid --fork polygraphy debug reduce model.onnx -o second.onnx --check touch checked
    refused "a process in another container or on another machine already writes candidates to 'polygraphy_debug.onnx'"
    [ ! -e checked ]
    end_first
}

@test "where nothing can be locked there is a warning, and what lies there is not touched" {
    cp "$POLYGRAPHY_ROOT/tests/models/reducable.onnx" model.onnx
    echo mine >.polygraphy_debug.onnx.lock
    ln -s elsewhere .polygraphy_debug_replay.json.lock
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --check ./fails.sh
    [ "$status" -eq 0 ]
    logged "^\[W\] Cannot lock 'polygraphy_debug.onnx', so another session could overwrite it: cannot open './.polygraphy_debug.onnx.lock': File exists"
    logged "^\[W\] Cannot lock 'polygraphy_debug_replay.json', so another session could overwrite it: cannot open './.polygraphy_debug_replay.json.lock': Too many levels of symbolic links"
    [ "$(cat .polygraphy_debug.onnx.lock)" = mine ]
    [ -L .polygraphy_debug_replay.json.lock ]
    [ ! -e elsewhere ]
    rm .*.lock
}

@test "a folder that can only be read keeps no check from being repeated" {
    mkdir readable
    mount --bind readable readable 2>/dev/null || skip 'mounting is not permitted'
    disk=$PWD/readable
    mount -o remount,ro,bind readable
    cd readable
    repeat --until 2 --iter-info info.json --save-debug-replay '' --check true
    cd ..
    [[ $output == *"Cannot lock 'info.json', so another session could overwrite it: "*'Read-only file system'* ]]
}
