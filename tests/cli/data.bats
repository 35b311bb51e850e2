# data.bats: `data merge` (the old `data to-input`) and `data concat`.

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
    run --separate-stderr polygraphy data merge a.json b.json -o merged.json
    [ "$status" -eq 0 ]
    [ "$(show merged.json)" = '0 x [1.0]
0 y [4.0]
0 z [5.0]' ]
}

@test "of the arrays those that are named are written, and a name that is not there is an error" {
    arrays feeds a.json '[{"x": f32([1]), "y": f32([2]), "z": f32([3])}, {"z": f32([6]), "y": f32([5]), "x": f32([4])}]'
    run --separate-stderr polygraphy data merge a.json -o part.json --only z x
    [ "$status" -eq 0 ]
    [ "$(show part.json)" = '0 z [3.0]
0 x [1.0]
1 z [6.0]
1 x [4.0]' ]
    run --separate-stderr polygraphy data merge a.json -o other.json --only w
    [ "$status" -eq 1 ]
    [[ $stderr == *"--only: no file contains an array 'w'"* ]]
    [ ! -e other.json ]
}

@test "different numbers of iterations are mentioned" {
    arrays feeds a.json '[{"x": f32([1])}, {"x": f32([2])}]'
    arrays feeds b.json '[{"y": f32([3])}]'
    run --separate-stderr polygraphy data merge a.json b.json -o merged.json
    [ "$status" -eq 0 ]
    logged "^\\[W\\] 'b.json' has 1 iteration\\(s\\), the files before it 2"
    [ "$(show merged.json)" = '0 x [1.0]
0 y [3.0]
1 x [2.0]' ]
}

@test "what it makes can be loaded" {
    run --separate-stderr polygraphy data merge "$golden/run/run_layerwise_mark_all.json" \
        "$golden/inputs/run_save_inputs_2iters.json" -o in.json
    [ "$status" -eq 0 ]
    run --separate-stderr polygraphy run "$POLYGRAPHY_ROOT/tests/models/reducable.onnx" --onnxrt --load-inputs in.json
    [ "$status" -eq 0 ]
}

@test "without an output file, or with a file of another kind, nothing is written" {
    run --separate-stderr polygraphy data merge a.json
    [ "$status" -eq 2 ]
    run --separate-stderr polygraphy data merge missing.json -o out.json
    refused missing.json
    [ ! -e out.json ]
}

@test "NumPy reads what is written for it, and what it writes is run" {
    /usr/bin/python3 -c 'import numpy as np
x, y = np.float32([[1, 2], [3, 4]]), np.float32([5, 6])
np.save("x.npy", np.asfortranarray(x)); np.savez_compressed("xy.npz", x=x, y=y.astype(">f4")); y.tofile("y:0.bin")
np.save("objects.npy", np.array([{}]))'
    polygraphy data merge x:x.npy "y:y:0.bin:float32:2" -o merged.npz
    polygraphy data merge xy.npz xy.npz -o folder/
    /usr/bin/python3 -c 'import numpy as np
a, b = np.load("merged.npz"), np.load("xy.npz")
assert sorted(a) == ["x", "y"] and all((a[k] == b[k]).all() for k in a), dict(a)
assert a.zip.testzip() is None
assert (np.load("folder/x.npy") == b["x"]).all() and (np.load("folder/y.npy") == b["y"]).all()'
    run polygraphy data merge merged.npz -o folder/
    [ "$status" -eq 1 ]
    [[ $output == *'is not empty'* ]]
    run polygraphy data merge folder/ -o folder/x.npy
    [ "$status" -eq 1 ]
    [[ $output == *'it would be lost'* ]]
    run polygraphy inspect data objects.npy
    [ "$status" -eq 1 ]
    [[ $output == *'Python objects'* ]]
}

@test "run takes data in all formats, and a list of numbers for its only input" {
    model=$POLYGRAPHY_ROOT/tests/models/reducable.onnx
    echo '{"X0": [2], "Y0": [0.5]}' >lists.json
    polygraphy data merge lists.json -o arrays/
    polygraphy run "$model" --onnxrt --load-inputs X0:arrays/X0.npy Y0:arrays/Y0.npy --save-inputs in.npz --save-outputs a.json
    polygraphy run "$model" --onnxrt --load-inputs lists.json --load-outputs a.json
    polygraphy data merge a.json -o golden.npz
    polygraphy run "$model" --onnxrt --load-inputs lists.json --load-outputs golden.npz
    data=/usr/share/libonnx-testdata/data/node/test_concat_2d_axis_0
    polygraphy run "$data/model.onnx" --onnxrt --load-inputs "$data" --load-outputs "$data/test_data_set_0"
    run polygraphy run "$model" --onnxrt --save-outputs a.npz
    [ "$status" -eq 1 ]
    [[ $output == *'cannot store runners and iterations'* ]]
    run polygraphy run "$model" --onnxrt --load-inputs arrays/X0.npy
    [ "$status" -eq 1 ]
    [[ $output == *"'Y0' (dtype=float32, shape=(1,)) is not among the loaded data; iteration 0 contains ['X0']"*INPUT:FILE* ]]
    /usr/bin/python3 -c 'import numpy as np; a = np.load("in.npz"); assert a["X0"] == 2 and a["Y0"] == 0.5'
    echo '[0.5, 1e39]' >list.json
    run polygraphy run "$POLYGRAPHY_ROOT/tests/models/dynamic_identity.onnx" --onnxrt --load-inputs list.json
    [ "$status" -eq 1 ]
    [[ $output == *'does not hold the 1e+39 at (1,)'* ]]
}

@test "concat appends the iterations of input data" {
    arrays feeds a.json '[{"x": f32([1])}, {"x": f32([2])}]'
    arrays feeds b.json '[{"x": f32([3])}]'
    run --separate-stderr polygraphy data concat a.json b.json -o all.json --json result.json
    [ "$status" -eq 0 ]
    [ "$output" = '[I] Saving input file containing 3 iteration(s) to all.json' ]
    [ "$(show all.json)" = '0 x [1.0]
1 x [2.0]
2 x [3.0]' ]
    python3 -c 'import json
result = json.load(open("result.json"))
assert [file["iterations"] for file in result["read"]] == [2, 1], result
assert len(result["written"]["iterations"]) == 3, result'
}

@test "concat appends results runner by runner, and warns of other names" {
    arrays results a.json '[("A", [{"y": f32([1])}])]'
    arrays results b.json '[("B", [{"y": f32([2])}]), ("A", [{"z": f32([3])}])]'
    run --separate-stderr polygraphy data concat a.json b.json -o all.safetensors --json result.json
    [ "$status" -eq 0 ]
    logged "^\\[W\\] Iteration 0 from b.json contains different tensor names than earlier iterations\\.$"
    logged "^    Note: Expected names: \\['y'\\], but got: \\['z'\\]\\.$"
    python3 -c 'import json
runners = json.load(open("result.json"))["written"]["runners"]
assert [(runner["name"], len(runner["iterations"])) for runner in runners] == [("A", 2), ("B", 1)], runners'
    run --separate-stderr polygraphy data concat a.json b.json -o all.npz
    [ "$status" -eq 1 ]
    [ ! -e all.npz ]
}

@test "concat does not mix inputs and results" {
    arrays feeds a.json '[{"x": f32([1])}]'
    arrays results b.json '[("A", [{"y": f32([1])}])]'
    run --separate-stderr polygraphy data concat a.json b.json -o all.json
    [ "$status" -eq 1 ]
    [ "$stderr" = '[!] Cannot concatenate input data with output data. Please provide files of the same type.' ]
    [ ! -e all.json ]
}
