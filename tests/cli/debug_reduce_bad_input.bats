# debug_reduce_bad_input.bats: damaged and hostile files, and disks that do not take what is written.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes

# damage truncate|flip SOURCE NUMBER FILE: the first NUMBER twentieths of a file, or all of it with the NUMBER-th of some
# bits, chosen once and for all, turned around.
damage()
{
    /usr/bin/python3 -c '
import random, sys
kind, source, number, path = sys.argv[1:]
data = bytearray(open(source, "rb").read())
if kind == "truncate":
    data = data[: len(data) * int(number) // 20]
else:
    bit = random.Random(f"{number} {len(data)}").randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
open(path, "wb").write(data)' "$@"
}

# Whether a session that read a damaged file either worked, or ended in one clear line with nothing written.
ended_well()
{
    local left
    [ "$status" -eq 0 ] && [ -z "$stderr" ] ||
        { [ "$status" -eq 1 ] && [[ $stderr == '[!] '* && $stderr != *$'\n'* ]]; } || {
        echo "$1: status $status; $stderr"
        return 1
    }
    left=$(find . -mindepth 1 ! -name damaged ! -name original ! -name reduced.onnx ! -name 'polygraphy_debug_replay*.json')
    [ -z "$left" ] && { [ "$status" -eq 0 ] || [ ! -e reduced.onnx ]; } || {
        echo "$1: left behind: $(ls -A)"
        return 1
    }
    rm -f reduced.onnx ./*.json
}

@test "a model that ends early is told, or is still a model" {
    for model in reducable nested_bodies typed_and_raw_data; do
        for part in $(seq 0 19); do
            damage truncate "$models/$model.onnx" "$part" damaged
            reduce damaged -o reduced.onnx --check "$check_nodes" polygraphy_debug.onnx
            ended_well "$part/20 of $model"
        done
    done
}

@test "a model with a wrong bit is told, or is still a model" {
    for number in $(seq 100); do
        for model in reducable nested_bodies; do
            [ $((number % 2)) -eq 0 ] || model=quantization_annotations
            damage flip "$models/$model.onnx" "$number" damaged
            reduce damaged -o reduced.onnx --min-good reduced.onnx.good --check "$check_nodes" polygraphy_debug.onnx
            rm -f reduced.onnx.good
            ended_well "bit $number of $model"
            [ $((number % 2)) -eq 0 ] || break
        done
    done
}

@test "what is no ONNX model is told" {
    : >empty
    head -c 4096 "$models/matmul_chain_64.onnx" | tail -c 3000 >middle
    printf 'Once upon a time there was a model.\n' >text
    head -c 5000 /dev/zero | tr '\0' '\377' >ones
    for seed in 1 2 3 4 5 6 7 8; do
        /usr/bin/python3 -c "import random, sys; sys.stdout.buffer.write(random.Random($seed).randbytes(2000))" >random$seed
    done
    mkdir folder
    for model in empty middle text ones random? folder /dev/null "$models/make_models.py" "$check_nodes"; do
        reduce "$model" -o reduced.onnx --check false
        refused "${model##*/}"
    done
    [ "$(ls)" = $'empty\nfolder\nmiddle\nones\nrandom1\nrandom2\nrandom3\nrandom4\nrandom5\nrandom6\nrandom7\nrandom8\ntext' ]
}

@test "a model that is not there, or cannot be read, is told" {
    reduce missing.onnx -o reduced.onnx --check false
    [ "$status" -eq 1 ]
    [ "$stderr" = "[!] 'missing.onnx' does not exist" ]
    touch file
    reduce file/model.onnx -o reduced.onnx --check false
    [ "$stderr" = "[!] 'file/model.onnx' does not exist" ]
    mkfifo pipe
    reduce pipe -o reduced.onnx --check false
    refused "pipe' is not a regular file"
    ln -s loop loop
    reduce loop -o reduced.onnx --check false
    refused loop
}

# Runs a command as somebody who may not do everything, in folder $1.
as_nobody()
{
    [ "$(id -u)" -eq 0 ] || skip 'only root can become somebody else'
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR" "$PWD" 2>/dev/null || true
    setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$POLYGRAPHY" -a -r "$1" -a -x "$1" 2>/dev/null ||
        skip 'nobody cannot get here'
    run --separate-stderr env -C "$1" TMPDIR=/tmp setpriv --reuid 65534 --regid 65534 --clear-groups "${@:2}"
}

@test "a model without permission to read it is told" {
    cp "$models/reducable.onnx" secret.onnx
    chmod 600 secret.onnx
    as_nobody "$PWD" polygraphy debug reduce secret.onnx -o reduced.onnx --check false
    refused "secret.onnx': Permission denied"
}

@test "a folder that nothing can be written to is told before any check" {
    cp "$models/reducable.onnx" model.onnx
    chmod 644 model.onnx
    as_nobody "$PWD" polygraphy debug reduce model.onnx -o reduced.onnx --check touch /tmp/ran
    refused "cannot create a temporary file next to 'polygraphy_debug.onnx': Permission denied"
    [ "$(ls -A)" = model.onnx ]
}

@test "places that nothing can be written to are told" {
    touch file
    ok=(--check "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_5)
    reduce "$models/reducable.onnx" -o file/reduced.onnx "${ok[@]}"
    refused "'file"
    reduce "$models/reducable.onnx" -o reduced.onnx --iter-artifact file/x.onnx --save-debug-replay '' --check false
    refused "'file"
    reduce "$models/reducable.onnx" -o /proc/reduced.onnx "${ok[@]}"
    refused '/proc/'
    mkdir folder
    reduce "$models/reducable.onnx" -o folder "${ok[@]}"
    refused "cannot write 'folder': it is a folder"
    [ "$(ls -A)" = $'file\nfolder\npolygraphy_debug_replay.json\npolygraphy_debug_replay.json.old\npolygraphy_debug_replay_skip_current.json' ]
}

@test "nothing is lost when the result cannot be written: the replay has it all" {
    check=(--check "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_5)
    reduce "$models/reducable.onnx" -o /proc/reduced.onnx "${check[@]}"
    refused /proc/
    reduce "$models/reducable.onnx" -o reduced.onnx --load-debug-replay polygraphy_debug_replay.json "${check[@]}"
    worked
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ]
    logged 'FAILED \| Check of the result'
    [ "$(reduce_models show reduced.onnx)" = 'onnx_graphsurgeon_node_5 [identity_out_0,identity_out_2->add_out_4]' ]
}

@test "an existing result is only replaced by a whole one" {
    small_disk disk
    reduce_models make chain disk/model.onnx 3 2000 # of 64 KB: room for one candidate no more
    : >disk/reduced.onnx
    reduce_models make chain model.onnx 3 1600
    rm disk/model.onnx
    echo old >disk/reduced.onnx
    head -c 50000 /dev/zero >disk/fill
    reduce model.onnx -o disk/reduced.onnx --no-reduce-inputs --no-reduce-outputs --check false
    [ "$status" -eq 2 ]
    reduce model.onnx -o disk/reduced.onnx --no-reduce-inputs --check "$check_nodes" polygraphy_debug.onnx --fail-node n7
    refused 'disk/reduced.onnx'
    [ "$(cat disk/reduced.onnx)" = old ]
    [ "$(ls -A disk)" = $'fill\nreduced.onnx' ]
}

@test "a full disk ends the session in one line, and it goes on when there is room" {
    small_disk disk
    reduce_models make chain model.onnx 3 1600 # of 51 KB
    script check.sh <<<"
        echo x >>runs
        [ \$POLYGRAPHY_ITERATION != 0 ] || [ -e again ] || head -c 1000000 /dev/zero >disk/fill 2>/dev/null
        exec $check_nodes disk/candidate.onnx --fail-node n3"
    options=(--iter-artifact disk/candidate.onnx --iter-info disk/info.json --save-debug-replay disk/r.json --check ./check.sh)
    reduce model.onnx -o reduced.onnx "${options[@]}"
    [ "$status" -eq 1 ]
    [[ $stderr == "[!] cannot write 'disk/"*'No space left on device' ]]
    [ "$(ls -A disk)" = $'fill\nr.json\nr_skip_current.json' ]
    [ "$(wc -l <runs)" -eq 2 ]
    rm disk/fill
    touch again
    reduce model.onnx -o reduced.onnx --load-debug-replay disk/r.json "${options[@]}"
    worked
    [ "$(reduce_models show reduced.onnx)" = 'n3 [t3->t4] const w3' ]
    [ "$(wc -l <runs)" -le 8 ]
}

# ---- JSON ----

@test "damaged input data are told" {
    options=("$models/reducable.onnx" -o reduced.onnx --no-reduce-outputs)
    cp "$POLYGRAPHY_ROOT/tests/golden/inputs/run_save_inputs_2iters.json" original
    for part in $(seq 0 19); do
        damage truncate original "$part" damaged
        reduce "${options[@]}" --load-inputs damaged --check false
        refused "damaged'"
        rm -f ./*.json
    done
    for number in $(seq 40); do
        damage flip original "$number" damaged
        reduce "${options[@]}" --load-inputs damaged --check false
        ended_well "bit $number"
    done
    for file in "$POLYGRAPHY_ROOT"/tests/golden/{run/odd_layouts,debug_replay/reduce_bisect_fail5}.json "$models/reducable.onnx" \
        missing.json "$PWD" /dev/null; do
        reduce "${options[@]}" --load-inputs "$file" --check false
        [ "$status" -eq 1 ]
        [[ $stderr == '[!] '* && $stderr != *$'\n'* ]]
    done
}

@test "damaged replays are told, and nothing is written over them" {
    cp "$POLYGRAPHY_ROOT/tests/golden/debug_replay/reduce_bisect_fail5.json" original
    options=("$models/reducable.onnx" -o reduced.onnx)
    for part in $(seq 0 19); do
        damage truncate original "$part" damaged
        reduce "${options[@]}" --load-debug-replay damaged --save-debug-replay damaged --check false
        refused "damaged'"
        cmp <(damage truncate original "$part" /dev/stdout) damaged
    done
    for number in $(seq 60); do
        damage flip original "$number" damaged
        reduce "${options[@]}" --load-debug-replay damaged --check false
        ended_well "bit $number"
    done
    for file in "$POLYGRAPHY_ROOT/tests/golden/inputs/run_save_inputs_2iters.json" "$models/reducable.onnx" missing.json "$PWD" /dev/null; do
        reduce "${options[@]}" --load-debug-replay "$file" --check false
        refused "${file##*/}"
    done
}

@test "a replay with numbers that no model has is taken by its verdicts" {
    sed 's/"num_nodes": [0-9]*/"num_nodes": 9223372036854775807/' \
        "$POLYGRAPHY_ROOT/tests/golden/debug_replay/reduce_linear_fail5.json" >odd.json
    reduce "$models/reducable.onnx" -o reduced.onnx --min-good good.onnx --mode linear --load-debug-replay odd.json \
        --check "$check_nodes" polygraphy_debug.onnx --fail-node onnx_graphsurgeon_node_5
    worked
    valid_models reduced.onnx good.onnx
}
