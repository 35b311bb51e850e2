# growth.bats: what commands do for a model grows with what is in it, and not with the square of that.
#
# growth.py counts instructions, so results do not depend on how busy the machine is. With POLYGRAPHY_TEST_THOROUGH all
# commands are measured on all kinds of models, and the part of the program itself in what ONNX Runtime takes part in.

load debug_helper

# Instructions mean something in a program that is made for use, and can be counted by valgrind.
counts_instructions()
{
    command -v valgrind >/dev/null || skip "valgrind, which counts instructions, is not installed"
    ! grep -q -e sanitize "$(dirname "$POLYGRAPHY")/flags" || skip "instructions of sanitizers are not what is measured"
}

@test "no command does work that grows with more than the power of 1.2 of what is in a model" {
    counts_instructions
    TEST_TIME_LIMIT=1200
    /usr/bin/python3 -B "$POLYGRAPHY_ROOT/tests/cli/growth.py" ${POLYGRAPHY_TEST_THOROUGH:+--all}
}

@test "work that grows with the square is found out" {
    counts_instructions
    run /usr/bin/python3 -B - "$POLYGRAPHY_ROOT/tests/cli" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import growth
assert growth.exponent([5e6 + 4000 * n + n * n for n in (1000, 2000, 4000)], 1000) > growth.MOST
assert growth.exponent([5e6 + 4000 * n for n in (1000, 2000, 4000)], 1000) < 1.01
END
    [ "$status" -eq 0 ]
}
