# debug_progress.bats: the line at the bottom of a terminal that tells how far a session is.

load debug_helper

# Runs polygraphy on a terminal; what was seen is then in the file `record`, and the exit status in $ended.
on_terminal()
{
    local options=()
    while [[ $1 == *=* ]]; do
        options+=("$1")
        shift
    done
    ended=$(terminal run record "${options[@]}" -- "$@")
}

terminal()
{
    python3 "$POLYGRAPHY_ROOT/tests/cli/terminal.py" "$@"
}

# Whether the progress line has once matched the extended regular expression.
showed()
{
    terminal lines record | grep -qE -e "$1" || {
        echo "no progress line matches '$1' among:"
        terminal lines record
        return 1
    }
}

showed_nothing()
{
    [ "$ended" -eq 0 ]
    [ -z "$(terminal lines record)" ]
}

@test "a terminal shows it while checks run, and in the end only what the log holds" {
    on_terminal polygraphy debug repeat --until 3 --log-file log.txt --check sleep 0.3
    [ "$ended" -eq 0 ]
    showed '^\[>                   \] 0 of 3 checks$'
    showed '^\[======>             \] 1 of 3 checks, about 0:[0-9]+ left$'
    showed '^\[=============>      \] 2 of 3 checks'
    diff <(terminal screen record) log.txt
    run ! grep -E 'of 3 checks|'$'\033' log.txt
}

@test "no log line ever has a piece of it, however many there are" {
    on_terminal polygraphy debug repeat --until 40 --show-output --log-file log.txt --check 'seq 50; echo >&2'
    [ "$ended" -eq 0 ]
    showed 'of 40 checks'
    diff <(terminal screen record) log.txt
}

@test "it is drawn ten times a second at the most" {
    on_terminal polygraphy debug repeat --until 200 --check true
    [ "$ended" -eq 0 ]
    showed 'of 200 checks'
    terminal rate record
    # one more, which is the first of all, does not matter in a session of more than a fifth of a second
    [ "$(terminal rate record | cut -d. -f1)" -le 15 ]
}

@test "where nobody knows how many checks there will be, a mark wanders to and fro, also while one runs" {
    on_terminal polygraphy debug repeat --until bad --check sh -c 'sleep 2.5; exit 1'
    [ "$ended" -eq 0 ]
    showed '^\[<=>                 \] 0 checks$'
    showed '^\[ <=>                \] 0 checks$'
}

@test "it is no wider than the terminal" {
    on_terminal COLUMNS=40 polygraphy debug repeat --until 2 --check sleep 0.3
    [ "$ended" -eq 0 ]
    showed '^\[.{8,}\] 1 of 2 checks'
    run ! grep '.\{40\}' <(terminal lines record)
}

@test "pipes and files get no byte of it" {
    polygraphy debug repeat --until 2 --log-file log.txt --check sleep 0.3 >out 2>errors
    [ ! -s errors ]
    cmp out log.txt
    run ! grep 'of 2 checks' out
    polygraphy debug repeat --until 2 --check sleep 0.3 2>&1 | cat >out
    run ! grep -E 'of 2 checks|'$'\r' out
}

@test "a file gets the log, the terminal shows the line alone, and nothing in the end" {
    on_terminal sh -c 'polygraphy debug repeat --until 2 --log-file log.txt --check sleep 0.3 >out'
    [ "$ended" -eq 0 ]
    showed '1 of 2 checks'
    [ -z "$(terminal screen record)" ]
    cmp out log.txt
}

@test "what comes out of a pipe may go to the same terminal, so there is no line then" {
    on_terminal sh -c 'polygraphy debug repeat --until 2 --log-file log.txt --check sleep 0.3 | cat'
    showed_nothing
    diff <(terminal screen record) log.txt
}

@test "there is no line for those who want less output, on terminals that cannot move back, and where questions are asked" {
    local option
    for option in -q --silent --verbosity=ERROR; do
        on_terminal polygraphy debug repeat --until 1 $option --check sleep 0.2
        showed_nothing
    done
    on_terminal env TERM=dumb polygraphy debug repeat --until 1 --check sleep 0.2
    showed_nothing
    on_terminal env -u TERM polygraphy debug repeat --until 1 --check sleep 0.2
    showed_nothing
    on_terminal sh -c 'echo p | polygraphy debug repeat --until 1'
    showed_nothing
}

@test "Ctrl-C takes it away" {
    on_terminal 'INTERRUPT=1 of 3 checks' polygraphy debug repeat --until 3 --check sh -c 'test $POLYGRAPHY_ITERATION = 0 || exec sleep 60'
    [ "$ended" -eq -2 ]
    showed '1 of 3 checks'
    terminal screen record
    run ! grep 'of 3 checks' <(terminal screen record)
    terminal screen record | tail -1 | grep -qxF '[W] Interrupted: Interrupt'
}

@test "so does a second Ctrl-C, which ends the program at once" {
    on_terminal 'INTERRUPT=1 of 3 checks:2' \
        polygraphy debug repeat --until 3 --check sh -c 'trap "" INT TERM; test $POLYGRAPHY_ITERATION = 0 || exec sleep 60'
    [ "$ended" -eq -2 ]
    terminal screen record
    run ! grep 'of 3 checks' <(terminal screen record)
    run ! grep Interrupted <(terminal screen record)
}

@test "an error takes it away" {
    script check.sh <<'END'
[ "$POLYGRAPHY_ITERATION" = 0 ] || rm check.sh
sleep 0.3
END
    on_terminal polygraphy debug repeat --until 3 --check ./check.sh
    [ "$ended" -eq 1 ]
    showed 'of 3 checks'
    run ! grep 'of 3 checks' <(terminal screen record)
    terminal screen record | grep -q '^\[!\]'
}

# ---- Engines ----

@test "an engine that is built shows its layers, and no piece of them is left" {
    export POLYGRAPHY_TRT=builtin
    cp "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt >/dev/null 2>&1 || skip 'ONNX Runtime is not there'
    local command
    for command in 'convert model.onnx -o model.engine' 'run model.onnx --trt'; do
        on_terminal polygraphy $command --log-format no-colors --log-file log.txt
        [ "$ended" -eq 0 ]
        showed '^\[>                   \] layer 1 of 11: stem'
        diff <(terminal screen record) log.txt
        on_terminal polygraphy $command -q
        showed_nothing
    done
}

# TensorRT is tests/tensorrt_stand_in/, whose builder has one phase, with a step for each layer.
@test "an engine that TensorRT builds shows the steps of its phases" {
    local library=$POLYGRAPHY_TEST_PROGRAMS/tensorrt/10.16
    export POLYGRAPHY_TRT=tensorrt POLYGRAPHY_TENSORRT=$library LD_LIBRARY_PATH=$library
    cp "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt >/dev/null 2>&1 || skip 'ONNX Runtime is not there'
    local command
    for command in 'convert model.onnx -o model.engine' 'run model.onnx --trt'; do
        on_terminal polygraphy $command --log-format no-colors --log-file log.txt
        [ "$ended" -eq 0 ]
        showed '^\[>                   \] step 1 of 11: Building Engine'
        diff <(terminal screen record) log.txt
        on_terminal polygraphy $command -q
        showed_nothing
    done
}

# ---- Each tool ----

@test "reduce: checks expected and nodes that are left" {
    polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --onnxrt >/dev/null 2>&1 || skip 'ONNX Runtime is not there'
    reduce_models make chain model.onnx 3
    local mode
    for mode in bisect minimal; do
        on_terminal COLUMNS=120 polygraphy debug reduce model.onnx -o reduced.onnx --mode $mode --log-file log.txt \
            --check sh -c 'sleep 0.3; ! grep -q w3 polygraphy_debug.onnx'
        [ "$ended" -eq 0 ]
        showed '^\[.*\] [0-9]+ of ~?[0-9]+ checks?, [0-9]+ of 8 nodes left'
        showed 'about 0:[0-9]+ left$'
        diff <(terminal screen record) log.txt
    done
}

@test "build, tactics and precision" {
    export POLYGRAPHY_TRT=builtin
    cp "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" model.onnx
    polygraphy run model.onnx --onnxrt >/dev/null 2>&1 || skip 'ONNX Runtime is not there'
    on_terminal polygraphy debug build model.onnx --until 2 --explore --explore-within 1000 --save-tactics t.json \
        --artifacts t.json --log-file log.txt --check sh -c 'sleep 0.2; exit $POLYGRAPHY_ITERATION'
    [ "$ended" -eq 0 ]
    showed '1 of 2 checks'
    diff <(terminal screen record) log.txt
    mv polygraphy_artifacts/good/* good.json
    mv polygraphy_artifacts/bad/* bad.json
    cat >check.sh <<'EOF'
sleep 0.2 # so that the line is seen; what follows passes on engines with the tactics of the first one
polygraphy inspect model polygraphy_debug.engine --show layers | sed -n 's/ *Tactic: \([^,]*\),.*/\1/p' >now
test -e first || cp now first
cmp -s now first
EOF
    on_terminal polygraphy debug tactics model.onnx --good good.json --bad bad.json --log-file log.txt --check sh check.sh
    [ "$ended" -eq 0 ]
    showed '[1-9] checks?$|[1-9] of ~?[0-9]+ checks'
    diff <(terminal screen record) log.txt
    on_terminal polygraphy debug precision model.onnx --fp16 --log-file log.txt --check sh -c \
        'sleep 0.2; polygraphy inspect model polygraphy_debug.engine'
    [ "$ended" -eq 0 ]
    showed '1 of ~?[0-9]+ checks|1 check'
    diff <(terminal screen record) log.txt
}
