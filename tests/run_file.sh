#!/usr/bin/env bash
# tests/run_file.sh BUILD WORK FILE: runs one test file for tests/run.sh, shows how it went, and writes
# "passed failed skipped" to a .counts file in the folder WORK.
set -u
build=$(realpath "$1") work=$2 file=$3
time_limit=1200 # seconds; only a test that hangs gets there
log=$work/${file//\//.}
echo 0 1 0 >"$log.counts" # should this script not live to the end

program=$build/${file%.c}
read -ra emulator <<<"${EMULATOR:-}" # of programs that are another machine's
gaps=tests/emulation_gaps.txt
reason=$(awk -v file="$file" '$1 == file && $2 == "*" { sub(/^[^ ]+ +[^ ]+ +/, ""); print }' "$gaps")
if [ ${#emulator[@]} -gt 0 ] && [ -n "$reason" ]; then
    echo 0 0 1 >"$log.counts"
    flock "$work" printf '# %s\n# skipped: %s\n' "$file" "$reason"
    exit
fi
case $file in
    *.bats)
        command=(bats --tap "$file")
        # Test programs lie a folder below the program, and look for the library beside themselves like it.
        ln -sfn ../libonnxruntime.so.1 "$build/tests/libonnxruntime.so.1"
        ;;
    tests/fuzz/*) command=("${emulator[@]}" "$program" "tests/fuzz/corpus/${program##*/}") ;;
    *)
        command=("${emulator[@]}" "$program")
        # The program under test finds the library beside itself; a unit test lies elsewhere.
        export POLYGRAPHY_ONNXRUNTIME=${POLYGRAPHY_ONNXRUNTIME:-$build/libonnxruntime.so.1}
        ;;
esac

# What a sanitizer finds goes to files of its own: a test that expects its program to fail could else take a finding for
# that failure.
sanitizer="log_path=$log.sanitizer:exitcode=99:allocator_may_return_null=1:allow_user_segv_handler=0"
# Without the last option the search for leaks crashes where libgomp, which comes with oneDNN, was loaded late.
export ASAN_OPTIONS="$sanitizer:detect_stack_use_after_return=1:intercept_tls_get_addr=0"
export UBSAN_OPTIONS="$sanitizer:print_stacktrace=1"
export TSAN_OPTIONS="$sanitizer"
export LSAN_OPTIONS="suppressions=$PWD/tests/sanitize/leaks.supp:print_suppressions=0"
export CMOCKA_MESSAGE_OUTPUT=TAP TMPDIR=$log.tmp
mkdir "$TMPDIR"

# Signals that whoever started `make` ignores must not be ignored by programs whose handling of signals is under test.
status=0
env --default-signal timeout --kill-after=10 "$time_limit" "${command[@]}" >"$log" 2>&1 </dev/null || status=$?

# What a test that was ended has started may go on for ever.
for process in $(find /proc -maxdepth 2 -name cwd -lname "$TMPDIR*" 2>/dev/null | cut -d / -f 3); do
    kill -KILL "$process" 2>/dev/null && echo "# ended a process that was left: $process" >>"$log"
done
findings=("$log".sanitizer.*)
if [ -e "${findings[0]}" ]; then
    cat "${findings[@]}" >>"$log"
    status="$status, with findings of a sanitizer"
fi

# Failures that are known of the emulator are no failures, if nothing else is behind the exit status: their number.
if [ ${#emulator[@]} -gt 0 ]; then
    awk -v file="$file" '
        FNR == NR && $1 == file                { test = $2; sub(/^[^ ]+ +[^ ]+ +/, ""); reasons[test] = $0 }
        FNR == NR                              { next }
        /^not ok [0-9]+ - / && ($5 in reasons) { $0 = $0 " # SKIP " reasons[$5] }
        { print }' "$gaps" "$log" >"$log.judged" && mv "$log.judged" "$log"
    [ "$status" != "$(grep -aEc '^not ok [0-9]+ - [^ ]+ # SKIP ' "$log")" ] || status=0
fi

# All test files speak TAP. A test that was announced but never reported is a failure, and so are silence and a bad exit
# status that no test accounts for. (cmocka before 1.1.7 reports a skipped test as "not ok ... # SKIP".)
awk -v status="$status" '
    /^1\.\.[0-9]+/                                { planned += substr($1, 4) }
    /^(not )?ok [0-9]+( .*)? # (SKIP|skip)( |$)/  { skipped++; next }
    /^ok [0-9]+/                                  { passed++ }
    /^not ok [0-9]+/                              { failed++ }
    END {
        missing = planned - passed - failed - skipped
        if (missing > 0)
            failed += missing
        if (failed == 0 && (status != "0" || passed + skipped == 0)) {
            failed = 1
            passed -= passed > 0
        }
        print passed + 0, failed + 0, skipped + 0
    }' "$log" >"$log.counts"

# Of a file that passed, its tests; of one that did not, everything.
{
    echo "# $file"
    case $(cat "$log.counts") in
        *' 0 '*) grep -E '^(not )?ok ' "$log" ;;
        *) cat "$log" && echo "# $file: FAILED (exit status $status)" ;;
    esac
} >"$log.shown"
flock "$work" cat "$log.shown"
rm -rf "$TMPDIR"
