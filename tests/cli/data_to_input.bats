# data_to_input.bats: inputs and outputs merged into input data.

load debug_helper

golden=$POLYGRAPHY_ROOT/tests/golden

arrays()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" "$@"
}

# The arrays in a file of feed dicts: "iteration name values", one to a line.
show()
{
    /usr/bin/python3 -c 'import base64, io, json, numpy, sys
for i, feed in enumerate(json.load(open(sys.argv[1]))):
    for name, array in feed.items():
        print(i, name, numpy.load(io.BytesIO(base64.b64decode(array["array"]))).tolist())' "$1"
}

@test "each iteration keeps its own data" { # Polygraphy writes the last iteration in place of each
    cp "$golden/inputs/run_save_inputs_2iters.json" "$golden/run/run_layerwise_mark_all.json" .
    run --separate-stderr polygraphy data to-input run_save_inputs_2iters.json run_layerwise_mark_all.json \
        -o to_input_merged.json
    [ "$status" -eq 0 ]
    [ "$output" = '[I] Saving input file containing 2 iteration(s) to to_input_merged.json' ]
    cmp to_input_merged.json "$golden/inputs/to_input_merged.correct.json"
}

@test "of arrays with one name the later one counts" {
    arrays feeds a.json '[{"x": f32([1]), "y": f32([2])}]'
    arrays results b.json '[("A", [{"y": f32([3])}]), ("B", [{"y": f32([4]), "z": f32([5])}])]'
    run --separate-stderr polygraphy data to-input a.json b.json -o merged.json
    [ "$status" -eq 0 ]
    [ "$(show merged.json)" = '0 x [1.0]
0 y [4.0]
0 z [5.0]' ]
}

@test "different numbers of iterations are mentioned" {
    arrays feeds a.json '[{"x": f32([1])}, {"x": f32([2])}]'
    arrays feeds b.json '[{"y": f32([3])}]'
    run --separate-stderr polygraphy data to-input a.json b.json -o merged.json
    [ "$status" -eq 0 ]
    logged "^\\[W\\] 'b.json' has 1 iteration\\(s\\), what came before it 2"
    [ "$(show merged.json)" = '0 x [1.0]
0 y [3.0]
1 x [2.0]' ]
}

@test "what it makes can be loaded" {
    run --separate-stderr polygraphy data to-input "$golden/run/run_layerwise_mark_all.json" \
        "$golden/inputs/run_save_inputs_2iters.json" -o in.json
    [ "$status" -eq 0 ]
    run --separate-stderr polygraphy run "$POLYGRAPHY_ROOT/tests/models/reducable.onnx" --onnxrt --load-inputs in.json
    [ "$status" -eq 0 ]
}

@test "without an output file, or with a file of another kind, nothing is written" {
    run --separate-stderr polygraphy data to-input a.json
    [ "$status" -eq 2 ]
    run --separate-stderr polygraphy data to-input missing.json -o out.json
    refused missing.json
    [ ! -e out.json ]
}
