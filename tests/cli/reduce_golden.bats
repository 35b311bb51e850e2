#!/usr/bin/env bats
# The golden table of `debug reduce`, row by row: see reduce_golden.py.

@test "every row of the golden table: same iterations, verdicts and result, or a named defect corrected" {
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/reduce_golden.py"
    echo "$output"
    [ "$status" -eq 0 ]
}
