# debug_helper.bash: what tests of the debug tools share. Each test starts in an empty folder of its own. After each, no
# process started from there may be left, and no temporary file.

bats_require_minimum_version 1.5.0

setup()
{
    [ -z "${SKIP_FILE:-}" ] || skip "$SKIP_FILE"
    mkdir "$BATS_TEST_TMPDIR/here" "$BATS_TEST_TMPDIR/tmp"
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    disk=
    watch_over_test 3>&- >/dev/null 2>&1 &
    watchdog=$!
    cd "$BATS_TEST_TMPDIR/here" || return 1
}

# Ends what the test has started once nothing of it has moved for a long time; the test then goes on, and fails in the end.
# (bats has a time limit, too, but a program that holds the pipe of `run` outlives it, and the test with it.)
watch_over_test()
{
    local never before now=
    exec {never}<> <(:) # the shell's own waiting leaves no `sleep` behind
    while
        before=$now
        read -rt "${TEST_TIME_LIMIT:-300}" -u $never || :
        now=$(state_of_processes)
        [ "$now" != "$before" ]
    do :; done
    touch "$BATS_TEST_TMPDIR/stood_still"
    end_processes "$(processes_in "$BATS_TEST_TMPDIR" | grep -vx $$)"
}

# What the system says of each process of the test, the time that it has computed included; but of pauses in waiting loops.
state_of_processes()
{
    echo state
    processes_in "$BATS_TEST_TMPDIR" | grep -vx $$ | sed 's|.*|/proc/&/stat|' | xargs -r cat 2>/dev/null | grep -v '^[0-9]* (sleep)'
}

teardown()
{
    [ -z "${SKIP_FILE:-}" ] || return 0
    cd / || return 1
    local result=0
    kill "$watchdog" 2>/dev/null || :
    { no_process_left "$BATS_TEST_TMPDIR" && no_temporary_file_left; } || result=1
    [ ! -e "$BATS_TEST_TMPDIR/stood_still" ] || {
        echo "nothing of the test moved any more, and what it had started was ended"
        result=1
    }
    [ -z "$disk" ] || umount "$disk"
    return $result
}

# Processes are told by their working folder, which even a daemon of the check keeps.
processes_in()
{
    find /proc -maxdepth 2 -name cwd -lname "$1*" 2>/dev/null | cut -d / -f 3
}

end_processes()
{
    [ -z "$1" ] || kill -KILL $1 2>/dev/null || :
}

# A killed process needs a moment to go.
no_process_left()
{
    local attempt left
    [ -d /proc/self/cwd ] || return 0
    for attempt in $(seq 100); do
        left=$(processes_in "$1")
        [ -n "$left" ] || return 0
        sleep 0.01
    done
    echo "processes are left, and ended now:" $left
    end_processes "$left"
    return 1
}

# .debug is the folder in which an installation has debug symbols.
no_temporary_file_left()
{
    local left
    left=$(find "$BATS_TEST_TMPDIR/here" -mindepth 1 -name '.*' ! -name .debug; find "$TMPDIR" -mindepth 1)
    [ -z "$left" ] || {
        echo "temporary files are left: $left"
        return 1
    }
}

# Runs `polygraphy debug repeat` with $output and $stderr apart.
repeat()
{
    run --separate-stderr polygraphy debug repeat "$@"
}

# The same with `polygraphy debug reduce`.
reduce()
{
    run --separate-stderr polygraphy debug reduce "$@"
}

# Whether the tool ended with status 0 and wrote nothing to standard error.
worked()
{
    [ "$status" -eq 0 ] && [ -z "$stderr" ] || {
        echo "status $status; $stderr"
        cut -c 1-400 <<<"$output"
        return 1
    }
}

# Whether a line of $output matches the extended regular expression.
logged()
{
    grep -qE -e "$1" <<<"$output" || {
        echo "no line matches '$1' in:"
        cut -c 1-400 <<<"$output"
        return 1
    }
}

not_logged()
{
    ! grep -E -e "$1" <<<"$output"
}

# Whether the tool ended with status 1 and one line of error, which holds the text.
refused()
{
    [ "$status" -eq 1 ] || {
        echo "status $status; $output"
        return 1
    }
    [[ $stderr == '[!] '*"$1"* && $stderr != *$'\n'* ]] || {
        echo "standard error: $stderr"
        return 1
    }
}

# Writes an executable shell script.
script()
{
    {
        echo '#!/bin/sh'
        cat
    } >"$1"
    chmod +x "$1"
}

# Makes ./fails.sh, a check that fails on the original and on every candidate, but not on controls: on what the tool checks to see
# whether it fails on everything.
fails_on_candidates()
{
    rm -f "$BATS_TEST_TMPDIR/original"
    script fails.sh <<EOF
: "\$POLYGRAPHY_ARTIFACT"
[ "\$POLYGRAPHY_ITERATION" -ge 0 ] || [ ! -e "$BATS_TEST_TMPDIR/original" ] || exit 0
touch "$BATS_TEST_TMPDIR/original"
exit 1
EOF
}

# How many verdicts a debug replay holds; fails when it is not whole.
verdicts_in()
{
    [ "$(tail -c 2 "$1" | tr '\n' ' ')" = ' }' ] && grep -cE '^    "_N[0-9]+(_[a-z]+)?"' "$1"
}

# For tests that make no sense without ONNX Runtime.
has_onnxruntime()
{
    polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --onnxrt >/dev/null 2>&1
}

require_onnxruntime()
{
    has_onnxruntime || skip "ONNX Runtime is not there"
}

# The same for setup_file, where `skip` takes a newer bats: all tests of the file are skipped. `skip_file REASON; return`,
# and `file_requires_onnxruntime || return 0`.
skip_file()
{
    export SKIP_FILE=$1
}

file_requires_onnxruntime()
{
    has_onnxruntime || { skip_file "ONNX Runtime is not there" && return 1; }
}

# results FILE RUNNERS, feeds FILE ITERATIONS: writes a file with results, or input data; see arrays.py.
results()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" results "$@"
}

feeds()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" feeds "$@"
}

# A value of ./result.json, which --json has written, given as a Python expression on `it`.
json_value()
{
    /usr/bin/python3 -c "import json; it = json.load(open('result.json')); print(($1))"
}

# reduce_models make|show|shapes|merge ...: see reduce_models.py.
reduce_models()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/reduce_models.py" "$@"
}

# Whether these models are what the onnx package calls valid, as far as it knows them, and ONNX Runtime takes them.
valid_models()
{
    local status=0
    "$POLYGRAPHY_TEST_PROGRAMS/load_models" "$@" || return 1
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/support/check_model.py" "$@" || status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ]
}

# A file system of 64 KiB at the folder, where tests are allowed to mount one; it goes with the test.
small_disk()
{
    mkdir "$1" && mount -t tmpfs -o size=64k tmpfs "$1" 2>/dev/null || skip 'mounting is not permitted'
    disk=$PWD/$1
}
