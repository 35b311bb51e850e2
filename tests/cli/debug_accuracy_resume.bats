# debug_accuracy_resume.bats: debug accuracy ended in the middle goes on where it was, to the same report.

load debug_helper

bats_require_minimum_version 1.5.0

export POLYGRAPHY_TRT=builtin

question=("$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" --onnxrt --trt --fp16 --atol 0.5 --rtol 0.1
    --explored-builds 4)

# What does not depend on how long it took, nor on where it was.
essence()
{
    python3 -c 'import json, sys
result = json.load(open(sys.argv[1]))
steps = [(step["name"], step["outcome"]) for step in result["steps"]]
print(json.dumps([result["outcome"], result["verdict"], result["cause"], steps]).replace(sys.argv[2], "FOLDER"))' "$1" "$2"
}

@test "killed several times, it comes to the same report, and nothing is left running" {
    run --separate-stderr polygraphy debug accuracy "${question[@]}" -o at_once --json at_once.json
    [ "$status" -eq 0 ]
    for seconds in 0.8 1.1 1.6; do
        run timeout -s KILL "$seconds" "$POLYGRAPHY" debug accuracy "${question[@]}" -o killed \
            --json killed.json
        [ "$status" -eq 137 ] || [ "$status" -eq 0 ]
    done
    run --separate-stderr polygraphy debug accuracy "${question[@]}" -o killed --json killed.json
    [ "$status" -eq 0 ]
    logged "Going on with what is kept in 'killed'"
    [ "$(essence killed.json killed)" = "$(essence at_once.json at_once)" ]
    find . -name '.*.json.*' -delete # what is being written when SIGKILL comes nobody can take away
}

@test "after Ctrl-C it says what is known and how to go on, leaves a report and nothing running" {
    run --separate-stderr timeout -s INT 1 "$POLYGRAPHY" debug accuracy "${question[@]}" -o folder
    [ "$status" -ne 0 ]
    [[ $output$stderr == *'Interrupted: this is what is known so far'* ]]
    [[ $output$stderr == *'The same command goes on where it was'* ]]
    grep -q 'Interrupted: this is what is known so far' folder/report.html
}
