# debug_diff_tactics.bats: comparing the tactics of good and bad builds, as `inspect diff-tactics` or under its old name.

load debug_helper

golden=$POLYGRAPHY_ROOT/tests/golden

# Writes a tactic replay: `replay good/0.json conv=3 fc=5` takes tactic 3 for the layer conv and tactic 5 for fc.
replay()
{
    local path=$1 layer separator=''
    mkdir -p "$(dirname "$path")"
    {
        echo '{"replay": {'
        for layer in "${@:2}"; do
            echo "$separator\"${layer%=*}\": {\"implementation\": 1, \"tactic\": ${layer#*=}, \"inputs\": []," \
                '"outputs": [], "polygraphy_class": "Algorithm"}'
            separator=,
        done
        echo '}, "polygraphy_class": "TacticReplayData"}'
    } >"$path"
}

diff_tactics()
{
    run --separate-stderr polygraphy inspect diff-tactics "$@"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

# The part of the output that Polygraphy has: without the ranking and all that is indented below it.
compatible_output()
{
    sed '/^\[I\] Ranked by evidence/,/^\[I\] [FC]ou/{/^\[I\] [FC]ou/!d}' <<<"$output"
}

@test "the log is Polygraphy's, by either name" {
    cd "$golden/tactics"
    for tool in inspect debug; do
        run --separate-stderr polygraphy "$tool" diff-tactics
        [ "$status" -eq 0 ]
        diff <(compatible_output) <(grep -v 'Loading tactic replay' ../logs/diff_tactics.log)
    done
}

@test "-v shows the files as Polygraphy does, in order" {
    cd "$golden/tactics"
    diff_tactics --dir . -v
    diff <(compatible_output | sed 's/^\[V\] Loading/[I] Loading/' | sort) \
        <(grep -v 'Loading .*/$' ../logs/diff_tactics.log | sort)
    [ "$(sed -n 's/.*Loading tactic replay file from //p' <<<"$output" | tr '\n' ' ')" = \
        './good/0.json ./good/1.json ./good/2.json ./bad/0.json ./bad/1.json ' ]
}

@test "without bad builds there are exactly three lines" {
    replay replays/good/a.json conv=1
    replay replays/good/b.json conv=2
    for tool in debug inspect; do
        run --separate-stderr polygraphy "$tool" diff-tactics --dir replays
        [ "$status" -eq 0 ]
        [ "$output" = '[I] Loaded 2 good tactic replays.
[I] Loaded 0 bad tactic replays.
[I] Could not determine potentially bad tactics. Try generating more tactic replay files?' ]
    done
}

@test "without good builds all is potentially bad and nothing is ranked" {
    replay bad/a.json conv=1 fc=2
    diff_tactics
    [ "$(tail -n +3 <<<"$output")" = "[I] Found potentially bad tactics:
[I] Layer: conv
        Algorithms: ['(Implementation: 1, Tactic: 1) | Inputs: () | Outputs: ()']
[I] Layer: fc
        Algorithms: ['(Implementation: 1, Tactic: 2) | Inputs: () | Outputs: ()']" ]
}

@test "layers and algorithms come in the order in which bad builds have them" {
    replay bad/0.json z=9 a=1
    replay bad/1.json z=3 b=1
    replay good/0.json z=7
    diff_tactics
    [ "$(grep -oE '^\[I\] Layer: .|Tactic: [0-9]' <(compatible_output) | tr '\n' ' ')" = \
        '[I] Layer: z Tactic: 9 Tactic: 3 [I] Layer: a Tactic: 1 [I] Layer: b Tactic: 1 ' ]
}

@test "files that are no tactic replays are skipped with a verbose line" {
    replay bad/0.json conv=1
    replay good/0.json conv=2
    echo log >bad/build.log
    cp "$golden/debug_replay/repeat_3iters.json" bad/
    head -c 100000 /dev/zero >good/engine
    replay good/.hidden/1.json conv=1
    diff_tactics
    logged '^\[I\] Loaded 1 good tactic replays\.$'
    logged '^\[I\] Loaded 1 bad tactic replays\.$'
    not_logged '^\[W\]'
    diff_tactics -v
    [ "$(grep -c '^\[V\] .* is not a valid tactic replay file, skipping\.$' <<<"$output")" -eq 3 ]
    logged "^    Provided JSON cannot be decoded into a TacticReplayData\. Note: 'bad/repeat_3iters\.json'"
    rm -r good/.hidden
}

@test "folders within folders are searched, and brackets in names are no pattern" {
    replay 'run[1]/good/x/y/0.json' conv=1
    replay 'run[1]/bad/*/0.json' conv=2
    diff_tactics --dir 'run[1]'
    logged '^\[I\] Loaded 1 good tactic replays\.$'
    logged '^\[I\] Loaded 1 bad tactic replays\.$'
    logged '^\[I\] Found potentially bad tactics:$'
}

@test "--good and --bad name folders or single files" {
    replay here/a.json conv=1
    replay there/b.json conv=2
    replay there/c.json conv=1
    diff_tactics --good here --bad there/b.json
    logged '^\[I\] Loaded 1 bad tactic replays\.$'
    logged 'Tactic: 2\)'
    diff_tactics --good there --bad here/a.json
    logged '^\[I\] Loaded 2 good tactic replays\.$'
    logged '^\[I\] Could not determine potentially bad tactics\. Try generating more tactic replay files\?$'
    run polygraphy inspect diff-tactics --good <(cat here/a.json) --bad there/b.json
    logged '^\[I\] Loaded 1 good tactic replays\.$'
}

@test "nothing to compare at all is a warning" {
    for tool in inspect debug; do
        run --separate-stderr polygraphy "$tool" diff-tactics --dir missing
        [ "$status" -eq 0 ]
        logged '^\[W\] No tactic replay was found'
        logged '^\[I\] Could not determine potentially bad tactics'
    done
    replay a.json conv=1
    diff_tactics --good a.json --bad missing.json
    logged "^\[W\] --bad: 'missing\.json' does not exist$"
    not_logged 'at all'
}

@test "one good build with the culprit clears it for Polygraphy, not for the ranking" {
    for i in 1 2 3 4 5 6; do
        replay "bad/$i.json" conv=1 fc=$((3 + i % 2))
        replay "good/$i.json" conv=2 fc=$((3 + i % 2))
    done
    diff_tactics
    logged '^\[I\] Found potentially bad tactics:$'
    replay good/unlucky.json conv=1 fc=3
    diff_tactics
    logged '^\[I\] Could not determine potentially bad tactics'
    logged '^\[I\]     1\. Probability: 9[0-9.]+ % \| Bad: 6 of 7 builds with it, 0 of 6 without$'
    grep -A1 '1\. Probability' <<<"$output" | grep -q '^ *Layer: conv$'
}

@test "tactics that always occurred together are one suspect" {
    replay bad/0.json a=1 b=1 c=1
    replay bad/1.json a=1 b=1 c=2
    replay good/0.json a=2 b=2 c=1
    replay good/1.json a=2 b=2 c=1
    diff_tactics
    logged '^ *2 tactics that always occurred together and cannot be distinguished:$'
    [ "$(sed -n '/1\. Prob/,/Difference/p' <<<"$output" | grep -oE 'Layer: .' | tr '\n' ' ')" = 'Layer: a Layer: b ' ]
}

@test "layers that never varied are counted" {
    replay bad/0.json a=1 b=1 c=1
    replay good/0.json a=2 b=1 c=1
    diff_tactics
    logged '^\[I\] Ranked by evidence: 1 bad and 1 good build\(s\), 2 tactic\(s\) that vary$'
    logged '^\[I\]     2 of 3 layer\(s\) have the same tactic in all builds'
}

@test "without any difference the ranking says so" {
    replay bad/0.json a=1
    replay good/0.json a=1
    diff_tactics
    logged '^\[I\]     1 of 1 layer\(s\) have the same tactic in all builds'
    logged '^\[I\]     No tactic occurred more often in bad builds than in good ones\.$'
    not_logged 'Probability'
}

@test "weak suspects and long lists are cut short unless -v is given" {
    replay bad/0.json l{1..12}=1 x=1 y=1
    replay bad/1.json l{1..12}=2 x=1 y=2
    replay bad/2.json l{1..12}=2 x=1 y=1
    for i in $(seq 12); do
        replay "good/$i.json" l{1..12}=2 x=2 y=$((i % 2))
    done
    diff_tactics
    logged '^\[I\]     2 more, the likeliest at 0\.[0-9] %; -v shows them\.$'
    logged '^           2 more; -v shows them\.$'
    diff_tactics -v
    logged '^\[V\]     4\. Probability: 0\.'
    not_logged '-v shows them'
}

# A kernel that is at fault in all of three layers: `kernels bad/0.json abc d` has it in the first three, not in the last.
kernels()
{
    local layer letters=$2 separator=''
    mkdir -p "$(dirname "$1")"
    {
        echo '{"replay": {'
        for layer in a b c d; do
            local number=2 name=cpu:right
            [[ $letters != *$layer* ]] || number=1 name=cpu:wrong
            echo "$separator\"$layer\": {\"implementation\": $number, \"tactic\": $number, \"inputs\": []," \
                "\"outputs\": [], \"name\": \"$name plain\", \"polygraphy_class\": \"Algorithm\"}"
            separator=,
        done
        echo '}, "polygraphy_class": "TacticReplayData"}'
    } >"$1"
}

@test "a kernel that is at fault wherever it is used is one suspect, and the next command comes before the list" {
    local i=0 letters
    for letters in a b c abc bcd d ad; do
        kernels "bad/$((i += 1)).json" $letters
        kernels "good/$i.json" ''
    done
    diff_tactics --json result.json
    logged '^ *Kernel: cpu:wrong, in 4 layers:$'
    [ "$(sed -n '/Kernel: cpu:wrong/,/Difference/p' <<<"$output" | head -5 | tail -4 | tr -d ' \n')" = abcd ]
    logged '^            polygraphy debug tactics MODEL --good good/1\.json --bad bad/1\.json --check \.\.\.$'
    [ "$(grep -n 'debug tactics MODEL' <<<"$output" | cut -d: -f1)" -lt \
        "$(grep -n 'Found potentially bad' <<<"$output" | cut -d: -f1)" ]
    python3 - <<'END'
import json
ranking = json.load(open("result.json"))["ranking"]
first = ranking["suspects"][0]
assert first["probability"] > 0.9 and first["tactics"] == [], first
kernel = first["kernels"][0]
assert (kernel["kernel"], kernel["scope"], kernel["layers"]) == ("cpu:wrong", "implementation", ["a", "b", "c", "d"])
assert len(kernel["tactics"]) == 4 and kernel["tactics"][0]["algorithm"]["name"] == "cpu:wrong plain", kernel
assert ranking["varying_kernels"] == 1, ranking
assert ranking["pair"]["bad"].endswith("bad/1.json"), ranking["pair"]
END
}

@test "the list of what only bad builds have ends after ten layers unless -v is given" {
    replay bad/0.json l{1..12}=1
    diff_tactics
    [ "$(grep -c '^\[I\] Layer: ' <<<"$output")" -eq 10 ]
    logged '^\[I\] And 2 more layer\(s\); -v shows them\.$'
    diff_tactics -v
    [ "$(grep -c '^\[.\] Layer: ' <<<"$output")" -eq 12 ]
}

@test "--json writes what is shown, and every suspect" {
    cd "$golden/tactics_noisy"
    diff_tactics --json "$BATS_TEST_TMPDIR/result.json"
    cd - >/dev/null
    run cat "$BATS_TEST_TMPDIR/result.json"
    [ "$(grep -c '^        "bad/[0-9]*.json",\?$' <<<"$output")" -eq 8 ]
    logged '^    "only_in_bad": \[\],$'
    [ "$(grep -c '"probability"' <<<"$output")" -eq 3 ]
    logged '^                "bad_with": 6,$'
    logged '^                "good_with": 1,$'
    logged '"name": "jit_wino_4x3"'
    logged '^        "fixed_layers": 1,$'
    logged '^        "more_builds": 7,$'
}

@test "--json of builds of one kind has no ranking" {
    replay bad/0.json a=1
    diff_tactics --json result.json
    grep -qx '    "ranking": null' result.json
    grep -qx '            "layer": "a",' result.json
}

@test "a result that cannot be written is one clear error" {
    touch file
    run --separate-stderr polygraphy inspect diff-tactics --json file/result.json
    refused "'file"
}

@test "replays that debug repeat has sorted can be compared" {
    replay 1.json conv=1 fc=1
    replay 2.json conv=2 fc=1
    script build.sh <<<'cp $((POLYGRAPHY_ITERATION % 2 + 1)).json replay.json; exit $((POLYGRAPHY_ITERATION % 2))'
    polygraphy debug repeat --until 6 --art-dir replays --artifacts replay.json --check ./build.sh
    diff_tactics --dir replays
    logged '^\[I\] Loaded 3 good tactic replays\.$'
    logged 'Tactic: 2\)'
}

@test "the page about it shows what the program shows" {
    cd "$golden"
    run polygraphy inspect diff-tactics --dir tactics_noisy
    diff <(sed -n '/^\$ polygraphy inspect diff-tactics --dir tactics_noisy$/,/^```$/p' \
        "$POLYGRAPHY_ROOT/docs/diff-tactics.md" | sed '1d;$d') <(echo "$output")
}
