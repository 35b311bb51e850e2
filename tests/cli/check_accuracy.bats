# check_accuracy.bats: metrics of comparisons, kept, judged again, and averaged.

load debug_helper

# Two results of three iterations, whose L2 norms are 1, 2 and 3.
some_results()
{
    results a.json '[("A", [{"x": f32([1, 2]), "y": f32([1])}] * 3)]'
    results b.json '[("B", [{"x": f32([1, 3 + i]), "y": f32([1])} for i in range(3)])]'
}

@test "metrics are saved and judged with the thresholds in the file" {
    some_results
    run polygraphy run --load-outputs a.json b.json --compare l2 simple --l2-threshold 5 --save-accuracy-results saved.json
    [ "$status" -eq 1 ]
    run polygraphy check accuracy saved.json
    [ "$status" -eq 1 ]
    [[ $output == *'| A vs. B | Passed: 3/3 iterations | Pass Rate: 100.00%'*'| A vs. B | Passed: 0/3 iterations |'* ||
        $output == *'Passed: 3/3'*'Passed: 0/3'* ]]
    [[ $output == *'FAILED | Accuracy results did not pass the requested thresholds.'* ]]
}

@test "other thresholds select and judge their functions" {
    some_results
    run polygraphy run --load-outputs a.json b.json --compare l2 psnr --save-accuracy-results saved.json
    run polygraphy check accuracy saved.json --compare l2 --l2-threshold 2 --save-accuracy-results again.json
    [ "$status" -eq 1 ]
    [[ $output == *"Ignoring saved comparison with metric fields ['psnr']"*'Passed: 2/3 iterations'* ]]
    [[ $output != *'only valid for'* ]]
    run polygraphy check accuracy again.json --l2-threshold y:0 x:3
    [ "$status" -eq 0 ]
    [[ $output == *'PASSED | Accuracy results passed the requested thresholds.'* ]]
    run polygraphy check accuracy again.json --compare psnr
    [ "$status" -eq 1 ]
    [[ $output == *"No saved comparison results match the requested threshold (metric fields: ['psnr'])"* ]]
}

@test "a comparison by elements is not judged again, but by a statistic" {
    some_results
    run polygraphy run --load-outputs a.json b.json --save-accuracy-results saved.json
    run polygraphy check accuracy saved.json --atol 5
    [ "$status" -eq 1 ]
    [[ $output == *"Cannot re-threshold an 'elemwise' comparison"*'--check-error-stat max'* ]]
    for statistic in max mean median; do
        run polygraphy check accuracy saved.json --atol 5 --check-error-stat "$statistic"
        [ "$status" -eq 0 ]
    done
    run polygraphy check accuracy saved.json --atol 5 --check-error-stat quantile
    [[ $status -eq 1 && $output == *"do not contain a 'quantile' statistic"* ]]
}

@test "averages over iterations are judged" {
    some_results
    run polygraphy run --load-outputs a.json b.json --compare l2 --check-average --l2-threshold 2.5 \
        --save-accuracy-results saved.json
    [ "$status" -eq 0 ]
    [[ $output == *'L2 Norm: 3 (tolerance: 2.5) | FAILED'* ]]
    [[ $output == *'| A vs. B | Passed: 2/2 outputs'*'x | PASSED:'*'L2 Norm: 2 (tolerance: 2.5) | PASSED'* ]]
    run polygraphy check accuracy saved.json --l2-threshold 1.5
    [ "$status" -eq 1 ]
    [[ $output == *'Passed: 1/2 outputs'*'x | L2 Norm: 2 (tolerance: 1.5) | FAILED'*'y | L2 Norm: 0 (tolerance: 1.5) | PASSED'* ]]
    run polygraphy run --load-outputs a.json b.json --compare l2 --check-average
    [ "$status" -eq 1 ]
    results c.json '[("C", [{"x": f32([1, 2]), "y": f32([1])}] * 2 + [{"x": f32([1]), "y": f32([nan])}])]'
    run polygraphy run --load-outputs a.json c.json --compare l2 --check-average --l2-threshold 9
    [[ $status -eq 1 && $output == *'Cannot compute an averaged comparison'* ]]
    run polygraphy run --load-outputs a.json c.json --compare simple --check-error-stat max --check-average --atol 9 \
        --save-accuracy-results nan.json
    [ "$status" -eq 1 ]
}

@test "what has no average, and files without results, are errors" {
    some_results
    run polygraphy run --load-outputs a.json b.json --check-average
    [[ $status -eq 1 && $output == *'--check-error-stat max'* ]]
    run polygraphy run --load-outputs a.json b.json --check-average --compare l2 --fail-fast
    [[ $status -eq 1 && $output == *'--check-average cannot be combined with --fail-fast'* ]]
    run polygraphy run --load-outputs a.json b.json --check-average --compare indices
    [ "$status" -eq 1 ]
    echo '{"lst": [], "polygraphy_class": "AccuracyResults"}' >none.json
    run polygraphy check accuracy none.json
    [[ $status -eq 1 && $output == *'contains no results'* ]]
    run polygraphy check accuracy a.json
    [[ $status -eq 1 && $output == *'cannot be decoded'* ]]
    run polygraphy check accuracy none.json --validate
    [[ $status -eq 1 && $output == *'has metrics, not outputs'* ]]
}

@test "inspect data shows saved metrics" {
    some_results
    run polygraphy run --load-outputs a.json b.json --compare l2 --save-accuracy-results saved.json
    run polygraphy inspect data saved.json
    [ "$status" -eq 0 ]
    [[ $output == *'==== Accuracy Results (1 comparison(s)) ===='*'A vs. B | 0/3 iteration(s) matched'* ]]
    [[ $output == *'-- Iteration: 0'*'x | FAILED | l2_norm=1'*'y | PASSED | l2_norm=0'* && $output != *'Iteration: 1'* ]]
    run polygraphy inspect data saved.json --all
    [[ $output == *'-- Iteration: 2'*'x | FAILED | l2_norm=3'* ]]
}

@test "results of one runner are not judged, and neither are damaged verdicts" {
    polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --onnxrt --save-accuracy-results lone.json
    run polygraphy check accuracy lone.json
    [ "$status" -eq 1 ]
    [[ $output == *"'lone.json' contains no results"* ]]
    polygraphy run "$POLYGRAPHY_ROOT/tests/models/identity.onnx" --onnxrt --onnxrt --save-accuracy-results pair.json
    polygraphy check accuracy pair.json
    sed 's/"passed": true/"passed": null/' pair.json >damaged.json
    run ! cmp -s pair.json damaged.json
    run polygraphy check accuracy damaged.json
    [ "$status" -eq 1 ]
    [[ $output == *"'passed'"* ]]
}
