#!/usr/bin/env bash
# tests/run.sh BUILD [TEXT]: runs every test that `make check` has built, and counts.
#
# A test file is a cmocka program (tests/unit/**/test_*.c), a fuzz target with its corpus (tests/fuzz/fuzz_*.c) or a
# bats file (tests/cli/**/*.bats); with TEXT, only those whose path holds it run. Files run side by side, three for two
# processors, since tests also wait (CHECK_JOBS=n for another number), and all of them run even after a failure. Tests
# that failed are shown a second time at the end, then listed. The last line is the sum: "N passed, N failed", with
# ", N skipped" when there are any. What cannot be run in an emulator is skipped: tests/emulation_gaps.txt.
#
# Tests find what they need in the environment: POLYGRAPHY (the program, also first on the PATH), POLYGRAPHY_ROOT (this
# tree, where they start), POLYGRAPHY_TEST_PROGRAMS (the folder of tests/programs/*.c, built), POLYGRAPHY_TEST_MODELS.
set -u
cd "${POLYGRAPHY_ROOT:?run this through 'make check'}" || exit 1
build=$1 only=${2:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

PATH=$(dirname "$POLYGRAPHY"):$PATH
export PATH LC_ALL=C.UTF-8

processors=$(getconf _NPROCESSORS_ONLN)
find tests -path 'tests/cli/*.bats' -o -path 'tests/fuzz/fuzz_*.c' -o -path 'tests/unit/*/test_*.c' |
    grep -F -e "$only" | LC_ALL=C sort |
    xargs -r -d '\n' -n 1 -P "${CHECK_JOBS:-$(((processors * 3 + 1) / 2))}" tests/run_file.sh "$build" "$work"

for shown in $(grep -lE '^# .*: FAILED \(exit status' "$work"/*.shown 2>/dev/null); do
    head -n 1 "$shown"
    awk '/^not ok / && !/# SKIP/ { lines = 40 } /^ok / { lines = 0 } lines-- > 0' "$shown" | head -n 200
    tail -n 1 "$shown"
done

# A log that is cut at its start still has this list: each failed test with the lines that say where it failed.
awk '
    /^# tests\/[^ ]*$/           { file = $2 }
    /^not ok / && !/# (SKIP|skip)/ { printf "failed: %s: %s\n", file, $0; lines = 2; next }
    lines-- > 0                  { print substr($0, 1, 300) }' "$work"/*.shown 2>/dev/null

cat "$work"/*.counts 2>/dev/null | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
        exit failed > 0 || passed == 0
    }'
