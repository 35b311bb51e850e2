# inspect_tactics.bats: showing a tactic replay.

load debug_helper

@test "the log is Polygraphy's" {
    cd "$POLYGRAPHY_ROOT/tests/golden/tactics"
    run --separate-stderr polygraphy inspect tactics bad/0.json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    diff <(echo "$output") ../logs/inspect_tactics_bad0.log
}

@test "a tactic's name is shown below its numbers" {
    cat >replay.json <<<'{"replay": {"conv": {"implementation": 1, "tactic": -2, "inputs": [], "outputs": [],
        "name": "jit:avx2", "polygraphy_class": "Algorithm"}}, "polygraphy_class": "TacticReplayData"}'
    run polygraphy inspect tactics replay.json
    [ "$status" -eq 0 ]
    [ "$(tail -n +2 <<<"$output")" = "[I] Layer: conv
        Algorithm: (Implementation: 1, Tactic: -2) | Inputs: () | Outputs: ()
        Name: jit:avx2" ]
}

@test "the options for precision that a replay holds are shown below its layers" {
    cat >replay.json <<<'{"replay": {"conv": {"implementation": 1, "tactic": -2, "inputs": [], "outputs": [],
        "polygraphy_class": "Algorithm"}}, "precision": ["--fp16", "--layer-precisions conv:float32"],
        "polygraphy_class": "TacticReplayData"}'
    run polygraphy inspect tactics replay.json
    [ "$status" -eq 0 ]
    [ "$(tail -n 1 <<<"$output")" = '[I] Built with --fp16 --layer-precisions conv:float32' ]
    sed -i 's/"precision": [^]]*/"precision": [/' replay.json
    run polygraphy inspect tactics replay.json
    [ "$(tail -n 1 <<<"$output")" = '[I] Built with no option for precision' ]
}

@test "a replay without layers is no error" {
    echo '{"replay": {}, "polygraphy_class": "TacticReplayData"}' >replay.json
    run polygraphy inspect tactics replay.json
    [ "$status" -eq 0 ]
    logged 'contains no layers'
}

@test "a replay may come through a pipe" {
    run polygraphy inspect tactics <(cat "$POLYGRAPHY_ROOT/tests/golden/tactics/good/1.json")
    [ "$status" -eq 0 ]
    logged '^\[I\] Layer: conv1 \+ relu1$'
}

@test "what is no tactic replay is one clear error" {
    run --separate-stderr polygraphy inspect tactics "$POLYGRAPHY_ROOT/tests/golden/debug_replay/repeat_3iters.json"
    refused 'Provided JSON cannot be decoded into a TacticReplayData.'
    run --separate-stderr polygraphy inspect tactics "$POLYGRAPHY_ROOT/tests/golden/npy/rank14.npy"
    refused "rank14.npy': byte 0, line 1: '[' or '{' expected"
    head -c 1000 "$POLYGRAPHY_ROOT/tests/golden/tactics/bad/0.json" >torn.json
    run --separate-stderr polygraphy inspect tactics torn.json
    refused "'torn.json': byte"
    run --separate-stderr polygraphy inspect tactics missing.json
    refused "'missing.json'"
    run polygraphy inspect tactics
    [ "$status" -eq 2 ]
}

@test "the JSON twin lists the layers in order" {
    run polygraphy inspect tactics "$POLYGRAPHY_ROOT/tests/golden/tactics/bad/0.json" --json twin.json
    [ "$status" -eq 0 ]
    [ "$(grep -c '"layer"' twin.json)" -eq "$(grep -c 'Layer: ' <<<"$output")" ]
    [ "$(grep -c '"tactic"' twin.json)" -eq "$(grep -c 'Layer: ' <<<"$output")" ]
}
