# check_launcher.bats: --launcher, which puts a command in front of each check, and --work-dir. debug_reduce_slurm.bats
# tries them on a cluster.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes
make_chain=$POLYGRAPHY_TEST_PROGRAMS/make_chain

# A launcher that notes down its words, one a line, and runs those behind "--".
noting_launcher()
{
    script launch.sh <<'EOF'
printf '[%s]\n' "$@" >>words
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
EOF
}

names_of()
{
    reduce_models show "$@" | cut -d ' ' -f 1
}

# What a replay says about candidates; the rest is about the session.
verdicts_of()
{
    sed '/"_session"/,/}/d' "$1"
}

words()
{
    paste -sd ' ' words
}

# ---- Words ----

@test "the launcher's words stand in front of the check's" {
    noting_launcher
    repeat --until 1 --launcher './launch.sh -n 1 --' --check sh -c 'exit 0'
    worked
    logged 'PASSED \| Iteration 1'
    logged '^\[I\] +Running check command: \./launch\.sh -n 1 -- sh -c exit 0$'
    [ "$(words)" = '[-n] [1] [--] [sh] [-c] [exit 0]' ]
}

@test "it is split at blanks, but for those in quotes and behind backslashes, and nothing is expanded" {
    noting_launcher
    touch file
    repeat --until 1 --launcher $'  ./launch.sh\t\'two words\' "it\'s" a\\ b pre"fix "ed \'\' $HOME * ~ `id` --\n' --check true
    worked
    [ "$(words)" = "[two words] [it's] [a b] [prefix ed] [] [\$HOME] [*] [~] [\`id\`] [--] [true]" ]
}

@test "a check in quotes is run by a shell that the launcher starts" {
    noting_launcher
    repeat --until 1 --launcher './launch.sh --' --check 'echo one && exit 3'
    worked
    logged 'FAILED \| Iteration 1'
    [ "$(words)" = '[--] [sh] [-c] [echo one && exit 3]' ]
}

@test "a launcher that cannot be run, or is none, is refused before anything is checked" {
    repeat --until 1 --launcher 'nonesuch -n1' --check true
    refused "--launcher: program 'nonesuch' was not found on the PATH"
    repeat --until 1 --launcher './nonesuch -n1' --check true
    refused "--launcher: program './nonesuch' does not exist"
    touch plain
    repeat --until 1 --launcher ./plain --check true
    refused "--launcher: './plain' is not executable"
    repeat --until 1 --launcher "env 'A=1" --check true
    refused "--launcher: a quote is not closed: env 'A=1"
    repeat --until 1 --launcher ' ' --check true
    refused '--launcher: the command is empty'
    [ "$(ls)" = plain ]
}

@test "a check that only the launcher's other side has is not looked for here" {
    script elsewhere.sh <<<'[ "$1" = only_there ] && exit 5'
    repeat --until 1 --fail-code 5 --launcher ./elsewhere.sh --check only_there
    worked
    logged 'FAILED \| Iteration 1'
}

# ---- What passes through ----

@test "exit codes pass through" {
    repeat --until 1 --launcher env --fail-code 3 --check sh -c 'exit 3'
    worked
    logged 'FAILED \| Iteration 1'
    repeat --until 1 --launcher env --fail-code 3 --check sh -c 'exit 1'
    worked
    logged 'PASSED \| Iteration 1'
    repeat --until 1 --launcher env --skip-code 125 --check sh -c 'exit 125'
    worked
    logged 'SKIPPED \| Iteration 1'
}

@test "a launcher can set the environment, and the check knows the candidate and the iteration" {
    "$make_chain" model.onnx 4 0 chain
    fails_on_candidates
    reduce model.onnx -o reduced.onnx --launcher 'env CUDA_VISIBLE_DEVICES=3' \
        --check 'echo "$CUDA_VISIBLE_DEVICES $POLYGRAPHY_ARTIFACT" >>seen; ./fails.sh'
    worked
    [ "$(sort -u seen)" = '3 polygraphy_debug.onnx' ]
}

@test "the standard input is left to others" {
    printf 'for others\n' >input
    {
        polygraphy debug repeat --until 1 --launcher env --check sh -c 'cat >eaten' >out
        cat >left
    } <input
    grep -q 'PASSED | Iteration 1' out
    [ ! -s eaten ]
    [ "$(cat left)" = 'for others' ]
}

@test "at the end of a check's time the launcher gets a request to end" {
    local limit
    script slow.sh <<<'trap "echo asked >asked; exit 0" TERM; echo >ready; "$@" & wait'
    for limit in 0.3 3 30; do # until the launcher was ready for the request when it came
        [ ! -e ready ] || break
        repeat --until 1 --launcher ./slow.sh --check-timeout $limit --check sleep 1000
        worked
        logged 'FAILED \| Iteration 1'
    done
    [ "$(cat asked)" = asked ]
}

@test "one_gpu.sh gives each check that runs at the same time a GPU of its own" {
    launcher=$POLYGRAPHY_ROOT/examples/launchers/one_gpu.sh
    export GPUS=2
    mkfifo go said
    exec 5<>go 6<>said
    for check in 1 2; do
        "$launcher" sh -c 'echo "$CUDA_VISIBLE_DEVICES" >said; read -r _ <go' 3>&- 5>&- 6>&- &
        checks[check]=$!
        read -r gpu <&6
        echo "$gpu" >>gpus
    done
    [ "$(paste -sd ' ' gpus)" = '0 1' ]
    run "$launcher" true
    [ "$status" -eq 125 ]
    printf 'go\ngo\n' >&5
    wait "${checks[@]}"
    run "$launcher" sh -c 'exit $((CUDA_VISIBLE_DEVICES + 7))'
    [ "$status" -eq 7 ]
    rm "$TMPDIR"/polygraphy_gpu*.lock
}

@test "the commands of docs/clusters.md that need no cluster do what it says" {
    cp "$POLYGRAPHY_ROOT"/examples/overflow/detector.onnx "$POLYGRAPHY_ROOT"/examples/launchers/one_gpu.sh .
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/guide_page.py" "$POLYGRAPHY_ROOT/docs/clusters.md" srun
    rm "$TMPDIR"/polygraphy_gpu*.lock
}

# ---- Reductions ----

@test "this program as the check is started by the launcher each time, and the result is the same" {
    noting_launcher
    reduce_models make infinity model.onnx
    check=(--check polygraphy run polygraphy_debug.onnx --onnxrt --validate)
    reduce model.onnx -o here.onnx --save-debug-replay here.json "${check[@]}"
    worked
    checks=$(grep -c 'Running check command' <<<"$output")
    reduce model.onnx -o launched.onnx --save-debug-replay launched.json --launcher './launch.sh --' "${check[@]}"
    worked
    [ "$(grep -cFx '[polygraphy]' words)" -eq "$checks" ]
    cmp here.onnx launched.onnx
    diff <(verdicts_of here.json) <(verdicts_of launched.json)
}

@test "a replay goes on with another launcher or none" {
    reduce_models make infinity model.onnx
    check=(--check polygraphy run polygraphy_debug.onnx --onnxrt --validate)
    reduce model.onnx -o launched.onnx --launcher env "${check[@]}"
    worked
    reduce model.onnx -o here.onnx --load-debug-replay polygraphy_debug_replay.json "${check[@]}"
    worked
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ] # on the result
    cmp here.onnx launched.onnx
}

@test "candidates are written to the folder of --work-dir, and nothing stays there" {
    noting_launcher
    mkdir shared
    "$make_chain" model.onnx 30 0 branches
    reduce model.onnx -o reduced.onnx --work-dir "$PWD/shared" --launcher './launch.sh --' \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node node_9
    worked
    [ "$(names_of reduced.onnx)" = node_9 ]
    grep -qFx "[$PWD/shared/polygraphy_debug.onnx]" words
    run ! grep -Fx '[polygraphy_debug.onnx]' words
    [ -z "$(ls -A shared)" ]
}

@test "several checks at a time have a file each" {
    noting_launcher
    mkdir shared
    "$make_chain" model.onnx 30 0 branches
    for jobs in 1 3; do
        reduce model.onnx -o reduced$jobs.onnx --mode minimal --jobs $jobs --save-debug-replay $jobs.json \
            --work-dir shared --launcher './launch.sh --' \
            --check "$check_nodes" '{artifact}' --fail-node node_9 --fail-node node_21
        worked
    done
    cmp reduced1.onnx reduced3.onnx
    diff <(verdicts_of 1.json) <(verdicts_of 3.json)
    grep -qFx '[shared/polygraphy_debug.onnx]' words
    grep -qFx '[shared/polygraphy_debug.j2.onnx]' words
    [ -z "$(ls -A shared)" ]
}
