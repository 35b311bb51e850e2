# example_faulty_tactic.bats: a real hunt, with nothing injected: examples/faulty_tactic, from the model to the proof.

load debug_helper

export POLYGRAPHY_TRT=builtin
layer='context + context.act'
winograd=onednn:jit_wino_4x3

check=(--check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 2e-5 --rtol 1e-5)

files_in()
{
    find "$@" -type f 2>/dev/null | wc -l
}

# Names of tactics belong to a processor and a version of oneDNN: whether there is Winograd's algorithm is seen by
# forcing it.
has_winograd()
{
    echo '{"replay": {"'"$layer"'": {"implementation": 1, "tactic": 1, "inputs": [], "outputs": [],' \
        '"name": "onednn:jit_wino_4x3:avx512_core aBcd16b", "polygraphy_class": "Algorithm"}},' \
        '"polygraphy_class": "TacticReplayData"}' >forced.json
    polygraphy convert classifier.onnx -o forced.engine --builder-optimization-level 0 --load-tactics forced.json
}

make_model()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/examples/faulty_tactic/make_model.py" classifier.onnx 2>/dev/null ||
        skip "python3-onnx is not there"
    polygraphy run classifier.onnx --onnxrt --save-outputs golden.json || skip "ONNX Runtime is not there"
    has_winograd || skip "this version of oneDNN has no Winograd convolution for this processor"
}

# Which tactics are fast enough depends on the machine and on what else it does: builds go on until enough of them have failed.
explore()
{
    local seed
    for seed in $(seq 10); do
        polygraphy debug build classifier.onnx --explore --explore-within 6 --until 12 --seed $((100 * seed)) \
            --load-timing-cache times.json --save-timing-cache times.json \
            --save-tactics replay.json --artifacts replay.json --artifacts-dir replays "${check[@]}"
        [ "$(files_in replays/bad)" -lt 5 ] || [ "$(files_in replays/good)" -lt 10 ] || return 0
    done
}

@test "builds by lot, evidence and proof all lead to Winograd's algorithm" {
    make_model
    explore >log.txt

    polygraphy debug diff-tactics --dir replays --json ranking.json
    python3 - "$layer" "$winograd" <<'END'
import json, sys
first = json.load(open("ranking.json"))["ranking"]["suspects"][0]
assert first["probability"] > 0.95, first
assert [tactic["layer"] for tactic in first["tactics"]] == [sys.argv[1]], first
assert first["tactics"][0]["algorithm"]["name"].startswith(sys.argv[2]), first
END

    polygraphy debug tactics classifier.onnx --dir replays --json found.json "${check[@]}"
    python3 - "$layer" "$winograd" <<'END'
import json, sys
found = json.load(open("found.json"))
layers = 24
assert found["outcome"] == "found" and found["necessary"], found
assert [tactic["layer"] for tactic in found["tactics"]] == [sys.argv[1]], found
assert found["tactics"][0]["bad_name"].startswith(sys.argv[2]), found
assert found["builds"] < layers / 2, found # ends and controls among them; one build for each layer would be no search
END
}
