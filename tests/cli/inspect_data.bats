# inspect_data.bats: what `inspect data` shows of files with results and inputs, and its JSON.

load debug_helper

golden=$POLYGRAPHY_ROOT/tests/golden

inspect()
{
    run --separate-stderr polygraphy inspect data "$@"
    [ "$status" -eq 0 ] && [ -z "$stderr" ] || {
        echo "status $status; $stderr; $output"
        return 1
    }
}

arrays()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" "$@"
}

# An expression of Python over the file's content, `d`.
json()
{
    /usr/bin/python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

@test "results and inputs are shown as Polygraphy shows them" {
    inspect "$golden/run/run_save_outputs_2runners_2iters.json" --all --show-values --histogram
    diff <(echo "$output") "$golden/logs/inspect_data_outputs.log"
    inspect "$golden/inputs/run_save_inputs_2iters.json" --show-values
    diff <(echo "$output") "$golden/logs/inspect_data_inputs.log"
}

# Polygraphy computes means in float32, and magnitudes and percentiles of integers in their own type, where they overflow.
without_means()
{
    sed -E 's/(mean|std-dev|var|avg-magnitude)=[^,]*/\1=?/g; /dtype=int/s/(p9[059])=[^,]*/\1=?/g' "$@"
}

@test "every type is shown as Polygraphy shows it, but for means that overflow" {
    inspect "$golden/run/all_dtypes_2runners_2iters.json" -s
    diff <(without_means <<<"$output") <(without_means "$golden/logs/inspect_data_all_dtypes.log")
    logged '^    f64 .* mean=3\.3333e\+299, '
    logged '^    i8 .* avg-magnitude=85, '
    logged '^    i16 .* p90=26214, '
}

@test "a bare feed dict is one iteration" {
    inspect "$golden/inputs/bare_feed_dict.json"
    logged '^\[I\] ==== Data \(1 iterations\) ====$'
}

@test "long dimensions are abbreviated as wanted" {
    arrays feeds in.json '[{"x": arange(2000)}]'
    inspect in.json -s
    logged '^        \[   0    1    2 \.\.\. 1997 1998 1999\]$'
    inspect in.json -s -n 1
    logged '^        \[   0 \.\.\. 1999\]$'
    inspect in.json -s -n -1 --line-width -1
    logged '^        \[   0    1    2    3 .* 1000 1001 .* 1998 1999\]$'
    run --separate-stderr polygraphy inspect data in.json -n -2
    refused '--num-items'
}

@test "what has no statistics has none" {
    arrays feeds in.json '[{"s": array(["a", "bc"])}]'
    inspect in.json -s --histogram --json d.json
    logged '^    s \[dtype=string, shape=\(2,\)\]$'
    logged "^        \\['a' 'bc'\\]$"
    [ "$(json d.json 'd["iterations"][0][0]')" = \
        "{'name': 's', 'dtype': 'string', 'shape': [2], 'values': ['a', 'bc']}" ]
}

@test "the JSON holds what is shown" {
    arrays results out.json '[("A", [{"y": f32([[1, nan]])}, {"y": f32([[3, 5]])}]), ("B", [])]'
    inspect out.json --json d.json
    [ "$(json d.json '[(r["name"], r["iteration_count"], len(r["iterations"])) for r in d["runners"]]')" = \
        "[('A', 2, 1), ('B', 0, 0)]" ]
    [ "$(json d.json '"values" in d["runners"][0]["iterations"][0][0]')" = False ]
    inspect out.json --all -s --histogram --json d.json
    [ "$(json d.json 'd["runners"][0]["iterations"][1][0]["statistics"]["mean"]')" = 4.0 ]
    [ "$(json d.json 'd["runners"][0]["iterations"][1][0]["values"]')" = '[3.0, 5.0]' ]
    [ "$(json d.json 'sum(bin["count"] for bin in d["runners"][0]["iterations"][1][0]["histogram"])')" = 2 ]
}

@test "a file of another kind is refused" {
    echo '{"lst": 1' >torn.json
    run --separate-stderr polygraphy inspect data torn.json
    refused torn.json
    run --separate-stderr polygraphy inspect data missing.json
    refused missing.json
    run --separate-stderr polygraphy inspect data "$golden/debug_replay/repeat_3iters.json"
    refused repeat_3iters.json
}

@test "what may have no end is refused by all that reads data, and a pipe of the shell is read" {
    arrays results out.json '[("A", [{"y": f32([[1, 2]])}])]'
    mkfifo pipe
    local command file
    for command in 'inspect data' 'inspect tactics' 'data to-input -o new.json' \
        "run $POLYGRAPHY_ROOT/tests/models/identity.onnx --onnxrt --load-inputs" \
        "run $POLYGRAPHY_ROOT/tests/models/identity.onnx --onnxrt --load-outputs"; do
        for file in pipe /dev/zero; do
            run --separate-stderr timeout 20 "$POLYGRAPHY" $command $file
            [ "$status" -eq 1 ]
            [[ $stderr == *"'$file' is a "* ]]
        done
    done
    polygraphy inspect data <(cat out.json)
    polygraphy inspect data /dev/stdin < <(cat out.json)
}
