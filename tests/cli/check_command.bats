# check_command.bats: the check of the debug tools, whatever it does.

load debug_helper

repeat_once()
{
    repeat --until 1 "$@"
}

passed()
{
    [ "$status" -eq 0 ] && logged '^\[I\]     PASSED \| Iteration 1 \| Duration [0-9.e-]+s$'
}

failed()
{
    [ "$status" -eq 0 ] && logged '^\[E\]     FAILED \| Iteration 1 \| Duration [0-9.e-]+s$'
}

@test "exit code 0 is a pass and any other a failure" {
    repeat_once --check true
    passed
    repeat_once --check sh -c 'exit 200'
    failed
}

@test "--fail-code and --ignore-fail-code decide about exit codes" {
    repeat_once --fail-code 3 4 --check sh -c 'exit 4'
    failed
    repeat_once --fail-code 3 4 --check sh -c 'exit 1'
    passed
    repeat_once --ignore-fail-code 3 --check sh -c 'exit 3'
    passed
    repeat_once --ignore-fail-returncode 3 --check sh -c 'exit 1'
    failed
}

@test "a signal counts as a negative exit code" {
    repeat_once --fail-code -11 --check sh -c 'kill -SEGV $$'
    failed
    repeat_once --fail-code 139 --check sh -c 'kill -SEGV $$'
    passed
    repeat_once --ignore-fail-code -9 --check sh -c 'kill -KILL $$'
    passed
}

@test "--fail-regex is looked for in both streams, and patterns add up" {
    repeat_once --fail-regex 'B.D' --check sh -c 'echo REALLY BAD'
    failed
    repeat_once --fail-regex nothing --fail-regex '^BAD$' --check sh -c 'echo BAD >&2'
    failed
    repeat_once --fail-regex BAD --check sh -c 'printf BA; printf D >&2'
    passed
    repeat_once --fail-regex BAD --check sh -c 'exit 1'
    passed
    repeat_once --fail-regex BAD --fail-code 1 --check sh -c 'echo BAD'
    passed
    repeat_once --fail-regex BAD --fail-code 1 --check sh -c 'echo BAD; exit 1'
    failed
}

@test "a pattern that is not valid is refused with its position" {
    repeat_once --fail-regex 'a(b' --check true
    refused "--fail-regex 'a(b': missing closing parenthesis (at position 3)"
}

@test "a crash that counts as a pass is pointed out" {
    repeat_once --fail-regex BAD --check sh -c 'kill -SEGV $$'
    passed
    logged '^\[W\]     The check was killed by signal 11. It counts as a pass'
}

@test "output is shown after a failure, and after a pass when asked for" {
    repeat_once --check sh -c 'echo out; echo err >&2; exit 1'
    [[ $output == *'
[I]     ========== CAPTURED STDOUT ==========
        out
[E]     ========== CAPTURED STDERR ==========
        err
[I]     Saving debug replay'* ]]
    repeat_once --hide-fail-output --check sh -c 'echo out; exit 1'
    not_logged CAPTURED
    repeat_once --check echo out
    not_logged CAPTURED
    repeat_once --show-output --check sh -c 'echo err >&2'
    [[ $output == *'
[I]     ========== CAPTURED STDOUT ==========
[W]     ========== CAPTURED STDERR ==========
        err
[I]     Saving debug replay'* ]]
}

@test "bytes that are not UTF-8 neither harm the log nor the search" {
    repeat_once --fail-regex 'BAD' --check sh -c 'printf "caf\303\251 \377\376 BAD\n"'
    failed
    logged '^        café \\xff\\xfe BAD$'
}

@test "of a huge output the log shows both ends, and the search sees all" {
    repeat_once --fail-regex 'THE ?NEEDLE' \
        --check sh -c 'echo first; head -c 30000000 /dev/zero | tr "\0" x; echo "THE NEEDLE"; head -c 30000000 /dev/zero | tr "\0" y; echo; echo last'
    failed
    logged '^        first$'
    logged '^        \[\.\.\. 598[0-9]{5} bytes left out \.\.\.\]$'
    logged '^        last$'
    not_logged 'THE NEEDLE$'
    [ ${#output} -lt 200000 ]
}

@test "the check may be one quoted command line, with options behind it" {
    repeat --check 'echo out | grep -q out && exit 3' --until 1 --fail-code 3
    failed
    logged '^\[I\]     Running check command: echo out \| grep -q out && exit 3$'
}

@test "a program whose path has blanks is run, not parsed by a shell" {
    script 'my check' <<<'exit 3'
    repeat_once --fail-code 3 --check './my check'
    failed
}

@test "words after --check belong to the check" {
    repeat --until 1 --check sh -c 'test "$*" = "--until 5 -v"' sh --until 5 -v
    passed
}

@test "a check that is not there or cannot run is refused at once" {
    touch plain
    mkdir folder
    repeat_once --check ./missing
    refused "program './missing' does not exist"
    repeat_once --check no-such-program x
    refused "program 'no-such-program' was not found on the PATH"
    repeat_once --check ./plain
    refused "'./plain' is not executable"
    repeat_once --check ./folder
    refused "'./folder' is a folder, not a program"
    repeat_once --check
    refused '--check'
    repeat_once --check ''
    refused '--check'
    repeat_once --check '  '
    refused '--check'
    [ "$(ls)" = "$(printf 'folder\nplain')" ]
}

@test "a check that the system cannot execute is one clear error" {
    echo 'no script, no program' >garbage
    chmod +x garbage
    repeat_once --check ./garbage
    refused "'./garbage'"
}

@test "a shell that does not find the command is pointed out" {
    repeat_once --check 'no-such-program -x'
    refused "the check cannot run: 'no-such-program -x' exits with code 127"
    logged '^\[W\]     The shell exited with code 127'
    repeat_once --check 'exit 1 '
    not_logged 'The shell exited'
}

@test "polygraphy itself stands in where none is on the PATH" {
    export PATH=/usr/bin:/bin
    run --separate-stderr "$POLYGRAPHY" debug repeat --until 1 --show-output --check polygraphy --version
    passed
    logged '^        Polygraphy \| Version: '
    run --separate-stderr "$POLYGRAPHY" debug repeat --until 1 --show-output --check 'polygraphy --version'
    passed
    logged '^        Polygraphy \| Version: '
}

@test "the check gets the user's folder, input and environment" {
    export OWN=value
    run --separate-stderr polygraphy debug repeat --until 1 \
        --check sh -c 'read -r line; [ "$line:$OWN:$PWD" = "hello:value:'"$PWD"'" ]' <<<hello
    passed
}

@test "the check learns the number of its iteration" {
    repeat --until 3 --check sh -c 'echo "$POLYGRAPHY_ITERATION" >>seen'
    [ "$(cat seen)" = "$(printf '0\n1\n2')" ]
}

@test "a check that outlives its time is ended with all its children" {
    repeat_once --check-timeout 0.2 --check sh -c 'sleep 1000 & setsid sleep 1000 & exec sleep 1000'
    failed
    logged '^\[W\]     Check timed out after 0\.2 s; process group killed$'
}

@test "a check that does not mind being asked to end is killed" {
    repeat_once --check-timeout 0.1 --check sh -c 'trap "" TERM; while :; do sleep 1; done'
    failed
    logged 'Check timed out after 0\.1 s'
}

@test "running out of time is exit code 124 for the lists" {
    repeat_once --check-timeout 0.1 --ignore-fail-code 124 --check sleep 1000
    passed
    logged 'code 124 counts as a pass'
    repeat_once --check-timeout 0.1 --fail-regex nothing --check sleep 1000
    failed
}

@test "children that outlive a check are ended, and do not delay it" {
    repeat --until 2 --check-timeout 100 --check sh -c 'sleep 1000 & setsid sleep 1000 & (setsid sh -c "sleep 1000 & sleep 1000" &)'
    [ "$status" -eq 0 ]
    logged 'Passed: 2/2'
    not_logged 'timed out'
}

@test "a check that closes its output is waited for" {
    repeat_once --check sh -c 'exec >&- 2>&-; sleep 0.1; exit 7'
    failed
}

@test "--exit-code tells whether an iteration failed" {
    repeat --until 2 --exit-code --check true
    [ "$status" -eq 0 ]
    repeat --until 2 --exit-code --check sh -c 'exit $POLYGRAPHY_ITERATION'
    [ "$status" -eq 4 ]
    repeat --until 2 --exit-code --check ./missing
    [ "$status" -eq 1 ]
}

@test "output that the disk cannot hold is an error where a pattern could be in it, else a warning" {
    small_disk disk
    with_small_disk()
    {
        run --separate-stderr env TMPDIR="$PWD/disk" polygraphy debug repeat --until 1 "$@"
    }
    with_small_disk --fail-regex BAD --check 'head -c 3000000 /dev/zero | tr "\0" x'
    refused 'filled the disk of temporary files'
    with_small_disk --fail-regex xx --check 'head -c 3000000 /dev/zero | tr "\0" x'
    failed
    with_small_disk --check 'head -c 3000000 /dev/zero'
    passed
    logged '^\[W\]     The disk of temporary files is full: part of the check.s output was lost$'
}
