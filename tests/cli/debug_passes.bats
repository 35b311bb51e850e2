# debug_passes.bats: which optimizers of ONNX Runtime make a model wrong.

load debug_helper

model=$POLYGRAPHY_ROOT/examples/optimizers/quantized_add.onnx

setup_file()
{
    file_requires_onnxruntime || return 0
}

passes()
{
    run --separate-stderr polygraphy debug passes "$@"
}

# A command that passes when all of these names are switched off.
without()
{
    local name script=
    for name in "$@"; do
        script+="case \";\$POLYGRAPHY_DISABLED;\" in *\";$name;\"*) ;; *) exit 1 ;; esac; "
    done
    echo "$script exit 0"
}

thirty=$(echo O{1..30})

@test "the optimizer is named, proven, and what it replaces is told" {
    passes "$model" --val-range [-5,5] --atol 0.01 --json result.json
    logged "One optimizer changes '$model': QDQSelectorActionTransformer$"
    logged "Cause: QDQSelectorActionTransformer$"
    logged "Seen: without it, and with all else, the check passes"
    logged "Seen: with QDQSelectorActionTransformer, and all else switched off, it fails"
    logged "With it instead: 'add' \(QLinearAdd\)"
    [ "$(json_value 'it["outcome"], it["off"], it["culprits"], it["minimal"], it["nodes_with"]')" = \
        "('found', ['QDQSelectorActionTransformer'], [['QDQSelectorActionTransformer']], True, [{'name': 'add', 'op_type': 'QLinearAdd'}])" ]
    [ ! -e polygraphy_debug.disabled ]
}

@test "what passes with nothing switched off, or fails with everything off, has no such cause" {
    passes "$model" --val-range [-5,5] --atol 1 --exit-code
    [ "$status" -eq 4 ]
    logged "With nothing switched off the check passes: there is nothing to look for"
    passes "$model" --decisions A B --json result.json --check false
    logged "With all of them switched off the check fails, too: the reason is not among them, or the check does not heed"
    [ "$(json_value 'it["outcome"]')" = all-off-fails ]
}

@test "one of thirty takes eight checks, two take sixteen, besides both ends and a last look" {
    local name
    for name in O1 O16 O30; do
        passes "$model" --decisions $thirty --check "$(without $name)"
        logged "Cause: $name$"
        [ "$(grep -c 'Running check command' <<<"$output")" -le 11 ]
    done
    passes "$model" --decisions $thirty --check "$(without O3 O17)" --json result.json
    logged "Cause: O3, O17$"
    logged "Seen: with any single one of them switched on again it fails"
    [ "$(grep -c 'Running check command' <<<"$output")" -le 19 ]
    [ "$(json_value 'sorted(it["culprits"])')" = "[['O17'], ['O3']]" ]
}

@test "what the check says nothing about is no verdict" {
    passes "$model" --decisions A B --check 'test -n "$POLYGRAPHY_DISABLED" || exit 125'
    [ "$status" -eq 1 ]
    [[ $stderr == *"the check says nothing about the model with nothing switched off, so there is nothing to go by"* ]]
    passes "$model" --decisions A B --exit-code --json result.json --check \
        'case "{disabled}" in "A;B") exit 0 ;; B) exit 125 ;; esac; exit 1'
    [ "$status" -eq 4 ]
    logged "Not decided: with what was found switched off, and with all else, the check says nothing"
    logged "Seen: with B, and all else switched off, it fails"
    [ "$(json_value 'it["outcome"]')" = undecided ]
}

@test "what is said of what is off in the end was seen of that, not of more" {
    # O1 cannot be on while O2 is off, but can be when O2 is on
    local passing='O3|O1;O3|O1;O2;O3|O2;O4|O1;O3;O4|O2;O3;O4|O1;O2;O3;O4'
    passes "$model" --decisions O1 O2 O3 O4 --json result.json --check "echo {disabled} | grep -qxE '$passing'"
    [ "$(json_value 'it["off"], it["minimal"]')" = "(['O3'], True)" ]
}

@test "of two that fail only together one is switched off" {
    passes "$model" --decisions $thirty --json result.json --check \
        'case ";{disabled};" in *";O4;"* | *";O20;"*) exit 0 ;; esac; exit 1'
    [ "$(json_value 'len(it["off"]), it["culprits"]')" = "(1, [['O4', 'O20']])" ]
}

@test "several checks at a time find the same, and a session goes on" {
    passes "$model" --decisions $thirty --check "$(without O11)" -j 4
    logged "Cause: O11$"
    passes "$model" --decisions $thirty --check "$(without O11)" --load-debug-replay polygraphy_debug_replay.json
    logged "Cause: O11$"
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 2 ]
}

@test "verdicts on other data do not count, and those of a debug replay are checked once more" {
    passes "$model" --val-range [-5,5] --atol 0.01
    passes "$model" --val-range [0,1] --atol 0.01 --load-debug-replay polygraphy_debug_replay.json
    [ "$status" -eq 1 ]
    [[ $stderr == *"belongs to another model, or to other options"* ]]
    printf '#!/bin/sh\n[ -n "$POLYGRAPHY_DISABLED" ]\n' >check
    chmod +x check
    passes "$model" --decisions A --check ./check
    echo exit 1 >>check
    passes "$model" --decisions A --load-debug-replay polygraphy_debug_replay.json --check ./check
    [ "$status" -eq 1 ]
    [[ $stderr == *"according to the debug replay"*"but now that it is checked, it fails"* ]]
}

@test "names that cannot be told apart, and a variable of the user's, are refused" {
    passes "$model" --decisions 'A;B' --check false
    [[ $stderr == *"--decisions: 'A;B' is no name and no KEY=VALUE"* ]]
    POLYGRAPHY_DISABLED=A passes "$model" --decisions B --check false
    [[ $stderr == *"POLYGRAPHY_DISABLED is set, which debug passes sets for its checks"* ]]
    passes "$model" --decisions A A --json result.json --check "$(without A)"
    [ "$(json_value 'it["decisions"]')" = "['A']" ]
}

@test "names that no optimizer has are doubted, and what is switched off elsewhere stays off" {
    run --separate-stderr polygraphy run "$model" --onnxrt --onnxrt-disable-optimizers ConstantFoldin
    logged "\[W\] 'ConstantFoldin' is no optimizer that is known .*; did you mean 'ConstantFolding'"
    POLYGRAPHY_DISABLED='ConstantFolding;session.disable_prepacking=1' run --separate-stderr polygraphy run "$model" --onnxrt
    logged "Switched off in ONNX Runtime by POLYGRAPHY_DISABLED: ConstantFolding;session.disable_prepacking=1"
    POLYGRAPHY_DISABLED='=1' run --separate-stderr polygraphy run "$model" --onnxrt
    [ "$status" -ne 0 ]
    [[ $stderr == *"POLYGRAPHY_DISABLED: '=1' is no name and no KEY=VALUE"* ]]
}
