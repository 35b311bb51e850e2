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
print(json.dumps([result["outcome"], result["answer"], result["cause"], steps]).replace(sys.argv[2], "FOLDER"))' "$1" "$2"
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
    logged "Resuming with the experiments in 'killed'"
    [ "$(essence killed.json killed)" = "$(essence at_once.json at_once)" ]
    find . -mindepth 1 -name '.*' -type f -delete # what is being written when SIGKILL comes nobody can take away
}

@test "after Ctrl-C it says what is known and how to go on, leaves a report and nothing running" {
    end_after 5 INT folder
    [ "$ended" -eq 130 ]
    grep -q 'Interrupted: the results so far are incomplete' said
    grep -q 'Resume with the same command' said
    grep -q 'Interrupted: the results so far are incomplete' folder/report.html
}

# An engine that is right as long as nobody changes it.
make_engine()
{
    cp "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" model.onnx
    script engine.sh <<'END'
polygraphy run "$1" --onnxrt --load-inputs "$2" --save-outputs "$3" --silent
END
    PATH=$(dirname "$POLYGRAPHY"):$PATH
    engine=(model.onnx --onnxrt --runner './engine.sh {model} {inputs:json} {outputs:json}' --builds 1 -o kept --json result.json)
}

@test "a session that came to its end begins anew, and an engine that breaks meanwhile is seen" {
    make_engine
    run --separate-stderr polygraphy debug accuracy "${engine[@]}"
    [ "$status" -eq 0 ]
    [ "$(json_value 'it["outcome"]')" = nothing-fails ]
    touch -d @0 kept/steps/*/log.txt
    echo stale >kept/minimal.onnx
    run --separate-stderr polygraphy debug accuracy "${engine[@]}"
    [ "$status" -eq 0 ]
    logged "are repeated; --resume reuses them where possible"
    not_logged 'from an earlier session;'
    [ -z "$(find kept/steps -name log.txt ! -newermt @1000)" ]
    [ ! -e kept/minimal.onnx ]
    echo 'exit 7' | script engine.sh
    run --separate-stderr polygraphy debug accuracy "${engine[@]}" --resume
    [ "$status" -eq 1 ]
    [[ $stderr == *"--resume: './engine.sh' has changed since the experiments in 'kept' were run"* ]]
    run --separate-stderr polygraphy debug accuracy "${engine[@]}"
    [ "$status" -eq 1 ]
    logged "'./engine.sh' has changed since the experiments in 'kept' were run: all of them are repeated"
    [ "$(json_value 'it["outcome"]')" = no-cause ]
}

@test "what a runtime heeds of the environment is part of what was observed" {
    make_engine
    run --separate-stderr polygraphy debug accuracy "${engine[@]}"
    [ "$status" -eq 0 ]
    OMP_NUM_THREADS=3 run --separate-stderr polygraphy debug accuracy "${engine[@]}" --resume
    [ "$status" -eq 1 ]
    [[ $stderr == *'the processor or the environment have changed'* ]]
    touch -d @0 model.onnx # the same content
    run --separate-stderr polygraphy debug accuracy "${engine[@]}" --resume
    [ "$status" -eq 0 ]
    logged "Resuming with the experiments in 'kept'"
}

@test "a session that is resumed says what is older, and runs anew what the answer depends on" {
    run --separate-stderr polygraphy debug accuracy "${question[@]}" -o folder --json first.json
    [ "$status" -eq 0 ]
    touch -d @0 folder/steps/*/log.txt
    run --separate-stderr polygraphy debug accuracy "${question[@]}" -o folder --json result.json --resume
    [ "$status" -eq 0 ]
    logged '^\[W\]     [0-9]+ of [0-9]+ experiments are from an earlier session'
    [ "$(essence result.json folder)" = "$(essence first.json folder)" ]
    [ -n "$(find folder/steps -name log.txt ! -newermt @1000)" ]
    [ -z "$(find folder/steps/*-build folder/steps/*-minimal folder/steps/*-fixed -name log.txt ! -newermt @1000)" ]
}

@test "a model that is replaced while experiments run ends them" {
    make_engine
    cp "$POLYGRAPHY_ROOT/tests/models/attention_overflow.onnx" other.onnx
    echo 'x' >>other.onnx # read by nobody: the model is open already
    script engine.sh <<'END'
polygraphy run "$1" --onnxrt --load-inputs "$2" --save-outputs "$3" --silent
mv other.onnx model.onnx 2>/dev/null || :
END
    run --separate-stderr polygraphy debug accuracy "${engine[@]}"
    [ "$status" -eq 1 ]
    logged "'model.onnx' was modified while the experiments ran"
    not_logged 'Nothing fails|Cause: '
    [ "$(json_value 'it["outcome"]')" = no-cause ]
}
