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

# end_after STEPS SIGNAL FOLDER WORD...: asks the question, and sends the signal once so many steps are done. The exit status
# is then in $ended, and what was said in the file `said`.
end_after()
{
    local steps=$1 signal=$2 folder=$3 pid
    env --default-signal "$POLYGRAPHY" debug accuracy "${question[@]}" -o "$folder" "${@:4}" >said 2>&1 3>&- &
    pid=$!
    while kill -0 $pid && [ "$(find "$folder" -name done.json 2>/dev/null | wc -l)" -lt "$steps" ]; do
        sleep 0.01
    done
    ended=0
    kill -"$signal" $pid
    wait $pid || ended=$?
}

@test "killed several times, it comes to the same report, and nothing is left running" {
    run --separate-stderr polygraphy debug accuracy "${question[@]}" -o at_once --json at_once.json
    [ "$status" -eq 0 ]
    for steps in 3 8 15; do
        end_after $steps KILL killed --json killed.json
        [ "$ended" -eq 137 ]
    done
    run --separate-stderr polygraphy debug accuracy "${question[@]}" -o killed --json killed.json
    [ "$status" -eq 0 ]
    logged "Going on with what is kept in 'killed'"
    [ "$(essence killed.json killed)" = "$(essence at_once.json at_once)" ]
    find . -mindepth 1 -name '.*' -type f -delete # what is being written when SIGKILL comes nobody can take away
}

@test "after Ctrl-C it says what is known and how to go on, leaves a report and nothing running" {
    end_after 5 INT folder
    [ "$ended" -eq 130 ]
    grep -q 'Interrupted: this is what is known so far' said
    grep -q 'The same command goes on where it was' said
    grep -q 'Interrupted: this is what is known so far' folder/report.html
}
