# debug_written.bats: what debug tools write is what a check has seen, byte for byte, in this session.

load debug_helper

check_nodes=$POLYGRAPHY_TEST_PROGRAMS/check_nodes

setup_file()
{
    file_requires_onnxruntime || return 0
}

simplify_models()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/simplify_models.py" "$@"
}

# Makes ./record.sh COMMAND..., which ends as the command does, and keeps what candidate that was in the file "verdicts".
record()
{
    export VERDICTS=$PWD/verdicts
    rm -f verdicts
    script record.sh <<'EOS'
content=$(sha256sum <"$POLYGRAPHY_ARTIFACT")
"$@"
code=$?
echo "${content%% *} $code" >>"$VERDICTS"
exit $code
EOS
}

# Whether the check has ended with this code on a candidate of the same bytes.
was_checked()
{
    local content
    content=$(sha256sum <"$1")
    grep -qx "${content%% *} $2" verdicts || {
        echo "no candidate was $1, with code $2: ${content%% *}"
        cat verdicts
        return 1
    }
}

# Reduces with that check; what is written is then gone.
written_was_checked()
{
    rm -f reduced*.onnx good.onnx verdicts
    reduce "$@"
    worked
    was_checked reduced.onnx 1 && [ ! -e good.onnx ] || was_checked good.onnx 0
}

fails_with()
{
    local nodes=()
    for node in "$@"; do nodes+=(--fail-node "$node"); done
    check=(--check "$PWD/record.sh" "$check_nodes" '{artifact}' "${nodes[@]}")
}

# ---- What is written ----

@test "searches of every kind write a model that failed and one that passed" {
    reduce_models make chain model.onnx
    record
    fails_with n2 n5
    for mode in bisect linear minimal; do
        for jobs in 1 3; do
            written_was_checked model.onnx -o reduced.onnx --min-good good.onnx --mode $mode -j $jobs "${check[@]}"
            was_checked good.onnx 0
        done
    done
    written_was_checked model.onnx -o reduced.onnx --mode minimal --flaky "${check[@]}"
    written_was_checked model.onnx -o reduced.onnx --mode bisect --flaky --no-reduce-inputs "${check[@]}"
    written_was_checked model.onnx -o reduced.onnx --min-good good.onnx --no-remove-intermediate "${check[@]}"
    cmp polygraphy_debug.onnx reduced.onnx
}

@test "so do searches in models that say nothing about their tensors" {
    reduce_models make bare_chain model.onnx
    record
    for nodes in n0 n1 n2 'n0 n1' 'n0 n1 n2'; do
        fails_with $nodes
        for mode in bisect linear minimal; do
            written_was_checked model.onnx -o reduced.onnx --min-good good.onnx --mode $mode "${check[@]}"
        done
    done
}

@test "what becomes known of types after the check is not in what is written" {
    reduce_models make bare_chain model.onnx
    script check.sh <<'EOS'
[ -e original ] || cp "$POLYGRAPHY_ARTIFACT" original
! cmp -s original "$POLYGRAPHY_ARTIFACT"
EOS
    for mode in bisect linear minimal; do
        reduce model.onnx -o reduced.onnx --mode $mode --check ./check.sh
        worked
        not_logged 'Check of the result'
        cmp original reduced.onnx
    done
}

@test "parts that fail independently of each other were checked each" {
    reduce_models make infinities model.onnx 2
    record
    rm -f verdicts
    reduce model.onnx -o reduced.onnx --mode minimal --all \
        --check "$PWD/record.sh" polygraphy run polygraphy_debug.onnx --onnxrt --validate
    worked
    was_checked reduced.onnx 1
    was_checked reduced_2.onnx 1
}

@test "a Constant that a branch brings along is gone before the check, not behind it" {
    simplify_models make constant_branches model.onnx
    record
    script constant.sh <<'EOS'
run=$(grep -ac Constant "$1")
[ "$run" -eq 0 ]
EOS
    written_was_checked model.onnx -o reduced.onnx --mode minimal --simplify bodies \
        --check ./record.sh ./constant.sh polygraphy_debug.onnx
    grep -qa Constant reduced.onnx
    written_was_checked model.onnx -o reduced.onnx --mode minimal --simplify bodies weights \
        --check ./record.sh polygraphy run polygraphy_debug.onnx --onnxrt --validate --val-range 'condition:[1,1]'
    run ! grep -a Constant reduced.onnx
}

@test "simplified models were checked as they are" {
    local validate=(./record.sh polygraphy run polygraphy_debug.onnx --onnxrt --validate)
    record
    simplify_models make convolutions model.onnx
    for kinds in weights attributes shapes 'weights attributes shapes'; do
        written_was_checked model.onnx -o reduced.onnx --no-reduce-inputs --simplify $kinds --check "${validate[@]}"
        not_logged 'Check of the'.*'simplified'
    done
    for model in loop branches function; do
        simplify_models make $model model.onnx
        written_was_checked model.onnx -o reduced.onnx --mode minimal --simplify --check "${validate[@]}"
    done
    written_was_checked model.onnx -o reduced.onnx --mode minimal --simplify --flaky --check "${validate[@]}"
    validate[3]='{artifact}'
    written_was_checked model.onnx -o reduced.onnx --mode minimal --simplify -j 3 --check "${validate[@]}"
}

@test "models with external data were checked as they are, and with the same data" {
    mkdir model
    reduce_models make external model/model.onnx weights.data
    reduce_models make weights model/weights.data
    record
    fails_with n3
    for option in '' --copy-weights; do
        written_was_checked model/model.onnx -o reduced.onnx --min-good good.onnx $option "${check[@]}"
        cmp weights.data model/weights.data
    done
}

@test "with --save-external-data only the file of the data has another name" {
    reduce_models make chain model.onnx -1 400
    script whole.sh <<'EOS'
/usr/bin/python3 -c 'import onnx, sys; onnx.save(onnx.load(sys.argv[1]), "whole.onnx")' "$1"
EOS
    script record.sh <<'EOS'
./whole.sh "$POLYGRAPHY_ARTIFACT" || exit 125
whole=$(sha256sum <whole.onnx)
"$@"
code=$?
echo "${whole%% *} $code" >>verdicts
exit $code
EOS
    reduce model.onnx -o reduced.onnx --save-external-data weights.bin --external-data-size-threshold 0 \
        --check ./record.sh "$check_nodes" polygraphy_debug.onnx --fail-node n3
    worked
    [ "$(stat -c %s weights.bin)" -eq 1600 ]
    ./whole.sh reduced.onnx
    was_checked whole.onnx 1
}

@test "a model in mixed precision was checked as it is" {
    record
    run --separate-stderr polygraphy debug precision "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" --emit onnx \
        --no-verify --mode linear --output-onnx mixed.onnx --check ./record.sh \
        sh -c 'polygraphy inspect model polygraphy_debug.onnx --show layers >layers; ! grep "stem_w \[dtype=float16" layers'
    worked
    was_checked mixed.onnx 0
}

@test "engines are sorted as they were checked" {
    record
    run --separate-stderr polygraphy debug build "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --until 4 \
        --artifacts polygraphy_debug.engine --check ./record.sh \
        sh -c ': polygraphy_debug.engine; exit $((POLYGRAPHY_ITERATION % 2))'
    worked
    for engine in polygraphy_artifacts/good/*; do was_checked "$engine" 0; done
    for engine in polygraphy_artifacts/bad/*; do was_checked "$engine" 1; done
}

# ---- What earlier sessions have said ----

# A check in a file, which can change its mind.
check_in_file()
{
    echo "$*" >decision # which the script reads, so that the script is the same
    script check.sh <<EOS
echo >>runs
exec "$check_nodes" "\$POLYGRAPHY_ARTIFACT" \$(cat decision)
EOS
}

@test "a result that a debug replay knows is checked once before it is written, and the others are not" {
    reduce_models make chain model.onnx
    check_in_file --fail-node n2 --fail-node n5
    for mode in bisect minimal; do
        reduce model.onnx -o first.onnx --mode $mode --save-debug-replay replay.json --check ./check.sh
        worked
        rm runs
        reduce model.onnx -o second.onnx --mode $mode --load-debug-replay replay.json --check ./check.sh
        worked
        [ "$(wc -l <runs)" -eq 1 ]
        logged 'FAILED \| Check of the result'
        cmp first.onnx second.onnx
    done
}

@test "a result that a debug replay knows, but the check does not confirm, is an error" {
    reduce_models make chain model.onnx
    for mode in bisect minimal; do
        check_in_file --fail-node n2 --fail-node n5
        reduce model.onnx -o first.onnx --mode $mode --save-debug-replay replay.json --check ./check.sh
        worked
        check_in_file --fail-node n2 --fail-node n6
        reduce model.onnx -o reduced.onnx --mode $mode --load-debug-replay replay.json --check ./check.sh
        refused "the result failed according to the debug replay 'replay.json', but passed when re-checked"
        [[ $stderr == *'without --load-debug-replay'*'use --flaky'* ]]
        not_logged '1-minimal|Reduced'
        [ ! -e reduced.onnx ]
    done
}

@test "an original that passes in a debug replay, and fails now, is an error" {
    reduce_models make chain model.onnx
    check_in_file --fail-node none
    reduce model.onnx --min-good good.onnx --save-debug-replay replay.json --exit-code --check ./check.sh
    [ "$status" -eq 4 ]
    check_in_file --fail-node n2
    reduce model.onnx --min-good good.onnx --load-debug-replay replay.json --check ./check.sh
    refused "the original model passed according to the debug replay 'replay.json', but failed when re-checked"
}

@test "a result that a verdict cache knows, but the check does not confirm, is an error" {
    reduce_models make chain model.onnx
    check_in_file --fail-node n2 --fail-node n5
    reduce model.onnx -o first.onnx --mode minimal --verdict-cache cache --check ./check.sh
    worked
    rm runs
    reduce model.onnx -o reduced.onnx --mode minimal --verdict-cache cache --check ./check.sh
    worked
    [ "$(wc -l <runs)" -eq 2 ] # on the original and on the result
    check_in_file --fail-node n0 --fail-node n2 --fail-node n5
    rm reduced.onnx
    reduce model.onnx -o reduced.onnx --mode minimal --verdict-cache cache --check ./check.sh
    refused "the result failed according to the verdict cache 'cache', but passed when re-checked"
    [[ $stderr == *'Delete that folder'*'use --flaky'* ]]
    not_logged '1-minimal|Reduced'
    [ ! -e reduced.onnx ]
}

@test "a simplified model that a debug replay knows is checked once, and not written if it does not fail" {
    simplify_models make one_that_matters model.onnx
    script check.sh <<'EOS'
echo >>runs
polygraphy run polygraphy_debug.onnx --onnxrt --save-outputs outputs.json >/dev/null || exit 2
/usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/simplify_models.py" weights polygraphy_debug.onnx >weights
[ ! -e changed ] || ! grep -q 'all 0' weights || exit 0
polygraphy inspect data outputs.json -s | grep -qE 'max=1[0-9]{3}' && exit 1
exit 0
EOS
    local command=(model.onnx --no-reduce-inputs --simplify weights --fail-code 1 --save-debug-replay replay.json)
    reduce "${command[@]}" -o first.onnx --check ./check.sh
    worked
    rm runs
    reduce "${command[@]}" -o second.onnx --load-debug-replay replay.json --check ./check.sh
    worked
    cmp first.onnx second.onnx
    logged 'FAILED \| Check of the simplified model'
    [ "$(wc -l <runs)" -eq 2 ] # on what was reduced, and on what was simplified
    touch changed
    reduce "${command[@]}" -o third.onnx --load-debug-replay replay.json --check ./check.sh
    refused "the simplified model failed according to the debug replay 'replay.json'"
    [ ! -e third.onnx ]
}

@test "layers that a debug replay says are enough are checked once more" {
    script check.sh <<'EOS'
echo >>runs
polygraphy inspect model polygraphy_debug.onnx --show layers >layers
! grep "stem_w \[dtype=$(cat type)" layers
EOS
    echo float16 >type
    local command=("$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" --emit onnx --no-verify --mode linear)
    run --separate-stderr polygraphy debug precision "${command[@]}" --save-debug-replay replay.json --check ./check.sh
    worked
    rm runs
    run --separate-stderr polygraphy debug precision "${command[@]}" --load-debug-replay replay.json --check ./check.sh
    worked
    [ "$(wc -l <runs)" -eq 1 ]
    echo >type
    run --separate-stderr polygraphy debug precision "${command[@]}" --load-debug-replay replay.json \
        --output-onnx mixed.onnx --check ./check.sh
    refused "the model with the found layers in higher precision passed according to the debug replay 'replay.json'"
    not_logged 'To achieve acceptable accuracy'
    [ ! -e mixed.onnx ]
}

@test "verdicts of a check whose script has changed are not reused" {
    reduce_models make chain model.onnx
    script check.sh <<END
echo >>runs
"$check_nodes" "\$1" --fail-node n2
END
    reduce model.onnx -o first.onnx --mode minimal --verdict-cache cache --save-debug-replay replay.json --check ./check.sh '{artifact}'
    worked
    rm runs
    touch -d @0 check.sh # is the same script
    reduce model.onnx -o again.onnx --mode minimal --verdict-cache cache --check ./check.sh '{artifact}'
    worked
    [ "$(wc -l <runs)" -eq 2 ]
    sed -i 's/n2/n5/' check.sh
    reduce model.onnx -o second.onnx --mode minimal --verdict-cache cache --check ./check.sh '{artifact}'
    worked
    logged "The model is 1-minimal"
    not_logged 'Found in the verdict cache'
    [ "$(polygraphy inspect model second.onnx --show layers | grep -c n5)" -ge 1 ]
    reduce model.onnx -o third.onnx --mode minimal --load-debug-replay replay.json --check ./check.sh '{artifact}'
    refused "debug replay 'replay.json' belongs to another check"
    reduce model.onnx -o third.onnx --mode minimal --load-debug-replay replay.json --check 'sh ./check.sh {artifact}'
    refused "debug replay 'replay.json' belongs to another check"
}
