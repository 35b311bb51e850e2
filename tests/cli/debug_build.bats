# debug_build.bats: building an engine again and again, and finding the tactic that spoils some of the builds.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
export POLYGRAPHY_TRT=builtin

setup_file()
{
    file_requires_onnxruntime || return 0
}

build()
{
    run --separate-stderr polygraphy debug build "$@"
}

tactics()
{
    run --separate-stderr polygraphy debug tactics "$@"
}

files_in()
{
    find "$@" -type f 2>/dev/null | wc -l
}

# ---- The guides' commands ----

@test "flaky tactics: the guide's three commands" {
    cp "$models/identity.onnx" .
    polygraphy run identity.onnx --onnxrt --save-outputs golden.json
    polygraphy debug build identity.onnx --fp16 --save-tactics replay.json --artifacts-dir replays --artifacts replay.json --until=2 --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json
    run polygraphy debug diff-tactics --dir replays
    [ "$status" -eq 0 ]
    diff - <(echo "$output") <<'END'
[I] Loaded 2 good tactic replays.
[I] Loaded 0 bad tactic replays.
[I] Could not determine potentially bad tactics. Try generating more tactic replay files?
END
    [ "$(files_in replays/good)" -eq 2 ]
    [ "$(ls)" = "$(printf 'golden.json\nidentity.onnx\nreplays')" ]
}

@test "build: the guide's commands" {
    cp "$models/identity.onnx" model.onnx
    printf 'p\nf\n' | polygraphy debug build model.onnx --until bad --save-tactics tactics.json --artifacts tactics.json
    [ "$(files_in polygraphy_artifacts/good)" -eq 1 ]
    [ "$(files_in polygraphy_artifacts/bad)" -eq 1 ]
    rm -r polygraphy_artifacts
    polygraphy debug build model.onnx --until 5 --check "polygraphy run polygraphy_debug.engine --trt" --artifacts polygraphy_debug.engine
    [ "$(files_in polygraphy_artifacts/good)" -eq 5 ]
    printf 'import sys\nsys.exit(1)\n' >check_model.py
    polygraphy debug build model.onnx --until bad --check "python3 check_model.py"
    mkdir debug_session
    cd debug_session
    polygraphy debug build ../model.onnx --until 10 --save-tactics tactics.json --artifacts tactics.json polygraphy_debug.engine --art-dir ./sorted_artifacts < <(yes p)
    [ "$(files_in sorted_artifacts/good)" -eq 20 ]
    [ "$(ls)" = sorted_artifacts ]
}

# ---- The loop ----

@test "every iteration writes engine, tactics and layer information before its check" {
    build "$models/identity.onnx" --until 2 --save-tactics t.json --save-layer-info l.json --check \
        sh -c 'test -s polygraphy_debug.engine && test -s t.json && test -s l.json && echo "$POLYGRAPHY_ITERATION $POLYGRAPHY_ARTIFACT" >>seen'
    [ "$status" -eq 0 ]
    diff seen - <<'END'
0 polygraphy_debug.engine
1 polygraphy_debug.engine
END
    [[ "$(polygraphy inspect model l.json)" = *"1 Layer(s)"* ]]
    logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 2/2'
    [ ! -e polygraphy_debug.engine ]
}

@test "a build that fails is a failed iteration, and the next one begins" {
    export POLYGRAPHY_TEST_PLUGIN='failing run'
    build "$models/convolutions.onnx" --until 2 --val-range [0,1] --tactic-sources misbehaving \
        --plugins "$POLYGRAPHY_TEST_PROGRAMS/plugins/misbehaving.so" --trt-opt-shapes x:[1,3,12,11] --check false
    [ "$status" -eq 0 ]
    [ "$(grep -c '^\[W\].*Failed to create network or engine, continuing to the next iteration\.$' <<<"$output")" -eq 2 ]
    not_logged 'Running check command'
    logged '^\[I\] Finished 2 iteration\(s\) \| Passed: 0/2'
}

@test "when only a good engine ends the session, builds that all fail alike do, too" {
    export POLYGRAPHY_TEST_PLUGIN='failing run'
    local options=(--val-range [0,1] --tactic-sources misbehaving --trt-opt-shapes x:[1,3,12,11]
        --plugins "$POLYGRAPHY_TEST_PROGRAMS/plugins/misbehaving.so")
    build "$models/convolutions.onnx" "${options[@]}" --until good --check true
    refused 'no engine can be built: the first 5 builds all failed with the same error: '
    [ "$(grep -c 'continuing to the next iteration' <<<"$output")" -eq 4 ]
    build "$models/convolutions.onnx" "${options[@]}" --until 6 --check true
    [ "$status" -eq 0 ]
    logged 'Passed: 0/6'
}

@test "what stays behind is an engine, not what the check was shown instead of one" {
    build "$models/identity.onnx" --until 1 --artifacts none --no-remove-intermediate --check 'wc -c <polygraphy_debug.engine; exit 1'
    [ "$status" -eq 0 ]
    logged 'PASSED \| Control: a file that is not a valid engine'
    polygraphy inspect model polygraphy_debug.engine
    reduce "$models/identity.onnx" -o out.onnx --no-remove-intermediate --check 'polygraphy inspect model polygraphy_debug.onnx'
    [ "$status" -eq 1 ]
    logged '\| Control: a file that is not a valid model'
    polygraphy inspect model polygraphy_debug.onnx
}

@test "what no other build can get right ends the session" {
    build "$models/identity.onnx" --until good --fp16 --precision-constraints obey --layer-precisions nothing:float32 --check true
    [ "$status" -eq 1 ]
    [[ $stderr == *nothing* ]]
    build "$models/identity.onnx" --until good --explore --deterministic --check true
    [ "$status" -ne 0 ]
    build "$models/identity.onnx" --until good --explore-within 3 --check true
    [ "$status" -ne 0 ]
    build "$models/identity.onnx" --check true
    [ "$status" -eq 2 ]
    build "$models/missing.onnx" --until 1 --check true
    [ "$status" -eq 1 ]
}

@test "an engine is no model to build" {
    polygraphy convert "$models/identity.onnx" -o it.engine
    build it.engine --until 1 --check true
    [ "$status" -eq 1 ]
    [[ $stderr == *'is an engine'* ]]
}

@test "--exit-code tells whether an iteration failed" {
    build "$models/identity.onnx" --until 2 --exit-code --check sh -c 'exit $POLYGRAPHY_ITERATION'
    [ "$status" -eq 4 ]
    build "$models/identity.onnx" --until 2 --exit-code --check true
    [ "$status" -eq 0 ]
}

@test "a hundred builds leave no memory, file or process behind" {
    cat >check.sh <<'END'
#!/bin/sh
[ -d /proc/$PPID/fd ] || exit 0
echo "$(ls /proc/$PPID/fd | wc -l) $(ls /proc/$PPID/task | wc -l) $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$PPID/status)" >>seen
END
    chmod +x check.sh
    build "$models/convolutions.onnx" --trt-opt-shapes x:[1,3,12,11] --builder-optimization-level 0 --until 100 \
        --save-tactics t.json --check ./check.sh
    [ "$status" -eq 0 ]
    [ "$(ls -A | tr '\n' ' ')" = "check.sh seen t.json " ] || [ ! -e seen ]
    [ -e seen ] || skip "the system does not tell what a process has"
    local first last
    read -r -a first < <(sed -n 10p seen)
    read -r -a last < <(tail -1 seen)
    echo "${first[*]} and ${last[*]} of: files, threads, KB"
    [ $((last[0] - first[0])) -le 2 ] # some come and go
    [ $((last[1] - first[1])) -le 2 ]
    # A sanitizer keeps what was freed, and tells of leaks itself.
    grep -q __asan_init "$(command -v polygraphy)" || [ $((last[2] - first[2])) -lt 4096 ] # KB
}

# ---- The hunt ----

# A plug-in whose second tactic is wrong for 24 input channels: only conv3 has them.
hunt=(--plugins "$POLYGRAPHY_TEST_PROGRAMS/plugins/wrong_on_one_shape.so" --tactic-sources pointwise onnxrt)

check_against_golden=(--check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json --atol 1e-4
    "${hunt[@]:0:2}")

explore()
{
    cp "$models/pointwise_convolutions.onnx" model.onnx
    polygraphy run model.onnx --onnxrt --save-outputs golden.json
    explore_against_golden "$@"
}

explore_against_golden()
{
    build model.onnx "${hunt[@]}" --explore --explore-within 1000 --until "$1" --save-tactics replay.json \
        --artifacts replay.json --artifacts-dir replays "${@:2}" "${check_against_golden[@]}"
    [ "$status" -eq 0 ]
}

@test "--explore tells tactics apart, and diff-tactics names the culprit" {
    explore 24
    [ "$(files_in replays/bad)" -ge 2 ]
    [ "$(files_in replays/good)" -ge 2 ]
    run polygraphy debug diff-tactics --dir replays --json ranking.json
    [ "$status" -eq 0 ]
    python3 - <<'END'
import json
ranking = json.load(open("ranking.json"))["ranking"]
first = ranking["suspects"][0]
assert first["probability"] > 0.95, first
assert [tactic["layer"] for tactic in first["tactics"]] == ["conv3"], first
assert first["tactics"][0]["algorithm"]["name"] == "pointwise:hasty", first
END
}

@test "the same seed draws the same tactics, another one does not" {
    local seed
    cp "$models/pointwise_convolutions.onnx" model.onnx
    for seed in 7 7 8; do
        build model.onnx "${hunt[@]}" --explore --explore-within 100000 --until 1 --seed $seed --save-tactics replay.json \
            --artifacts replay.json --artifacts-dir "seed$((++count))" --check true
        [ "$status" -eq 0 ]
    done
    cmp seed1/good/* seed2/good/*
    run ! cmp seed1/good/* seed3/good/*
}

@test "debug tactics proves the culprit by building" {
    explore 12
    local good bad
    good=$(find replays/good -type f | sort | head -1)
    bad=$(find replays/bad -type f | sort | head -1)
    tactics model.onnx --good "$good" --bad "$bad" "${hunt[@]}" --json found.json --save-tactics mixture.json \
        --artifacts mixture.json --artifacts-dir mixtures "${check_against_golden[@]}"
    [ "$status" -eq 0 ]
    logged "Cause: the tactic of 'conv3'$"
    logged '^\[I\]     conv3  .*  pointwise:hasty \(Implementation: [0-9]+, Tactic: [0-9]+\)$'
    python3 - <<'END'
import json, math
found = json.load(open("found.json"))
assert found["outcome"] == "found" and found["necessary"], found
assert [tactic["layer"] for tactic in found["tactics"]] == ["conv3"], found
assert found["tactics"][0]["bad_name"] == "pointwise:hasty", found
assert found["builds"] <= math.ceil(math.log2(found["differing_layers"])) + 5, found
END
    logged 'Control: the (good|bad) replay, re-checked'
    # those of the replays themselves, of which one is built once more, are not kept: they are there already
    [ "$(files_in mixtures)" -eq $(($(grep -o '"builds": [0-9]*' found.json | tr -dc 0-9) - 3)) ]
}

@test "debug tactics checks several mixtures at a time where none is timed, and nothing else is different" {
    explore 12
    local good bad jobs
    good=$(find "$PWD/replays/good" -type f | sort | head -1)
    bad=$(find "$PWD/replays/bad" -type f | sort | head -1)
    tactics model.onnx --good "$good" --bad "$bad" "${hunt[@]}" -j 4 "${check_against_golden[@]}"
    refused '--jobs: parallel checks would distort the tactic timings'
    for jobs in 1 4; do
        mkdir "j$jobs"
        cp model.onnx golden.json "j$jobs"
        (cd "j$jobs" && polygraphy debug tactics model.onnx --good "$good" --bad "$bad" "${hunt[@]}" --deterministic -j $jobs \
            --json found.json "${check_against_golden[@]}" >log 2>&1) || {
            cat "j$jobs/log"
            return 1
        }
        sed -i -E 's/(Duration|Runtime:) [0-9.e-]+s/\1/; s/ -j [0-9]+ / /; s/; [0-9.]+ s\b//; s/[0-9.]+ ms\b//g; s/-N[0-9]-[^ ]*//g; s,/j[14]/,/,g' "j$jobs/log"
    done
    diff -r j1 j4
    grep "Cause: the tactic of 'conv3'$" j4/log
}

@test "debug tactics goes on where it was interrupted" {
    explore 12
    local good bad
    good=$(find replays/good -type f | sort | head -1)
    bad=$(find replays/bad -type f | sort | head -1)
    local command=(model.onnx --good "$good" --bad "$bad" "${hunt[@]}")
    tactics "${command[@]}" --check sh -c 'echo >>checks; polygraphy run polygraphy_debug.engine --trt \
        --load-outputs golden.json --atol 1e-4 '"${hunt[*]:0:2}"'; rc=$?; [ "$(wc -l <checks)" -lt 3 ] || kill $PPID; exit $rc'
    [ "$status" -ne 0 ]
    [ ! -e polygraphy_debug.engine ]
    [ "$(grep -c '"_good"\|"_bad"' polygraphy_debug_replay.json)" -eq 2 ]
    tactics "${command[@]}" --load-debug-replay polygraphy_debug_replay.json --force-debug-replay "${check_against_golden[@]}"
    [ "$status" -eq 0 ]
    [ "$(grep -c 'Loading iteration information from debug replay' <<<"$output")" -ge 2 ]
    logged "Cause: the tactic of 'conv3'$"
}

@test "tactics that a debug replay blames are checked once more, and are no answer if they do not fail" {
    explore 12
    local good bad
    good=$(find replays/good -type f | sort | head -1)
    bad=$(find replays/bad -type f | sort | head -1)
    local command=(model.onnx --good "$good" --bad "$bad" "${hunt[@]}")
    script check.sh <<<"exec ${check_against_golden[*]:1}"
    tactics "${command[@]}" --save-debug-replay replay.json --check ./check.sh
    [ "$status" -eq 0 ]
    tactics "${command[@]}" --load-debug-replay replay.json --check ./check.sh
    [ "$status" -eq 0 ]
    [ "$(grep -c 'Running check command' <<<"$output")" -eq 1 ]
    logged 'FAILED \| Check of the engine with the found tactics'
    logged "Cause: the tactic of 'conv3'$"
    script check.sh <<<': polygraphy_debug.engine'
    tactics "${command[@]}" --load-debug-replay replay.json --force-debug-replay --json found.json --check ./check.sh
    refused "the engine with the found tactics failed according to the debug replay 'replay.json'"
    not_logged 'Cause:'
    [ ! -s found.json ]
}

@test "debug tactics blames one kernel in many layers, and one of them where the others do no harm" {
    cp "$models/pointwise_convolutions.onnx" model.onnx
    polygraphy convert model.onnx -o it.engine "${hunt[@]}" --deterministic --save-tactics good.json
    polygraphy convert model.onnx -o it.engine "${hunt[@]}" --deterministic --save-tactics bad.json --exclude-tactics pointwise:careful
    local command=(model.onnx --good good.json --bad bad.json "${hunt[@]}" --deterministic --save-tactics mixture.json)
    tactics "${command[@]}" --json found.json --save-mended-tactics fixed.json --check sh -c '! grep -q hasty mixture.json'
    [ "$status" -eq 0 ]
    logged '^\[I\] Cause: kernel pointwise:hasty in 7 layers$'
    logged 'Fix: --exclude-tactics pointwise:hasty: '
    run ! grep hasty fixed.json
    polygraphy convert model.onnx -o it.engine "${hunt[@]}" --load-tactics fixed.json
    tactics "${command[@]}" --json one.json --save-mended-tactics former.json \
        --check python3 -c 'import json; assert "hasty" not in json.load(open("mixture.json"))["replay"]["conv3"]["name"]'
    [ "$status" -eq 0 ]
    logged 'The same kernel is correct in 6 other layer\(s\)$'
    [ -s former.json ] # by the option's former name, which help does not show
    polygraphy debug tactics --help-all >help.txt
    run ! grep -e --save-mended-tactics help.txt
    tactics "${command[@]}" --json three.json --check python3 -c 'import json; replay = json.load(open("mixture.json"))["replay"]
assert not any("hasty" in replay[f"conv{i}"]["name"] for i in (1, 2, 5))'
    [ "$status" -eq 0 ]
    logged '^\[I\] Cause: kernel pointwise:hasty in 3 layers$'
    logged 'The same kernel is correct in 4 other layer\(s\)$'
    python3 - <<'END'
import json
found, one, three = (json.load(open(name + ".json")) for name in ("found", "one", "three"))
layers = found["kernel"]["layers"]
assert found["kernel"]["proven"] and len(layers) == 7 and not found["necessary"], found["kernel"]
assert (found["exclude_tactics"], found["load_tactics"]) == ("pointwise:hasty", "fixed.json"), found
seen = [(build["replay"], len(build["exchanged"]), build["verdict"]) for build in found["builds_checked"]]
assert seen == [("good", 0, "passed"), ("bad", 0, "failed"), ("good", 1, "failed"), ("bad", 1, "failed"),
                *[("good", 1, "failed")] * 6, ("bad", 7, "passed")], seen
assert (found["good"], found["bad"]) == ("good.json", "bad.json")
assert one["necessary"] and one["kernel"]["proven"] and one["kernel"]["layers"] == ["conv3"], one["kernel"]
assert three["kernel"]["exact"] and three["kernel"]["layers"] == ["conv1", "conv2", "conv5"], three["kernel"]
assert len(three["kernel"]["harmless_layers"]) == 4, three["kernel"]
assert three["builds_checked"][-1] == {"replay": "bad", "exchanged": ["conv1", "conv2", "conv5"], "verdict": "passed"}, three["builds_checked"]
assert [tactic["layer"] for tactic in one["tactics"]] == ["conv3"], one["tactics"]
assert one["builds_checked"][3] == {"replay": "bad", "exchanged": ["conv3"], "verdict": "passed"}, one["builds_checked"]
assert (one["load_tactics"], three["load_tactics"]) == ("former.json", None), one["load_tactics"]
END
}

@test "debug tactics builds in the precision of the replays, and takes the two that differ least" {
    cp "$models/pointwise_convolutions.onnx" model.onnx
    polygraphy run model.onnx --trt --fp16 --tactic-sources onnxrt --save-outputs golden.json
    check_against_golden[8]=1e-2
    explore_against_golden 12 --fp16
    tactics model.onnx --dir replays "${hunt[@]}" --json found.json "${check_against_golden[@]}"
    [ "$status" -eq 0 ]
    logged "^\[I\] Of [0-9]+ pairs of replays, 'replays/good/replay.*_N[0-9]+\.json' and 'replays/bad/replay.*_N[0-9]+\.json' differ least$"
    logged '^\[I\] Building with the precision of the replays: --fp16$'
    logged 'Built 7 layers: 7 float16; '
    not_logged 'Built 7 layers: 7 float32'
    logged "Cause: the tactic of 'conv3'$"
    python3 - <<'END'
import glob, json
def tactics(path):
    return {name: (a["implementation"], a["tactic"]) for name, a in json.load(open(path))["replay"].items()}
good, bad = ([tactics(path) for path in glob.glob(f"replays/{kind}/*")] for kind in ("good", "bad"))
least = min(sum(g[name] != b[name] for name in g) for g in good for b in bad)
assert json.load(open("found.json"))["differing_layers"] == least, least
END
}

@test "debug tactics refuses options that contradict the replays, and replays that do not say" {
    cp "$models/pointwise_convolutions.onnx" model.onnx
    for seed in 1 2; do
        build model.onnx "${hunt[@]}" --fp16 --explore --explore-within 100000 --until 1 --seed $seed \
            --save-tactics replay.json --artifacts replay.json --artifacts-dir "seed$seed" --check true
    done
    mv seed1/good/* one.json
    mv seed2/good/* two.json
    local command=(model.onnx --good one.json --bad two.json "${hunt[@]}")
    tactics "${command[@]}" --bf16 --check true
    refused '--bf16 differs from the builds of the replays, which used --fp16'
    tactics "${command[@]}" --strongly-typed --check true
    refused '--strongly-typed differs from the builds of the replays'
    tactics "${command[@]}" --fp16 --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    [ "$status" -eq 0 ]
    rm -f polygraphy_debug_replay*
    for replay in one two; do
        sed -i '/^    "precision": \[$/,/^    \],$/d' $replay.json
    done
    tactics "${command[@]}" --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    refused "'one.json' does not record its precision, but has DataType.HALF tensors"
    tactics "${command[@]}" --fp16 --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    [ "$status" -eq 0 ]
    logged '^\[W\] The replays do not record their precision: building with --fp16$'
    tactics model.onnx --good one.json "${hunt[@]}" --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    [ "$status" -eq 1 ]
    [[ $stderr == *'no replays: pass --good and --bad'* ]]
}

@test "a build with the tactics of another precision says so" {
    polygraphy convert "$models/convolutions.onnx" -o x.engine --fp16 --save-tactics replay.json
    run -0 polygraphy convert "$models/convolutions.onnx" -o y.engine --load-tactics replay.json
    logged "^\[W\] The tactics in 'replay.json' are from a build with --fp16, and this one has no option for precision: results will differ$"
    run -0 polygraphy run "$models/convolutions.onnx" --trt --fp16 --load-tactics replay.json
    not_logged 'are those of a build with'
}

@test "debug tactics says when the replays do not differ, or not in the verdict" {
    cp "$models/pointwise_convolutions.onnx" model.onnx
    for seed in 1 2; do
        build model.onnx "${hunt[@]}" --explore --explore-within 100000 --until 1 --seed $seed --save-tactics replay.json \
            --artifacts replay.json --artifacts-dir "seed$seed" --check true
    done
    mv seed1/good/* one.json
    mv seed2/good/* two.json
    tactics model.onnx --good one.json --bad one.json "${hunt[@]}" --exit-code --check true
    [ "$status" -eq 4 ]
    logged 'The replays have the same tactics'
    rm -f polygraphy_debug_replay*
    tactics model.onnx --good one.json --bad two.json "${hunt[@]}" --exit-code --check '[ "$(wc -c <"$POLYGRAPHY_ARTIFACT")" -gt 200 ]'
    [ "$status" -eq 4 ]
    logged 'A build with the tactics of the bad replay passes'
    rm -f polygraphy_debug_replay*
    tactics model.onnx --good one.json --bad two.json "${hunt[@]}" --exit-code --check 'wc -c <"$POLYGRAPHY_ARTIFACT"; exit 1'
    [ "$status" -eq 4 ]
    logged 'A build with the tactics of the good replay fails'
}

@test "debug tactics refuses what is no replay, and tactics that do not exist here" {
    cp "$models/pointwise_convolutions.onnx" model.onnx
    echo '{}' >empty.json
    tactics model.onnx --good empty.json --bad empty.json --check true
    [ "$status" -eq 1 ]
    tactics model.onnx --good nothing.json --bad nothing.json --check true
    [ "$status" -eq 1 ]
    for tactic in 1 2; do
        echo '{"replay": {"conv0": {"implementation": 1, "tactic": '$tactic', "inputs": [], "outputs": [],' \
            '"name": "nobody:nothing", "polygraphy_class": "Algorithm"}}, "polygraphy_class": "TacticReplayData"}' >$tactic.json
    done
    tactics model.onnx --good 1.json --bad 2.json --check true
    [ "$status" -eq 1 ]
    [[ $stderr == *conv0* ]]
    [[ $stderr == *nobody:nothing* ]]
}
