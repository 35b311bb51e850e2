# debug_json.bats: --json of the debug tools: a result must have a place to go to before hours are spent on it.

load debug_helper

export POLYGRAPHY_TRT=builtin
identity=$POLYGRAPHY_ROOT/tests/models/identity.onnx

# Whether the tool refuses a folder that cannot be there, and no check has run by then.
refuses_before_any_check()
{
    : >file
    run --separate-stderr polygraphy debug "$@" --json file/result.json --check sh -c 'touch checked'
    refused "--json: "
    [[ $stderr == *file* ]]
    [ ! -e checked ]
}

@test "repeat says at once that its result cannot be saved" {
    refuses_before_any_check repeat --until 3
    [ "$(ls)" = file ]
}

@test "reduce says so before the model is loaded" {
    refuses_before_any_check reduce "$identity" -o reduced.onnx
    not_logged 'Loading model'
    [ "$(ls)" = file ]
}

@test "build says so before anything is built" {
    refuses_before_any_check build "$identity" --until 3
    not_logged 'Loading model'
    [ "$(ls)" = file ]
}

@test "precision says so before anything is built" {
    refuses_before_any_check precision "$identity" --fp16
    not_logged 'Loading model'
    [ "$(ls)" = file ]
}

@test "tactics says so before the replays are read" {
    refuses_before_any_check tactics "$identity" --good good.json --bad bad.json
    [ "$(ls)" = file ]
}

@test "an older result stays when a session ends in an error, and is replaced by a new one" {
    echo old >result.json
    run --separate-stderr polygraphy debug reduce missing.onnx -o reduced.onnx --json result.json --check true
    refused missing.onnx
    [ "$(cat result.json)" = old ]
    [ "$(ls)" = result.json ]
    repeat --until 2 --json result.json --check sh -c 'test "$(cat re*.json)" = old'
    worked
    [ "$(json_value 'it["version"], it["tool"], it["passed"], it["failed"]')" = "(2, 'debug repeat', 2, 0)" ]
}

@test "a session that is interrupted leaves no result" {
    repeat --until 3 --json result.json --check sh -c 'kill -INT $PPID; sleep 60'
    [ "$status" -ne 0 ]
    [ ! -e result.json ]
}
