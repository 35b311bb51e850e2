# debug_quantization_crashes.bats: what debug quantization says of a model with which ONNX Runtime crashes, and what it still finds out.

load debug_helper

folder=$POLYGRAPHY_ROOT/examples/quantization
crash='ONNX Runtime crashes: signal 11 \(Segmentation fault\) ended its process'

setup_file()
{
    file_requires_onnxruntime || return 0
    ! ldd "$(command -v polygraphy)" | grep -qE 'lib[a-z]*san' || skip_file "sanitizers tell of crashes themselves"
}

# The runtime crashes at $1, see tests/plugins/onnxruntime_that_crashes.c.
crashing()
{
    local where=$1
    shift
    ONNXRUNTIME_REAL=${POLYGRAPHY_ONNXRUNTIME:-$POLYGRAPHY_TEST_PROGRAMS/libonnxruntime.so.1} ONNXRUNTIME_CRASHES=$where run --separate-stderr polygraphy debug quantization \
        "$folder/quantized.onnx" --onnxruntime-lib "$POLYGRAPHY_TEST_PROGRAMS/plugins/onnxruntime_that_crashes.so" "$@"
}

# One sentence that says what $1, a regular expression, could not be run, and the folder is left as it was.
nothing_is_measured()
{
    [ "$status" -eq 1 ]
    [[ $stderr =~ ^'[!] cannot run '$1', which all measurements need: '$crash'. Pass --onnxrt-optimization-level none '[^$'\n']*$ ]]
    [ -z "$(ls -A)" ]
}

@test "a model that crashes the runtime as it is has a table, and no number of that" {
    crashing load:/quantized.onnx --float "$folder/float.onnx" --json result.json --report page.html
    [ "$status" -eq 0 ]
    logged "^\[W\] The model does not run in ONNX Runtime, so quantization is only simulated: $crash$"
    logged "^\[W\] Cannot find out how the runtime rewrites the quantizers: $crash$"
    logged "^\[I\]     y +1\.[0-9] +ONNX Runtime crashes"
    [[ $(json_value 'it["why_not_run"]') =~ ^$crash$ ]]
    [ "$(json_value 'it["outputs"][0]["as_run"], it["rewritten"], [q["alone"] for q in it["quantizers"]].count(None)')" = "(None, None, 0)" ]
    grep -q "ONNX Runtime crashes: signal 11" page.html
    [ "$(ls -A | sort | xargs)" = "page.html result.json" ]
}

@test "a quantizer with which alone the runtime crashes is on top, and the others have their numbers" {
    crashing none --float "$folder/float.onnx" --json whole.json
    [ "$status" -eq 0 ]
    crashing alone:flat --float "$folder/float.onnx" --json result.json --report page.html
    [ "$status" -eq 0 ]
    logged "^\[I\] +crash +[-+][0-9.]+ .* flat$"
    logged "^\[W\]     Runs with only one quantizer enabled crashed for 1 of 8 \('flat'\): $crash$"
    logged "^\[I\]     100% of the noise with only one quantizer enabled is that of 2 of 7 quantizers: 'relu_1', 'conv_3_weight_q'$"
    [ "$(json_value '[(q["name"], q["alone"]) for q in it["quantizers"] if q["why_no_alone"]]')" = "[('flat', None)]" ]
    [ "$(json_value 'it["quantizers"][0]["name"], it["quantizers"][0]["why_no_alone"].startswith("ONNX Runtime crashes: signal 11"),
        it["quantizers"][1:] == [q for q in json.load(open("whole.json"))["quantizers"] if q["name"] != "flat"]')" = "('flat', True, True)" ]
    grep -q "ONNX Runtime crashes: signal 11" page.html
}

@test "a crash with one quantizer left out, and with all on, costs the numbers of these runs" {
    crashing left-out:relu_1 --float "$folder/float.onnx" --json result.json
    [ "$status" -eq 0 ]
    logged "^\[I\] +1\.[0-9] +crash .* relu_1$"
    logged "^\[W\]     Runs with only one quantizer disabled crashed for 1 of 8 \('relu_1'\): $crash$"
    [ "$(json_value '[(q["name"], q["gain"]) for q in it["quantizers"] if q["why_no_gain"]]')" = "[('relu_1', None)]" ]
    [ "$(json_value 'it["why_not_run"], it["why_no_all_on"], [q["gain"] for q in it["quantizers"]].count(None)')" = "(None, None, 1)" ]
    crashing all-on --float "$folder/float.onnx" --json result.json
    [ "$status" -eq 0 ]
    logged "^\[W\]     The simulation with all quantizers enabled crashed, so the gain of disabling one is unknown: $crash$"
    logged "^\[I\]     y +crash +1\.[0-9] "
    [[ $(json_value 'it["why_no_all_on"]') =~ ^$crash$ ]]
    [ "$(json_value 'it["outputs"][0]["all_on"], it["outputs"][0]["simulation"], [q["gain"] for q in it["quantizers"]].count(None)')" = "(None, None, 8)" ]
}

@test "a crash of what the others are measured against is an error, and leaves nothing behind" {
    crashing load:/float.onnx --float "$folder/float.onnx" --json result.json
    nothing_is_measured "'.*/float\.onnx', the float model"
    crashing all-off --float "$folder/float.onnx" --json result.json
    logged "^\[W\] Cannot measure the noise of 3 quantizers \('relu_1' \.\.\.\) in their own tensors: $crash$"
    nothing_is_measured 'the model with all quantizers disabled'
    crashing switches --json result.json
    nothing_is_measured 'the model with a switch at each quantizer'
}

@test "the search finds the quantizer with which the runtime crashes" {
    crashing has:relu_1_quantize --float "$folder/float.onnx" --atol 1 --json result.json
    [ "$status" -eq 0 ]
    logged "^\[I\] Cause: 'relu_1': 1 of "
    [ "$(json_value 'it["left_out"], it["repaired"]["left_out"]')" = "(['relu_1'], ['relu_1'])" ]
    [ ! -e polygraphy_debug.onnx ]
}
