# run.bats: inference, comparison and validation, and how their outcome becomes an exit code.

load debug_helper

models=$POLYGRAPHY_ROOT/tests/models
golden=$POLYGRAPHY_ROOT/tests/golden

# Runs `polygraphy run` with $output and $stderr apart.
run_tool()
{
    run --separate-stderr polygraphy run "$@"
}

passed()
{
    [ "$status" -eq 0 ] && [ -z "$stderr" ] && logged '^\[I\] PASSED \| Runtime: [0-9.]+s \| Command: ' || {
        echo "status $status; $stderr"
        echo "$output"
        return 1
    }
}

# The comparison or validation ended badly, and nothing went wrong on the way.
failed()
{
    [ "$status" -eq 1 ] && [ -z "$stderr" ] && logged '^\[E\] FAILED \| Runtime: [0-9.]+s \| Command: ' || {
        echo "status $status; $stderr"
        echo "$output"
        return 1
    }
}

# The outputs in a results file: "runner iteration name type values", one to a line.
outputs_in()
{
    /usr/bin/python3 "$POLYGRAPHY_ROOT/tests/cli/arrays.py" show "$1"
}

# A log or results file without clocks, durations and folders.
mask()
{
    sed -E 's#[0-9]{2}/[0-9]{2}/[0-9]{2}-[0-9:]{8}#CLOCK#g
            s#in [0-9.e-]+ ms \| Average inference time: [0-9.e-]+ ms#in TIME#
            s#Runtime: [0-9.]+s#Runtime: TIME#
            s#"runtime": [0-9.e-]+#"runtime": TIME#
            s#(<models>|<samples>/[a-z]+|/[^ ]*)/##g' "$@"
}

# A log without lines that stand at other places, or that only one of the two programs has: destinations of files, times,
# and the iterations that a single runner without a comparison has.
compared_log()
{
    mask "$@" | grep -vE 'RUNNING|Runtime|(Saving|Loading|Creating) |Completed|Runners 1 and 2 are the same|accumulates every' |
        grep -vE "'mark all' is deprecated|^\[I\] Iteration: [0-9]$"
}

@test "rankings come with the statistics of both outputs, and with -v their histograms" {
    run_tool "$models/identity.onnx" --onnxrt --onnxrt --compare indices
    [ "$status" -eq 0 ]
    [ "$(grep -c '^\[I\]     onnxrt-runner-N[01]-[^ ]*: y | Stats: mean=0.35995, .*, p99=0.71123$' <<<"$output")" -eq 2 ]
    run ! grep -q Histogram <<<"$output"
    run_tool "$models/identity.onnx" --onnxrt --onnxrt --compare indices -v
    [ "$(grep -c '^\[V\]         ---- Histogram ----$' <<<"$output")" -eq 2 ]
}

@test "a passing comparison shows the statistics of differences, and with -v their histograms" {
    run_tool "$models/identity.onnx" --onnxrt --onnxrt
    [ "$(grep -cE '^\[I\]             (Absolute|Relative) Difference \| Stats: mean=0, std-dev=0, ' <<<"$output")" -eq 2 ]
    run ! grep -q Histogram <<<"$output"
    run_tool "$models/identity.onnx" --onnxrt --onnxrt -vv
    [ "$(grep -cE '^\[V\] {17}---- Histogram ----$' <<<"$output")" -eq 2 ]
}

@test "two runners: log, inputs and outputs are Polygraphy's" {
    run_tool "$models/reducable.onnx" --onnxrt --onnxrt --iterations 2 --seed 7 --val-range '[-1,1]' 'X0:[2,3]' \
        --save-inputs run_save_inputs_2iters.json --save-outputs run_save_outputs_2runners_2iters.json
    passed
    [ "$(grep -c '^\[W\] Runners 1 and 2 are the same, --onnxrt with the same options' <<<"$output")" -eq 1 ]
    diff <(compared_log <<<"$output") <(compared_log "$golden/logs/run_two_onnxrt.log")
    [ "$(grep -c '^\[I\] Iteration: [01]$' <<<"$output")" -eq 2 ]
    cmp run_save_inputs_2iters.json "$golden/inputs/run_save_inputs_2iters.json"
    diff <(mask run_save_outputs_2runners_2iters.json) <(mask "$golden/run/run_save_outputs_2runners_2iters.json")
}

@test "mark all: log and outputs are Polygraphy's" {
    cp "$golden/inputs/run_save_inputs_2iters.json" .
    run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs mark all --load-inputs run_save_inputs_2iters.json \
        --save-outputs run_layerwise_mark_all.json
    passed
    diff <(compared_log <<<"$output") <(compared_log "$golden/logs/run_mark_all.log")
    diff <(mask run_layerwise_mark_all.json) <(mask "$golden/run/run_layerwise_mark_all.json")
}

@test "results that Polygraphy saved match a new run on the inputs that it saved" {
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs "$golden/inputs/run_save_inputs_2iters.json" \
        --load-outputs "$golden/run/run_save_outputs_2runners_2iters.json" --atol 0 --rtol 0
    passed
    logged '^\[I\] Accuracy Summary \| onnxrt-runner-N0-.* vs\. onnxrt-runner-N0-11/21/26-07:46:55 \| Passed: 2/2 iterations \| Pass Rate: 100\.00%$'
    logged '^\[I\] Accuracy Summary \| onnxrt-runner-N0-11/21/26-07:46:55 vs\. onnxrt-runner-N1-'
}

@test "a mismatch is exit code 1 and says which output, where, and how much" {
    results a.json '[("A", [{"x": f32([1, 2, 3]), "y": f32([1])}])]'
    results b.json '[("B", [{"x": f32([1, 2, 4]), "y": f32([1])}])]'
    run_tool --load-outputs a.json b.json
    failed
    logged '^\[I\]             Minimum Required Tolerance: elemwise error \| \[abs=1\] OR \[rel=0\.25\] \('
    not_logged Histogram
    logged '^\[I\] To see more: -v adds histograms'
    logged '^\[E\]         Mismatched elements: 1 of 3 \| Worst at \(2,\): 3\.0 vs\. 4\.0$'
    logged "^\\[E\\]         FAILED \\| Output: 'x' \\| Difference exceeds tolerance \\(rel=1e-05, abs=1e-05\\)$"
    logged "^\\[I\\]         PASSED \\| Output: 'y' \\| Difference is within tolerance \\(rel=1e-05, abs=1e-05\\)$"
    logged "^\\[E\\]     FAILED \\| simple \\| Mismatched outputs: \\['x'\\]$"
    logged '^\[E\] Accuracy Summary \| A vs\. B \| Passed: 0/1 iterations \| Pass Rate: 0\.00%$'
}

@test "tolerances and statistics hold for one output or for all" {
    results a.json '[("A", [{"x": f32([1, 2, 3]), "y": f32([1])}])]'
    results b.json '[("B", [{"x": f32([1, 2, 4]), "y": f32([1.5])}])]'
    run_tool --load-outputs a.json b.json --atol x:1 0.5
    passed
    logged 'Tolerance: \[abs=1, rel=1e-05\] \| Checking elemwise error$'
    logged 'Tolerance: \[abs=0\.5, rel=1e-05\] \| Checking elemwise error$'
    run_tool --load-outputs a.json b.json --rtol x:0.25 y:0.4
    passed
    run_tool --load-outputs a.json b.json --rtol x:0.25 --atol x:0.1
    failed
    run_tool --load-outputs a.json b.json --atol x:0 0.5 --check-error-stat x:median
    passed
    run_tool --load-outputs a.json b.json --atol 0.6 --check-error-stat quantile --error-quantile x:0.75
    passed
    logged 'Minimum Required Tolerance: quantile error \| \[abs=0\.5\] OR \[rel=0\.125\] \(quantile=0\.75\)$'
    logged 'Minimum Required Tolerance: quantile error \| .* \(quantile=0\.99\)$'
}

@test "a norm tolerance is a part of the reference's largest element" {
    results a.json '[("A", [{"x": f32([2000, 0.75]), "y": f32([2, 0.75])}])]'
    results b.json '[("B", [{"x": f32([2000, 0.25]), "y": f32([2, 0.25])}])]'
    run_tool --load-outputs a.json b.json --atol 0 --rtol 0 --norm-tolerance 1e-3
    failed
    logged "PASSED \\| Output: 'x' \\| Difference is within tolerance \\(rel=0, abs=0, norm=0\\.001 \\* 2000\\)$"
    logged "FAILED \\| Output: 'y' \\| Difference exceeds tolerance \\(rel=0, abs=0, norm=0\\.001 \\* 2\\)$"
    logged 'Tolerance: \[abs=0, rel=0, norm=0\.001\] \| Checking elemwise error$'
    logged 'Minimum Required Tolerance: elemwise error \| \[abs=0\.5\] OR \[rel=2\] OR \[norm=0\.25\]'
    run_tool --load-outputs a.json b.json --norm-tolerance y:0.25 1e-3
    passed
    run_tool --load-outputs a.json b.json --norm-tolerance inf
    refused 'is not finite'
}

@test "names that no output has are mentioned" {
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([1])}])]'
    run_tool --load-outputs a.json --atol y:1 x:1 --postprocess z:top-1 --check-error-stat w:max
    passed
    logged "^\\[W\\] Extra items in --atol: \\['y'\\]"
    logged "^\\[W\\] Extra items in --postprocess: \\['z'\\]"
    logged "^\\[W\\] Extra items in --check-error-stat: \\['w'\\]"
    not_logged 'Extra items in --rtol'
}

@test "values are given for names and for patterns: a name goes first, then the first pattern, then the rest" {
    results a.json '[("A", [{"layer1": f32([1]), "layer2": f32([1]), "z": f32([1])}])]'
    results b.json '[("B", [{"layer1": f32([1.5]), "layer2": f32([1.5]), "z": f32([1.5])}])]'
    run_tool --load-outputs a.json b.json --atol 0.5 'layer*:0.1' '*2:0.5' --rtol 0
    failed
    logged "FAILED \\| simple \\| Mismatched outputs: \\['layer1', 'layer2'\\]"
    run_tool --load-outputs a.json b.json --atol 0.5 'layer*:0.1' layer2:0.5 --rtol 0
    failed
    logged "FAILED \\| simple \\| Mismatched outputs: \\['layer1'\\]"
    run_tool --load-outputs a.json b.json --atol 0.6 --check-error-stat 'l*:max' z:mean --error-quantile 'l*1:0.5'
    passed
    [ "$(grep -c 'Checking max error' <<<"$output")" -eq 2 ]
    logged 'Checking mean error'
    run_tool --load-outputs a.json b.json --compare distance --l2-tolerance '?:1' 'layer[12]:0.7'
    passed
    not_logged 'Extra items'
    run_tool --load-outputs a.json b.json --atol 1 'node*:0' other:0
    passed
    [ "$(grep -c 'Extra items' <<<"$output")" -eq 1 ]
    logged "Extra items in --atol: \\['node\\*', 'other'\\]"
}

@test "malformed values are refused before anything is done" {
    for words in '--atol x' '--atol -1' '--rtol x:nan' '--error-quantile 1.5' '--check-error-stat best' \
        '--index-tolerance 0.5' '--postprocess median' '--postprocess top-k' '--warm-up -1' '--seed -1' \
        '--iterations -2' '--val-range 5' '--input-shapes x' '--compare fuzzy'; do
        run_tool "$models/identity.onnx" --onnxrt $words
        [ "$status" -ne 0 ]
        not_logged 'Activating'
        [ -n "$stderr" ]
    done
}

@test "equal infinities mismatch unless they may compare equal" {
    results a.json '[("A", [{"x": f32([inf, -inf])}]), ("B", [{"x": f32([inf, -inf])}])]'
    run_tool --load-outputs a.json
    failed
    run_tool --load-outputs a.json --infinities-compare-equal
    passed
    results a.json '[("A", [{"x": f32([inf])}]), ("B", [{"x": f32([-inf])}])]'
    run_tool --load-outputs a.json --infinities-compare-equal
    failed
}

@test "differences of large integers do not wrap around" {
    results a.json '[("A", [{"x": array([2147483647], int32)}]), ("B", [{"x": array([-1], int32)}])]'
    run_tool --load-outputs a.json
    failed
    logged 'Minimum Required Tolerance: elemwise error \| \[abs=2\.1475e\+09\]'
}

@test "different shapes are a mismatch, or matched when asked" {
    results a.json '[("A", [{"x": f32([[1, 2, 3], [4, 5, 6]])}]), ("B", [{"x": f32([[1, 4], [2, 5], [3, 6]])}])]'
    run_tool --load-outputs a.json
    failed
    logged "^\\[E\\]         FAILED \\| Output: 'x' \\| Will not compare outputs of different shapes: \\(2, 3\\) vs\\. \\(3, 2\\)$"
    run_tool --load-outputs a.json --no-shape-check
    passed
    results a.json '[("A", [{"x": f32([1, 2])}]), ("B", [{"x": f32([1])}])]'
    run_tool --load-outputs a.json --no-shape-check
    failed
}

@test "rankings are compared by --compare indices, after --postprocess if wanted" {
    results a.json '[("A", [{"x": f32([1, 5, 3]), "y": f32([7])}]), ("B", [{"x": f32([1, 5, 4]), "y": f32([7])}])]'
    run_tool --load-outputs a.json --postprocess x:top-2 --compare indices
    passed
    logged "indices \| Comparing Output: 'x' \\(dtype=int64, shape=\\(2,\\)\\)"
    logged "indices \| Comparing Output: 'y' \\(dtype=float32, shape=\\(1,\\)\\)"
    logged 'PASSED \| Difference is within index tolerance \(0\)$'
    results a.json '[("A", [{"x": array([1, 2, 3])}]), ("B", [{"x": array([2, 1, 3])}])]'
    run_tool --load-outputs a.json --compare indices
    failed
    logged 'FAILED \| Difference exceeds index tolerance \(0\) \|'
    run_tool --load-outputs a.json --compare indices --index-tolerance x:1
    passed
}

@test "options of the other comparison function are mentioned" {
    results a.json '[("A", [{"x": array([1])}]), ("B", [{"x": array([1])}])]'
    run_tool --load-outputs a.json --index-tolerance 1
    passed
    logged '^\[W\] Option: --index-tolerance is only valid for comparison function'
    run_tool --load-outputs a.json --compare indices --atol 1 --no-shape-check
    passed
    logged "^\[W\] Option: --atol/--abs-tol is only valid for comparison function\(s\): \['simple'\]\. The selected comparison functions are: \['indices'\], so this option will be ignored\.$"
    not_logged '--no-shape-check is only valid'
}

@test "a mismatch among results of equal names is not forgotten" {
    results a.json '[("A", [{"x": f32([n])}]) for n in (1, 2, 2)]'
    run_tool --load-outputs a.json
    failed
    run_tool --load-outputs "$golden/run/duplicate_runner_names.json"
    failed
}

@test "--fail-fast stops at the first mismatch and still says so" {
    results a.json '[("A", [{"x": f32([1]), "y": f32([1])}]), ("B", [{"x": f32([2]), "y": f32([1])}])]'
    run_tool --load-outputs a.json --fail-fast
    failed
    not_logged "simple \| Comparing Output: 'y'"
    logged "^\\[E\\]     FAILED \\| simple \\| Mismatched outputs: \\['x'\\]$"
    logged '^\[E\] Accuracy Summary '
}

@test "outputs and iterations without a counterpart are mentioned, and mismatch if all are required" {
    results a.json '[("A", [{"x": f32([1])}, {"x": f32([1])}]), ("B", [{"x": f32([1])}])]'
    run_tool --load-outputs a.json
    passed
    logged '^\[W\] The provided streams have different numbers of iterations\. Only the first 1 iteration\(s\) -- present in all 2 streams -- were compared; stream\(s\) at index \[1\] ran out first\.$'
    run_tool --load-outputs a.json --require-all
    failed
    results a.json '[("A", [{"x": f32([1]), "y": f32([1])}]), ("B", [{"y": f32([1])}])]'
    run_tool --load-outputs a.json
    passed
    logged "^\\[W\\]     1 output\\(s\\) of A are not compared, because B has no such output: \\['x'\\]$"
    run_tool --load-outputs a.json --require-all
    failed
}

@test "results without a common output are an error" {
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{}])]'
    run_tool --load-outputs a.json
    refused 'All outputs were skipped, no common outputs found!'
}

@test "a single result has nothing to be compared with" {
    results a.json '[("A", [{"x": f32([1])}])]'
    run_tool --load-outputs a.json
    passed
    logged '^\[W\] There is only one result'
}

@test "strings are compared as texts" {
    results a.json '[("A", [{"x": array(["a", "b"])}]), ("B", [{"x": array(["a", "c"])}])]'
    run_tool --load-outputs a.json --atol 10
    failed
    logged 'Mismatched elements: 1 of 2 \| Worst at \(1,\): b vs\. c$'
}

@test "statistics are not shown when they are not wanted" {
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([2])}])]'
    run_tool --load-outputs a.json -q
    failed
    not_logged 'Stats|Histogram|Tolerance:'
    run --separate-stderr polygraphy run --load-outputs a.json --silent
    [ "$status" -eq 1 ]
    [ -z "$output$stderr" ]
}

@test "--validate finds NaN and infinities" {
    run_tool "$models/identity.onnx" --onnxrt --validate
    passed
    logged '^\[I\]     PASSED \| Output: y is valid$'
    run_tool "$models/identity.onnx" --onnxrt --validate --sequential-runners
    passed
    logged '^\[I\]     PASSED \| Output Validation$'
    feeds in.json '[{"x": f32([[[[1, nan], [inf, nan]]]])}]'
    run_tool "$models/identity.onnx" --onnxrt --validate --load-inputs in.json
    [ "$status" -eq 1 ]
    logged '^\[E\]     NaN Detected \| 2 of 4 values are NaN, the first one at \(0, 0, 0, 1\)$'
    logged '^\[E\]     Inf Detected \| 1 of 4 values are infinite, the first one at \(0, 0, 1, 0\)$'
    logged '^\[E\]     FAILED \| Errors detected in output: y$'
    [[ $stderr == '[!] Output validation failed: iteration 0 contains invalid values (NaNs/Infs).'* ]]
}

@test "--validate is done although the comparison failed" {
    results a.json '[("A", [{"x": f32([1])}]), ("B", [{"x": f32([nan])}])]'
    run_tool --load-outputs a.json --validate
    [ "$status" -eq 1 ]
    logged '^\[E\] Accuracy Summary '
    logged '^\[E\]     FAILED \| Errors detected in output: x$'
    run_tool --load-outputs a.json --validate --sequential-runners
    failed
    logged '^\[E\]     FAILED \| Output Validation$'
}

@test "a model without a runner is an error" {
    run_tool "$models/identity.onnx"
    refused 'No runners have been selected'
    [[ $stderr == *--onnxrt* ]]
    run_tool
    refused 'No runners have been selected'
}

@test "a runner without a model is an error" {
    run_tool --onnxrt
    refused 'One or more runners was specified, but no model file'
}

@test "a model that is not there is an error" {
    run_tool none.onnx --onnxrt
    logged '^\[W\] Model path does not exist: none\.onnx$'
    refused 'none.onnx'
}

@test "a damaged model is an error" {
    head -c 100 "$models/reducable.onnx" >cut.onnx
    run_tool cut.onnx --onnxrt
    [ "$status" -eq 1 ]
    [[ $stderr == '[!] '*cut.onnx* ]]
    run_tool cut.onnx --onnxrt --onnx-outputs mark all
    [ "$status" -eq 1 ]
    [[ $stderr == '[!] '*cut.onnx* ]]
}

@test "what cannot be run here is refused" {
    echo engine >model.engine
    run_tool model.engine --onnxrt
    refused 'is an engine'
    run_tool "$models/identity.onnx" --onnxrt --gen script.py
    refused '--gen'
    run_tool "$models/identity.onnx" --onnxrt --providers none
    refused 'Could not find specified ONNX-Runtime execution provider'
}

@test "iterations, seed, ranges and warm-up" {
    run_tool "$models/identity.onnx" --onnxrt --iterations 3 --seed 5 --val-range x:'[2,2]' --warm-up 2 --save-outputs out.json
    passed
    logged ' \| Running 2 warm-up run\(s\)$'
    logged ' \| Completed 3 iteration\(s\) in '
    [ "$(outputs_in out.json)" = "0 0 y float32 [[[[2.0, 2.0], [2.0, 2.0]]]]
0 1 y float32 [[[[2.0, 2.0], [2.0, 2.0]]]]
0 2 y float32 [[[[2.0, 2.0], [2.0, 2.0]]]]" ]
    run_tool "$models/identity.onnx" --onnxrt --val-range z:'[2,2]'
    passed
    logged "^\\[W\\] Extra items in value ranges: \\['z'\\]\\. The model's inputs are: \\['x'\\]$"
}

@test "no iterations are a success" {
    run_tool "$models/identity.onnx" --onnxrt --onnxrt --iterations 0
    passed
    logged ' \| Completed 0 iteration\(s\) in 0 ms \| '
    logged ' \| Passed: 0/0 iterations \| Pass Rate: 100\.00%$'
    feeds in.json '[]'
    run_tool "$models/identity.onnx" --onnxrt --load-inputs in.json --save-outputs out.json
    passed
}

@test "dynamic dimensions become 1 unless a shape is given" {
    run_tool "$models/dynamic_identity.onnx" --onnxrt
    passed
    logged "^\\[W\\] Input tensor: X \\(dtype=float32, shape=\\(1, 2, 'height', 'width'\\)\\) \\| Will generate data of shape: \\(1, 2, 1, 1\\)\\.$"
    run_tool "$models/dynamic_identity.onnx" --onnxrt --input-shapes '[XY]:[1,2,3,4]'
    passed
    logged '^    \{X \[dtype=float32, shape=\(1, 2, 3, 4\)\]\}$'
    not_logged 'Will generate'
    run_tool "$models/dynamic_identity.onnx" --onnxrt --input-shapes 'X:[1,2,3,4]' 'Z:[1]'
    passed
    logged "^\\[W\\] Extra items in input shapes: \\['Z'\\]"
}

@test "a shape that does not fit is an error" {
    run_tool "$models/dynamic_identity.onnx" --onnxrt --input-shapes 'X:[1,3,4,4]'
    refused "input 'X': the shape given for it, (1, 3, 4, 4), does not fit the model's, (1, 2, 'height', 'width')"
}

@test "loaded inputs belong to their names" {
    feeds in.json '[{"Y0": f32([10]), "X0": f32([1]), "other": f32([5])}]'
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs in.json --onnx-outputs identity_out_0 identity_out_2 \
        --save-outputs out.json
    passed
    [ "$(outputs_in out.json)" = "0 0 identity_out_0 float32 [1.0]
0 0 identity_out_2 float32 [10.0]" ]
    feeds in.json '[{"X0": f32([1]), "another": f32([5]), "other": f32([5])}]'
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs in.json
    refused "input 'Y0' (dtype=float32, shape=(1,)) is not among the loaded data; iteration 0 contains ['X0', 'another', 'other']"
}

@test "a loaded input with another name is taken only when nothing else can be meant" {
    feeds in.json '[{"X0": f32([1]), "y0:0": f32([5])}]'
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs in.json
    passed
    logged '^\[W\] Buffer name \(y0:0\) does not match expected input name \(Y0\)'
    feeds in.json '[{"X0": f32([1]), "other": f32([5, 6])}]'
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs in.json
    refused "input 'Y0'"
}

@test "loaded inputs of another type or shape are converted with a warning, or refused" {
    feeds in.json '[{"x": array([[1, 2], [3, 4]], float64)}]'
    run_tool "$models/identity.onnx" --onnxrt --load-inputs in.json --save-outputs out.json
    passed
    logged '^\[W\] Input tensor: x \| The data are float64, but the model takes float32'
    logged '^\[W\] Input tensor: x \| Changing the shape of the data from \(2, 2\) to \(1, 1, 2, 2\)$'
    [ "$(outputs_in out.json)" = '0 0 y float32 [[[[1.0, 2.0], [3.0, 4.0]]]]' ]
    feeds in.json '[{"x": f32([1, 2, 3])}]'
    run_tool "$models/identity.onnx" --onnxrt --load-inputs in.json
    refused "input 'x': the data have shape (3,), the model takes (1, 1, 2, 2)"
}

@test "files of another kind are refused as inputs and as results" {
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs "$golden/run/run_save_outputs_2runners_2iters.json"
    refused 'data merge'
    run_tool --load-outputs "$golden/inputs/run_save_inputs_2iters.json"
    refused 'run_save_inputs_2iters.json'
    run_tool "$models/reducable.onnx" --onnxrt --load-inputs none.json
    refused 'none.json'
}

@test "results that are not there are missed before hours of inference" {
    run_tool "$models/reducable.onnx" --onnxrt --load-outputs none.json
    refused "--load-outputs: 'none.json' does not exist"
    not_logged 'Activating'
}

@test "one set of inputs needs no list around it" {
    run_tool "$models/identity.onnx" --onnxrt --load-inputs "$golden/inputs/bare_feed_dict.json"
    refused "input 'x': the data have shape (2,), the model takes (1, 1, 2, 2)"
}

@test "several input files follow each other" {
    feeds one.json '[{"x": f32([[[[1, 1], [1, 1]]]])}]'
    feeds two.json '[{"x": f32([[[[2, 2], [2, 2]]]])}]'
    run_tool "$models/identity.onnx" --onnxrt --load-inputs one.json two.json one.json --save-inputs all.json
    passed
    logged ' \| Completed 3 iteration\(s\) in '
    [ "$(grep -c '"x"' all.json)" = 3 ]
}

@test "types that cannot be generated can be loaded" {
    run_tool "$models/every_type.onnx" --onnxrt
    refused "input 'bfloat16'"
    feeds in.json '[{**{name: array([0, 1, 2]) for name in "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 \
        uint16 uint32 uint64 bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4".split()},
        "string": array(["a", "b", "c"])}]'
    run_tool "$models/every_type.onnx" --onnxrt --load-inputs in.json --save-outputs out.json --validate
    passed
    [ "$(outputs_in out.json | grep -c ' \[0\.0, 1\.0, 2\.0\]$')" -eq 8 ]
    [ "$(outputs_in out.json | grep -c ' \[0, 1, 2\]$')" -eq 10 ]
}

@test "models with strings run" {
    run_tool "$models/strings.onnx" --onnxrt --onnxrt --input-shapes 'words:[2]' --save-outputs out.json --validate
    passed
    outputs_in out.json | grep -q '^1 0 ended <U'
}

@test "sequences are left out as outputs and refused as inputs" {
    run_tool "$models/sequence_output.onnx" --onnxrt --onnxrt
    passed
    logged "^\\[W\\] Outputs that are sequences, maps or the like are left out: \\['pair'\\]$"
    logged "PASSED \\| simple \\| All outputs matched \\| Outputs: \\['negative'\\]$"
    run_tool "$models/sequence_output.onnx" --onnxrt --onnx-outputs mark all
    passed
    logged "^\\[W\\] Not marked as outputs, because they are not tensors: \\['pair'\\]$"
    run_tool "$models/sequences.onnx" --onnxrt
    refused "input 'sequence' is no tensor but a sequence"
}

@test "named outputs take the place of the model's" {
    run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs add_out_4 identity_out_0 --save-outputs out.json
    passed
    [ "$(outputs_in out.json | cut -d ' ' -f 3 | tr '\n' ' ')" = 'add_out_4 identity_out_0 ' ]
    run_tool "$models/reducable.onnx" --onnxrt --onnx-exclude-outputs identity_out_6 --save-outputs out.json
    passed
    [ "$(outputs_in out.json | cut -d ' ' -f 3)" = identity_out_8 ]
    run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs nowhere
    refused "The following outputs were not found in the model: ['nowhere']"
    run_tool "$models/reducable.onnx" --onnxrt --onnx-exclude-outputs identity_out_6 identity_out_8
    refused 'every output was excluded'
}

@test "omitted outputs are not marked, tensors that only a body uses are computed" {
    run_tool "$models/omitted_optional_output.onnx" --onnxrt --onnx-outputs mark all --save-outputs out.json
    passed
    [ "$(outputs_in out.json | cut -d ' ' -f 3 | tr '\n' ' ')" = 't hh y ' ]
    run_tool "$models/subgraph_uses_outer_tensors.onnx" --onnxrt --onnx-outputs mark all --save-outputs out.json
    passed
    [ "$(outputs_in out.json | cut -d ' ' -f 3 | tr '\n' ' ')" = 't rm cnd u y ' ]
}

@test "--save-onnx saves the model with its new outputs" {
    run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs add_out_4 --save-onnx folder/saved.onnx --shape-inference
    passed
    logged '^\[I\] Saving ONNX model to: folder/saved\.onnx$'
    run_tool folder/saved.onnx --onnxrt --save-outputs out.json
    passed
    [ "$(outputs_in out.json | cut -d ' ' -f 3)" = add_out_4 ]
}

@test "external data are found beside the model, where they were said to be, and beside a copy" {
    mkdir data copy
    cp "$models/external_weights.onnx" model.onnx
    cp "$models/weights.data" data
    run_tool "$models/external_weights.onnx" --onnxrt --save-outputs out.json
    passed
    run_tool model.onnx --onnxrt
    [ "$status" -eq 1 ]
    run_tool model.onnx --onnxrt --external-data-dir data --load-outputs out.json
    passed
    run_tool "$models/external_weights.onnx" --onnxrt --onnx-outputs mark all --load-outputs out.json
    passed
    run_tool model.onnx --onnxrt --external-data-dir data --save-onnx copy/model.onnx
    passed
    run_tool copy/model.onnx --onnxrt --load-outputs out.json
    passed
}

@test "external data that are not there are missed with the option that names their folder" {
    cp "$models/external_weights.onnx" .
    run --separate-stderr polygraphy run external_weights.onnx --onnxrt
    refused '(--external-data-dir says where the data are)'
    run --separate-stderr polygraphy run external_weights.onnx --onnxrt --external-data-dir "$models"
    [ "$status" -eq 0 ]
    run --separate-stderr polygraphy check lint external_weights.onnx -o report.json
    refused "cannot find external data '$PWD/weights.data' (specify their folder with --external-data-dir)"
    [ ! -e report.json ]
}

@test "runtime options are accepted and change nothing that matters" {
    run_tool "$models/chain17.onnx" --onnxrt --save-outputs out.json
    passed
    for words in '--onnxrt-optimization-level none' '--onnxrt-threads 1' '--providers CPUExecutionProvider'; do
        run_tool "$models/chain17.onnx" --onnxrt $words --load-outputs out.json
        passed
    done
}

@test "a runner may have a process of its own" {
    run_tool "$models/reducable.onnx" --onnxrt --onnxrt --use-subprocess --iterations 2 --seed 7 --val-range '[-1,1]' \
        'X0:[2,3]' --save-inputs in.json --save-outputs out.json
    passed
    cmp in.json "$golden/inputs/run_save_inputs_2iters.json"
    diff <(mask out.json) <(mask "$golden/run/run_save_outputs_2runners_2iters.json")
    run_tool none.onnx --onnxrt --use-subprocess
    refused 'none.onnx'
}

@test "what cannot be saved is said before anything is run" {
    mkdir out.json
    run_tool "$models/identity.onnx" --onnxrt --save-outputs out.json/
    [ "$status" -eq 1 ]
    [[ $stderr == '[!] '* ]]
    not_logged 'Completed'
}

@test "a run that fails leaves the results of an earlier one alone" {
    echo earlier >out.json
    run_tool none.onnx --onnxrt --save-outputs out.json
    [ "$status" -eq 1 ]
    [ "$(cat out.json)" = earlier ]
}

@test "an interrupt ends a long run without leftovers" {
    for words in '' --use-subprocess; do
        : >log # not the earlier run's
        env --default-signal=INT polygraphy run "$models/identity.onnx" --onnxrt --iterations 1000000000 \
            --save-outputs out.json $words >log 2>errors 3>&- &
        tool=$!
        until grep -q 'Inference Output' log; do
            kill -0 $tool
        done
        kill -INT $tool
        wait $tool && result=0 || result=$?
        [ "$result" -eq 130 ]
        [ ! -e out.json ]
        not_logged Completed <log
    done
}

@test "a run is a check for the debug tools" {
    run_tool "$models/reducable.onnx" --onnxrt --save-outputs golden.json
    repeat --until 1 --check polygraphy run "$models/reducable.onnx" --onnxrt --load-outputs golden.json
    logged 'PASSED \| Iteration 1 '
    repeat --until 1 --check polygraphy run "$models/reducable.onnx" --onnxrt --seed 2 --load-outputs golden.json
    logged 'FAILED \| Iteration 1 '
    repeat --until 1 --fail-regex 'Difference exceeds tolerance' --check \
        polygraphy run "$models/reducable.onnx" --onnxrt --seed 2 --load-outputs golden.json
    logged 'FAILED \| Iteration 1 '
}

@test "outputs are compared as a whole by --compare distance" {
    results a.json '[("A", [{"x": f32([3, 4]), "y": f32([0])}]), ("B", [{"x": f32([3, 4]), "y": f32([0])}])]'
    run_tool --load-outputs a.json --compare distance
    passed
    logged 'Cosine Similarity: 1 \(min required: 0\.997\) \| PASSED$'
    results a.json '[("A", [{"x": f32([3, 4]), "y": f32([1])}]), ("B", [{"x": f32([3, 9]), "y": f32([1])}])]'
    run_tool --load-outputs a.json --compare distance
    failed
    logged "FAILED \\| L2 Norm \\| Mismatched outputs: \\['x'\\]"
    logged "FAILED \\| Cosine Similarity \\| Mismatched outputs: \\['x'\\]"
    run_tool --load-outputs a.json --compare distance --l2-tolerance x:5 --cosine-threshold x:0.9 none:1
    passed
    logged "^\\[W\\] Extra items in --cosine-similarity-threshold: \\['none'\\]"
    run_tool --load-outputs a.json --compare distance --l2-tolerance x:-5
    refused 'less than 0'
}

@test "outputs are compared as signal and noise by --compare quality" {
    results a.json '[("A", [{"x": f32([10, 10])}]), ("B", [{"x": f32([9, 11])}])]'
    run_tool --load-outputs a.json --compare quality
    failed
    logged 'PSNR: 20 dB \(min required: 30 dB\) \| FAILED$'
    run_tool --load-outputs a.json --compare quality --psnr-threshold 19 --snr-threshold 19
    passed
    run_tool --load-outputs a.json --compare quality --psnr-threshold 19 --snr-threshold 19 --nmse-tolerance 1e-3
    failed
    run_tool --load-outputs a.json --rtol 1 --psnr-threshold 19
    passed
    logged '^\[W\] Option: --psnr-threshold/--psnr-tolerance is only valid for comparison function'
}

@test "logits are compared by their tokens and probabilities, and a cache next to them is not" {
    results a.json '[("A", [{"logits": f32([1, 2, 3]), "i": array([5])}]), ("B", [{"logits": f32([1, 3, 2]), "i": array([5])}])]'
    run_tool --load-outputs a.json --compare tokens kl --json result.json
    failed
    [ "$(json_value '[(c["output"], c["compare"], c["passed"]) for c in it["comparisons"]]')" = \
        "[('logits', 'tokens', False), ('logits', 'kl', False), ('i', 'tokens', True)]" ]
    [ "$(json_value 'it["comparisons"][0]["metrics"]["tokens"], round(it["comparisons"][1]["metrics"]["kl"], 6)')" = \
        "(1.0, 0.420512)" ]
    logged "^\[W\] +Output 'i' is not compared by kl"
    run_tool --load-outputs a.json --compare tokens kl --token-tolerance 1 --kl-tolerance logits:0.5
    passed
    run_tool --load-outputs a.json --compare tokens --save-accuracy-results metrics.json
    refused 'no metric for --compare tokens'
}

# Results of two runs of a detector: the second one lacks the last box of the first, and lists two others in another order.
detectors()
{
    results a.json '[("A", [{"boxes": f32([[0, 0, 9, 9], [20, 20, 60, 70], [100, 100, 150, 160], [5, 5, 9, 9]]),
        "scores": f32([.9, .8, .799, '"$1"']), "labels": array([1, 2, 3, 1])}]),
        ("B", [{"boxes": f32([[0, 0, 9, 9.5], [100, 100, 150, 160], [20, 20, 60, 70]]), "scores": f32([.9, .799, .798]),
        "labels": array(['"${2:-1}"', 3, 2])}])]'
}

@test "boxes of a detector are compared as sets: neither their order nor a tie at the cut is a difference" {
    detectors .792
    run_tool --load-outputs a.json
    failed
    logged '\(4, 4\) vs\. \(3, 4\)'
    run_tool --load-outputs a.json --compare detections --json result.json
    passed
    logged 'boxes:x1,y1,x2,y2 labels:label scores:score \(derived from shapes, types, names and values\)$'
    logged '3 pair\(s\) match of 4 and 3 detections: IoU of at least 0\.5, equal labels, scores within 0\.01$'
    logged '2 of the matching detections are in another order: ties in score$'
    logged '1 detection\(s\) without a partner are ties in score at the cut of 0\.798'
    [ "$(json_value '[(c["output"], c["compare"], c["passed"], c["metrics"]) for c in it["comparisons"]]')" = \
        "[('boxes', 'detections', True, {'detections': 0.0})]" ]
    [ "$(json_value 'it["comparisons"][0]["tolerances"]')" = \
        "{'iou_threshold': 0.5, 'score_tolerance': 0.01, 'score_cut': None, 'detection_tolerance': 0.0}" ]
}

@test "boxes without a partner are named with the box that overlaps them most" {
    detectors .5 4
    run_tool --load-outputs a.json --compare detections --junit junit.xml
    failed
    logged '^\[E\] +Row 0 of the first output has no partner: box \(0, 0, 9, 9\), label 1, score 0\.9; best IoU 0\.94737 with row 0: box \(0, 0, 9, 9\.5\), label 4, score 0\.9$'
    logged '^\[E\] +Row 3 of the first output has no partner: box \(5, 5, 9, 9\), label 1, score 0\.5; best IoU '
    logged 'Detections that differ: 0\.42857 \(tolerance: 0\) \| FAILED$'
    grep -q 'share of detections that differ 0.428571429, tolerance 0' junit.xml
    run_tool --load-outputs a.json --compare detections --detection-tolerance 0.5
    passed
    run_tool --load-outputs a.json --compare detections --score-cut 0.6 --detection-columns labels:_
    passed
    run_tool --load-outputs a.json --compare detections --score-cut 0.6 --detection-columns labels:_ --iou-threshold 0.95
    failed
    run_tool --load-outputs a.json --compare detections --detection-columns boxes:x1,y2
    refused "output 'boxes' of shape (4, 4) does not have the columns x1,y2"
    run_tool --load-outputs a.json --compare detections --detection-columns boxes:x3
    refused "'x3' is not a column"
    run_tool --load-outputs a.json --compare detections --first-divergence
    refused 'several outputs at once'
}

@test "tables of boxes are compared, and empty ones" {
    results a.json '[("A", [{"out": f32([[[0, 0, 9, 9, .9, 1], [5, 5, 9, 9, .5, 2]]])}]),
        ("B", [{"out": f32([[[5, 5, 9, 9, .5, 2], [0, 0, 9, 9, .9, 1]]])}])]'
    run_tool --load-outputs a.json --compare detections
    passed
    logged 'out:x1,y1,x2,y2,score,label'
    logged '2 of the matching detections are in another order$'
    results a.json '[(n, [{"out": zeros((0, 7), float32)}]) for n in "AB"]'
    run_tool --load-outputs a.json --compare detections
    passed
    logged '0 pair\(s\) match of 0 and 0 detections'
    results a.json '[("A", [{"out": zeros((0, 7), float32)}]), ("B", [{"out": f32([[0, 1, 1, 9, 9, 3, .9]])}])]'
    run_tool --load-outputs a.json --compare detections
    failed
    logged 'Row 0 of the second output \(image 0\) has no partner: box \(1, 1, 9, 9\), label 3, score 0\.9; best IoU 0$'
}

@test "the greatest logits of each row are compared by their overlap" {
    results a.json '[("A", [{"logits": f32([[4, 3, 2, 1], [4, 3, 2, 1]])}]), ("B", [{"logits": f32([[3, 4, 2, 1], [4, 1, 2, 3]])}])]'
    run_tool --load-outputs a.json --compare topk --topk-size 2
    failed
    logged 'Overlap of the 2 greatest of each row: mean 0\.75, the least at \(1,\)$'
    logged 'Top-k Overlap: 0\.5 \(min required: 0\.8\) \| FAILED$'
    run_tool --load-outputs a.json --compare topk --topk-size 2 --topk-threshold logits:0.5
    passed
    run_tool --load-outputs a.json --compare topk --topk-size 0
    refused 'overlap always'
}

@test "comparison functions that apply to no output are an error" {
    results a.json '[("A", [{"x": f32([1, 2, 3])}]), ("B", [{"x": f32([1, 2, 3])}])]'
    run_tool --load-outputs a.json --compare ssim
    refused 'apply to no output'
}

@test "--json writes verdicts, statistics and metrics" {
    results a.json '[(n, [{"x": f32([3, v]), "y": f32([nan])}] * 2) for n, v in (("A", 4), ("B", 9), ("C", 9))]'
    run_tool --load-outputs a.json --validate --json result.json --sequential-runners
    failed
    [ "$(json_value 'it["passed"], it["compare"], len(it["comparisons"])')" = "(False, 'simple', 8)" ]
    comparison='{(c["first_runner"], c["second_runner"], c["iteration"], c["output"]): c for c in it["comparisons"]}'
    [ "$(json_value "[($comparison)[k, 'BC'['AB'.index(k)], 1, 'x']['passed'] for k in 'AB']")" = '[False, True]' ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'x']['differences']['absolute']")" = "{'max': 5.0, 'mean': 2.5}" ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'x']['metrics']['l2_norm']")" = 5.0 ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'x']['second']['statistics']['mean']")" = 6.0 ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'x']['differences']['worst']")" = \
        "{'element': 1, 'position': [1], 'first': 4.0, 'second': 9.0}" ]
    [ "$(json_value "($comparison)['B', 'C', 1, 'x']['differences']['first_bad']")" = None ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'x']['differences']['norm_error']")" = 0.5555555555555556 ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'y']['first']['nans'], ($comparison)['A', 'B', 1, 'y']['first']['finite']")" = \
        '(1, None)' ]
    [ "$(json_value "($comparison)['A', 'B', 1, 'x']['tolerances']['atol']")" = 1e-05 ]
    [ "$(json_value 'it["outputs"], it["first_divergence"], it["validation"][1]["first_bad"]')" = '(None, None, [0])' ]
    [ "$(json_value '[(v["runner"], v["output"], v["nans"]) for v in it["validation"] if not v["passed"]][3]')" = \
        "('B', 'y', 1)" ]
}

@test "--json speaks of what was not compared or validated, too" {
    results a.json '[("A", [{"x": array(["a"]), "y": f32([1, 2])}]), ("B", [{"x": array(["a"]), "y": f32([1])}])]'
    run_tool --load-outputs a.json --json result.json
    failed
    [ "$(json_value '[c["metrics"] for c in it["comparisons"]]')" = '[None, None]' ]
    [ "$(json_value '[c["differences"] is None for c in it["comparisons"]]')" = '[False, True]' ]
    [ "$(json_value 'it["comparisons"][0]["first"]["statistics"], it["validation"]')" = '(None, None)' ]
    run_tool "$models/identity.onnx" --onnxrt --validate --json result.json
    passed
    [ "$(json_value 'it["passed"], it["comparisons"], len(it["validation"])')" = '(True, [], 1)' ]
    [ "$(json_value '[(o["output"], o["node"]["index"], o["node"]["operator"], o["finite"]["zeros"]) for o in it["outputs"]]')" = \
        "[('y', 0, 'Identity', 0)]" ]
    mkdir folder
    run_tool "$models/identity.onnx" --onnxrt --json folder/
    [ "$status" -eq 1 ]
    [[ $stderr == '[!] '* ]]
    not_logged 'Completed'
}

@test "--json holds the same when all tensors are compared in groups" {
    run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs mark all --save-outputs out.json
    passed
    for words in '' '--output-memory 1M'; do
        run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs mark all --load-outputs out.json --validate \
            $words --json result.json
        passed
        json_value 'sorted((c["output"], c["passed"], c["first"]["statistics"]["mean"]) for c in it["comparisons"]),
            sorted((v["output"], v["passed"]) for v in it["validation"])' >"list$words"
    done
    [ "$(json_value 'len(it["comparisons"]) > 1')" = True ]
    for words in '' '--output-memory 1M' --use-subprocess; do
        run_tool "$models/reducable.onnx" --onnxrt --onnx-outputs mark all $words --json result.json
        passed
        json_value '[(o["output"], o["node"]["index"], o["finite"]["mean"]) for o in it["outputs"]]' >"list$words"
        [ "$(json_value 'len(it["outputs"]) > 1')" = True ]
        cmp list "list$words"
    done
    cmp list 'list--output-memory 1M'
}

@test "a model that fails on sizes that nobody has said is told how to say them" {
    /usr/bin/python3 - <<'END'
from onnx import TensorProto, helper, save
def value(name, sizes):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
node = helper.make_node("SpaceToDepth", ["x"], ["y"], "blocks", blocksize=2) # an operator without rules
graph = helper.make_graph([node], "g", [value("x", [1, 1, "h", "w"])], [value("y", [1, 4, "a", "b"])])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "blocks.onnx")
END
    run --separate-stderr polygraphy run blocks.onnx --onnxrt
    refused "dynamic dimensions were treated as 1: if the model needs other sizes, pass them with --input-shapes instead of x:[1,1,1,1]"
    run --separate-stderr polygraphy run blocks.onnx --onnxrt --input-shapes 'x:[1,1,2,2]'
    [ "$status" -eq 0 ]
    run --separate-stderr polygraphy run "$models/reflecting_pads.onnx" --onnxrt --input-shapes 'x:[3,1]'
    [ "$status" -eq 1 ]
    [[ $stderr == *'Pad reflect requires'* && $stderr != *'leaves open'* ]]
}

@test "options of providers reach the runtime, which may refuse them" {
    run_tool "$models/identity.onnx" --onnxrt --onnxruntime-lib "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_records.so" \
        --providers cuda --provider-options cuda:use_tf32=0 'cuda:refused=a\,b'
    refused "CUDAExecutionProvider does not work here with use_tf32=0, refused=a,b: Unknown provider option: \"refused\""
    run_tool "$models/identity.onnx" --onnxrt --provider-options cuda:use_tf32=0
    refused "no such provider is among --providers"
    run_tool "$models/identity.onnx" --trt --provider-options cuda:use_tf32=0
    refused "--provider-options has no effect without --"
}

@test "the session takes configuration, and a key that it does not know is told" {
    run_tool "$models/identity.onnx" --onnxrt --session-config session.disable_cpu_ep_fallback=1
    refused 'fallback to CPU EP has been explicitly disabled'
    run_tool "$models/identity.onnx" --onnxrt --session-config session.disable_prepacking=1 --session-config session.disable_prepackin=1
    passed
    logged "^\[W\] --session-config session.disable_prepackin: .*; did you mean 'session.disable_prepacking'"
    [ "$(grep -c '^\[W\]' <<<"$output")" -eq 1 ]
}
