# debug_reduce_logs.bats: what `debug reduce` logs: see reduce_logs.py.

load debug_helper

@test "logs are Polygraphy's, but for differences that have a name" {
    run /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/reduce_logs.py"
    echo "$output"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}
