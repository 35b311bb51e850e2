# debug_reduce_external_data.bats: models whose weights lie in files of their own.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes

# The model of eight additions with its weights in `model/$1`; other locations only in the model.
make_external()
{
    mkdir -p "model/$(dirname "$1")"
    reduce_models make external model/model.onnx "$1"
    reduce_models make weights "model/$1"
}

reduce_to_n3()
{
    reduce model/model.onnx -o reduced.onnx "$@" --check "$check_nodes" polygraphy_debug.onnx --fail-node n3
}

# Whether the first file holds what the second does, and is another one.
is_copy_of()
{
    cmp "$1" "$2" && [ ! "$1" -ef "$2" ]
}

# Whether the model runs where it is, with all that belongs to it.
runs()
{
    polygraphy run "$1" --onnxrt --silent
}

@test "weights are linked to the candidates, not copied, and the link goes again" {
    make_external weights.data
    mkdir out
    reduce model/model.onnx -o out/reduced.onnx --min-good out/good.onnx --artifacts polygraphy_debug.onnx --check \
        "stat -c %i weights.data >>inodes; polygraphy run polygraphy_debug.onnx --onnxrt --silent || exit 0
         $check_nodes polygraphy_debug.onnx --fail-node n3"
    worked
    [ "$(sort -u inodes)" = "$(stat -c %i model/weights.data)" ]
    [ ! -e weights.data ]
    [ "$(reduce_models show out/reduced.onnx)" = 'n3 [t3->t4] const w3' ]
    # The results have their weights beside them, and share nothing with the original.
    [ "$(ls out)" = $'good.onnx\nreduced.onnx\nweights.data' ]
    is_copy_of out/weights.data model/weights.data
    runs out/reduced.onnx
    runs out/good.onnx
    valid_models out/reduced.onnx out/good.onnx
    [ "$(stat -c %s out/reduced.onnx)" -lt 400 ]
    polygraphy run polygraphy_artifacts/bad/*_N0_outputs.onnx --external-data-dir model --onnxrt --silent
}

@test "so are weights in a folder below the model's, and that folder goes, too" {
    make_external some/where/weights.data
    mkdir out
    reduce_to_n3 -o out/reduced.onnx
    worked
    [ "$(ls)" = $'model\nout\npolygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json' ]
    is_copy_of out/some/where/weights.data model/some/where/weights.data
    runs out/reduced.onnx
    mkdir some
    reduce_to_n3 -o out/reduced.onnx
    worked
    [ -d some ] # this one was here before
    [ -z "$(ls some)" ]
}

@test "a session in the model's own folder leaves its weights alone" {
    make_external weights.data
    cd model
    reduce model.onnx -o reduced.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    [ "$(ls)" = $'model.onnx\npolygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json\nreduced.onnx\nweights.data' ]
    [ "$(stat -c %h weights.data)" -eq 1 ]
    runs reduced.onnx
}

@test "what exists under the name of the weights is not touched" {
    make_external weights.data
    echo mine >weights.data
    reduce_to_n3
    refused "weights.data' exists and is not the external data of this model"
    [ "$(cat weights.data)" = mine ]
    cp model/weights.data weights.data # the same content will do
    reduce_to_n3
    worked
    cmp weights.data model/weights.data
    [ "$(stat -c %h weights.data)" -eq 1 ]
}

@test "weights on another file system are copied, and the copy goes again" {
    small_disk disk
    make_external weights.data
    mv model disk/
    ln -s disk/model model
    reduce disk/model/model.onnx -o reduced.onnx --check \
        "cmp weights.data disk/model/weights.data && $check_nodes polygraphy_debug.onnx --fail-node n3"
    worked
    cmp weights.data disk/model/weights.data # belongs to the result
    runs reduced.onnx
    rm weights.data reduced.onnx
    mkdir out
    reduce disk/model/model.onnx -o out/reduced.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    [ ! -e weights.data ]
    runs out/reduced.onnx
}

@test "--external-data-dir says where the weights are" {
    make_external weights.data
    mkdir elsewhere
    mv model/weights.data elsewhere
    reduce_to_n3
    refused "cannot find external data '$PWD/model/weights.data' (specify their folder with --external-data-dir)"
    [ "$(ls)" = $'elsewhere\nmodel' ]
    reduce_to_n3 --external-data-dir elsewhere
    worked
    runs reduced.onnx
}

@test "a replay belongs to the weights, too" {
    make_external weights.data
    reduce_to_n3
    worked
    printf x | dd of=model/weights.data bs=1 seek=100 conv=notrunc status=none
    rm weights.data
    reduce_to_n3 --load-debug-replay polygraphy_debug_replay.json
    refused 'belongs to another model'
}

@test "weights outside of the model's folder are refused, however they are referred to" {
    make_external weights.data
    cp model/weights.data .
    for location in ../weights.data "$PWD/model/weights.data" . .. a/../../weights.data ''; do
        reduce_models make external model/model.onnx "$location"
        reduce_to_n3
        refused 'model/model.onnx: external data'
    done
    ln -s "$PWD/weights.data" model/link
    ln -s "$PWD" model/folder
    for location in link folder/weights.data; do
        reduce_models make external model/model.onnx "$location"
        reduce_to_n3
        refused "escapes the model"
    done
    [ "$(ls)" = $'model\nweights.data' ]
}

@test "a link to weights inside of the model's folder is followed" {
    make_external weights.data
    ln -s weights.data model/link
    reduce_models make external model/model.onnx link
    mkdir out
    reduce_to_n3 -o out/reduced.onnx
    worked
    is_copy_of out/link model/weights.data
    runs out/reduced.onnx
}

@test "external data that are no file, or too short, are told by whoever reads them" {
    make_external weights.data
    rm model/weights.data
    mkdir model/weights.data
    reduce_to_n3
    refused 'weights.data'
    rmdir model/weights.data
    : >model/weights.data
    reduce_to_n3 # a check that only looks at nodes does not mind
    worked
    run runs reduced.onnx
    [ "$status" -eq 1 ]
}

@test "--ignore-external-data looks for nothing, links nothing, and leaves the references" {
    make_external weights.data
    rm model/weights.data
    mkdir out
    reduce_to_n3 -o out/reduced.onnx --ignore-external-data
    worked
    [ "$(reduce_models show out/reduced.onnx)" = 'n3 [t3->t4] const w3' ]
    [ "$(ls out)" = reduced.onnx ]
    [ ! -e weights.data ]
    # With the weights back, the result is a model like any other.
    reduce_models make weights out/weights.data
    runs out/reduced.onnx
    # What leads out is not followed either.
    reduce_models make external model/model.onnx ../../weights.data
    reduce_to_n3 -o out/reduced.onnx --ignore-external-data
    worked
    grep -q '../../weights.data' out/reduced.onnx
}

@test "external data are saved beside external data" {
    make_external weights.data
    mkdir out
    reduce_to_n3 -o out/reduced.onnx --save-external-data weights.data
    worked # nothing is left to be saved
    runs out/reduced.onnx
}

@test "results in the folder of the candidates keep what they refer to, and only that" {
    make_external sub/weights.data
    reduce_to_n3 --min-good good.onnx
    worked
    is_copy_of sub/weights.data model/sub/weights.data
    runs reduced.onnx
    runs good.onnx
    reduce_models make infinity inside.onnx # a model without external data
    mkdir out
    cd out
    reduce ../inside.onnx -o reduced.onnx --check "$check_nodes" polygraphy_debug.onnx --fail-node div
    worked
    [ "$(ls)" = $'polygraphy_debug_replay.json\npolygraphy_debug_replay_skip_current.json\nreduced.onnx' ]
}

@test "a candidate that stays keeps its weights" {
    make_external sub/weights.data
    mkdir out
    reduce_to_n3 -o out/reduced.onnx --no-remove-intermediate
    worked
    is_copy_of sub/weights.data model/sub/weights.data
    runs polygraphy_debug.onnx
}

@test "the result may be where candidates are, with external data of its own" {
    reduce_models make chain model.onnx -1 400
    reduce model.onnx -o polygraphy_debug.onnx --save-external-data --check "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    runs polygraphy_debug.onnx
    [ "$(stat -c %s polygraphy_debug.onnx.data)" -eq 1600 ]
}

# A link costs nothing, and nobody knows whether it was there before: it stays, and does no harm.
@test "a session that is killed leaves its links behind, and the one that goes on uses them" {
    make_external sub/weights.data
    mkdir out
    script check.sh <<<"
        [ \$POLYGRAPHY_ITERATION != 1 ] || [ -e again ] || kill -KILL \$PPID
        exec $check_nodes polygraphy_debug.onnx --fail-node n3"
    reduce model/model.onnx -o out/reduced.onnx --check ./check.sh
    [ "$status" -eq 137 ]
    touch again
    reduce model/model.onnx -o out/reduced.onnx --load-debug-replay polygraphy_debug_replay.json --check ./check.sh
    worked
    [ sub/weights.data -ef model/sub/weights.data ]
    is_copy_of out/sub/weights.data model/sub/weights.data
    runs out/reduced.onnx
}

@test "a session that is interrupted takes its links along" {
    make_external sub/weights.data
    mkfifo stuck
    script check.sh <<<'echo >stuck; exec sleep 1000'
    env --default-signal setsid polygraphy debug reduce model/model.onnx -o reduced.onnx --check ./check.sh >out 2>errors 3>&- &
    local session=$! status=0
    read -r _ <stuck
    [ -e sub/weights.data ]
    kill -INT -- -$session
    wait $session || status=$?
    [ $status -eq 130 ]
    [ ! -e sub ]
    [ -e model/sub/weights.data ]
}

@test "a check that writes to the weights ends the session, and is told which file it was" {
    make_external weights.data
    reduce model/model.onnx -o reduced.onnx --check 'printf x | dd of=weights.data conv=notrunc status=none; false'
    refused "model/weights.data' was modified while the check ran"
    [ ! -e reduced.onnx ]
    [ ! -e weights.data ]
    make_external weights.data
    cd model
    reduce model.onnx -o reduced.onnx --check 'printf x >>weights.data; false'
    refused "model/weights.data' was modified while the check ran"
    polygraphy debug build model.onnx --until 1 --silent --check true
    run --separate-stderr polygraphy debug build model.onnx --until 2 --check 'printf x >>weights.data'
    refused "model/weights.data' was modified while the check ran"
    polygraphy debug build model.onnx --until 2 --silent --check 'touch weights.data' # its content is what it was
}

@test "with --copy-weights the check cannot reach the original's" {
    make_external weights.data
    cp model/weights.data before
    reduce_to_n3 --copy-weights
    worked
    is_copy_of weights.data model/weights.data
    rm weights.data reduced.onnx
    reduce model/model.onnx -o reduced.onnx --copy-weights --check \
        'stat -c %i weights.data >inode; printf x | dd of=weights.data conv=notrunc status=none; false'
    refused "weights.data' was modified while the check ran"
    cmp model/weights.data before
    [ "$(cat inode)" != "$(stat -c %i model/weights.data)" ]
    [ ! -e weights.data ]
}

@test "a result takes the place of a link that an earlier version has left" {
    make_external weights.data
    mkdir out
    ln model/weights.data out/weights.data
    reduce_to_n3 -o out/reduced.onnx
    worked
    is_copy_of out/weights.data model/weights.data
    [ "$(stat -c %h model/weights.data)" -eq 1 ]
}

@test "weights that are no ordinary file are refused" {
    reduce_models make external model.onnx weights.data
    mkfifo weights.data
    local command
    for command in 'surgeon sanitize model.onnx -o out/out.onnx' 'debug reduce model.onnx -o out/out.onnx --check true' \
        'convert model.onnx -o out/out.onnx'; do
        run --separate-stderr timeout 20 polygraphy $command
        refused 'not a regular file'
    done
    run --separate-stderr timeout 20 polygraphy run model.onnx --onnxrt
    refused 'weights.data'
}
