# run_plots.bats: pictures of errors that `run` saves.

load debug_helper

run_tool()
{
    run polygraphy run "$@"
}

# Each file is XML, and its root is an SVG picture.
are_pictures()
{
    /usr/bin/python3 - "$@" <<'END'
import sys, xml.dom.minidom
for path in sys.argv[1:]:
    root = xml.dom.minidom.parse(path).documentElement
    assert root.tagName == "svg" and root.getAttribute("xmlns") == "http://www.w3.org/2000/svg", path
END
}

@test "heat maps and error plots are saved for each output, with folders that were not there" {
    results a.json '[("A", [{"x": f32([[1, 2], [3, 4]]), "y": f32([1])}])]'
    results b.json '[("B", [{"x": f32([[1, 2], [3, 9]]), "y": f32([float("nan")])}])]'
    run_tool --load-outputs a.json b.json --save-heatmaps maps/new --save-error-metrics-plot plots
    [ "$status" -eq 1 ]
    [ "$(cd maps/new && echo *)" = "absolute_error_x.svg absolute_error_y.svg relative_error_x.svg relative_error_y.svg" ]
    [ "$(cd plots && echo *)" = "error_metrics_x.svg error_metrics_y.svg" ]
    are_pictures maps/new/*.svg plots/*.svg
    logged "Saving plot of 'x' to: 'maps/new/absolute_error_x.svg'"
    grep -q 'first: A | ' maps/new/absolute_error_x.svg
    grep -q 'second (reference): B | ' maps/new/absolute_error_x.svg
    grep -q 'greatest (encircled): 5 at (1, 1)' maps/new/absolute_error_x.svg
    grep -q 'iteration 0 | 1 of 4 elements exceed both tolerances' plots/error_metrics_x.svg
    grep -q 'NaN: 1' maps/new/relative_error_y.svg
}

@test "no plot of a run replaces another one" {
    results a.json '[("A", [{"a/b": f32([1]), "a:b": f32([1])}] * 2)]'
    results b.json '[("B", [{"a/b": f32([2]), "a:b": f32([3])}] * 2)]'
    results c.json '[("C", [{"a/b": f32([4]), "a:b": f32([5])}] * 2)]'
    run_tool --load-outputs a.json b.json c.json --save-error-metrics-plot .
    [ "$status" -eq 1 ]
    [ "$(ls error_metrics_* | wc -l)" -eq 8 ]
    [ -f error_metrics_a_b_4.svg ]
    [ -f error_metrics_a_b_iteration_1_4.svg ]
    [ "$(cat error_metrics_*.svg | grep -c '^<svg')" -eq 8 ]
}

@test "names of outputs do not lead out of the folder" {
    results a.json '[("A", [{"../../up": f32([1])}])]'
    run_tool --load-outputs a.json a.json --save-heatmaps inner/maps
    [ "$status" -eq 0 ]
    [ "$(cd inner/maps && echo *)" = "absolute_error_.._.._up.svg relative_error_.._.._up.svg" ]
}

@test "tensors of a layerwise run have plots, too" {
    "$POLYGRAPHY_TEST_PROGRAMS/make_chain" chain.onnx 3 0 chain
    run_tool chain.onnx --onnxrt --onnxrt --onnx-outputs mark all --output-memory 1 --save-heatmaps maps
    [ "$status" -eq 0 ]
    [ "$(ls maps | wc -l)" -eq 6 ]
    are_pictures maps/*
}

@test "what has no errors has no plots, and that is said" {
    results a.json '[("A", [{"x": f32([]), "y": f32([1, 2])}])]'
    results b.json '[("B", [{"x": f32([]), "y": f32([1])}])]'
    run_tool --load-outputs a.json b.json --save-heatmaps maps
    [ "$status" -eq 1 ]
    logged '^\[W\] No plots were saved'
    [ -z "$(ls maps)" ]
    run_tool --load-outputs a.json a.json --compare distance --save-heatmaps maps
    logged "^\[W\] Option: --save-heatmaps is only valid for comparison function\(s\): \['simple'\]"
}

@test "a folder that cannot be made ends the run before it begins" {
    results a.json '[("A", [{"x": f32([1])}])]'
    echo file >taken
    run_tool --load-outputs a.json a.json --save-heatmaps taken/maps
    [ "$status" -eq 1 ]
    logged '^\[!\] --save-heatmaps: .*taken'
    not_logged 'Accuracy Comparison'
}

@test "windows are refused with an alternative" {
    run_tool --load-outputs a.json --show-heatmaps
    [ "$status" -ne 0 ]
    logged 'save the pictures with --save-heatmaps'
}
